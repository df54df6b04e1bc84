//! A level over time: stages that hold it, or lead to it in a straight line.
//!
//! In a stage from level `a` to `b` over `T` seconds, what has come after `x` seconds is
//! `a·x + k·x²/2` with `k = (b - a) / T`. Solved for `x` without cancellation that is
//! `x = 2·area / (a + √(a² + 2·k·area))`.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How a stage gets to its level.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Shape {
    /// At once; then it holds.
    #[default]
    Step,
    /// In a straight line from the level before, over the whole stage.
    Linear,
}

/// A part of the course.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Stage {
    /// How long it lasts.
    pub length: Duration,
    /// The level at its beginning.
    pub from: f64,
    /// The level at its end.
    pub to: f64,
}

impl Stage {
    /// A stage that holds one level.
    pub fn step(level: f64, length: Duration) -> Self {
        Self { length, from: level, to: level }
    }

    fn slope(&self) -> f64 {
        let length = self.length.as_secs_f64();
        if length > 0.0 { (self.to - self.from) / length } else { 0.0 }
    }

    fn level(&self, x: f64) -> f64 {
        self.from + self.slope() * x
    }

    fn area(&self, x: f64) -> f64 {
        self.from * x + self.slope() * x * x / 2.0
    }

    /// After how many seconds this much has come.
    fn reaches(&self, area: f64) -> f64 {
        if area <= 0.0 {
            return 0.0;
        }
        if self.from == self.to {
            return area / self.from;
        }
        let root = (self.from * self.from + 2.0 * self.slope() * area).max(0.0).sqrt();
        2.0 * area / (self.from + root)
    }
}

/// A level over time. Before its beginning and after its end the level is nothing.
#[derive(Debug, Clone, PartialEq)]
pub struct Course {
    stages: Vec<Stage>,
}

impl Course {
    /// One stage after another. Levels that are no numbers, or below 0, count as 0.
    pub fn new(mut stages: Vec<Stage>) -> Self {
        for stage in &mut stages {
            for level in [&mut stage.from, &mut stage.to] {
                *level = if level.is_finite() { level.max(0.0) } else { 0.0 };
            }
        }
        Self { stages }
    }

    /// One level from beginning to end.
    pub fn constant(level: f64, length: Duration) -> Self {
        Self::new(vec![Stage::step(level, length)])
    }

    /// The stages.
    pub fn stages(&self) -> &[Stage] {
        &self.stages
    }

    /// How long all of it lasts.
    pub fn length(&self) -> Duration {
        self.stages.iter().map(|stage| stage.length).sum()
    }

    /// The highest level.
    pub fn highest(&self) -> f64 {
        self.stages.iter().map(|stage| stage.from.max(stage.to)).fold(0.0, f64::max)
    }

    /// Which stage a moment belongs to; the last one after the end.
    pub fn stage_at(&self, elapsed: Duration) -> usize {
        let found = self.begun().position(|(begin, stage)| elapsed < begin + stage.length);
        found.unwrap_or(self.stages.len().saturating_sub(1))
    }

    /// The level at a moment.
    pub fn level(&self, elapsed: Duration) -> f64 {
        let mut stages = self.begun();
        let found = stages.find(|(begin, stage)| elapsed < *begin + stage.length);
        found.map_or(0.0, |(begin, stage)| stage.level((elapsed - begin).as_secs_f64()))
    }

    /// How much has come by a moment: the area under the level.
    pub fn area(&self, elapsed: Duration) -> f64 {
        let part = |(begin, stage): (Duration, &Stage)| {
            stage.area(elapsed.saturating_sub(begin).min(stage.length).as_secs_f64())
        };
        self.begun().map(part).sum()
    }

    /// When this much has come; nothing when that is never before the end.
    pub fn reaches(&self, area: f64) -> Option<Duration> {
        let mut left = area;
        for (begin, stage) in self.begun() {
            let whole = stage.area(stage.length.as_secs_f64());
            if left < whole {
                let within = Duration::try_from_secs_f64(stage.reaches(left)).ok()?;
                return Some(begin + within.min(stage.length));
            }
            left -= whole;
        }
        None
    }

