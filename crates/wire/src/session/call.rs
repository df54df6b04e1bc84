//! A prepared request, sent and followed to its end.

use std::{
    borrow::Cow,
    future::poll_fn,
    pin::{Pin, pin},
    rc::Rc,
    task::Poll,
    time::Duration,
};

use mcp_loadtest_core::{
    event::{Call, Event, Failure, Phase},
    mcp::{lifecycle::Withdrawal, method},
    outcome::ErrorCategory,
};
use serde_json::json;

use super::{Break, Inner, Prepared, Reply, Session, settle::reply_of};
use crate::{
    slots::{Deadlines, Due, Ended, Opening, Progress},
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

/// Rounds of `input_required` before a call is given up.
const MOST_ROUNDS: u32 = 10;

/// One call from its first request to its end, over all its rounds.
struct Attempt {
    how: How,
    started: Duration,
}

impl Attempt {
    fn intended(&self) -> Duration {
        self.how.intended.unwrap_or(self.started)
    }
}

enum Step {
    /// A good reply whose body nobody wants.
    Well {
        started: Duration,
        ended: Duration,
    },
    Ended(Box<Reply>),
    NeedsInput(Box<[u8]>),
}

impl Session {
    /// Sends the request and follows it to its end. Dropping the future withdraws the call.
    pub fn call(&self, prepared: &Rc<Prepared>, how: How) -> impl Future<Output = Reply> {
        // Not an `async fn`: that would keep `how` twice in each of thousands of calls.
        let mut attempt = Attempt { how, started: Duration::ZERO };
        async move {
            attempt.started = self.inner.clock.now();
            let id = self.inner.open_call(prepared, &attempt, attempt.how.phase);
            match self.inner.follow(id, prepared).await {
                Step::Well { started, ended } => Reply::good(started, ended),
                Step::Ended(reply) => *reply,
                // Rare, and its state is large: boxed so that a plain call stays small.
                Step::NeedsInput(result) => {
                    Box::pin(self.inner.further_rounds(prepared, &attempt, result)).await
                }
            }
        }
    }

    /// Sends a notification.
    pub async fn notify(&self, method: &str, params: serde_json::Value) {
        self.inner.link.notify(&self.inner, method, &params).await;
    }
}

impl Inner {
    /// Answers `input_required` by repeating the request with what was asked for.
    async fn further_rounds(
        &self,
        first: &Rc<Prepared>,
        attempt: &Attempt,
        mut result: Box<[u8]>,
    ) -> Reply {
        // Only the first round counts as issued; the rounds after it belong to the same call.
        let phase =
            if attempt.how.phase == Phase::Load { Phase::Control } else { attempt.how.phase };
        for _ in 0..MOST_ROUNDS {
            let Some(next) = self.with_input(first, &result) else {
                return self.fail(first, attempt, "`input_required` without anything to answer");
            };
            let next = Rc::new(next);
            let id = self.open_call(&next, attempt, phase);
            match self.follow(id, &next).await {
                Step::Well { started, ended } => return Reply::good(started, ended),
                Step::Ended(reply) => return *reply,
                Step::NeedsInput(again) => result = again,
            }
        }
        self.fail(first, attempt, "`input_required` again and again")
    }

    fn open_call(&self, prepared: &Rc<Prepared>, attempt: &Attempt, phase: Phase) -> u64 {
        let opening = Opening {
            prepared: prepared.clone(),
            phase: attempt.how.phase,
            segment: attempt.how.segment,
            intended: attempt.intended(),
            started: attempt.started,
            deadlines: attempt.how.deadlines,
            keep_body: attempt.how.keep_body,
        };
        let mut slots = self.slots.borrow_mut();
        let id = slots.open(opening);
        if let Some(slot) = slots.waiting(id) {
            let mut call = self.call_of(slot);
            call.phase = phase;
            self.emit(&Event::Request { call, params: Cow::Borrowed(prepared.template.params()) });
        }
        drop(slots);
        if self.is_broken() {
            self.end_broken(id);
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

    /// Sends the request and waits for what becomes of it.
    async fn follow(&self, id: u64, prepared: &Rc<Prepared>) -> Step {
        let withdrawn = WithdrawOnDrop { inner: self, id, done: false };
        let step = match &self.link {
            Link::Http(http) => {
                let exchange = pin!(http.exchange(self, id, prepared));
                self.await_end(id, exchange).await
            }
            link => {
                if !self.is_broken() {
                    match link {
                        Link::Stdio(stdio) => stdio.send(|out| prepared.template.write(id, out)),
                        other => other.send_call(self, id, prepared),
                    }
                }
                self.await_end(id, pin!(std::future::pending())).await
            }
        };
        withdrawn.disarm();
        step
    }

    /// Waits for the slot while the exchange, if there is one, moves bytes.
    async fn await_end(&self, id: u64, mut exchange: Pin<&mut impl Future<Output = ()>>) -> Step {
        let mut exchanging = self.link.is_http();
        loop {
            let progress = poll_fn(|cx| {
                let mut slots = self.slots.borrow_mut();
                if exchanging {
                    if let Some(progress) = slots.progress(id) {
                        return Poll::Ready(progress);
                    }
                    // The exchange ends the call itself; a task that wakes itself is polled twice.
                    slots.forget_waker(id);
                    drop(slots);
                    exchanging = exchange.as_mut().poll(cx).is_pending();
                    slots = self.slots.borrow_mut();
                }
                slots.poll(id, cx.waker()).map_or(Poll::Pending, Poll::Ready)
            })
            .await;
            match progress {
                Progress::Finished(started, Ended::Well(ended)) => {
                    return Step::Well { started, ended };
                }
                Progress::Finished(_, Ended::Replied(reply)) => return Step::Ended(reply),
                Progress::Finished(_, Ended::NeedsInput(result)) => {
                    return Step::NeedsInput(result);
                }
                Progress::Due(Due::Overdue) => self.begin_watch(id),
                Progress::Due(Due::Silent) => {
                    return Step::Ended(Box::new(self.give_up_silent(id)));
                }
                Progress::Due(Due::TimedOut) => {
                    let message = "no reply within the call timeout".into();
                    let reply = self.give_up(id, ErrorCategory::Timeout, message);
                    return Step::Ended(Box::new(reply));
                }
            }
        }
    }

    /// Ends a call whose connection broke.
    pub(crate) fn end_call(&self, id: u64, cause: &Break) {
        let at = self.clock.now();
        let mut slots = self.slots.borrow_mut();
        let Some(slot) = slots.waiting(id) else { return };
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
        let started = slots.waiting(id).map_or(at, |slot| {
            self.emit(&Event::Error { call: self.call_of(slot), at, failure: failure.clone() });
            slot.started
        });
        slots.abandon(id);
        drop(slots);
        self.withdraw(id);
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

    /// Ends a call for a reason of our own, after its slot is gone.
    fn fail(&self, prepared: &Prepared, attempt: &Attempt, message: &'static str) -> Reply {
        let at = self.clock.now();
        let failure =
            Failure { category: ErrorCategory::Malformed, message: message.into(), code: None };
        let call = Call {
            request_id: 0,
            session: self.index,
            worker: self.worker,
            phase: attempt.how.phase,
            method: Cow::Borrowed(prepared.method()),
            tool: prepared.tool().map(Cow::Borrowed),
            segment: attempt.how.segment,
            intended: attempt.intended(),
            started: attempt.started,
        };
        self.emit(&Event::Error { call, at, failure: failure.clone() });
        reply_of(&failure, None, attempt.started, at)
    }
}

/// Books a call as cancelled when its caller goes away before the reply.
struct WithdrawOnDrop<'a> {
    inner: &'a Inner,
    id: u64,
    done: bool,
}

impl WithdrawOnDrop<'_> {
    fn disarm(mut self) {
        self.done = true;
    }
}

impl Drop for WithdrawOnDrop<'_> {
    fn drop(&mut self) {
        if self.done {
            return;
        }
        if self.inner.slots.borrow_mut().waiting(self.id).is_some() {
            self.inner.give_up(self.id, ErrorCategory::Cancelled, "withdrawn by the caller".into());
        }
        self.inner.slots.borrow_mut().release(self.id);
    }
}
