//! Passes messages on in both directions, and treats calls as their faults say.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use mcp_loadtest_core::{
    fault::{HANG_LIMIT, Instead, Treatment, mangle},
    mcp::{Era, method},
};
use tokio::{
    sync::mpsc,
    time::{Instant, sleep, sleep_until},
};

use super::{
    Input, ProxyEnd,
    lines::{Lines, Piece},
    outlet::Out,
};
use crate::proxy::{
    judge::{Gate, Judge},
    message::{Call, Key, SUBSCRIBE, Said, answered},
    notice::{self, BURST, Flood},
    record::Open,
};

/// Both directions of one connection.
pub(super) struct Relay {
    judge: Judge,
    calls: Mutex<HashMap<Key, Held>>,
    to_client: mpsc::Sender<Out>,
    to_server: mpsc::Sender<Input>,
    end: mpsc::Sender<ProxyEnd>,
}

/// A call that has no reply yet, and what is to be done to it.
struct Held {
    treatment: Treatment,
    /// When its reply may leave.
    due: Instant,
    /// Whether the server knows of it.
    forwarded: bool,
    /// Whether its reply is thrown away.
    cancelled: bool,
    open: Option<Open>,
}

impl Relay {
    pub(super) fn new(
        judge: Judge,
        to_client: mpsc::Sender<Out>,
        to_server: mpsc::Sender<Input>,
        end: mpsc::Sender<ProxyEnd>,
    ) -> Self {
        Self { judge, calls: Mutex::default(), to_client, to_server, end }
    }

    /// A cutter for one direction.
    pub(super) fn lines(&self) -> Lines {
        Lines::new(self.judge.is_blind())
    }

    /// The server's input ends.
    pub(super) async fn end_input(&self) {
        let _ = self.to_server.send(Input::End).await;
    }

    /// Writes down the calls that will never have a reply.
    pub(super) async fn abandon(&self) {
        let left: Vec<_> = self.calls().drain().collect();
        for (_, mut held) in left {
            if let Some(open) = &mut held.open {
                open.unanswered("the connection ended before there was a reply");
            }
            self.judge.recorder.close(held.open).await;
        }
    }

    pub(super) async fn from_client(self: &Arc<Self>, piece: Piece) {
        let line = match piece {
            Piece::Raw(bytes) => return self.forward(bytes).await,
            Piece::Line(line) => line,
        };
        let said = Said::read(line.trim_ascii_end());
        let mut open = self.judge.recorder.open(&said, line.len(), None);
        match said {
            Said::Request(call) => return self.call(call, line, open).await,
            Said::Cancelled(id) => {
                let forwarded = self.cancel(&id).await;
                self.judge.recorder.close(open.take()).await;
                if !forwarded {
                    return;
                }
            }
            Said::Notification(name) if name == method::INITIALIZED => self.start(Era::Legacy),
            Said::Notification(_) | Said::Reply(_) | Said::Other => {}
        }
        self.judge.recorder.close(open).await;
        self.forward(line).await;
    }

    pub(super) async fn from_server(self: &Arc<Self>, piece: Piece) {
        let (bytes, is_line) = match piece {
            Piece::Raw(bytes) => (bytes, false),
            Piece::Line(line) => (line, true),
        };
        let frame = bytes.trim_ascii_end();
        let id = if is_line { answered(frame) } else { None };
        let due = id.as_ref().and_then(|id| self.calls().get(id).map(|held| held.due));
        let Some((id, due)) = id.clone().zip(due) else {
            return self.send(Out::Bytes { bytes, is_reply: id.is_some() }).await;
        };
        if due <= Instant::now() {
            return self.deliver(&id, bytes).await;
        }
        let relay = self.clone();
        tokio::spawn(async move {
            sleep_until(due).await;
            relay.deliver(&id, bytes).await;
        });
    }

    /// A call arrives.
    async fn call(self: &Arc<Self>, call: Call, mut line: Vec<u8>, mut open: Option<Open>) {
        if let Some(mut other) = self.judge.first_page(&call, &line) {
            other.push(b'\n');
            line = other;
        }
        let treatment = self.judge.treat(&call, None);
        if call.era == Era::Modern && call.method == SUBSCRIBE {
            self.start(Era::Modern);
        }
        if treatment.is_nothing() && open.is_none() {
            return self.forward(line).await;
        }
        if let Some(open) = &mut open {
            open.decided(&treatment.decisions);
        }
        let due = Instant::now() + treatment.delay;
        let instead = treatment.instead.clone();
        let held = Held { treatment, due, forwarded: instead.is_none(), cancelled: false, open };
        self.calls().insert(call.id.clone(), held);
        match instead {
            None => self.forward(line).await,
            Some(instead) => {
                tokio::spawn(self.clone().replace(instead, call, line, due));
            }
        }
    }

