//! What misbehaves on purpose: an MCP server that is well, or ill in a way that was asked for.
//!
//! It speaks both eras of MCP over stdio and Streamable HTTP, and is fast enough to be the target of
//! a load test. It listens on loopback addresses only.
//!
//! ```
//! use mcp_loadtest_mock::{Fault, Mock};
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> std::io::Result<()> {
//! let listen = "127.0.0.1:0".parse().expect("an address");
//! let mock = Mock::new().fault(Fault::LazyInitDeadlock).bind(listen).await?.spawn();
//! assert!(mock.url().ends_with("/mcp"));
//! drop(mock); // It no longer listens.
//! # Ok(())
//! # }
//! ```

pub mod audit;
mod fault;
mod mcp;
mod mock;
pub mod proxy;
mod serve;

pub use fault::{Fault, UnknownFault};
pub use mock::Mock;
pub use serve::http::{BoundMock, RunningMock};
