//! Where events go. The wire emits; it does not know who folds.

use std::time::Duration;

use mcp_loadtest_core::event::Event;

/// Takes events as they happen, in the thread in which they happen.
pub trait Sink {
    /// Takes one event.
    fn emit(&self, event: &Event<'_>);

    /// Takes a notification of the server, with its parameters as written. Load tests only count
    /// them.
    fn notified(&self, _method: &[u8], _params: Option<&[u8]>, _at: Duration) {}
}

/// Forgets everything.
#[derive(Debug, Clone, Copy, Default)]
pub struct Nowhere;

impl Sink for Nowhere {
    fn emit(&self, _: &Event<'_>) {}
}
