//! Tools whose latency has two populations: the median then describes neither.

use super::finding;
use crate::{
    report::{Finding, RunInfo, Severity},
    scenario::ScenarioKind,
    stats::bimodal::modes,
    tally::{Tally, ToolTally},
    units::format_latency,
};

/// The calls of a tool fall into a fast and a slow group.
pub(crate) const TWO_POPULATIONS: &str = "two_populations";

pub(super) fn judge(tally: &Tally, info: &RunInfo) -> Vec<Finding> {
    // Of calls that are released at once some wait for others, and the first burst meets a cold server.
    if matches!(info.scenario.kind, ScenarioKind::RaceCheck(_) | ScenarioKind::DeadlockProbe(_)) {
        return Vec::new();
    }
    // Steps with other loads have other latencies: only within one step is a second group news.
    let steps: Vec<_> = tally.segments.iter().filter(|step| !step.tools.is_empty()).collect();
    let [only] = steps[..] else { return Vec::new() };
    only.tools.iter().filter_map(told).collect()
}

fn told(tool: &ToolTally) -> Option<Finding> {
    let modes = modes(&tool.times.service())?;
    let message = format!(
        "the calls of `{}` fall into two groups: {:.0}% take about {} and {:.0}% about {}",
        tool.name,
        modes.low.share * 100.0,
        format_latency(modes.low.at),
        modes.high.share * 100.0,
        format_latency(modes.high.at)
    );
    let mut found = finding(TWO_POPULATIONS, Severity::Info, message);
    found.hint = Some("look for a cache that misses, a lock, or a worker that is cold".into());
    Some(found)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Run, info};
    use super::*;
    use crate::scenario::Scenario;

    fn calls(scenario: impl Into<Scenario>, took: fn(u64) -> u64) -> Vec<Finding> {
        let run = (0..1_000).fold(Run::default(), |run, n| run.ok(n * 500, took(n)));
        judge(&run.tally, &info(scenario.into()))
    }

    #[test]
    fn hits_and_misses_are_told_apart_and_one_group_is_not() {
        let two = |n| if n % 4 == 0 { 200 + n % 9 } else { 10 + n % 3 };
        assert_eq!(calls(Scenario::sustained(), two)[0].id, TWO_POPULATIONS);
        assert_eq!(calls(Scenario::sustained(), |n| 10 + n % 5), []);
        assert_eq!(calls(Scenario::race_check(), two), [], "the first burst is a cold one");
    }
}
