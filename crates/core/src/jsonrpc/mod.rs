//! JSON-RPC 2.0 frames.
//!
//! [`read`] takes any bytes and says what they are and what was wrong with them; it never fails and
//! never copies. [`write`] makes frames that are always right, or splices requests from a template
//! that was prepared once. [`scan`] is the validating scanner under both: the load path reads every
//! reply with it, so it finds the few members that matter without building a tree.

pub mod read;
pub mod scan;
pub mod write;

pub use read::{Body, Defect, Id, Message, Reading, ResultKind, read};
pub use write::Template;
