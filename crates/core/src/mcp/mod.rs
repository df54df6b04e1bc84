//! The Model Context Protocol as data: revisions and their lifecycles, tools, headers, methods.
//!
//! A new revision is a row in [`revision`]; everything else asks that row what to do.

pub mod header;
pub mod lifecycle;
pub mod method;
pub mod revision;
pub mod tool;

pub use lifecycle::{Lifecycle, lifecycle};
pub use revision::{Era, Revision};
pub use tool::Tool;
