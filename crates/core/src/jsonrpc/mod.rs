//! JSON-RPC 2.0 frames.
//!
//! [`read`](fn@read) takes any bytes and says what they are and what was wrong with them; it never
//! fails and never copies. [`write`](mod@write) makes frames that are always right, or splices
//! requests from a template that was prepared once. [`scan`] is the validating scanner under both:
//! the load path reads every reply with it, so it finds the few members that matter without building
//! a tree.

mod halves;
mod message;
pub mod read;
pub mod scan;
mod string;
pub mod write;

pub use halves::without_halves;
pub use message::{Body, Defect, Id, Message, Reading, ResultKind};
pub use read::read;
pub(crate) use string::plain_length;
pub use write::Template;
