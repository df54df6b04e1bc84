//! Stages of a load, and what the closed and the open model have in common.

use std::time::Duration;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::settings::{LONGER_THAN_NOTHING, refuse};
use crate::{
    config::{ConfigError, DurationText},
    pace::{Arrival, Course, Level, Rate, Shape, Stage},
    units::as_text,
};

/// Calls in flight at most in an open model, unless set.
pub const MOST_IN_FLIGHT: u32 = 10_000;

/// One stage of a load: for so long, at such a level.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct StageSettings {
    /// How long the stage lasts.
    #[serde(with = "as_text")]
    #[schemars(with = "DurationText")]
    pub duration: Duration,
    /// Calls in flight, such as 50, or a rate, such as `"500/s"`. All stages count the same thing.
    pub load: Level,
    /// `step`: the level holds from the beginning of the stage. `linear`: it changes in a straight
    /// line from that of the stage before. Default: `step`.
    #[serde(default, skip_serializing_if = "is_step")]
    pub shape: Shape,
}

fn is_step(shape: &Shape) -> bool {
    *shape == Shape::Step
}

/// The load of stages that follow each other.
pub(super) fn arrival_of_stages(stages: &[StageSettings], max_in_flight: u32) -> Arrival {
    let mut before = 0.0;
    let course = stages.iter().map(|stage| {
        let to = stage.load.get();
        let from = if stage.shape == Shape::Linear { before } else { to };
        before = to;
        Stage { length: stage.duration, from, to }
    });
    let course = Course::new(course.collect());
    let open = stages.first().is_some_and(|stage| stage.load.is_rate());
    if open {
        Arrival::Open { rate: course, limit: max_in_flight }
    } else {
        Arrival::Closed(course)
    }
}

/// Stages that hold one level each.
pub(super) fn steps(
    levels: impl IntoIterator<Item = (Level, Duration)>,
    max_in_flight: u32,
) -> Arrival {
    let stages: Vec<_> = levels
        .into_iter()
        .map(|(load, duration)| StageSettings { duration, load, shape: Shape::Step })
        .collect();
    arrival_of_stages(&stages, max_in_flight)
}

/// Judges a list of stages.
pub(super) fn check_stages(stages: &[StageSettings]) -> Result<(), ConfigError> {
    let Some(first) = stages.first() else { return Ok(()) };
    for (index, stage) in stages.iter().enumerate() {
        let key = |name: &str| format!("stage[{index}].{name}");
        refuse(stage.duration.is_zero(), &key("duration"), LONGER_THAN_NOTHING)?;
        let mixed = stage.load.is_rate() != first.load.is_rate();
        refuse(mixed, &key("load"), "counts something else than the first stage")?;
        check_level(stage.load, &key("load"))?;
    }
    let nothing = stages.iter().all(|stage| stage.load.get() <= 0.0);
    refuse(nothing, "stage", "no stage has any load")
}

/// Judges one level. Nothing at all is fine: a pause.
pub(super) fn check_level(level: Level, key: &str) -> Result<(), ConfigError> {
    let usable = level.get().is_finite() && level.get() >= 0.0;
    refuse(!usable, key, "is no level of load")?;
    match level {
        Level::Rate(rate) => refuse(rate > FASTEST, key, TOO_FAST),
        Level::Concurrent(_) => Ok(()),
    }
}

/// No machine sends more than this.
pub(super) const FASTEST: Rate = Rate::per_second(10_000_000.0);
pub(super) const TOO_FAST: &str = "must be at most 10000000/s: one machine cannot send more";

/// Judges a rate that must be there.
pub(super) fn check_rate(rate: Rate, key: &str) -> Result<(), ConfigError> {
    refuse(!rate.is_usable(), key, "must be above 0")?;
    refuse(rate > FASTEST, key, TOO_FAST)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rate(per_second: f64) -> Level {
        Level::Rate(Rate::per_second(per_second))
    }

    fn stage(load: Level, shape: Shape) -> StageSettings {
        StageSettings { duration: Duration::from_secs(1), load, shape }
    }

    #[test]
    fn a_level_may_be_a_pause_but_neither_negative_nor_endless_nor_too_fast() {
        let wrong = "is no level of load";
        for (level, message) in [
            (rate(0.0), None),
            (rate(10_000_000.0), None),
            (rate(10_000_001.0), Some(TOO_FAST)),
            (rate(-1.0), Some(wrong)),
            (rate(f64::INFINITY), Some(wrong)),
            (rate(f64::NAN), Some(wrong)),
            (Level::Concurrent(0), None),
            (Level::Concurrent(u32::MAX), None),
        ] {
            let told = check_level(level, "load").err().map(|error| error.message);
            assert_eq!(told.as_deref(), message, "{level}");
        }
    }

    #[test]
    fn a_rate_that_must_be_there_is_above_nothing() {
        for (per_second, message) in [
            (0.5, None),
            (10_000_000.0, None),
            (10_000_001.0, Some(TOO_FAST)),
            (0.0, Some("must be above 0")),
            (f64::INFINITY, Some("must be above 0")),
        ] {
            let told = check_rate(Rate::per_second(per_second), "rate").err();
            let told = told.map(|error| error.message);
            assert_eq!(told.as_deref(), message, "{per_second}");
        }
    }

    #[test]
    fn stages_count_the_same_thing_and_at_least_one_has_load() {
        let steps = |loads: &[Level]| -> Vec<StageSettings> {
            loads.iter().map(|load| stage(*load, Shape::Step)).collect()
        };
        let mut timeless = steps(&[Level::Concurrent(1), Level::Concurrent(2)]);
        timeless[1].duration = Duration::ZERO;
        for (stages, key) in [
            (Vec::new(), None),
            (steps(&[Level::Concurrent(0), Level::Concurrent(2)]), None),
            (steps(&[rate(2.0), rate(0.0)]), None),
            (steps(&[rate(0.0), rate(0.0)]), Some("stage")),
            (steps(&[Level::Concurrent(1), rate(1.0)]), Some("stage[1].load")),
            (steps(&[rate(1.0), rate(-1.0)]), Some("stage[1].load")),
            (timeless, Some("stage[1].duration")),
        ] {
            let told = check_stages(&stages).err().map(|error| error.key.to_string());
            assert_eq!(told, key.map(|key| format!("[scenario] {key}")), "{stages:?}");
        }
    }

    #[test]
    fn a_linear_stage_begins_where_the_one_before_ended() {
        let (five, two) = (Level::Concurrent(5), Level::Concurrent(2));
        let stages =
            [stage(five, Shape::Linear), stage(two, Shape::Step), stage(five, Shape::Linear)];
        let arrival = arrival_of_stages(&stages, 9);
        let levels: Vec<_> =
            arrival.course().stages().iter().map(|stage| (stage.from, stage.to)).collect();
        assert_eq!(levels, [(0.0, 5.0), (2.0, 2.0), (2.0, 5.0)]);
    }

    #[test]
    fn a_stage_is_written_with_its_shape_unless_that_is_usual() {
        for (shape, json) in [
            (Shape::Step, r#"{"duration":"1s","load":5}"#),
            (Shape::Linear, r#"{"duration":"1s","load":5,"shape":"linear"}"#),
        ] {
            let written = serde_json::to_string(&stage(Level::Concurrent(5), shape)).unwrap();
            assert_eq!(written, json);
        }
    }
}
