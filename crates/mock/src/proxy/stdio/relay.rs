//! Passes messages on in both directions, and treats calls as their faults say.

use std::{borrow::Cow, sync::Arc};

use mcp_loadtest_core::{
    fault::{FLOOD_TIME, HANG_LIMIT, Instead, mangle},
    mcp::Era,
};
use tokio::{
    sync::{Notify, mpsc},
    time::{Duration, Instant, sleep, sleep_until},
};
use tokio_util::sync::CancellationToken;

use super::{
    Input, ProxyEnd,
    batch::Onward,
    held::{Calls, Held},
    lines::{Lines, Piece},
    outlet::Out,
};
use crate::{
    mcp::{batch::Batch, write::NO_ID},
    proxy::{
        judge::{Gate, Judge},
        message::{Call, Key, SUBSCRIBE, Said, answered},
        notice,
        open::Open,
    },
};

/// Both directions of one connection.
pub(super) struct Relay {
    pub(super) judge: Judge,
    pub(super) calls: Calls,
    /// Fires whenever a call is withdrawn.
    pub(super) withdrawn: Notify,
    pub(super) to_client: mpsc::Sender<Out>,
    to_server: mpsc::Sender<Input>,
    end: mpsc::Sender<ProxyEnd>,
}

/// How long what takes the place of a reply waits.
pub(super) struct Wait {
    due: Instant,
    withdrawn: CancellationToken,
}

impl Wait {
    pub(super) fn of(held: &Held) -> Self {
        Self { due: held.due, withdrawn: held.withdrawn.clone() }
    }
}

impl Relay {
    pub(super) fn new(
        judge: Judge,
        to_client: mpsc::Sender<Out>,
        to_server: mpsc::Sender<Input>,
        end: mpsc::Sender<ProxyEnd>,
    ) -> Self {
        Self { judge, calls: Calls::default(), withdrawn: Notify::new(), to_client, to_server, end }
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
        let left: Vec<_> = self.calls.lock().drain().collect();
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
        let members = Batch::members(line.trim_ascii_end());
        if let Some(members) = members {
            let members = members.into_iter().map(Cow::Borrowed).collect();
            return match self.batch_from_client(members).await {
                Onward::AsItCame => self.forward(line).await,
                Onward::Other(line) => self.forward(line).await,
                Onward::Nothing => {}
            };
        }
        let said = Said::read(line.trim_ascii_end());
        let open = self.judge.recorder.open(&said, line.len(), None);
        match said {
            Said::Request(call) => self.call(call, line, open).await,
            other => {
                if self.hear(other, open).await {
                    self.forward(line).await;
                }
            }
        }
    }

    pub(super) async fn from_server(self: &Arc<Self>, piece: Piece) {
        let (bytes, is_line) = match piece {
            Piece::Raw(bytes) => (bytes, false),
            Piece::Line(line) => (line, true),
        };
        let frame = bytes.trim_ascii_end();
        if is_line && let Some(members) = Batch::members(frame) {
            let members = members.into_iter().map(<[u8]>::to_vec).collect();
            return self.batch_from_server(bytes, members).await;
        }
        let id = if is_line { answered(frame) } else { None };
        let due = id.as_ref().and_then(|id| self.calls.lock().get(id).map(|held| held.due));
        if id.as_deref() == Some(NO_ID) {
            self.batch_is_refused(frame).await;
        }
        match id.clone().zip(due) {
            Some((id, due)) => self.arrived(id, bytes, due).await,
            None => self.send(Out::Bytes { bytes, is_reply: id.is_some() }).await,
        }
    }

