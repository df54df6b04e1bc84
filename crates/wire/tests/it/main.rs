//! The integration tests of `mcp-loadtest-wire`: one module for each room.

mod arguments;
mod conformance;
mod process;
mod remote;
