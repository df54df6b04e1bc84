//! The cliff of lazy initialisation: the first call pays for what start-up left undone.
//!
//! A short hang threshold takes such a call for a hang; the figures tell the two apart. Two other
//! things look like it and are not: calls that were released together and queue for a server that
//! takes one at a time, and a tool that is slow now and then.

use std::time::Duration;

use super::finding;
use crate::{
    histogram,
    report::{Finding, RunInfo, Severity},
    tally::{Tally, ToolTally},
    units::format_latency,
};

/// The first call took many times as long as the steady ones.
pub const LAZY_INIT_CLIFF: &str = "lazy_init_cliff";
/// How many times the steady median the first call must take.
const CLIFF: u32 = 20;
/// How many times what a queue of the first calls, or an unlucky later one, would explain.
const BEYOND: u32 = 2;
/// Below this nobody minds; it also keeps the warm-up of a just-in-time compiler out.
const NOTICEABLE: Duration = Duration::from_secs(1);
/// The steady median must rest on this many calls.
const ENOUGH: u64 = 3;

pub(super) fn judge(tally: &Tally, _: &RunInfo) -> Vec<Finding> {
    tally.total().tools.iter().filter_map(cliff).collect()
}

fn cliff(tool: &ToolTally) -> Option<Finding> {
    let Pace { first, steady, unlucky, queue } = pace(tool)?;
    if !is_cliff(first, steady, queue.max(unlucky)) {
        return None;
    }
    let times = first.as_secs_f64() / steady.as_secs_f64().max(1e-6);
    let message = format!(
        "the first call to `{}` took {}, later ones {} (median): {times:.0} times as long",
        tool.name,
        format_latency(first),
        format_latency(steady),
    );
    let mut found = finding(LAZY_INIT_CLIFF, Severity::Warning, message);
    found.hint =
        Some("do the work before the first call, at start-up or right after the handshake".into());
    Some(found)
}

/// The first calls of a tool beside the steady ones.
struct Pace {
    first: Duration,
    steady: Duration,
    unlucky: Duration,
    /// How long the last of the first calls waits for a server that takes one at a time.
    queue: Duration,
}

fn pace(tool: &ToolTally) -> Option<Pace> {
    let times = tool.steady();
    if times.len() < ENOUGH {
        return None;
    }
    let steady = histogram::quantile(&times, 0.5)?;
    let unlucky = histogram::quantile(&times, 0.99)?;
    Some(Pace { first: tool.first?, steady, unlucky, queue: steady * tool.first_batch })
}

/// Whether the first calls of a tool took so long for what start-up had left undone.
pub(super) fn is_lazy(tool: &ToolTally) -> bool {
    pace(tool).is_some_and(|pace| is_cliff(pace.first, pace.steady, pace.queue.max(pace.unlucky)))
}

/// Whether calls that were released together took as long as one after the other, and calls that came
/// alone did not.
pub(super) fn is_serial(tool: &ToolTally) -> bool {
    const SEVERAL: u32 = 4;
    pace(tool).is_some_and(|pace| {
        let nearly = pace.queue.mul_f64(0.75);
        tool.first_batch >= SEVERAL && pace.first >= nearly && pace.first < pace.queue * BEYOND
    })
}

/// Whether a first call took so long that start-up must have left work to it. `steady`: the median of
/// later calls; `explained`: what a queue, or bad luck, would have cost it anyway.
pub fn is_cliff(first: Duration, steady: Duration, explained: Duration) -> bool {
    first >= NOTICEABLE && first >= steady * CLIFF && first >= explained * BEYOND
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Run, info};
    use super::*;
    use crate::scenario::Scenario;

    fn steady(run: Run) -> Run {
        (0..5).fold(run, |run, n| run.ok(20_000 + n * 100, 20))
    }

    #[test]
    fn a_slow_first_call_before_fast_ones_is_a_cliff() {
        let found =
            judge(&steady(Run::default().ok(0, 7_000)).tally, &info(Scenario::deadlock_probe()));
        assert_eq!(found[0].id, LAZY_INIT_CLIFF);
        assert!(found[0].message.contains("took 7.00s, later ones 20.0ms"), "{}", found[0].message);
    }

    #[test]
    fn a_queue_of_calls_that_were_released_together_is_not() {
        let queue = (1..=20).fold(Run::default(), |run, n| run.ok(0, n * 105));
        let run = (0..5).fold(queue, |run, n| run.ok(20_000 + n * 200, 100));
        assert!(judge(&run.tally, &info(Scenario::deadlock_probe())).is_empty());
    }

    #[test]
    fn a_tool_that_is_slow_now_and_then_is_not() {
        let run = (0..50).fold(Run::default().ok(0, 2_000), |run, n| {
            run.ok(3_000 + n * 2_000, if n % 20 == 0 { 1_900 } else { 5 })
        });
        assert!(judge(&run.tally, &info(Scenario::sustained())).is_empty());
    }

    #[test]
    fn a_tool_that_is_always_slow_or_hardly_slow_is_not() {
        let always = (0..6).fold(Run::default(), |run, n| run.ok(n * 3_000, 2_000));
        assert!(judge(&always.tally, &info(Scenario::sustained())).is_empty());
        let hardly = steady(Run::default().ok(0, 900));
        assert!(judge(&hardly.tally, &info(Scenario::sustained())).is_empty());
        let too_few = Run::default().ok(0, 7_000).ok(8_000, 20);
        assert!(judge(&too_few.tally, &info(Scenario::sustained())).is_empty());
    }

    #[test]
    fn a_cliff_needs_all_its_limits_and_each_belongs_to_it() {
        let millis = Duration::from_millis;
        for (name, first, steady, explained, expected) in [
            ("at all limits", 1_000, 50, 500, true),
            ("not noticeable", 999, 10, 10, false),
            ("19.6 times the median", 1_000, 51, 10, false),
            ("explained by a queue", 1_000, 10, 501, false),
        ] {
            let found = is_cliff(millis(first), millis(steady), millis(explained));
            assert_eq!(found, expected, "{name}");
        }
    }

    #[test]
    fn three_steady_calls_are_enough_and_two_are_not() {
        let told = |calls: u64| {
            let run =
                (0..calls).fold(Run::default().ok(0, 7_000), |run, n| run.ok(20_000 + n * 100, 20));
            judge(&run.tally, &info(Scenario::sustained()))
        };
        assert_eq!(told(2), []);
        assert!(told(3)[0].message.ends_with(": 350 times as long"), "{:?}", told(3));
    }

    #[test]
    fn calls_are_serial_if_they_took_about_as_long_as_one_after_the_other() {
        let of = |batch: u32, first: fn(Duration) -> Duration| {
            let run = (0..batch).fold(Run::default(), |run, _| run.ok(0, 100));
            let mut tool = steady(run).tally.total().tools.remove(0);
            let alone = histogram::quantile(&tool.steady(), 0.5).expect("five calls");
            tool.first = Some(first(alone * batch));
            is_serial(&tool)
        };
        assert!(of(4, |queue| queue), "as long as the queue");
        assert!(of(4, |queue| queue.mul_f64(0.75)));
        assert!(!of(4, |queue| queue.mul_f64(0.75) - Duration::from_nanos(1)), "too short");
        assert!(of(4, |queue| queue * 2 - Duration::from_nanos(1)));
        assert!(!of(4, |queue| queue * 2), "too long");
        assert!(!of(3, |queue| queue), "three may be chance");
        assert!(!is_serial(&ToolTally::of("t", Default::default(), histogram::new())), "no calls");
    }
}
