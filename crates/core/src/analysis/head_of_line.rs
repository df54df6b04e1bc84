//! Whether slow calls hold up the fast ones beside them.

use super::finding;
use crate::{
    histogram,
    report::{Finding, RunInfo, Severity},
    scenario::ScenarioKind,
    stats::head_of_line::{BlockingVerdict, judge_blocking},
    tally::Tally,
};

/// Fast calls wait for slow ones.
pub(crate) const HEAD_OF_LINE: &str = "head_of_line_blocking";
/// Fast calls get slower beside slow ones.
pub(crate) const SHARED: &str = "shared_resource";
/// They do not.
pub(crate) const INDEPENDENT: &str = "independent_calls";
/// It could not be told.
pub(crate) const UNCLEAR: &str = "head_of_line_unclear";

pub(super) fn judge(tally: &Tally, info: &RunInfo) -> Vec<Finding> {
    let ScenarioKind::SlowMix(_) = &info.scenario.kind else { return Vec::new() };
    let unclear = || vec![finding(UNCLEAR, Severity::Warning, "there were too few calls".into())];
    let [_, alone, beside] = &tally.segments[..] else { return unclear() };
    let Some(fast) = alone.tools.first() else { return unclear() };
    let slow = beside.tools.iter().find(|tool| tool.name != fast.name);
    let (Some(slow), Some(mixed)) = (slow, beside.tool(&fast.name)) else { return unclear() };
    let slow_time = histogram::quantile(slow.times.response(), 0.5).unwrap_or_default();
    let found = judge_blocking(fast.times.response(), mixed.times.response(), slow_time);
    let (id, severity) = match found.verdict {
        BlockingVerdict::Blocked => (HEAD_OF_LINE, Severity::Warning),
        BlockingVerdict::Shared => (SHARED, Severity::Warning),
        BlockingVerdict::Independent => (INDEPENDENT, Severity::Info),
        BlockingVerdict::CouldNotTell => (UNCLEAR, Severity::Warning),
    };
    let mut told =
        finding(id, severity, format!("`{}` beside `{}`: {}", fast.name, slow.name, found.reason));
    if found.verdict == BlockingVerdict::Blocked {
        told.hint = Some("serve calls of one session at the same time, not one by one".into());
    }
    vec![told]
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Run, info};
    use super::*;
    use crate::scenario::Scenario;

    /// A fast tool that takes 2 ms alone, and so long beside one of 500 ms.
    fn mix(beside: u64) -> Vec<Finding> {
        let run = (0..100).fold(Run::default(), |run, n| run.ok_in(1, n * 10, 2));
        let run = (0..100).fold(run, |run, n| run.ok_in(2, 2_000 + n * 10, beside));
        let run = (0..20).fold(run, |run, n| run.ok_of("slow", 2, 2_000 + n * 50, 500));
        judge(&run.tally, &info(Scenario::slow_mix()))
    }

    #[test]
    fn a_serial_server_is_told_from_a_parallel_one() {
        assert_eq!(mix(300)[0].id, HEAD_OF_LINE);
        assert_eq!(mix(2)[0].id, INDEPENDENT);
    }
}
