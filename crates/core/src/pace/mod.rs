//! When calls are due. Pure arithmetic: nobody here looks at a clock.
//!
//! | file     | what it answers                                              |
//! |----------|--------------------------------------------------------------|
//! | `course` | how high is the load at a moment, and how much had come by then |
//! | `rate`   | calls per second, as people write them                       |
//! | `level`  | a number of calls in flight, or a rate                       |
//! | `cap`    | when may the next call start, if there is a limit on the rate |
//! | `think`  | how long is the pause between a reply and the next call      |
//!
//! Two models share one loop. *Closed*: so many calls in flight, the next one starts when one ends.
//! *Open*: calls start on a schedule, whatever becomes of those before; a call that could not be
//! sent because too many were in flight is dropped and counted.

mod cap;
mod course;
mod level;
mod rate;
mod think;

use std::time::Duration;

pub use cap::Cap;
pub use course::{Course, Shape, Stage};
pub use level::Level;
pub use rate::{Rate, RateError};
pub use think::ThinkTime;

/// When a call is due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Due {
    /// At this offset from the start of the load, whatever goes on.
    At(Duration),
    /// As soon as fewer than `limit` calls are in flight.
    WhenFree {
        /// How many may be in flight.
        limit: u32,
    },
    /// Never: the load is over.
    Done,
}

/// How calls arrive.
#[derive(Debug, Clone, PartialEq)]
pub enum Arrival {
    /// So many calls in flight, over time.
    Closed(Course),
    /// So many calls a second, over time.
    Open {
        /// Calls a second.
        rate: Course,
        /// Calls in flight at most; what is due beyond that is dropped.
        limit: u32,
    },
}

impl Arrival {
    /// When call number `n` (from 0) is due, `elapsed` after the load began.
    pub fn due(&self, n: u64, elapsed: Duration) -> Due {
        match self {
            Self::Closed(course) if elapsed >= course.length() => Due::Done,
            Self::Closed(course) => Due::WhenFree { limit: whole(course.level(elapsed)) },
            Self::Open { rate, .. } => rate.reaches(n as f64).map_or(Due::Done, Due::At),
        }
    }

    /// The load over time.
    pub fn course(&self) -> &Course {
        match self {
            Self::Closed(course) | Self::Open { rate: course, .. } => course,
        }
    }

    /// How long the load lasts.
    pub fn length(&self) -> Duration {
        self.course().length()
    }

    /// The most calls that may be in flight at once.
    pub fn most_in_flight(&self) -> u32 {
        match self {
            Self::Closed(course) => whole(course.highest()),
            Self::Open { limit, .. } => *limit,
        }
    }

    /// The step that a moment belongs to: its stage, from 1; 0 where there is only one.
    pub fn segment(&self, elapsed: Duration) -> u16 {
        let course = self.course();
        if course.stages().len() < 2 {
            return 0;
        }
        u16::try_from(course.stage_at(elapsed) + 1).unwrap_or(u16::MAX)
    }

    /// Closed: the next moment, not before `elapsed`, at which more than `rank` calls may be in
    /// flight. Nothing when that never comes again.
    pub fn when_wanted(&self, rank: u32, elapsed: Duration) -> Option<Duration> {
        // The level is rounded, so a caller is wanted from half a call below it.
        self.course().when_at_least(f64::from(rank) + 0.5, elapsed)
    }
}

fn whole(level: f64) -> u32 {
    level.round().clamp(0.0, f64::from(u32::MAX)) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn a_closed_model_waits_for_room_until_its_time_is_over() {
        let arrival = Arrival::Closed(Course::constant(20.0, SECOND * 10));
        assert_eq!(arrival.due(5, SECOND), Due::WhenFree { limit: 20 });
        assert_eq!(arrival.due(5, SECOND * 10), Due::Done);
        assert_eq!(arrival.segment(SECOND), 0);
    }

    #[test]
    fn an_open_model_has_a_schedule_that_nothing_moves() {
        let arrival = Arrival::Open { rate: Course::constant(500.0, SECOND * 10), limit: 7 };
        assert_eq!(arrival.due(0, SECOND * 3), Due::At(Duration::ZERO));
        assert_eq!(arrival.due(1, Duration::ZERO), Due::At(Duration::from_millis(2)));
        assert_eq!(arrival.due(4_999, SECOND), Due::At(Duration::from_millis(9_998)));
        assert_eq!(arrival.due(5_000, SECOND), Due::Done);
        assert_eq!(arrival.most_in_flight(), 7);
    }

    #[test]
    fn callers_come_and_go_with_the_stages() {
        let stages = [5.0, 50.0, 5.0].map(|level| Stage::step(level, SECOND * 10));
        let arrival = Arrival::Closed(Course::new(stages.to_vec()));
        assert_eq!(arrival.when_wanted(4, SECOND * 2), Some(SECOND * 2));
        assert_eq!(arrival.when_wanted(49, SECOND * 2), Some(SECOND * 10));
        assert_eq!(arrival.when_wanted(49, SECOND * 20), None);
        assert_eq!(arrival.when_wanted(50, Duration::ZERO), None);
        assert_eq!([0, 10, 29].map(|at| arrival.segment(SECOND * at)), [1, 2, 3]);
        let two = Arrival::Closed(Course::new(stages[..2].to_vec()));
        assert_eq!([0, 10].map(|at| two.segment(SECOND * at)), [1, 2], "two stages are two steps");
        assert_eq!(arrival.most_in_flight(), 50);
    }

    #[test]
    fn levels_are_rounded_to_whole_callers() {
        let ramp = Stage { length: SECOND * 10, from: 0.0, to: 10.0 };
        let arrival = Arrival::Closed(Course::new(vec![ramp]));
        let limits = [400, 500, 1_499, 1_500].map(|at| arrival.due(0, Duration::from_millis(at)));
        assert_eq!(limits, [0, 1, 1, 2].map(|limit| Due::WhenFree { limit }));
        let wanted = [0, 1].map(|rank| arrival.when_wanted(rank, Duration::ZERO));
        assert_eq!(wanted, [500_000_001, 1_500_000_001].map(|at| Some(Duration::from_nanos(at))));
        assert_eq!((arrival.length(), arrival.most_in_flight()), (SECOND * 10, 10));
    }

    #[test]
    fn what_people_write_has_a_schema_under_its_own_name() {
        let of = |schema: schemars::Schema, name: &str| schema.to_value()["$defs"][name].clone();
        let level = of(schemars::schema_for!(Vec<Level>), "Level");
        assert_eq!(level["type"], serde_json::json!(["integer", "string"]));
        let rate = of(schemars::schema_for!(Vec<Rate>), "Rate");
        assert_eq!(rate["examples"], serde_json::json!(["500/s"]));
        let think = of(schemars::schema_for!(Vec<ThinkTime>), "ThinkTime");
        assert_eq!(think["examples"], serde_json::json!(["200ms", "100ms..500ms"]));
    }
}