    /// Does what takes the place of the usual reply.
    async fn replace(self: Arc<Self>, instead: Instead, call: Call, line: Vec<u8>, due: Instant) {
        sleep_until(due).await;
        match &instead {
            Instead::Hang => sleep(HANG_LIMIT).await,
            Instead::LazyInit => {
                if self.judge.gate().await == Gate::Pass {
                    if let Some(held) = self.calls().get_mut(&call.id) {
                        held.forwarded = true;
                    }
                    return self.forward(line).await;
                }
            }
            Instead::Cut(_) => return self.finish(ProxyEnd::Cut).await,
            Instead::Crash(code) => return self.finish(ProxyEnd::Crash(*code)).await,
            // The last two are statuses, which no pipe has; the proxy refused them at its start.
            Instead::Error { .. }
            | Instead::ToolError { .. }
            | Instead::Http { .. }
            | Instead::SessionLost => {}
        }
        if let Some(frame) = instead.frame(&call.id, call.era) {
            self.deliver(&call.id, frame).await;
        }
    }

    /// Sends a reply as its treatment says, unless the call was withdrawn.
    async fn deliver(&self, id: &Key, reply: Vec<u8>) {
        let Some(mut held) = self.calls().remove(id) else { return };
        if held.cancelled {
            return;
        }
        for notice in notice::beside(&held.treatment.beside) {
            self.send(Out::Bytes { bytes: [notice, b"\n"].concat(), is_reply: false }).await;
        }
        if let Some(open) = &mut held.open {
            open.replied(reply.trim_ascii_end());
        }
        if held.treatment.mangles.is_empty() {
            let mut bytes = reply;
            if !bytes.ends_with(b"\n") {
                bytes.push(b'\n');
            }
            self.send(Out::Bytes { bytes, is_reply: true }).await;
        } else {
            let frame = reply.trim_ascii_end().to_vec();
            self.send(Out::Steps(mangle(frame, &held.treatment.mangles))).await;
        }
        self.judge.recorder.close(held.open).await;
    }

    /// A call is withdrawn. Whether the server is told.
    async fn cancel(self: &Arc<Self>, id: &Key) -> bool {
        let (open, due, forwarded) = {
            let mut calls = self.calls();
            let Some(held) = calls.get_mut(id) else { return true };
            if held.treatment.ignores_cancel {
                return false;
            }
            held.cancelled = true;
            (held.open.take(), held.due, held.forwarded)
        };
        // What the server has already answered is held back until then; what it answers later is
        // its own affair.
        let (relay, id) = (self.clone(), id.clone());
        tokio::spawn(async move {
            sleep_until(due).await;
            let mut calls = relay.calls();
            if calls.get(&id).is_some_and(|held| held.cancelled) {
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
    fn start(self: &Arc<Self>, era: Era) {
        let Some(rate) = self.judge.flood(None, era) else { return };
        let (mut flood, to_client) = (Flood::new(rate), self.to_client.clone());
        tokio::spawn(async move {
            let mut ticks = tokio::time::interval(BURST);
            loop {
                ticks.tick().await;
                let bytes = flood.burst().flat_map(|notice| [notice, b"\n"]).flatten().copied();
                let bytes: Vec<u8> = bytes.collect();
                let sent = to_client.send(Out::Bytes { bytes, is_reply: false });
                if sent.await.is_err() {
                    return;
                }
            }
        });
    }

    async fn forward(&self, bytes: Vec<u8>) {
        // A server that no longer reads has ended, and whoever waits for its end knows it.
        let _ = self.to_server.send(Input::Bytes(bytes)).await;
    }

    async fn send(&self, out: Out) {
        // A client that no longer reads has gone, and the outlet has said so.
        let _ = self.to_client.send(out).await;
    }

    async fn finish(&self, end: ProxyEnd) {
        let _ = self.end.send(end).await;
    }

    /// A panic while the lock was held leaves at worst a call without a reply.
    fn calls(&self) -> MutexGuard<'_, HashMap<Key, Held>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