    /// The next moment, not before `elapsed`, at which the level is at least `level`.
    pub fn when_at_least(&self, level: f64, elapsed: Duration) -> Option<Duration> {
        for (begin, stage) in self.begun() {
            let end = begin + stage.length;
            if end <= elapsed || stage.from.max(stage.to) < level {
                continue;
            }
            let earliest = elapsed.max(begin);
            if stage.level((earliest - begin).as_secs_f64()) >= level {
                return Some(earliest);
            }
            // It rises: otherwise its highest level were behind us.
            let Ok(within) = Duration::try_from_secs_f64((level - stage.from) / stage.slope())
            else {
                continue;
            };
            // Rounded up, so that whoever wakes then is not sent back to sleep for a nanosecond.
            let moment = begin + within + Duration::from_nanos(1);
            if stage.to > stage.from && moment < end {
                return Some(moment);
            }
        }
        None
    }

    /// Until when the level stays as it is at this moment: not at all while it rises or falls.
    pub fn steady_until(&self, elapsed: Duration) -> Duration {
        let mut stages = self.begun().map(|(begin, stage)| (begin + stage.length, stage));
        let found = stages.find(|(end, _)| elapsed < *end);
        found.filter(|(_, stage)| stage.from == stage.to).map_or(elapsed, |(end, _)| end)
    }

