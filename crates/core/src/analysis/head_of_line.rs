//! Whether slow calls hold up the fast ones beside them.

use std::time::Duration;

use super::finding;
use crate::{
    histogram,
    report::{Finding, RunInfo, Severity},
    scenario::ScenarioKind,
    stats::head_of_line::{BlockingVerdict, judge_blocking},
    tally::{Segment, Tally},
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
    let [_, alone, beside, slow] = &tally.segments[..] else { return unclear() };
    let Some(slow_time) = histogram::quantile(&slow.response(), 0.5) else { return unclear() };
    let found = judge_blocking(&alone.response(), &beside.response(), slow_time);
    let (id, severity) = match found.verdict {
        BlockingVerdict::Blocked => (HEAD_OF_LINE, Severity::Warning),
        BlockingVerdict::Shared => (SHARED, Severity::Warning),
        BlockingVerdict::Independent => (INDEPENDENT, Severity::Info),
        BlockingVerdict::CouldNotTell => (UNCLEAR, Severity::Warning),
    };
    let message = format!("{} beside {}: {}", names(alone), names(slow), found.reason);
    let millis = |time: Duration| time.as_secs_f64() * 1e3;
    let mut told = finding(id, severity, message)
        .figure("alone_p50_ms", found.alone.map(|times| millis(times.p50)))
        .figure("beside_p50_ms", found.beside.map(|times| millis(times.p50)))
        .figure("slow_p50_ms", millis(slow_time));
    if found.verdict == BlockingVerdict::Blocked {
        told.hint = Some("serve calls of one session at the same time, not one by one".into());
    }
    vec![told]
}

/// The tools of a step.
fn names(step: &Segment) -> String {
    step.tools.iter().map(|tool| format!("`{}`", tool.name)).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Run, info};
    use super::*;
    use crate::scenario::Scenario;

    /// A fast tool that takes 2 ms alone, and so long beside one of 500 ms.
    fn mix(slow: &'static str, beside: u64) -> Vec<Finding> {
        let run = (0..100).fold(Run::default(), |run, n| run.ok_in(1, n * 10, 2));
        let run = (0..100).fold(run, |run, n| run.ok_in(2, 2_000 + n * 10, beside));
        let run = (0..20).fold(run, |run, n| run.ok_of(slow, 3, 2_000 + n * 50, 500));
        judge(&run.tally, &info(Scenario::slow_mix()))
    }

    #[test]
    fn a_serial_server_is_told_from_a_parallel_one() {
        // One tool may be fast or slow by its arguments.
        for slow in ["slow", "echo"] {
            assert_eq!(mix(slow, 300)[0].id, HEAD_OF_LINE);
            assert_eq!(mix(slow, 2)[0].id, INDEPENDENT);
        }
    }
}
