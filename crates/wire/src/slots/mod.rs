//! The calls in flight on one session: a ring of slots, found by id without hashing.
//!
//! | state     | entered by        | left by                                                  |
//! |-----------|-------------------|----------------------------------------------------------|
//! | Free      | `poll`            | `open`                                                   |
//! | Waiting   | `open`            | `finish` (it has ended), `abandon` (it was given up)     |
//! | Finished  | `finish`          | `poll` by the caller, which releases the slot            |
//! | Abandoned | `abandon`         | a late reply, or nothing: the id stays known             |
//!
//! An id's slot is `id % capacity`. A slot that is still taken by an old, stuck call makes `open`
//! skip that id, so ids stay unique and grow; gaps mean that something hangs.

mod deadlines;

use std::{rc::Rc, task::Waker, time::Duration};

use mcp_loadtest_core::{event::Phase, units::nanos};

pub use deadlines::Deadlines;
pub(crate) use deadlines::{Due, Limits, Overdue};

use crate::session::Prepared;

/// What a caller waits for.
#[derive(Debug)]
pub(crate) enum Progress {
    /// The call that began then has ended.
    Finished(Duration, Ended),
    /// A deadline has passed.
    Due(Due),
}

/// How the wire saw a call end; it was reported. What is large is boxed: calls wait by the thousand.
#[derive(Debug)]
pub(crate) enum Ended {
    /// With a good reply at this moment, whose body nobody wants.
    Well(Duration),
    /// With any other reply, or a failure.
    Replied(Box<crate::session::Reply>),
    /// Not yet: the server wants input before it answers.
    NeedsInput(Box<Unfinished>),
}

/// A call that goes on with another request.
#[derive(Debug)]
pub(crate) struct Unfinished {
    /// As it began.
    pub(crate) opening: Opening,
    /// The raw result that says what is wanted.
    pub(crate) result: Box<[u8]>,
}

#[derive(Debug)]
enum State {
    Free,
    Waiting { overdue: bool },
    Finished(Ended),
    Abandoned,
}

/// What is known of a call in flight.
#[derive(Debug)]
pub(crate) struct Slot {
    pub(crate) id: u64,
    pub(crate) prepared: Option<Rc<Prepared>>,
    pub(crate) phase: Phase,
    pub(crate) segment: u16,
    pub(crate) intended: Duration,
    pub(crate) started: Duration,
    pub(crate) keep_body: bool,
    /// It was told as a hang, in this round or in one before.
    pub(crate) hang_told: bool,
    state: State,
    waker: Option<Waker>,
    limits: Limits,
    due: Option<Due>,
}

/// All calls in flight on a session.
#[derive(Debug)]
pub(crate) struct Slots {
    ring: Vec<Slot>,
    first_id: u64,
    next_id: u64,
    waiting: usize,
    /// Calls that have ended and whose callers have not looked yet: their slots are still taken.
    finished: usize,
    abandoned: usize,
    /// Replies taken so far, on any call.
    pub(crate) replies: u64,
}

/// What a new call brings along.
#[derive(Debug)]
pub(crate) struct Opening {
    pub(crate) prepared: Rc<Prepared>,
    pub(crate) phase: Phase,
    pub(crate) segment: u16,
    pub(crate) intended: Duration,
    pub(crate) started: Duration,
    pub(crate) limits: Limits,
    pub(crate) keep_body: bool,
    /// It goes on with a call that was told as a hang.
    pub(crate) hang_told: bool,
}

/// Calls that were given up and may still be answered; beyond this they are forgotten.
const MOST_ABANDONED: usize = 4096;

impl Slots {
    /// No calls yet. Threads may share an HTTP session, in which no id may come twice, so each has
    /// a range of its own; all stay below 2^53, which is as far as JavaScript counts.
    pub(crate) fn new(worker: u16) -> Self {
        let first_id = (u64::from(worker) << 32) + 1;
        let mut slots = Self {
            ring: Vec::new(),
            first_id,
            next_id: first_id,
            waiting: 0,
            finished: 0,
            abandoned: 0,
            replies: 0,
        };
        slots.ring.resize_with(16, Slot::free);
        slots
    }

    /// Takes a slot for a new call.
    #[inline]
    pub(crate) fn open(&mut self, opening: Opening) -> &Slot {
        // Without a free slot the search below would never end.
        if self.is_nearly_full() && self.abandoned > MOST_ABANDONED {
            self.forget_abandoned();
        }
        if self.is_nearly_full() {
            self.resize(self.ring.len() * 2);
        }
        while !matches!(self.slot(self.next_id).state, State::Free) {
            self.next_id += 1;
        }
        let id = self.next_id;
        self.next_id += 1;
        self.waiting += 1;
        let slot = self.slot(id);
        *slot = Slot {
            id,
            prepared: Some(opening.prepared),
            phase: opening.phase,
            segment: opening.segment,
            intended: opening.intended,
            started: opening.started,
            keep_body: opening.keep_body,
            hang_told: opening.hang_told,
            state: State::Waiting { overdue: false },
            waker: None,
            limits: opening.limits,
            due: None,
        };
        slot
    }

