//! Why is a call silent? A control request, the process and the other calls tell.

use std::{cell::Cell, mem, rc::Rc, time::Duration};

use mcp_loadtest_core::{
    event::{Event, Phase},
    outcome::{ErrorCategory, Outcome},
    silence::{ControlReply, Evidence, ProcessEvidence},
};
use serde_json::json;

use super::{How, Inner, Prepared, Reply, Session};
use crate::{
    process::{RunState, TreeState},
    slots::{Deadlines, Slot},
};

/// What is watched from the moment the first call of the session is overdue.
pub(crate) struct Watch {
    began: Duration,
    replies: u64,
    control: Rc<Cell<ControlReply>>,
    process: Option<TreeState>,
}

impl Inner {
    /// A call is overdue: report it and begin to watch, unless that is under way.
    pub(super) fn begin_watch(&self, id: u64) {
        let at = self.clock.now();
        if let Some(slot) = self.slots.borrow_mut().waiting(id) {
            self.tell_hang(slot, at);
        }
        // What was seen when an earlier call was overdue says nothing of those that are now.
        let since = self.slots.borrow().overdue_since().unwrap_or(at);
        if self.watch.borrow().as_ref().is_none_or(|watch| watch.began < since) {
            let watch = Watch {
                began: at,
                replies: self.slots.borrow().replies,
                control: Rc::new(Cell::new(ControlReply::NotSent)),
                process: self.process_state(),
            };
            self.ask_for_control(&watch.control);
            *self.watch.borrow_mut() = Some(watch);
        }
    }

    /// A call hangs once, however many rounds it takes.
    pub(super) fn tell_hang(&self, slot: &mut Slot, at: Duration) {
        if !mem::replace(&mut slot.hang_told, true) {
            self.emit(&Event::Hang { call: self.call_of(slot), at });
        }
    }

    /// Sends the control request; its reply is noted whenever it comes.
    fn ask_for_control(&self, told: &Rc<Cell<ControlReply>>) {
        let Some(session) = self.session() else { return };
        let told = told.clone();
        told.set(ControlReply::Silent(Duration::ZERO));
        tokio::task::spawn_local(async move {
            let never =
                Deadlines { hang: Duration::MAX, grace: Duration::MAX, timeout: CONTROL_LIMIT };
            let how = How::new(Phase::Control, never);
            let reply = session.control(how).await;
            if is_alive(&reply) {
                told.set(ControlReply::Answered(reply.took()));
            }
        });
    }

    /// The call was not answered: judge by what was watched, report, and give it up.
    pub(super) fn give_up_silent(&self, id: u64) -> Reply {
        let at = self.clock.now();
        let evidence = self.evidence(id, at);
        let sentence = evidence.sentence();
        if let Some(slot) = self.slots.borrow_mut().waiting(id) {
            let (diagnosis, evidence) = (evidence.diagnosis(), sentence.as_str().into());
            self.emit(&Event::Deadlock { call: self.call_of(slot), at, diagnosis, evidence });
        }
        self.give_up(
            id,
            ErrorCategory::Deadlock,
            "no reply within the hang threshold and the grace period".into(),
        )
    }

    fn evidence(&self, id: u64, at: Duration) -> Evidence {
        let lifecycle = self.lifecycle.get();
        let mut slots = self.slots.borrow_mut();
        let (replies, in_flight) = (slots.replies, slots.in_flight());
        let (method, same_tool_answered) =
            slots.waiting(id).map_or_else(Default::default, |slot| {
                let prepared = slot.prepared.as_ref();
                let method = prepared.map_or("", |prepared| prepared.method()).to_owned();
                (method, prepared.is_some_and(|prepared| prepared.answered_since(slot.started)))
            });
        drop(slots);
        let watch = self.watch.borrow();
        let control = watch.as_ref().map_or(ControlReply::NotSent, |watch| watch.control.get());
        let waited = watch.as_ref().map_or(Duration::ZERO, |watch| at.saturating_sub(watch.began));
        let answered_control = matches!(control, ControlReply::Answered(_));
        let control = match control {
            ControlReply::Silent(_) => ControlReply::Silent(waited),
            other => other,
        };
        let others = watch.as_ref().map_or(0, |watch| replies.saturating_sub(watch.replies));
        Evidence {
            method,
            control,
            control_method: lifecycle.control.method(),
            process: self.process_evidence(watch.as_ref(), waited),
            others_answered: others.saturating_sub(u64::from(answered_control)),
            same_tool_answered,
            in_flight: in_flight.saturating_sub(usize::from(!answered_control)),
        }
    }

    fn process_evidence(
        &self,
        watch: Option<&Watch>,
        watched: Duration,
    ) -> Option<ProcessEvidence> {
        let now = self.process_state()?;
        let before = watch.and_then(|watch| watch.process.as_ref());
        Some(ProcessEvidence {
            stopped: now.state == RunState::Stopped,
            runnable: is_runnable(&now) && before.is_some_and(is_runnable),
            cpu: now.cpu.saturating_sub(before.map_or(now.cpu, |before| before.cpu)),
            watched,
            state: match &now.waits {
                Some(waits) => format!("{} ({waits})", now.state.as_str()),
                None => now.state.as_str().to_owned(),
            },
        })
    }
}

/// The state of a process is that of its first thread; the others show in what they wait for.
fn is_runnable(tree: &TreeState) -> bool {
    let running = RunState::Running;
    tree.states.of(running) > 0
        || tree.waits.as_deref().is_some_and(|waits| waits.contains(running.as_str()))
}

/// A control request that was never answered is forgotten after this.
const CONTROL_LIMIT: Duration = Duration::from_secs(600);

/// An error is an answer too: whoever refuses a request has read it.
fn is_alive(reply: &Reply) -> bool {
    match reply.outcome {
        Outcome::Ok => true,
        Outcome::Failed(category) => category.was_answered(),
    }
}

impl Session {
    /// The cheap request that shows whether the server still reads its input.
    pub fn control_request(&self) -> Rc<Prepared> {
        self.prepare(self.inner.lifecycle.get().control.method(), json!({}))
    }

    /// Sends that request.
    pub async fn control(&self, how: How) -> Reply {
        self.call(&self.control_request(), how).await
    }
}
