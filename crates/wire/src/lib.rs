//! The only code that touches pipes, sockets and child processes.
//!
//! It obeys and reports; it never judges. A [`session::Session`] speaks MCP of either era over any
//! transport and keeps many requests in flight; [`process`] starts servers and makes sure that none
//! of them outlives us.

pub mod clock;
pub mod disk;
pub mod post;
pub mod process;
pub mod session;
pub mod sink;
mod slots;
pub mod timer;
pub mod torture;
mod transport;

#[cfg(any(fuzzing, test))]
pub mod fuzzing;

pub use transport::{CaCertError, MESSAGE_LIMIT, Trust};
