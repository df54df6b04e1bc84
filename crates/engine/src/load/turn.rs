//! What happens when it is a caller's turn: one call, or a sequence of calls with pauses.

use std::{ops::Range, pin::Pin, rc::Rc, time::Duration};

use mcp_loadtest_core::{
    event::note,
    outcome::{ErrorCategory, Outcome},
    scenario::ErrorBehavior,
};
use mcp_loadtest_wire::session::{How, InFlight};

use super::lane::Lane;
use crate::plan::PlannedSequence;

/// A turn to take.
pub(super) struct Turn {
    /// When it should have begun; now, if nothing is said.
    pub(super) intended: Option<Duration>,
    /// The step of the scenario that it belongs to.
    pub(super) segment: u16,
    /// Which sequences of the plan are chosen from.
    pub(super) sequences: Range<usize>,
}

/// How a turn ended.
#[derive(Debug, Clone, Copy)]
pub(super) struct TurnEnd {
    pub(super) outcome: Outcome,
    pub(super) at: Duration,
}

impl TurnEnd {
    /// Whether the connection failed although its session lives. A broken session is replaced, and
    /// that takes its time by itself.
    pub(super) fn cut_off(&self, lane: &Lane) -> bool {
        self.outcome == Outcome::Failed(ErrorCategory::Disconnected) && !lane.is_broken()
    }
}

/// A turn that has begun. Nothing comes of one after which there is no use in going on.
pub(super) enum Begun {
    /// A single call on a session that lives, which is nearly every turn: it is on its way.
    Call(InFlight),
    /// Anything else. Its state is large: boxed so that a caller of single calls stays small.
    Longer(Pin<Box<dyn Future<Output = Option<TurnEnd>>>>),
}

/// Begins a turn.
#[inline]
pub(super) fn begin(lane: &Rc<Lane>, turn: Turn) -> Begun {
    let sequence = lane.choose(turn.sequences);
    let how = How { intended: turn.intended, segment: turn.segment, ..lane.how() };
    let PlannedSequence { steps, error_behavior, .. } = lane.sequence(sequence);
    // After the only step nothing is left to go on with or to leave out.
    let plain = matches!(error_behavior, ErrorBehavior::Continue | ErrorBehavior::Abort);
    if let ([only], true) = (&steps[..], plain)
        && let Some(call) = lane.send(*only, how)
    {
        return Begun::Call(call);
    }
    Begun::Longer(Box::pin(take_sequence(lane.clone(), sequence, how)))
}

async fn take_sequence(lane: Rc<Lane>, index: usize, mut how: How) -> Option<TurnEnd> {
    let PlannedSequence { steps, think_time, error_behavior, .. } = lane.sequence(index);
    let mut last = None;
    for (place, step) in steps.iter().enumerate() {
        if place > 0 {
            lane.context().pause(lane.draw(think_time)).await;
            lane.context().resumed().await;
            if lane.context().is_over() {
                break;
            }
            // Only the first step is on a schedule; the others follow when their turn comes.
            how.intended = None;
        }
        let mut ended = call(&lane, *step, how).await?;
        if ended.outcome != Outcome::Ok && *error_behavior == ErrorBehavior::Retry {
            ended = call(&lane, *step, How { intended: None, ..how }).await?;
        }
        last = Some(ended);
        if ended.outcome == Outcome::Ok {
            continue;
        }
        match error_behavior {
            ErrorBehavior::Continue | ErrorBehavior::Retry => {}
            ErrorBehavior::Abort => break,
            ErrorBehavior::Stop => {
                lane.context().end_early(note::ABORTED, "a step of a sequence failed");
                break;
            }
        }
    }
    last
}

async fn call(lane: &Lane, step: usize, how: How) -> Option<TurnEnd> {
    loop {
        lane.revive().await?;
        // A new session may be gone again at once; that is not tried for ever.
        if let Some(mut call) = lane.send(step, how) {
            return Some(lane.ended(&call.ended().await));
        }
    }
}
