//! The closed model: callers that make a call, wait for its end, and make the next one.

use std::{cell::RefCell, rc::Rc, time::Duration};

use mcp_loadtest_core::{
    outcome::Outcome,
    pace::{Cap, Rate},
    seed::Dice,
};
use tokio::task::JoinSet;

use super::{
    act::Part,
    lane::Lane,
    turn::{Begun, Turn, begin},
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
    lane.make_room(most.div_ceil(lanes));
    let shared = Rc::new(Callers { lane: lane.clone(), begin, cap, dice: lane.dice(), part });
    for rank in (place..most).step_by(lanes as usize) {
        callers.spawn_local(call_again_and_again(shared.clone(), rank));
    }
}

async fn call_again_and_again(shared: Rc<Callers>, rank: u32) {
    let (context, part) = (shared.lane.context(), &shared.part);
    let mut elapsed = shared.elapsed();
    let mut pause = Duration::ZERO;
    // The step, and until when neither it nor the number of callers changes.
    let (mut segment, mut steady_until) = (part.segment, Duration::ZERO);
    while !context.is_over() {
        if context.is_held() {
            context.resumed().await;
            elapsed = shared.elapsed();
            continue;
        }
        if elapsed >= steady_until {
            let Some(wanted) = part.arrival.when_wanted(rank, elapsed) else { return };
            if wanted > elapsed {
                context.pause(wanted - elapsed).await;
                elapsed = shared.elapsed();
                continue;
            }
            segment = part.segment + part.arrival.segment(elapsed);
            steady_until = part.arrival.course().steady_until(elapsed);
        }
        if let Some(start) = shared.next_start(elapsed) {
            if start >= part.arrival.length() {
                return;
            }
            context.pause(start - elapsed).await;
            context.resumed().await;
            if context.is_over() {
                return;
            }
        }
        let turn = Turn { intended: None, segment, sequences: part.sequences.clone() };
        let ended = match begin(&shared.lane, turn) {
            Begun::Call(mut call) => shared.lane.ended(&call.ended().await),
            Begun::Longer(turn) => match turn.await {
                Some(ended) => ended,
                None => return,
            },
        };
        elapsed = match ended.outcome {
            Outcome::Ok => context.load_time(shared.begin, ended.at),
            // A call that lost its connection may have ended long before we heard why.
            Outcome::Failed(_) => shared.elapsed(),
        };
        if ended.cut_off(&shared.lane) {
            let left = part.arrival.length().saturating_sub(elapsed);
            pause = (pause * 2).clamp(PAUSES.0, PAUSES.1);
            context.pause(pause.min(left)).await;
            elapsed = shared.elapsed();
        } else {
            pause = Duration::ZERO;
        }
        if !part.think_time.is_none() {
            let think = part.think_time.draw(&mut shared.dice.borrow_mut());
            context.pause(think).await;
            elapsed = shared.elapsed();
        }
    }
}

impl Callers {
    fn elapsed(&self) -> Duration {
        let context = self.lane.context();
        context.load_time(self.begin, context.now())
    }

    /// When the next call may start, if there is a limit on the rate and it is not now.
    fn next_start(&self, elapsed: Duration) -> Option<Duration> {
        let start = self.cap.as_ref()?.borrow_mut().take(elapsed);
        (start > elapsed).then_some(start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn size_of_future<F: Future>(_: fn(Rc<Callers>, u32) -> F) -> usize {
        size_of::<F>()
    }

    /// There may be ten thousand of them, so what each takes is held down.
    #[test]
    fn a_caller_is_small() {
        let size = size_of_future(call_again_and_again);
        assert!(size <= 640, "{size}");
    }
}
