//! Runs that are watched: on a terminal of tmux, and in a browser.

mod quiet;
mod terminal;
mod tui;
mod web;
