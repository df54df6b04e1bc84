//! The one place where wall time and operating-system randomness are read, once a run.

use std::time::SystemTime;

use ulid::Ulid;

/// When a run began, and the name that tells it from all others.
#[derive(Debug, Clone)]
pub(crate) struct Identity {
    pub(crate) run_id: String,
    pub(crate) started_at: SystemTime,
}

impl Identity {
    pub(crate) fn new() -> Self {
        Self { run_id: Ulid::generate().to_string(), started_at: wall_time() }
    }
}

/// The time of day, as the system has it. Nothing is measured with it.
#[expect(clippy::disallowed_methods, reason = "this is the one place")]
pub fn wall_time() -> SystemTime {
    SystemTime::now()
}
