//! Runs in which the generator was the limit, or the load could not be offered.

use super::finding;
use crate::{
    report::{Finding, RunInfo, Severity, validity},
    scenario::ScenarioKind,
    tally::{Counts, Tally},
    units::format_latency,
};
use std::time::Duration;

/// The generator was the limit, not the server.
pub(crate) const CLIENT_BOUND: &str = "client_bound";
/// Some calls were due but not sent.
pub(crate) const DROPPED_CALLS: &str = "dropped_calls";
/// So many that the load that was asked for was not offered.
pub(crate) const LOAD_NOT_OFFERED: &str = "load_not_offered";

/// We stood still while load was on.
pub(crate) const GENERATOR_STOPPED: &str = "generator_stopped";

/// The share of dropped calls beyond which another load was offered than the one asked for.
const TOO_MANY: f64 = 0.01;

pub(super) fn judge(tally: &Tally, info: &RunInfo) -> Vec<Finding> {
    let total = tally.total();
    let validity = validity::validity(&info.scenario, tally, &total);
    let mut found = Vec::new();
    if validity.client_bound {
        // By itself it is no fault of the server: a limit that was kept is kept all the more. One on
        // time that was not makes the run INVALID.
        let message = "mcp-loadtest itself was the limit: the figures are not the server's alone";
        let mut bound = finding(CLIENT_BOUND, Severity::Info, message.into());
        bound.evidence = validity.reasons;
        bound.hint = Some("ask for less load, or run it on a machine with more to spare".into());
        found.push(bound);
    }
    found.extend(tally.generator.standstill().map(stopped));
    found.extend(dropped(&total.counts, info));
    found
}

fn dropped(counts: &Counts, info: &RunInfo) -> Option<Finding> {
    let (dropped, issued) = (counts.dropped, counts.issued);
    if dropped == 0 {
        return None;
    }
    let message =
        format!("{dropped} of {issued} calls that were due were not sent: too many were in flight");
    if matches!(info.scenario.kind, ScenarioKind::Capacity(_)) {
        // How a search finds out what is too much; the trial has failed by it.
        let mut told = finding(DROPPED_CALLS, Severity::Info, message);
        told.evidence = vec!["a trial in which calls were dropped has failed".into()];
        return Some(told);
    }
    let share = dropped as f64 / issued.max(1) as f64;
    let id = if share > TOO_MANY { LOAD_NOT_OFFERED } else { DROPPED_CALLS };
    let mut told = finding(id, Severity::Warning, message);
    told.evidence = vec!["the calls that were not sent are missing from the latencies".into()];
    told.hint = Some("the server cannot keep up; lower `rate`, or raise `max_in_flight`".into());
    Some(told)
}

/// Calls that were on their way look slow by our own fault, and none were sent meanwhile.
fn stopped(time: Duration) -> Finding {
    let message = format!(
        "mcp-loadtest itself stood still for {} in the middle of the load: it was stopped, the machine \
         slept, or a disk did not answer",
        format_latency(time)
    );
    let mut told = finding(GENERATOR_STOPPED, Severity::Warning, message)
        .figure("stood_still_seconds", time.as_secs_f64());
    told.evidence = vec!["calls that were on their way then look slow, and none were sent".into()];
    told.hint = Some("repeat the run".into());
    told
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Run, info};
    use super::*;
    use crate::{
        event::{Event, GENERATOR_INTERVAL, GeneratorSample},
        report::{self, Verdict},
        scenario::Scenario,
    };

    fn slept(wall: Duration, cpu: Duration) -> Event<'static> {
        let starved = Duration::ZERO;
        Event::Generator(GeneratorSample { at: wall, worker: 0, wall, cpu, starved })
    }

    fn busy(share: f64) -> Event<'static> {
        let wall = GENERATOR_INTERVAL;
        slept(wall, wall.mul_f64(share))
    }

    #[test]
    fn a_run_in_which_we_stood_still_is_told_and_invalid() {
        let of = |wall: u64| {
            let mut run = Run::default().oks(1_000);
            run.tally.observe(&slept(Duration::from_millis(wall), Duration::from_millis(100)));
            report::build(info(Scenario::sustained()), &run.tally)
        };
        let stopped = of(3_600);
        assert_eq!(stopped.findings[0].id, GENERATOR_STOPPED);
        assert_eq!(stopped.findings[0].figures["stood_still_seconds"], 3.0);
        assert_eq!(stopped.verdict, Verdict::Invalid);
        assert_eq!(of(1_500).verdict, Verdict::Pass);
    }

    #[test]
    fn a_generator_without_rest_is_told_and_an_idle_one_is_not() {
        for (share, bound) in [(0.97, true), (0.4, false)] {
            let mut run = Run::default().oks(1_000);
            run.tally.observe(&busy(share));
            let found = judge(&run.tally, &info(Scenario::sustained()));
            assert_eq!(found.iter().any(|found| found.id == CLIENT_BOUND), bound, "{share}");
        }
    }

    #[test]
    fn dropped_calls_are_told_by_how_many_they_are() {
        let rate = || Scenario::sustained().rate(100.0).duration(Duration::from_secs(10));
        for (count, id) in [(1, DROPPED_CALLS), (100, LOAD_NOT_OFFERED)] {
            let mut run = Run::default().oks(1_000);
            let at = Duration::from_secs(1);
            run.tally.observe(&Event::Dropped { at, worker: 0, segment: 0, count });
            assert_eq!(judge(&run.tally, &info(rate()))[0].id, id);
        }
        assert_eq!(judge(&Run::default().oks(1_000).tally, &info(rate())), []);
    }

    #[test]
    fn one_call_in_a_hundred_may_be_dropped() {
        let rate = Scenario::sustained().rate(100.0).duration(Duration::from_secs(10));
        let mut run = Run::default().oks(990);
        let at = Duration::from_secs(1);
        run.tally.observe(&Event::Dropped { at, worker: 0, segment: 0, count: 10 });
        assert_eq!(judge(&run.tally, &info(rate))[0].id, DROPPED_CALLS);
    }
}
