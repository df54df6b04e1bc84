//! What a client says that is no request: it withdraws calls, and is ready to listen.

use std::sync::Arc;

use mcp_loadtest_core::{
    fault::FLOOD_TIME,
    mcp::{Era, method},
};
use tokio::{
    sync::mpsc,
    time::{interval, sleep_until, timeout},
};

use super::{held::Company, outlet::Out, relay::Relay};
use crate::proxy::{
    message::{Key, Said},
    notice::{BURST, Flood},
    open::Open,
};

impl Relay {
    /// A message that is no request arrives. Whether the server is told.
    pub(super) async fn hear(self: &Arc<Self>, said: Said, open: Option<Open>) -> bool {
        let told = match said {
            Said::Cancelled(id) => self.cancel(&id).await,
            Said::Notification(name) if name == method::INITIALIZED => {
                self.start(Era::Legacy);
                true
            }
            Said::Notification(_)
            | Said::Reply(_)
            | Said::TooMany
            | Said::Other
            | Said::Request(_) => true,
        };
        self.judge.recorder.close(open).await;
        told
    }

    /// A call is withdrawn. Whether the server is told.
    async fn cancel(self: &Arc<Self>, id: &Key) -> bool {
        let (open, due, forwarded, company) = {
            let mut calls = self.calls.lock();
            let Some(held) = calls.get_mut(id) else { return true };
            if held.treatment.ignores_cancel {
                return false;
            }
            held.withdrawn.cancel();
            (held.open.take(), held.due, held.forwarded, held.company.take())
        };
        self.withdrawn.notify_waiters();
        self.release(company.map(Company::take_last).unwrap_or_default());
        // What the server has already answered is held back until then; what it answers later is
        // its own affair.
        let (relay, id) = (self.clone(), id.clone());
        tokio::spawn(async move {
            sleep_until(due).await;
            let mut calls = relay.calls.lock();
            if calls.get(&id).is_some_and(|held| held.withdrawn.is_cancelled()) {
                calls.remove(&id);
            }
        });
        if let Some(mut open) = open {
            open.cancelled();
            self.judge.recorder.close(Some(open)).await;
        }
        forwarded
    }

    /// A stream for notifications opens.
    pub(super) fn start(self: &Arc<Self>, era: Era) {
        if let Some(rate) = self.judge.flood(None, era) {
            tokio::spawn(pour(self.to_client.clone(), rate));
        }
    }

    /// The flood of one call, which is held meanwhile.
    pub(super) fn flood_call(&self, rate: u32) {
        tokio::spawn(timeout(FLOOD_TIME, pour(self.to_client.clone(), rate)));
    }
}

/// Sends notifications until nobody reads them.
async fn pour(to_client: mpsc::Sender<Out>, rate: u32) {
    let (mut flood, mut ticks) = (Flood::new(rate), interval(BURST));
    loop {
        ticks.tick().await;
        let bytes = flood.burst().flat_map(|notice| [notice, b"\n"]).flatten().copied();
        let bytes: Vec<u8> = bytes.collect();
        if to_client.send(Out::Bytes { bytes, is_reply: false }).await.is_err() {
            return;
        }
    }
}