    /// The reply to a call has come; it leaves when it is due.
    pub(super) async fn arrived(self: &Arc<Self>, id: Key, bytes: Vec<u8>, due: Instant) {
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
    async fn call(self: &Arc<Self>, call: Call, mut line: Vec<u8>, open: Option<Open>) {
        if let Some(mut other) = self.judge.first_page(&call, &line) {
            other.push(b'\n');
            line = other;
        }
        let held = self.treat(&call, open);
        if held.treatment.is_nothing() && held.open.is_none() {
            return self.forward(line).await;
        }
        let (wait, instead) = (Wait::of(&held), held.treatment.instead.clone());
        self.calls.lock().insert(call.id.clone(), held);
        match instead {
            None => self.forward(line).await,
            Some(instead) => {
                tokio::spawn(self.clone().replace(instead, call, line, wait));
            }
        }
    }

    /// Asks the faults about a call.
    pub(super) fn treat(self: &Arc<Self>, call: &Call, mut open: Option<Open>) -> Held {
        let treatment = self.judge.treat(call, None);
        if call.era == Era::Modern && call.method == SUBSCRIBE {
            self.start(Era::Modern);
        }
        if let Some(open) = &mut open {
            open.decided(&treatment.decisions);
        }
        let flood = notice::flood(&treatment.beside);
        flood.into_iter().for_each(|rate| self.flood_call(rate));
        let held_for = flood.map_or(Duration::ZERO, |_| FLOOD_TIME);
        Held {
            due: Instant::now() + held_for + treatment.delay,
            forwarded: treatment.instead.is_none(),
            treatment,
            withdrawn: CancellationToken::new(),
            open,
            company: None,
        }
    }

    /// Does what takes the place of the usual reply.
    pub(super) async fn replace(
        self: Arc<Self>,
        instead: Instead,
        call: Call,
        line: Vec<u8>,
        wait: Wait,
    ) {
        // A call that is withdrawn while it loads lets go of the lock, which is cold again then.
        let gate = tokio::select! {
            biased;
            () = wait.withdrawn.cancelled() => return,
            gate = self.before(&instead, wait.due) => gate,
        };
        if gate == Gate::Pass {
            return self.let_through(&call.id, line, &wait.withdrawn).await;
        }
        match &instead {
            Instead::Cut(_) => return self.finish(ProxyEnd::Cut).await,
            Instead::Crash(code) => return self.finish(ProxyEnd::Crash(*code)).await,
            // The last two are statuses, which no pipe has; the proxy refused them at its start.
            Instead::Hang
            | Instead::LazyInit
            | Instead::Error { .. }
            | Instead::ToolError { .. }
            | Instead::Http { .. }
            | Instead::SessionLost => {}
        }
        if let Some(frame) = instead.frame(&call.id, call.era) {
            self.deliver(&call.id, frame).await;
        }
    }

    /// Waits for as long as what takes the reply's place wants; whether the server answers after all.
    async fn before(&self, instead: &Instead, due: Instant) -> Gate {
        sleep_until(due).await;
        match instead {
            Instead::Hang => sleep(HANG_LIMIT).await,
            Instead::LazyInit => return self.judge.gate().await,
            _ => {}
        }
        Gate::Hung
    }

    /// A call that waited goes to the server, unless it was withdrawn.
    async fn let_through(&self, id: &Key, line: Vec<u8>, withdrawn: &CancellationToken) {
        // With its place in the queue nothing can come between the call and word that it has left: a
        // cancel is told to the server behind it, or not at all and then it does not leave.
        let Ok(place) = self.to_server.reserve().await else { return };
        let mut calls = self.calls.lock();
        let held = calls.get_mut(id).filter(|_| !withdrawn.is_cancelled());
        if let Some(held) = held {
            held.forwarded = true;
            place.send(Input::Bytes(line));
        }
    }

    /// Sends a reply as its treatment says, unless the call was withdrawn.
    async fn deliver(self: &Arc<Self>, id: &Key, reply: Vec<u8>) {
        let Some(mut held) = self.calls.lock().remove(id) else { return };
        if let Some(company) = held.company.take() {
            // The server answers one by one.
            self.release(company.take());
        }
        if held.withdrawn.is_cancelled() {
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

    async fn forward(&self, bytes: Vec<u8>) {
        // A server that no longer reads has ended, and whoever waits for its end knows it.
        let _ = self.to_server.send(Input::Bytes(bytes)).await;
    }

    pub(super) async fn send(&self, out: Out) {
        // A client that no longer reads has gone, and the outlet has said so.
        let _ = self.to_client.send(out).await;
    }

    async fn finish(&self, end: ProxyEnd) {
        let _ = self.end.send(end).await;
    }
}