    /// The stages, each with its beginning.
    fn begun(&self) -> impl Iterator<Item = (Duration, &Stage)> {
        let mut begin = Duration::ZERO;
        self.stages.iter().map(move |stage| {
            let this = begin;
            begin += stage.length;
            (this, stage)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn stages() -> impl Strategy<Value = Vec<Stage>> {
        let stage = (1_u64..20_000, 0.0..5_000.0_f64, 0.0..5_000.0_f64, any::<bool>());
        let stage = stage.prop_map(|(millis, from, to, flat)| Stage {
            length: Duration::from_millis(millis),
            from,
            to: if flat { from } else { to },
        });
        prop::collection::vec(stage, 1..5)
    }

    proptest! {
        #[test]
        fn arrivals_come_in_order_and_as_many_as_the_area_says(stages in stages()) {
            let course = Course::new(stages);
            let total = course.area(course.length());
            let mut before = Duration::ZERO;
            for n in (0..).map(|n| n as f64 * (total / 500.0).max(1.0)).take_while(|n| *n < total - 1e-6) {
                let at = course.reaches(n).expect("it comes before the end");
                prop_assert!(at >= before && at <= course.length());
                prop_assert!((course.area(at) - n).abs() < 1e-3 + n * 1e-6, "{n} at {at:?}: {}", course.area(at));
                before = at;
            }
            prop_assert_eq!(course.reaches(total + 1.0), None);
        }

        #[test]
        fn a_level_that_is_promised_is_there(stages in stages(), level in 0.0..5_000.0_f64, at in 0_u64..60_000) {
            let course = Course::new(stages);
            let asked = Duration::from_millis(at);
            if let Some(moment) = course.when_at_least(level, asked) {
                prop_assert!(moment >= asked);
                prop_assert!(course.level(moment) >= level - 1e-3);
            } else {
                let rest = (0..200).map(|n| asked + course.length() * n / 200);
                prop_assert!(rest.into_iter().all(|moment| course.level(moment) < level + 1e-3));
            }
        }
    }

    #[test]
    fn a_level_is_steady_to_the_end_of_its_stage_unless_it_moves() {
        let second = Duration::from_secs(1);
        let ramp = Stage { length: second, from: 5.0, to: 9.0 };
        let course = Course::new(vec![Stage::step(5.0, second), ramp, Stage::step(9.0, second)]);
        let asked = [0, 500, 1_000, 1_500, 2_000, 3_000].map(Duration::from_millis);
        let until = asked.map(|elapsed| course.steady_until(elapsed).as_millis());
        assert_eq!(until, [1_000, 1_000, 1_000, 1_500, 3_000, 3_000]);
    }

    #[test]
    fn a_ramp_of_the_rate_is_not_late_at_its_end() {
        let ramp = Stage { length: Duration::from_secs(10), from: 0.0, to: 100.0 };
        let course = Course::new(vec![ramp]);
        assert_eq!(course.area(course.length()), 500.0);
        assert_eq!(course.reaches(125.0), Some(Duration::from_secs(5)));
        assert_eq!(course.level(Duration::from_secs(5)), 50.0);
    }

    /// Five stages of a second: 5, up to 9, 9, down to 1, and 1.
    fn hill() -> Course {
        let second = Duration::from_secs(1);
        let slope = |from, to| Stage { length: second, from, to };
        let level = |level| Stage::step(level, second);
        Course::new(vec![level(5.0), slope(5.0, 9.0), level(9.0), slope(9.0, 1.0), level(1.0)])
    }

    #[test]
    fn a_ramp_that_begins_above_nothing_has_its_own_area() {
        let ramp = Stage { length: Duration::from_secs(10), from: 20.0, to: 100.0 };
        let (whole, five) = (Course::new(vec![ramp]), Duration::from_secs(5));
        // 20 · 5 + 8 · 5² / 2, and 20 · 10 + 8 · 10² / 2.
        assert_eq!((whole.area(five), whole.area(whole.length())), (200.0, 600.0));
        assert_eq!((whole.level(five), whole.reaches(200.0)), (60.0, Some(five)));
        let later = Course::new(vec![Stage::step(3.0, five), ramp]);
        assert_eq!((later.level(five * 2), later.area(five * 2)), (60.0, 215.0));
        assert_eq!(later.reaches(215.0), Some(five * 2));
    }

    #[test]
    fn a_moment_belongs_to_the_stage_that_begins_with_it() {
        let levels = [0, 999, 1_000, 1_500, 2_000, 3_250, 4_000, 5_000, 9_000];
        let levels = levels.map(|at| hill().level(Duration::from_millis(at)));
        assert_eq!(levels, [5.0, 5.0, 5.0, 7.0, 9.0, 7.0, 1.0, 0.0, 0.0]);
        let stages = [0, 999, 1_000, 4_999, 5_000].map(Duration::from_millis);
        assert_eq!(stages.map(|at| hill().stage_at(at)), [0, 0, 1, 4, 4]);
        assert_eq!(hill().highest(), 9.0);
    }

    #[test]
    fn stages_without_length_or_level_are_passed_over() {
        let second = Duration::from_secs(1);
        let nothing = Stage { length: Duration::ZERO, from: 0.0, to: 10.0 };
        let course =
            Course::new(vec![Stage::step(10.0, second), nothing, Stage::step(10.0, second)]);
        assert_eq!((course.area(second * 2), course.highest()), (20.0, 10.0));
        assert_eq!(course.reaches(15.0), Some(Duration::from_millis(1_500)));
        let pause = [10.0, 0.0, 10.0].map(|level| Stage::step(level, second));
        let pause = Course::new(pause.to_vec());
        assert_eq!(
            pause.reaches(10.0),
            Some(second * 2),
            "what is due at the end of a stage waits"
        );
        assert_eq!(pause.reaches(20.0), None, "the end is no part of it");
        let odd = Stage { length: second, from: f64::NAN, to: -3.0 };
        assert_eq!(Course::new(vec![odd]).stages(), [Stage::step(0.0, second)]);
    }

    #[test]
    fn the_next_moment_of_a_level_is_found_on_its_way_up() {
        let cases: [(&str, f64, u64, Option<u64>); 11] = [
            ("at once", 5.0, 0, Some(0)),
            ("in the middle of a level", 5.0, 500, Some(500_000_000)),
            ("on the way up", 6.0, 0, Some(1_250_000_001)),
            ("on the way up, later", 8.0, 1_500, Some(1_750_000_001)),
            ("already passed on the way up", 6.0, 1_500, Some(1_500_000_000)),
            ("not before the top", 9.0, 0, Some(2_000_000_000)),
            ("at the top", 9.0, 2_500, Some(2_500_000_000)),
            ("still on the way down", 7.0, 3_250, Some(3_250_000_000)),
            ("passed on the way down", 5.0, 3_750, None),
            ("too high", 9.5, 0, None),
            ("after the end", 1.0, 5_000, None),
        ];
        for (name, level, millis, expected) in cases {
            let found = hill().when_at_least(level, Duration::from_millis(millis));
            assert_eq!(found, expected.map(Duration::from_nanos), "{name}");
        }
        let steep = Stage { length: Duration::from_secs(1), from: 0.0, to: 1e9 };
        let never = Course::new(vec![steep]).when_at_least(999_999_999.0, Duration::ZERO);
        assert_eq!(never, None, "rounded up it would be the end itself");
    }
}