    fn is_nearly_full(&self) -> bool {
        (self.waiting + self.finished + self.abandoned) * 4 >= self.ring.len() * 3
    }

    fn slot(&mut self, id: u64) -> &mut Slot {
        let index = id as usize & (self.ring.len() - 1);
        &mut self.ring[index]
    }

    /// Makes room for so many calls in flight at once: growing step by step would leave behind as much as
    /// they take.
    pub(crate) fn make_room(&mut self, calls: usize) {
        let size = (calls * 4 / 3 + 1).next_power_of_two();
        if size > self.ring.len() {
            self.resize(size);
        }
    }

    fn resize(&mut self, size: usize) {
        let old = std::mem::take(&mut self.ring);
        self.ring.resize_with(size, Slot::free);
        for slot in old {
            if !matches!(slot.state, State::Free) {
                let id = slot.id;
                *self.slot(id) = slot;
            }
        }
    }

    fn forget_abandoned(&mut self) {
        for slot in &mut self.ring {
            if matches!(slot.state, State::Abandoned) {
                *slot = Slot::free();
            }
        }
        self.abandoned = 0;
    }

    /// The call that still waits under this id.
    pub(crate) fn waiting(&mut self, id: u64) -> Option<&mut Slot> {
        let slot = self.slot(id);
        (slot.id == id && matches!(slot.state, State::Waiting { .. })).then_some(slot)
    }

    /// The request of the call that still waits under this id.
    pub(crate) fn prepared(&mut self, id: u64) -> Option<Rc<Prepared>> {
        self.waiting(id)?.prepared.clone()
    }

    /// The call that waits under this id, and whether its deadlines had passed at that moment. The
    /// sweep comes only now and then: a reply may be late before the sweep has noticed.
    pub(crate) fn waiting_at(&mut self, id: u64, at: Duration) -> Option<(&mut Slot, Overdue)> {
        let slot = self.waiting(id)?;
        let age = nanos(at.saturating_sub(slot.started));
        let overdue = match slot.state {
            _ if age >= slot.limits.timeout => Overdue::TimedOut,
            State::Waiting { overdue: true } => Overdue::Noticed,
            _ if age >= slot.limits.hang => Overdue::Unnoticed,
            _ => Overdue::No,
        };
        Some((slot, overdue))
    }

    /// The call that was given up under this id; it is forgotten with this.
    pub(crate) fn take_abandoned(&mut self, id: u64) -> Option<Slot> {
        let slot = self.slot(id);
        if slot.id != id || !matches!(slot.state, State::Abandoned) {
            return None;
        }
        let taken = std::mem::replace(slot, Slot::free());
        self.abandoned -= 1;
        Some(taken)
    }

    /// Whether this id was ever given out.
    pub(crate) fn was_used(&self, id: u64) -> bool {
        (self.first_id..self.next_id).contains(&id)
    }

    /// The only call that waits, if there is exactly one.
    pub(crate) fn only_waiting(&self) -> Option<u64> {
        if self.waiting != 1 {
            return None;
        }
        self.ring
            .iter()
            .find(|slot| matches!(slot.state, State::Waiting { .. }))
            .map(|slot| slot.id)
    }

    /// Ends a call and wakes its caller.
    #[inline]
    pub(crate) fn finish(&mut self, id: u64, ended: Ended) {
        let Some(slot) = self.waiting(id) else { return };
        slot.state = State::Finished(ended);
        let waker = slot.waker.take();
        self.waiting -= 1;
        self.finished += 1;
        self.replies += 1;
        if let Some(waker) = waker {
            waker.wake();
        }
    }

    /// What the caller of this id waits for, if it is there. A finished call gives its slot back.
    #[inline]
    pub(crate) fn progress(&mut self, id: u64) -> Option<Progress> {
        let slot = self.slot(id);
        if let State::Finished(_) = slot.state {
            let State::Finished(ended) = std::mem::replace(&mut slot.state, State::Free) else {
                return None;
            };
            slot.prepared = None;
            let started = slot.started;
            self.finished -= 1;
            return Some(Progress::Finished(started, ended));
        }
        slot.due.take().map(Progress::Due)
    }

    /// The same; if there is nothing yet, the caller is woken when there is.
    #[inline]
    pub(crate) fn poll(&mut self, id: u64, waker: &Waker) -> Option<Progress> {
        let progress = self.progress(id);
        if progress.is_none() {
            let slot = self.slot(id);
            if !slot.waker.as_ref().is_some_and(|known| known.will_wake(waker)) {
                slot.waker = Some(waker.clone());
            }
        }
        progress
    }

    /// The caller is awake and about to look for itself: until it polls again nobody need wake it.
    #[inline]
    pub(crate) fn forget_waker(&mut self, id: u64) {
        self.slot(id).waker = None;
    }

    /// Gives a call up; a late reply will still be recognised.
    pub(crate) fn abandon(&mut self, id: u64) {
        if let Some(slot) = self.waiting(id) {
            slot.state = State::Abandoned;
            slot.waker = None;
            self.waiting -= 1;
            self.abandoned += 1;
        }
    }

