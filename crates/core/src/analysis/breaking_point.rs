//! Where a ramp breaks.

use super::finding;
use crate::{
    histogram,
    pace::Level,
    report::{Finding, RunInfo, Severity},
    scenario::ScenarioKind,
    stats::knee::{Beyond, Point, breaking_point, short},
    tally::{Pause, Segment, Tally, paused_within},
    units::format_latency,
};

/// More load brings no more throughput.
pub(crate) const BREAKING_POINT: &str = "breaking_point";
/// Throughput falls when load grows.
pub(crate) const COLLAPSE: &str = "throughput_collapse";

/// The share of errors that a step may have.
const ERRORS: f64 = 0.01;

pub(super) fn judge(tally: &Tally, info: &RunInfo) -> Vec<Finding> {
    let ScenarioKind::Ramp(ramp) = &info.scenario.kind else { return Vec::new() };
    let steps = ramp.levels();
    let measured = tally.segments.iter().skip(1).zip(&steps);
    let points: Vec<Point> =
        measured.filter_map(|(segment, level)| point(segment, *level, &tally.pauses)).collect();
    let found = breaking_point(&points, ERRORS);
    let (id, severity) = match &found.knee {
        Some(knee) if knee.beyond == Beyond::Collapse => (COLLAPSE, Severity::Warning),
        _ => (BREAKING_POINT, Severity::Info),
    };
    let unit = if ramp.from.is_rate() { "calls a second" } else { "calls in flight" };
    let message = match &found.knee {
        Some(knee) if knee.load < ramp.from.get() => {
            format!("the server is at its limit from the first step on: {}", found.reason)
        }
        Some(knee) => {
            format!("the server has its knee at {} {unit}: {}", short(knee.load), found.reason)
        }
        None => found.reason.clone(),
    };
    let mut told = finding(id, severity, message);
    let capacity = found.capacity.map(|rate| format!("it does about {rate:.1} calls a second"));
    let first_error = found.first_error.map(|point| {
        format!("errors begin at {} {unit}: {:.1}%", short(point.load), point.error_rate * 100.0)
    });
    let explosion = found.explosion.map(|point| {
        format!("p99 explodes at {} {unit}: {}", short(point.load), format_latency(point.p99))
    });
    told.evidence = [capacity, first_error, explosion].into_iter().flatten().collect();
    let told = told
        .figure("knee", found.knee.map(|knee| knee.load))
        .figure("capacity_per_sec", found.capacity)
        .figure("errors_from", found.first_error.map(|point| point.load))
        .figure("explodes_from", found.explosion.map(|point| point.load));
    vec![told]
}

/// Callers that always have a call in flight make `callers / mean latency` calls a second (Little's
/// law). The time of the step would not do: its last calls end after it, the later the slower they are.
fn point(segment: &Segment, level: Level, pauses: &[Pause]) -> Option<Point> {
    let times = segment.response();
    let errors = segment.counts.error_rate().unwrap_or(0.0);
    let answered = match level {
        Level::Concurrent(callers) => f64::from(callers) / (times.mean() / 1e9).max(1e-9),
        Level::Rate(_) => between_ends(segment, pauses)?,
    };
    Some(Point {
        load: level.get(),
        throughput: answered * (1.0 - errors),
        p50: histogram::quantile(&times, 0.50)?,
        p99: histogram::quantile(&times, 0.99)?,
        error_rate: errors,
    })
}

