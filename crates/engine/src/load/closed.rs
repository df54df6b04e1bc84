//! The closed model: callers that make a call, wait for its end, and make the next one.

use std::{cell::RefCell, rc::Rc, time::Duration};

use mcp_loadtest_core::{
    outcome::{ErrorCategory, Outcome},
    pace::{Cap, Rate},
    seed::Dice,
};
use tokio::task::JoinSet;

use super::{
    act::Part,
    lane::Lane,
    turn::{Turn, take},
};

/// A caller that was cut off waits before its next call, each time twice as long, from the first of
/// these to the second: a server that is gone would fail thousands of calls a second, and the rest
/// of the run would be nothing but those.
const PAUSES: (Duration, Duration) = (Duration::from_millis(10), Duration::from_secs(1));

/// What the callers of a lane share. There are thousands of them: each holds on to little.
struct Callers {
    lane: Rc<Lane>,
    part: Part,
    begin: Duration,
    cap: Option<RefCell<Cap>>,
    dice: RefCell<Dice>,
}

/// Starts the callers of one lane; those whose rank is not wanted yet wait until it is.
pub(super) fn start(lane: &Rc<Lane>, part: Part, begin: Duration, callers: &mut JoinSet<()>) {
    let (place, lanes) = lane.place();
    let cap = part.rate_limit.map(|limit| {
        let own = Rate::per_second(f64::from(limit) / f64::from(lanes));
        let first = Rate::per_second(f64::from(limit)).gap() * place;
        RefCell::new(Cap::new(own, first))
    });
    let most = part.arrival.most_in_flight();
    let shared = Rc::new(Callers { lane: lane.clone(), begin, cap, dice: lane.dice(), part });
    for rank in (place..most).step_by(lanes as usize) {
        callers.spawn_local(call_again_and_again(shared.clone(), rank));
    }
}

async fn call_again_and_again(shared: Rc<Callers>, rank: u32) {
    let context = shared.lane.context();
    let mut elapsed = context.now().saturating_sub(shared.begin);
    let mut pause = Duration::ZERO;
    loop {
        let Some(wanted) = shared.part.arrival.when_wanted(rank, elapsed) else { return };
        if context.is_over() {
            return;
        }
        if wanted > elapsed {
            context.pause(wanted - elapsed).await;
            elapsed = context.now().saturating_sub(shared.begin);
            continue;
        }
        if let Some(cap) = &shared.cap {
            let start = cap.borrow_mut().take(elapsed);
            if start > elapsed {
                if start >= shared.part.arrival.length() {
                    return;
                }
                context.pause(start - elapsed).await;
                if context.is_over() {
                    return;
                }
            }
        }
        let turn = Turn {
            intended: None,
            segment: shared.part.segment + shared.part.arrival.segment(elapsed),
            sequences: shared.part.sequences.clone(),
        };
        let Some(ended) = take(&shared.lane, turn).await else { return };
        elapsed = ended.at.saturating_sub(shared.begin);
        if ended.cut_off(&shared.lane) {
            let left = shared.part.arrival.length().saturating_sub(elapsed);
            pause = (pause * 2).clamp(PAUSES.0, PAUSES.1);
            context.pause(pause.min(left)).await;
            elapsed = context.now().saturating_sub(shared.begin);
        } else {
            pause = Duration::ZERO;
        }
        if !shared.part.think_time.is_none() {
            let think = shared.part.think_time.draw(&mut shared.dice.borrow_mut());
            context.pause(think).await;
            elapsed = context.now().saturating_sub(shared.begin);
        }
    }
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
    fn cut_off(&self, lane: &Lane) -> bool {
        self.outcome == Outcome::Failed(ErrorCategory::Disconnected) && !lane.is_broken()
    }
}