    /// Frees the slot of a call that has ended and whose caller is gone.
    pub(crate) fn release(&mut self, id: u64) {
        if self.slot(id).id == id && matches!(self.slot(id).state, State::Finished(_)) {
            self.progress(id);
        }
    }

    /// Wakes the callers whose deadlines have passed.
    pub(crate) fn sweep(&mut self, now: Duration) {
        for slot in &mut self.ring {
            let State::Waiting { overdue } = &mut slot.state else { continue };
            let age = nanos(now.saturating_sub(slot.started));
            let due = if age >= slot.limits.timeout {
                Due::TimedOut
            } else if *overdue && age >= slot.limits.silent {
                Due::Silent
            } else if !*overdue && age >= slot.limits.hang {
                *overdue = true;
                Due::Overdue
            } else {
                continue;
            };
            slot.due = Some(due);
            if let Some(waker) = slot.waker.take() {
                waker.wake();
            }
        }
    }

    /// All calls that wait.
    pub(crate) fn waiting_ids(&self) -> Vec<u64> {
        let waiting = self.ring.iter().filter(|slot| matches!(slot.state, State::Waiting { .. }));
        waiting.map(|slot| slot.id).collect()
    }

    /// Since when a call that still waits has been overdue.
    pub(crate) fn overdue_since(&self) -> Option<Duration> {
        let overdue =
            self.ring.iter().filter(|slot| matches!(slot.state, State::Waiting { overdue: true }));
        overdue.map(|slot| slot.started + Duration::from_nanos(slot.limits.hang)).min()
    }

    /// How many calls wait.
    pub(crate) fn in_flight(&self) -> usize {
        self.waiting
    }
}

impl Slot {
    /// What is needed to go on with the call after this result.
    pub(crate) fn unfinished(&self, result: &[u8]) -> Option<Box<Unfinished>> {
        let opening = Opening {
            prepared: self.prepared.clone()?,
            phase: self.phase,
            segment: self.segment,
            intended: self.intended,
            started: self.started,
            limits: self.limits,
            keep_body: self.keep_body,
            hang_told: self.hang_told,
        };
        Some(Box::new(Unfinished { opening, result: result.into() }))
    }

    fn free() -> Self {
        Self {
            id: 0,
            prepared: None,
            phase: Phase::Setup,
            segment: 0,
            intended: Duration::ZERO,
            started: Duration::ZERO,
            keep_body: false,
            hang_told: false,
            state: State::Free,
            waker: None,
            limits: Limits::NEVER,
            due: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::prepare;
    use mcp_loadtest_core::mcp::Revision;

    /// Thousands of calls wait at once, so what each takes is held down.
    #[test]
    fn a_slot_is_small() {
        assert!(size_of::<Slot>() <= 128, "{}", size_of::<Slot>());
    }

    fn opening() -> Opening {
        let day = Duration::from_secs(86_400);
        let lifecycle = mcp_loadtest_core::mcp::lifecycle(Revision::NEWEST_LEGACY);
        Opening {
            prepared: Rc::new(prepare(&lifecycle, "ping", serde_json::json!({}), &[])),
            phase: Phase::Load,
            segment: 0,
            intended: Duration::ZERO,
            started: Duration::ZERO,
            limits: Limits::new(&Deadlines { hang: day, grace: day, timeout: day }),
            keep_body: false,
            hang_told: false,
        }
    }

    /// Nobody answers a call that was withdrawn, so there is no end to those that were given up.
    #[test]
    fn calls_that_were_given_up_take_no_more_and_more_room() {
        let mut slots = Slots::new(0);
        for _ in 0..100_000 {
            let id = slots.open(opening()).id;
            slots.abandon(id);
        }
        assert!(slots.ring.len() <= 4 * MOST_ABANDONED, "{}", slots.ring.len());
    }

    /// Replies come in batches: while the callers of one have not looked yet, others begin calls. The
    /// search for a free slot went on for ever.
    #[test]
    fn there_is_room_for_new_calls_before_the_callers_of_ended_ones_have_looked() {
        let mut slots = Slots::new(0);
        let mut ended = Vec::new();
        for _ in 0..100 {
            let ids: Vec<_> = (0..7).map(|_| slots.open(opening()).id).collect();
            ids.iter().for_each(|id| slots.finish(*id, Ended::Well(Duration::ZERO)));
            ended.extend(ids);
        }
        assert_eq!((ended.len(), slots.in_flight(), slots.finished), (700, 0, 700));
        for id in &ended[..350] {
            assert!(matches!(slots.progress(*id), Some(Progress::Finished(..))));
        }
        // Callers that are gone leave nothing behind, and take nothing from others.
        ended.iter().for_each(|id| slots.release(*id));
        assert_eq!(slots.finished, 0);
        let size = slots.ring.len();
        for _ in 0..10 * size {
            let id = slots.open(opening()).id;
            slots.finish(id, Ended::Well(Duration::ZERO));
            slots.progress(id);
        }
        assert_eq!(slots.ring.len(), size, "what is free is used again");
    }
}
