//! The commands as a user meets them: arguments in, text and exit code out, no process in between
//! except the servers.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]

mod bad_input;
mod commands;
mod compare;
mod harness;
mod interrupted;
#[cfg(feature = "otlp")]
mod otlp;
mod process;
mod proxy;
