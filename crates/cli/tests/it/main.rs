//! The commands as a user meets them: arguments in, text and exit code out, no process in between
//! except the servers.

mod bad_input;
mod commands;
mod harness;
mod process;
