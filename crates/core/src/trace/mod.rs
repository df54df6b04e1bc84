//! The trace: one JSON object a line, in the order in which each worker saw things happen.
//!
//! [`write`](mod@write) formats by hand because the load path writes two lines a call; [`read`] gives
//! the same events back, so that a saved run can be judged again; [`keep`] decides what is kept where
//! that is not everything. Numbers keep nanoseconds.

pub mod keep;
pub mod read;
pub mod schema;
pub mod write;

pub use keep::{Keeper, Untraced};
pub use read::{TraceError, read_line};
pub use write::append;

/// The version of the trace format; readers accept unknown members.
pub const VERSION: u32 = 1;
/// A result longer than this is cut and written as text.
pub const RESULT_LIMIT: usize = 1024;
