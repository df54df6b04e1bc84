//! The open model: calls start when they are due, whatever becomes of those before.

use std::{cell::Cell, rc::Rc, time::Duration};

use mcp_loadtest_core::{
    event::Event,
    pace::{Arrival, Due},
};
use mcp_loadtest_wire::{sink::Sink as _, timer::Timer};
use tokio::{select, task::JoinSet};

use super::{
    act::Part,
    lane::Lane,
    turn::{Begun, Turn, begin},
};

/// Wakes are at least this far apart: what falls due in between starts together. It costs a tenth of
/// a millisecond on average and saves three quarters of the CPU.
const SHORTEST_SLEEP: Duration = Duration::from_micros(250);

/// Sends the calls of one lane: every `lanes`-th arrival of the schedule.
pub(super) async fn dispatch(lane: Rc<Lane>, part: Part, begin: Duration) {
    let Ok(timer) = Timer::new() else {
        lane.context().note(
            mcp_loadtest_core::event::note::ABORTED,
            "no timer: too many open files in this process",
        );
        return;
    };
    let (place, lanes) = lane.place();
    let limit = share(part.arrival.most_in_flight(), place, lanes);
    let schedule = Schedule {
        in_flight: Rc::default(),
        calls: JoinSet::new(),
        next: u64::from(place),
        stride: u64::from(lanes),
        limit,
        lane,
        part,
        begin,
    };
    schedule.run(&timer).await;
}

fn share(limit: u32, place: u32, lanes: u32) -> u32 {
    (limit / lanes + u32::from(place < limit % lanes)).max(1)
}

struct Schedule {
    lane: Rc<Lane>,
    part: Part,
    begin: Duration,
    in_flight: Rc<Cell<u32>>,
    calls: JoinSet<()>,
    next: u64,
    stride: u64,
    limit: u32,
}

impl Schedule {
    async fn run(mut self, timer: &Timer) {
        let context = self.lane.context().clone();
        let mut over = std::pin::pin!(context.over());
        let mut woke = Duration::ZERO;
        while !context.is_over() && !self.lane.is_hopeless() {
            context.resumed().await;
            if context.is_over() {
                break;
            }
            let elapsed = context.load_time(self.begin, context.now());
            let Some(due) = self.start_all_due(elapsed) else { break };
            while self.calls.try_join_next().is_some() {}
            let wake = due.max(woke + SHORTEST_SLEEP);
            let now = context.load_time(self.begin, context.now());
            // A clock that cannot be set would let us spin; sleeping coarsely is better.
            if wake > now {
                select! {
                    slept = timer.sleep(wake - now) => if slept.is_err() {
                        context.pause(wake - now).await;
                    },
                    () = &mut over => break,
                }
            }
            // Calls that just started have to be written before the next batch.
            tokio::task::yield_now().await;
            woke = wake.max(now);
        }
        while self.calls.join_next().await.is_some() {}
    }

    /// Starts what is due by now. Gives the time of the next arrival, if there is one.
    fn start_all_due(&mut self, elapsed: Duration) -> Option<Duration> {
        let mut dropped = Dropped::default();
        let begin = self.begin + self.lane.context().blueprint.pause.spent();
        let next = loop {
            let due = match self.part.arrival.due(self.next, elapsed) {
                Due::At(due) => due,
                Due::WhenFree { .. } | Due::Done => break None,
            };
            if due > elapsed {
                break Some(due);
            }
            self.next += self.stride;
            let segment = self.part.segment + self.part.arrival.segment(due);
            let intended = begin + due;
            if self.in_flight.get() >= self.limit {
                dropped.add(&self.lane, intended, segment);
            } else {
                self.start(intended, segment);
            }
        };
        dropped.tell(&self.lane);
        next
    }

    fn start(&mut self, intended: Duration, segment: u16) {
        let (lane, in_flight) = (self.lane.clone(), self.in_flight.clone());
        let sequences = self.part.sequences.clone();
        in_flight.set(in_flight.get() + 1);
        self.calls.spawn_local(async move {
            let landed = Landing(in_flight);
            let _ended = match begin(&lane, Turn { intended: Some(intended), segment, sequences }) {
                Begun::Call(mut call) => Some(lane.ended(&call.ended().await)),
                Begun::Longer(turn) => turn.await,
            };
            drop(landed);
        });
    }
}

/// Counts a call out of the air, however it ends.
struct Landing(Rc<Cell<u32>>);

impl Drop for Landing {
    fn drop(&mut self) {
        self.0.set(self.0.get() - 1);
    }
}

/// Arrivals that found no room, told together.
#[derive(Default)]
struct Dropped {
    at: Duration,
    segment: u16,
    count: u64,
}

impl Dropped {
    fn add(&mut self, lane: &Lane, at: Duration, segment: u16) {
        if self.segment != segment {
            self.tell(lane);
            self.count = 0;
        }
        (self.at, self.segment) = (at, segment);
        self.count += 1;
    }

    fn tell(&self, lane: &Lane) {
        if self.count > 0 {
            lane.context().recorder.emit(&Event::Dropped {
                at: self.at,
                worker: lane.context().worker,
                segment: self.segment,
                count: self.count,
            });
        }
    }
}

/// Whether a part has a schedule.
pub(super) fn is_open(part: &Part) -> bool {
    matches!(part.arrival, Arrival::Open { .. })
}
