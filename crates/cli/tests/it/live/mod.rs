//! Runs that are watched: on a terminal of tmux, and in a browser.

mod terminal;
mod tui;
mod web;
