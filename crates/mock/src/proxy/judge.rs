//! Asks the faults about calls, with all that they need to know.

use std::sync::Arc;

use mcp_loadtest_core::{
    config::TransportName,
    fault::{CallView, Entered, Fault, HANG_LIMIT, LAZY_INIT_TIME, START, Treatment},
    mcp::Era,
};
use tokio::time::sleep;

use crate::desk::{Desk, Ended};

use super::{
    message::{Call, first_page},
    notice,
    record::Recorder,
};

/// The faults of one proxy.
#[derive(Debug)]
pub(super) struct Judge {
    desk: Arc<Desk>,
    pub(super) transport: TransportName,
    pub(super) recorder: Recorder,
    /// Whether faults may come while it runs.
    is_controlled: bool,
}

/// What the lock of `lazy-init-deadlock` made of a call.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Gate {
    /// It goes on to the server.
    Pass,
    /// It hangs for as long as anything does.
    Hung,
}

impl Judge {
    pub(super) fn new(
        desk: Arc<Desk>,
        transport: TransportName,
        recorder: Recorder,
        is_controlled: bool,
    ) -> Self {
        Self { desk, transport, recorder, is_controlled }
    }

    /// Whether nobody has to look at messages at all.
    pub(super) fn is_blind(&self) -> bool {
        !self.is_controlled && self.desk.faults().is_empty() && !self.recorder.is_on()
    }

    /// The request as the server is to see it, if it asks for a page that a fault has promised.
    pub(super) fn first_page(&self, call: &Call, bytes: &[u8]) -> Option<Vec<u8>> {
        let promises = |fault: &Fault| fault.kind().name == "endless-pagination";
        let ours = call.asks_made_up_page && self.desk.faults().faults().any(promises);
        ours.then(|| first_page(bytes)).flatten()
    }

    /// What is to be done with a call.
    pub(super) fn treat(&self, call: &Call, session: Option<&str>) -> Treatment {
        let treatment = self.ask(&call.method, call.tool.as_deref(), session, call.era);
        let faulted = !treatment.is_nothing();
        // What the server makes of it is not counted here.
        self.desk.count(Ended { faulted, ..Ended::default() });
        treatment
    }

    /// How many notifications a second a stream that opens is to be flooded with.
    pub(super) fn flood(&self, session: Option<&str>, era: Era) -> Option<u32> {
        notice::flood(&self.ask(START, None, session, era).beside)
    }

    fn ask(&self, method: &str, tool: Option<&str>, session: Option<&str>, era: Era) -> Treatment {
        self.desk.faults().decide(&CallView {
            method,
            tool,
            session,
            server: None,
            elapsed: self.desk.begun().elapsed(),
            transport: self.transport,
            era,
        })
    }

    /// Waits as the lock of `lazy-init-deadlock` asks.
    pub(super) async fn gate(&self) -> Gate {
        let gate = self.enter().await;
        if gate == Gate::Hung {
            sleep(HANG_LIMIT).await;
        }
        gate
    }

    /// The same, but whoever is to hang has to do so itself.
    pub(super) async fn enter(&self) -> Gate {
        let lock = self.desk.lazy();
        let entered = match lock.enter() {
            Entered::Load(loading) => {
                sleep(LAZY_INIT_TIME).await;
                loading.loaded()
            }
            entered => entered,
        };
        if entered == Entered::Pass { Gate::Pass } else { Gate::Hung }
    }
}
