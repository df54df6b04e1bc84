//! What reached the client besides the replies to its calls: notifications, with the moment of each, and
//! replies that nobody asked for.

use std::{
    cell::{Cell, RefCell},
    time::Duration,
};

use mcp_loadtest_core::{
    event::{Event, note},
    mcp::method,
};
use mcp_loadtest_wire::sink::Sink;
use serde_json::Value;

/// A gateway that never stops talking must not fill the memory.
const MOST: usize = 10_000;

/// Keeps notifications, counts orphans, and forgets everything else.
#[derive(Debug, Default)]
pub(super) struct Hearing {
    notifications: RefCell<Vec<Heard>>,
    orphans: Cell<usize>,
}

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
        let heard = self.notifications.borrow();
        let ours = |heard: &&Heard| {
            heard.method == method::PROGRESS && heard.params["progressToken"] == token
        };
        heard.iter().filter(ours).cloned().collect()
    }

    /// How many replies answered no call, or one that had its answer.
    pub(super) fn orphans(&self) -> usize {
        self.orphans.get()
    }
}

impl Sink for Hearing {
    fn emit(&self, event: &Event<'_>) {
        if let Event::Scenario { name, .. } = event
            && name == note::ORPHAN_REPLY
        {
            self.orphans.set(self.orphans.get() + 1);
        }
    }

    fn notified(&self, method: &[u8], params: Option<&[u8]>, at: Duration) {
        let mut heard = self.notifications.borrow_mut();
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
