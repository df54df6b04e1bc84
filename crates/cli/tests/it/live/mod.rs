//! Runs that are watched: on a terminal of tmux, and in a browser.

mod quiet;
pub(crate) mod terminal;
mod tui;
pub(crate) mod web;
