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
