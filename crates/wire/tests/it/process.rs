//! Real processes: started, stopped at every step of the ladder, and never left behind.
#![cfg(unix)]

mod ends;
mod inspection;
mod ladder;
mod launches;
mod lost;
mod stderr;
mod support;
mod trial;
