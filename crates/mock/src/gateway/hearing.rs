//! What reached the client besides replies: notifications, with the moment of each.

use std::{cell::RefCell, time::Duration};

use mcp_loadtest_core::event::Event;
use mcp_loadtest_wire::sink::Sink;
use serde_json::Value;

/// A gateway that never stops talking must not fill the memory.
const MOST: usize = 10_000;

/// Keeps notifications, and forgets everything else.
#[derive(Debug, Default)]
pub(super) struct Hearing(RefCell<Vec<Heard>>);

/// A notification that arrived.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Heard {
    pub(super) method: String,
    pub(super) params: Value,
    /// Since the clock was started.
    pub(super) at: Duration,
}

impl Hearing {
    /// The progress that was told with this token, in order of arrival.
    pub(super) fn progress(&self, token: &str) -> Vec<Heard> {
        let heard = self.0.borrow();
        let ours = |heard: &&Heard| {
            heard.method == mcp_loadtest_core::mcp::method::PROGRESS
                && heard.params["progressToken"] == token
        };
        heard.iter().filter(ours).cloned().collect()
    }
}

impl Sink for Hearing {
    fn emit(&self, _: &Event<'_>) {}

    fn notified(&self, method: &[u8], params: Option<&[u8]>, at: Duration) {
        let mut heard = self.0.borrow_mut();
        if heard.len() < MOST {
            let params = params.and_then(|raw| serde_json::from_slice(raw).ok());
            heard.push(Heard {
                method: String::from_utf8_lossy(method).into_owned(),
                params: params.unwrap_or(Value::Null),
                at,
            });
        }
    }
}
