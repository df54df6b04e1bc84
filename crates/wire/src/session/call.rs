//! A prepared request, sent; and the ends that a call may come to without a reply.

use std::{borrow::Cow, rc::Rc, time::Duration};

use mcp_loadtest_core::{
    event::{Event, Failure, Phase, note},
    mcp::{lifecycle::Withdrawal, method},
    outcome::{ErrorCategory, Outcome},
};
use serde_json::json;

use super::{Break, InFlight, Inner, Prepared, Reply, Session, settle::reply_of};
use crate::{
    slots::{Deadlines, Ended, Limits, Opening},
    transport::Link,
};

/// How a call is made.
#[derive(Debug, Clone, Copy)]
pub struct How {
    /// Why it is made.
    pub phase: Phase,
    /// When it should have started; now, if nothing is said.
    pub intended: Option<Duration>,
    /// Which step of the scenario it belongs to; 0 without steps.
    pub segment: u16,
    /// How long it is waited for.
    pub deadlines: Deadlines,
    /// Whether the caller wants the body.
    pub keep_body: bool,
}

impl How {
    /// A call that starts now, of no particular step, whose body nobody wants.
    pub fn new(phase: Phase, deadlines: Deadlines) -> Self {
        Self { phase, intended: None, segment: 0, deadlines, keep_body: false }
    }

    /// A request of the set-up: one limit, body kept.
    pub fn setup(limit: Duration) -> Self {
        let deadlines = Deadlines { hang: Duration::MAX, grace: Duration::MAX, timeout: limit };
        Self { keep_body: true, ..Self::new(Phase::Setup, deadlines) }
    }
}

/// How a call ended. What is large is boxed: calls wait by the thousand.
#[derive(Debug)]
pub enum Ending {
    /// With a good reply whose body nobody wants.
    Well {
        /// When the call was sent.
        started: Duration,
        /// When it ended.
        ended: Duration,
    },
    /// With any other reply, or a failure.
    Otherwise(Box<Reply>),
}

impl Ending {
    /// Good, or which failure; and when that was.
    #[inline]
    pub fn outcome(&self) -> (Outcome, Duration) {
        match self {
            Self::Well { ended, .. } => (Outcome::Ok, *ended),
            Self::Otherwise(reply) => (reply.outcome, reply.ended),
        }
    }

    /// All that is known of it.
    pub fn into_reply(self) -> Reply {
        match self {
            Self::Well { started, ended } => Reply::good(started, ended),
            Self::Otherwise(reply) => *reply,
        }
    }
}

impl Session {
    /// Sends the request and follows it to its end. Dropping the future withdraws the call.
    pub async fn call(&self, prepared: &Rc<Prepared>, how: How) -> Reply {
        self.send(prepared, how).ended().await.into_reply()
    }

    /// The same for calls by the thousand, which hold on to no more than they have to.
    #[inline]
    pub fn send(&self, prepared: &Rc<Prepared>, how: How) -> InFlight {
        let started = self.inner.clock.now();
        let opening = Opening {
            prepared: prepared.clone(),
            phase: how.phase,
            segment: how.segment,
            intended: how.intended.unwrap_or(started),
            started,
            limits: Limits::new(&how.deadlines),
            keep_body: how.keep_body,
            hang_told: false,
        };
        let id = self.inner.open_call(opening, how.phase);
        InFlight::new(self.inner.clone(), id)
    }

    /// Sends a notification.
    pub async fn notify(&self, method: &str, params: serde_json::Value) {
        self.inner.link.notify(&self.inner, method, &params).await;
    }
}

impl Inner {
    /// Begins a call; `phase` is what its request is told as.
    pub(super) fn open_call(&self, opening: Opening, phase: Phase) -> u64 {
        let mut slots = self.slots.borrow_mut();
        let slot = slots.open(opening);
        let id = slot.id;
        let Some(prepared) = &slot.prepared else { return id };
        let mut call = self.call_of(slot);
        call.phase = phase;
        self.emit(&Event::Request { call, params: Cow::Borrowed(prepared.template.params()) });
        if self.is_broken() {
            drop(slots);
            self.end_broken(id);
        } else if let Some(why) = prepared.refused.clone() {
            drop(slots);
            self.end_refused(id, &why);
        } else if self.losing.is_all() {
            // Nobody reads what is sent now. It waits with the others until it is clear why.
        } else if let Link::Stdio(stdio) = &self.link {
            stdio.send(|out| prepared.template.write(id, out));
        } else {
            let prepared = prepared.clone();
            drop(slots);
            self.link.send_call(self, id, &prepared);
        }
        id
    }

    /// Ends a call that came too late for its connection.
    #[cold]
    fn end_broken(&self, id: u64) {
        let broken = self.broken.borrow().clone();
        if let Some(cause) = broken {
            self.end_call(id, &cause);
        }
    }

    /// Ends a call that is not sent because its arguments break the contract.
    #[cold]
    fn end_refused(&self, id: u64, why: &str) {
        let message = format!("not sent: {why}");
        self.note(note::SCHEMA_MISMATCH, message.clone());
        let category = ErrorCategory::ProtocolError;
        self.end_call(id, &Break { category, code: None, message: message.into() });
    }

    /// Ends a call whose connection broke: at that moment, however long it took to find out why.
    pub(crate) fn end_call(&self, id: u64, cause: &Break) {
        let mut slots = self.slots.borrow_mut();
        let Some(slot) = slots.waiting(id) else { return };
        let lost = self.losing.since(id).unwrap_or_else(|| self.clock.now());
        // A call may begin when its connection is lost already.
        let at = lost.max(slot.started);
        let failure = Failure {
            category: cause.category,
            message: cause.message.as_ref().into(),
            code: cause.code,
        };
        let reply = reply_of(&failure, None, slot.started, at);
        self.emit(&Event::Error { call: self.call_of(slot), at, failure });
        slots.finish(id, Ended::Replied(Box::new(reply)));
    }

    /// Gives a call up and withdraws it.
    pub(super) fn give_up(&self, id: u64, category: ErrorCategory, message: String) -> Reply {
        let at = self.clock.now();
        let failure = Failure { category, message: message.into(), code: None };
        let mut slots = self.slots.borrow_mut();
        let is_handshake =
            slots.prepared(id).is_some_and(|prepared| prepared.method() == method::INITIALIZE);
        let started = slots.waiting(id).map_or(at, |slot| {
            self.emit(&Event::Error { call: self.call_of(slot), at, failure: failure.clone() });
            slot.started
        });
        slots.abandon(id);
        drop(slots);
        // The one request that a client must not withdraw.
        if !is_handshake {
            self.withdraw(id);
        }
        reply_of(&failure, None, started, at)
    }

    /// Tells the server that nobody waits any more, where the revision does so with a message.
    fn withdraw(&self, id: u64) {
        let lifecycle = self.lifecycle.get();
        let by_closing =
            lifecycle.withdrawal == Withdrawal::NotifyOrClose && matches!(self.link, Link::Http(_));
        if !by_closing && !self.is_broken() {
            let params = json!({ "requestId": id, "reason": "no reply in time" });
            self.link.notify_detached(self, method::CANCELLED, &params);
        }
    }
}
