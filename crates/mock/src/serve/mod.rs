//! How messages reach the mock.
//!
//! | room       | what it does                                                          |
//! |------------|-----------------------------------------------------------------------|
//! | `dialogue` | a client behind one line in both directions: what three transports share |
//! | `stdio`    | a pair of pipes, one message a line                                   |
//! | `http`     | Streamable HTTP; and on the same sockets HTTP+SSE and WebSocket       |
//!
//! To add a transport: one file here that reads messages, gives them to the
//! [`Server`](crate::server::Server) or to a `Dialogue`, and obeys.

pub(crate) mod dialogue;
pub(crate) mod http;
pub(crate) mod stdio;

/// One message may not be longer than this.
const MESSAGE_LIMIT: usize = 16 << 20;

/// How serving ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Served {
    /// The client has gone.
    Gone,
    /// A fault ended it, as if the process had exited with this code.
    Crashed(i32),
}
