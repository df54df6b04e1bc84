//! What happens when it is a caller's turn: one call, or a sequence of calls with pauses.

use std::{ops::Range, rc::Rc, time::Duration};

use mcp_loadtest_core::{event::note, outcome::Outcome, scenario::ErrorBehavior};
use mcp_loadtest_wire::session::How;

use super::{closed::TurnEnd, lane::Lane};
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

/// Takes a turn. Nothing comes back when there is no use in going on.
pub(super) async fn take(lane: &Rc<Lane>, turn: Turn) -> Option<TurnEnd> {
    let sequence = lane.choose(turn.sequences.clone());
    let how = How { intended: turn.intended, segment: turn.segment, ..lane.how() };
    let PlannedSequence { steps, error_behavior, .. } = lane.sequence(sequence);
    // After the only step nothing is left to go on with or to leave out.
    let plain = matches!(error_behavior, ErrorBehavior::Continue | ErrorBehavior::Abort);
    if let ([only], true) = (&steps[..], plain) {
        return call(lane, *only, how).await;
    }
    // Rare, and its state is large: boxed so that a caller of single calls stays small.
    Box::pin(take_sequence(lane, sequence, how)).await
}

async fn take_sequence(lane: &Rc<Lane>, index: usize, mut how: How) -> Option<TurnEnd> {
    let PlannedSequence { steps, think_time, error_behavior, .. } = lane.sequence(index);
    let mut last = None;
    for (place, step) in steps.iter().enumerate() {
        if place > 0 {
            lane.context().pause(lane.draw(think_time)).await;
            if lane.context().is_over() {
                break;
            }
            // Only the first step is on a schedule; the others follow when their turn comes.
            how.intended = None;
        }
        let mut ended = call(lane, *step, how).await?;
        if ended.outcome != Outcome::Ok && *error_behavior == ErrorBehavior::Retry {
            ended = call(lane, *step, How { intended: None, ..how }).await?;
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

async fn call(lane: &Rc<Lane>, step: usize, how: How) -> Option<TurnEnd> {
    let opened = lane.opened().await?;
    let (outcome, at) = {
        let reply = opened.session.call(&opened.calls.get(step), how).await;
        (reply.outcome, reply.ended)
    };
    if outcome == Outcome::Ok {
        lane.saw_success();
    }
    Some(TurnEnd { outcome, at })
}
