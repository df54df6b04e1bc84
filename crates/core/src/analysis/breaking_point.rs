//! Where a ramp breaks.

use super::finding;
use crate::{
    histogram,
    report::{Finding, RunInfo, Severity},
    scenario::ScenarioKind,
    stats::knee::{Beyond, Point, breaking_point},
    tally::{Segment, Tally},
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
        measured.filter_map(|(segment, level)| point(segment, level.get())).collect();
    let found = breaking_point(&points, ERRORS);
    let (id, severity) = match &found.knee {
        Some(knee) if knee.beyond == Beyond::Collapse => (COLLAPSE, Severity::Warning),
        _ => (BREAKING_POINT, Severity::Info),
    };
    let unit = if ramp.from.is_rate() { "calls a second" } else { "calls in flight" };
    let message = match &found.knee {
        Some(knee) => {
            format!("the server has its knee at {:.1} {unit}: {}", knee.load, found.reason)
        }
        None => format!("no knee was found: {}", found.reason),
    };
    let mut told = finding(id, severity, message);
    let capacity = found.capacity.map(|rate| format!("it does about {rate:.1} calls a second"));
    let first_error = found.first_error.map(|point| {
        format!("errors begin at {} {unit}: {:.1}%", point.load, point.error_rate * 100.0)
    });
    let explosion = found.explosion.map(|point| {
        format!("p99 explodes at {} {unit}: {}", point.load, format_latency(point.p99))
    });
    told.evidence = [capacity, first_error, explosion].into_iter().flatten().collect();
    vec![told]
}

fn point(segment: &Segment, load: f64) -> Option<Point> {
    let times = segment.response();
    Some(Point {
        load,
        throughput: segment.counts.ok as f64 / segment.load_time().as_secs_f64().max(1e-9),
        p50: histogram::quantile(&times, 0.50)?,
        p99: histogram::quantile(&times, 0.99)?,
        error_rate: segment.counts.error_rate().unwrap_or(0.0),
    })
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
        let at: f64 = found[0].message.split(' ').nth(6).unwrap().parse().unwrap();
        assert!((7.2..=8.8).contains(&at), "{}", found[0].message);
    }

    #[test]
    fn a_server_with_room_left_has_none_and_other_scenarios_are_not_judged() {
        let (tally, ramp_info) = ramp(1_000);
        assert!(judge(&tally, &ramp_info)[0].message.starts_with("no knee"));
        assert_eq!(judge(&tally, &info(Scenario::sustained())), []);
    }
}
