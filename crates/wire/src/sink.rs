//! Where events go. The wire emits; it does not know who folds.

use mcp_loadtest_core::event::Event;

/// Takes events as they happen, in the thread in which they happen.
pub trait Sink {
    /// Takes one event.
    fn emit(&self, event: &Event<'_>);
}

/// Forgets everything.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nowhere;

impl Sink for Nowhere {
    fn emit(&self, _: &Event<'_>) {}
}
