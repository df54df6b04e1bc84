//! Asks the faults about calls, with all that they need to know.

use mcp_loadtest_core::{
    config::TransportName,
    fault::{
        Beside, CallView, Entered, Fault, FaultPlan, HANG_LIMIT, LAZY_INIT_TIME, LazyInit, START,
        Treatment,
    },
    mcp::Era,
};
use tokio::time::{Instant, sleep};

use super::{
    message::{Call, first_page},
    record::Recorder,
};

/// The faults of one proxy.
#[derive(Debug)]
pub(super) struct Judge {
    plan: FaultPlan,
    pub(super) transport: TransportName,
    started: Instant,
    gate: LazyInit,
    pub(super) recorder: Recorder,
}

/// What the lock of `lazy-init-deadlock` made of a call.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Gate {
    /// It goes on to the server.
    Pass,
    /// It hung for as long as anything hangs.
    Hung,
}

impl Judge {
    pub(super) fn new(plan: FaultPlan, transport: TransportName, recorder: Recorder) -> Self {
        Self { plan, transport, started: Instant::now(), gate: LazyInit::default(), recorder }
    }

    /// Whether nobody has to look at messages at all.
    pub(super) fn is_blind(&self) -> bool {
        self.plan.is_empty() && !self.recorder.is_on()
    }

    /// The request as the server is to see it, if it asks for a page that a fault has promised.
    pub(super) fn first_page(&self, call: &Call, bytes: &[u8]) -> Option<Vec<u8>> {
        let promises = |fault: &Fault| fault.kind().name == "endless-pagination";
        let ours = call.asks_made_up_page && self.plan.faults().any(promises);
        ours.then(|| first_page(bytes)).flatten()
    }

    /// What is to be done with a call.
    pub(super) fn treat(&self, call: &Call, session: Option<&str>) -> Treatment {
        self.ask(&call.method, call.tool.as_deref(), session, call.era)
    }

    /// How many notifications a second a stream that opens is to be flooded with.
    pub(super) fn flood(&self, session: Option<&str>, era: Era) -> Option<u32> {
        self.ask(START, None, session, era).beside.into_iter().find_map(|beside| match beside {
            Beside::Flood(rate) => Some(rate),
            Beside::ListChanged => None,
        })
    }

    fn ask(&self, method: &str, tool: Option<&str>, session: Option<&str>, era: Era) -> Treatment {
        self.plan.decide(&CallView {
            method,
            tool,
            session,
            server: None,
            elapsed: self.started.elapsed(),
            transport: self.transport,
            era,
        })
    }

    /// Waits as the lock of `lazy-init-deadlock` asks.
    pub(super) async fn gate(&self) -> Gate {
        let entered = match self.gate.enter() {
            Entered::Load => {
                sleep(LAZY_INIT_TIME).await;
                self.gate.loaded()
            }
            entered => entered,
        };
        if entered == Entered::Pass {
            return Gate::Pass;
        }
        sleep(HANG_LIMIT).await;
        Gate::Hung
    }
}