/// Calls a second from the first end to the last. Beyond its capacity a server works on the calls of
/// a step long after the step is over, and begins them late because of those before. While the load was
/// held no call was due, so that time is not the server's.
fn between_ends(segment: &Segment, pauses: &[Pause]) -> Option<f64> {
    let first = segment.first_end?;
    let span = segment.last_end.checked_sub(first)?;
    let span = span.saturating_sub(paused_within(pauses, first, segment.last_end)).as_secs_f64();
    let ended = segment.counts.ended();
    (ended > 1 && span > 0.0).then(|| (ended - 1) as f64 / span)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Run, info};
    use super::*;
    use crate::scenario::Scenario;
    use std::time::Duration;

    /// A server that works on `room` calls at once, each for 10 ms, under a ramp from 1 to 20.
    fn ramp(room: u64) -> (Tally, RunInfo) {
        let scenario = Scenario::ramp().concurrent(1, 20).step_increment(1.0);
        let mut run = Run::default();
        for callers in 1..=20_u64 {
            let took = 10 * callers.div_ceil(room).max(1);
            let took = if callers > room { 10 * callers / room } else { took };
            for turn in 0..(1_000 / took) {
                for _ in 0..callers {
                    let start = callers * 1_000 + turn * took;
                    run = run.ok_in(callers as u16, start, took);
                }
            }
        }
        (run.tally, info(scenario.duration(Duration::from_secs(20))))
    }

    #[test]
    fn the_knee_of_a_server_of_known_size_is_found() {
        let (tally, info) = ramp(8);
        let found = judge(&tally, &info);
        assert_eq!(found[0].id, BREAKING_POINT);
        let knee = found[0].figures["knee"];
        assert!((7.2..=8.8).contains(&knee), "{}", found[0].message);
    }

    /// A ramp from 10 to 200 calls a second, of which the server does one every `each` milliseconds at
    /// most, held for a minute in the middle of its tenth step if `held`.
    fn scheduled(each: u64, held: bool) -> Finding {
        let rate = |per_second: f64| Level::Rate(crate::pace::Rate::per_second(per_second));
        let scenario = Scenario::ramp().levels(rate(10.0), rate(200.0)).step_increment(10.0);
        let mut run = Run::default();
        let pause = |due: u64| if held && due >= 10_500 { 60_000 } else { 0 };
        let mut free = 0;
        for step in 1..=20_u64 {
            for call in 0..step * 10 {
                let due = step * 1_000 + call * 1_000 / (step * 10);
                let due = due + pause(due);
                free = (due + each).max(free + each);
                run = run.ok_in(step as u16, due, free - due);
            }
        }
        let (from, to) = (Duration::from_millis(10_500), Duration::from_millis(70_500));
        run.tally.pauses.extend(held.then_some(Pause { from, to }));
        judge(&run.tally, &info(scenario.duration(Duration::from_secs(20)))).remove(0)
    }

    #[test]
    fn so_it_is_where_calls_arrive_on_a_schedule() {
        // A call every 10 ms at most, whatever is asked for: 100 a second.
        for held in [false, true] {
            let found = scheduled(10, held);
            let capacity = found.figures["capacity_per_sec"];
            assert!((90.0..=110.0).contains(&capacity), "{held} {}", found.message);
            assert!(found.message.contains("calls a second"), "{}", found.message);
        }
    }

    #[test]
    fn a_pause_in_a_step_makes_no_knee() {
        for held in [false, true] {
            let told = scheduled(1, held).message;
            assert_eq!(told, "no knee up to 200: throughput follows the load", "{held}");
        }
    }

    #[test]
    fn a_server_with_room_left_has_none_and_other_scenarios_are_not_judged() {
        let (tally, ramp_info) = ramp(1_000);
        let told = &judge(&tally, &ramp_info)[0].message;
        assert_eq!(told, "no knee up to 20: throughput follows the load");
        assert_eq!(judge(&tally, &info(Scenario::sustained())), []);
    }

    /// Twenty calls in each step, which take what `took` says for its callers.
    fn steps(levels: impl Iterator<Item = u64>, took: fn(u64) -> u64) -> Tally {
        let run = levels.enumerate().fold(Run::default(), |run, (step, callers)| {
            (0..20).fold(run, |run, n| {
                let start = callers * 100_000 + n * took(callers);
                run.ok_in(step as u16 + 1, start, took(callers))
            })
        });
        run.tally
    }

    fn ramp_info(from: u32, to: u32, step: f64) -> RunInfo {
        let scenario = Scenario::ramp().concurrent(from, to).step_increment(step);
        info(scenario.duration(Duration::from_secs(20)))
    }

    #[test]
    fn a_collapse_is_a_warning_and_says_where_it_explodes() {
        // 80 calls a second up to 8 callers, and 5 less for each one more.
        let took =
            |callers: u64| 1_000 * callers / (80 - 5 * callers.saturating_sub(8)).min(10 * callers);
        let found = judge(&steps(1..=20, took), &ramp_info(1, 20, 1.0)).remove(0);
        assert_eq!((found.id.as_str(), found.severity), (COLLAPSE, Severity::Warning));
        assert!((6.5..8.5).contains(&found.figures["knee"]), "{found:?}");
        assert!(found.evidence[1].starts_with("p99 explodes at "), "{:?}", found.evidence);
        assert!(!found.figures.contains_key("errors_from"));
    }

    #[test]
    fn a_server_at_its_limit_from_the_start_is_told_from_one_that_meets_it_there() {
        let at_once = |first: u64| {
            let took: fn(u64) -> u64 = match first {
                400 => |callers| callers * 100,
                _ => |callers| if callers == 4 { 380 } else { callers * 100 },
            };
            judge(&steps([4, 8, 12, 16].into_iter(), took), &ramp_info(4, 16, 4.0)).remove(0)
        };
        let (met, past) = (at_once(400), at_once(380));
        assert_eq!((met.id.as_str(), met.severity), (BREAKING_POINT, Severity::Info));
        assert!(
            met.message.starts_with("the server has its knee at 4 calls in flight: "),
            "{met:?}"
        );
        let limit = "the server is at its limit from the first step on: throughput is 10";
        assert!(past.message.starts_with(limit), "{past:?}");
    }

    #[test]
    fn a_step_is_measured_by_its_callers_and_its_good_calls() {
        let part = |run: Run| run.tally.segments[0].clone();
        let oks = |ends: &[u64]| ends.iter().fold(Run::default(), |run, end| run.ok(0, *end));
        let failing = part(oks(&[100; 3]).failed(crate::outcome::ErrorCategory::ToolError, 100));
        let found = point(&failing, Level::Concurrent(2), &[]).expect("four calls");
        assert_eq!((found.load, found.error_rate), (2.0, 0.25));
        assert!((found.throughput - 15.0).abs() < 0.1, "{found:?}");
        assert_eq!(between_ends(&part(oks(&[250, 500, 750])), &[]), Some(4.0));
        assert_eq!(between_ends(&part(oks(&[500, 500])), &[]), None, "no time between them");
        assert_eq!(between_ends(&part(oks(&[500])), &[]), None);
        assert_eq!(between_ends(&Segment::default(), &[]), None);
    }
}
