//! Runs in which the generator was the limit, or the load could not be offered.

use super::finding;
use crate::{
    report::{Finding, RunInfo, Severity, validity},
    tally::Tally,
};

/// The generator was the limit, not the server.
pub(crate) const CLIENT_BOUND: &str = "client_bound";
/// Some calls were due but not sent.
pub(crate) const DROPPED_CALLS: &str = "dropped_calls";
/// So many that the load that was asked for was not offered.
pub(crate) const LOAD_NOT_OFFERED: &str = "load_not_offered";

/// The share of dropped calls beyond which another load was offered than the one asked for.
const TOO_MANY: f64 = 0.01;

pub(super) fn judge(tally: &Tally, info: &RunInfo) -> Vec<Finding> {
    let total = tally.total();
    let validity = validity::validity(&info.scenario, tally, &total);
    let mut found = Vec::new();
    if validity.client_bound {
        // By itself it is no fault of the server: a limit that was kept is kept all the more. One
        // that was not makes the run INVALID.
        let message = "mcp-loadtest itself was the limit: the figures are not the server's alone";
        let mut bound = finding(CLIENT_BOUND, Severity::Info, message.into());
        bound.evidence = validity.reasons;
        bound.hint = Some("ask for less load, or run it on a machine with more to spare".into());
        found.push(bound);
    }
    let (dropped, issued) = (total.counts.dropped, total.counts.issued);
    if dropped > 0 {
        let share = dropped as f64 / issued.max(1) as f64;
        let id = if share > TOO_MANY { LOAD_NOT_OFFERED } else { DROPPED_CALLS };
        let message = format!(
            "{dropped} of {issued} calls that were due were not sent: too many were in flight"
        );
        let mut told = finding(id, Severity::Warning, message);
        told.evidence = vec!["the calls that were not sent are missing from the latencies".into()];
        told.hint =
            Some("the server cannot keep up; lower `rate`, or raise `max_in_flight`".into());
        found.push(told);
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Run, info};
    use super::*;
    use crate::{
        event::{Event, GeneratorSample},
        scenario::Scenario,
    };
    use std::time::Duration;

    fn busy(share: f64) -> Event<'static> {
        let wall = Duration::from_secs(10);
        let (cpu, starved) = (wall.mul_f64(share), Duration::ZERO);
        Event::Generator(GeneratorSample { at: wall, worker: 0, wall, cpu, starved })
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
}
