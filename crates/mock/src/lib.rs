//! What misbehaves on purpose: an MCP server that is well, or ill in a way that was asked for.
//!
//! It speaks both eras of MCP over stdio, Streamable HTTP, HTTP+SSE and WebSocket, is fast enough to
//! be the target of a load test, and writes down every message that reached it. It listens on
//! loopback addresses only.
//!
//! ```
//! use mcp_loadtest_mock::Mock;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mock = Mock::new().fault("hang@tool=slow".parse()?);
//! let mock = mock.bind("127.0.0.1:0".parse()?).await?.spawn();
//! assert!(mock.url().ends_with("/mcp"));
//! drop(mock); // It no longer listens.
//! # Ok(())
//! # }
//! ```

pub mod admin;
pub mod audit;
mod catalog;
mod desk;
pub mod gateway;
pub mod llm;
mod mcp;
mod mock;
pub mod proxy;
mod serve;
mod server;

pub use catalog::builtin::{Group, UnknownGroup};
pub use desk::{Counters, Desk};
pub use mock::{Mock, StdioMock};
pub use serve::{
    Served,
    http::{BoundMock, RunningMock},
};
