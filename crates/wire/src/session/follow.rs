//! A call in flight, followed to its end.

use std::{
    borrow::Cow,
    future::poll_fn,
    pin::{Pin, pin},
    rc::Rc,
    task::{Context, Poll},
};

use mcp_loadtest_core::{
    event::{Call, Event, Failure, Phase},
    outcome::ErrorCategory,
};

use super::{Inner, call::Ending, settle::reply_of};
use crate::{
    slots::{Due, Ended, Opening, Progress, Unfinished},
    transport::Link,
};

/// Rounds of `input_required` before a call is given up.
const MOST_ROUNDS: u16 = 10;
/// What a round may ask and want back. It is sent again in every round, and kept in the trace.
const MOST_STATE: usize = 1 << 20;

/// What has become of a call.
enum Step {
    Over(Ending),
    NeedsInput(Box<Unfinished>),
}

/// A call on its way. Dropping it before its end withdraws the call.
pub struct InFlight {
    inner: Rc<Inner>,
    id: u64,
    rounds: u16,
    landed: bool,
}

impl InFlight {
    #[inline]
    pub(super) fn new(inner: Rc<Inner>, id: u64) -> Self {
        Self { inner, id, rounds: 0, landed: false }
    }

    /// The id that its request carries.
    pub fn id(&self) -> u64 {
        self.id
    }

    /// Follows the call to its end.
    pub async fn ended(&mut self) -> Ending {
        let (inner, id) = (&*self.inner, self.id);
        let step = match &inner.link {
            Link::Http(http) => {
                let mut exchange = pin!(http.exchange(inner, id));
                let mut exchanging = true;
                poll_fn(|cx| inner.poll_exchange(id, cx, exchange.as_mut(), &mut exchanging)).await
            }
            _ => poll_fn(|cx| inner.poll_call(id, cx)).await,
        };
        self.landed = true;
        match step {
            Step::Over(ending) => ending,
            // Rare, and its state is large: boxed so that a plain call stays small.
            Step::NeedsInput(unfinished) => {
                let further: Pin<Box<dyn Future<Output = Ending> + '_>> =
                    Box::pin(self.further_round(unfinished));
                further.await
            }
        }
    }

    /// Answers `input_required` by repeating the request with what was asked for.
    async fn further_round(&mut self, unfinished: Box<Unfinished>) -> Ending {
        let Unfinished { opening, result } = *unfinished;
        self.rounds += 1;
        if self.rounds > MOST_ROUNDS {
            return self.inner.fail(&opening, "`input_required` again and again");
        }
        if result.len() > MOST_STATE {
            return self.inner.fail(&opening, "`input_required` with more than 1 MiB");
        }
        let Some(next) = self.inner.with_input(&opening.prepared, &result) else {
            return self.inner.fail(&opening, "`input_required` without anything to answer");
        };
        // Only the first round counts as issued; the rounds after it belong to the same call.
        let phase = if opening.phase == Phase::Load { Phase::Control } else { opening.phase };
        self.id = self.inner.open_call(Opening { prepared: Rc::new(next), ..opening }, phase);
        self.landed = false;
        self.ended().await
    }
}

impl Drop for InFlight {
    #[inline]
    fn drop(&mut self) {
        if !self.landed {
            self.inner.withdraw_call(self.id);
        }
    }
}

impl Inner {
    /// What has become of a call; whoever asks is woken when there is something.
    #[inline]
    fn poll_call(&self, id: u64, cx: &Context<'_>) -> Poll<Step> {
        loop {
            let progress = self.slots.borrow_mut().poll(id, cx.waker());
            let Some(progress) = progress else { return Poll::Pending };
            if let Some(step) = self.step(id, progress) {
                return Poll::Ready(step);
            }
        }
    }

    /// The same while the call's own exchange, for as long as it goes on, moves bytes.
    fn poll_exchange(
        &self,
        id: u64,
        cx: &mut Context<'_>,
        exchange: Pin<&mut impl Future<Output = ()>>,
        exchanging: &mut bool,
    ) -> Poll<Step> {
        if *exchanging {
            let progress = self.slots.borrow_mut().progress(id);
            if let Some(step) = progress.and_then(|progress| self.step(id, progress)) {
                return Poll::Ready(step);
            }
            // The exchange ends the call itself; a task that wakes itself is polled twice.
            self.slots.borrow_mut().forget_waker(id);
            *exchanging = exchange.poll(cx).is_pending();
        }
        self.poll_call(id, cx)
    }

    /// What comes of this; nothing when the call goes on.
    #[inline]
    fn step(&self, id: u64, progress: Progress) -> Option<Step> {
        Some(match progress {
            Progress::Finished(started, Ended::Well(ended)) => {
                Step::Over(Ending::Well { started, ended })
            }
            Progress::Finished(_, Ended::Replied(reply)) => Step::Over(Ending::Otherwise(reply)),
            Progress::Finished(_, Ended::NeedsInput(unfinished)) => Step::NeedsInput(unfinished),
            Progress::Due(due) => Step::Over(self.miss(id, due)?),
        })
    }

    /// A deadline has passed. Nothing comes of it when the call goes on, watched.
    #[cold]
    fn miss(&self, id: u64, due: Due) -> Option<Ending> {
        if let Some(seen) = self.losing.why(id) {
            self.end_call(id, &seen);
            return None;
        }
        let reply = match due {
            Due::Overdue => {
                self.begin_watch(id);
                return None;
            }
            Due::Silent => self.give_up_silent(id),
            Due::TimedOut => {
                let message = "no reply within the call timeout".into();
                self.give_up(id, ErrorCategory::Timeout, message)
            }
        };
        Some(Ending::Otherwise(Box::new(reply)))
    }

    /// Ends a call for a reason of our own, after its slot is gone.
    fn fail(&self, opening: &Opening, message: &'static str) -> Ending {
        let at = self.clock.now();
        let failure =
            Failure { category: ErrorCategory::Malformed, message: message.into(), code: None };
        let call = Call {
            request_id: 0,
            session: self.index,
            worker: self.worker,
            phase: opening.phase,
            method: Cow::Borrowed(opening.prepared.method()),
            tool: opening.prepared.tool().map(Cow::Borrowed),
            segment: opening.segment,
            intended: opening.intended,
            started: opening.started,
        };
        self.emit(&Event::Error { call, at, failure: failure.clone() });
        Ending::Otherwise(Box::new(reply_of(&failure, None, opening.started, at)))
    }
    /// Books a call as cancelled whose caller went away before the reply.
    #[cold]
    fn withdraw_call(&self, id: u64) {
        if self.slots.borrow_mut().waiting(id).is_some() {
            self.give_up(id, ErrorCategory::Cancelled, "withdrawn by the caller".into());
        }
        self.slots.borrow_mut().release(id);
    }
}
