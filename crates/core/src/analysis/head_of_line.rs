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

    #[test]
    fn each_outcome_has_its_finding_and_its_figures() {
        for (beside, id, severity) in [
            (300, HEAD_OF_LINE, Severity::Warning),
            (10, SHARED, Severity::Warning),
            (2, INDEPENDENT, Severity::Info),
        ] {
            let found = mix("slow", beside).remove(0);
            assert_eq!((found.id.as_str(), found.severity), (id, severity), "{beside} ms");
            assert!(found.message.starts_with("`echo` beside `slow`: "), "{}", found.message);
            assert_eq!(found.hint.is_some(), id == HEAD_OF_LINE, "{beside} ms");
            let figures =
                [("alone_p50_ms", 2.0), ("beside_p50_ms", beside as f64), ("slow_p50_ms", 500.0)];
            for (name, millis) in figures {
                assert!((found.figures[name] / millis - 1.0).abs() < 0.01, "{name}: {found:?}");
            }
        }
    }

    #[test]
    fn too_few_steps_or_calls_are_unclear_and_other_scenarios_are_not_judged() {
        let unclear = |run: Run| judge(&run.tally, &info(Scenario::slow_mix())).remove(0).id;
        assert_eq!(unclear(Run::default().ok_in(2, 0, 5)), UNCLEAR);
        let run = Run::default().ok_in(1, 0, 2).ok_in(2, 10, 2).ok_of("slow", 3, 10, 500);
        assert_eq!(judge(&run.tally, &info(Scenario::sustained())), []);
        assert_eq!(unclear(run), UNCLEAR);
    }
}
