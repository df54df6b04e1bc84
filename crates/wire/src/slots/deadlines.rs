//! How long a call is waited for.

use std::time::Duration;

use mcp_loadtest_core::units::nanos;

/// When silence becomes a hang, and when the call is given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadlines {
    /// No reply for this long is a hang.
    pub hang: Duration,
    /// After the hang, a reply is waited for this much longer.
    pub grace: Duration,
    /// The caller's own limit for the whole call.
    pub timeout: Duration,
}

/// A deadline that has passed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Due {
    /// The hang threshold.
    Overdue,
    /// Hang threshold and grace period.
    Silent,
    /// The caller's own limit.
    TimedOut,
}

/// Whether a reply came too late.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Overdue {
    /// In time.
    No,
    /// After the hang threshold, as was reported.
    Noticed,
    /// After the hang threshold, which nobody had noticed yet.
    Unnoticed,
    /// After the caller's own limit.
    TimedOut,
}

/// The ages at which a call is due, in nanoseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(super) hang: u64,
    pub(super) silent: u64,
    pub(super) timeout: u64,
}

impl Limits {
    pub(super) const NEVER: Self = Self { hang: u64::MAX, silent: u64::MAX, timeout: u64::MAX };

    #[inline]
    pub(crate) fn new(deadlines: &Deadlines) -> Self {
        let hang = nanos(deadlines.hang);
        let silent = hang.saturating_add(nanos(deadlines.grace));
        Self { hang, silent, timeout: nanos(deadlines.timeout) }
    }
}
