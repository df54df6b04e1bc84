//! The parts of a run: steps of its scenario, and windows of its time.

use super::model::{LatencyStats, SegmentStats, ToolStats, Window};
use crate::{
    histogram::Buckets,
    scenario::{ScenarioKind, Step},
    tally::{Second, Seconds, Segment, Tally},
};

/// Windows at most; in a run of more seconds each of them covers several.
const MOST_WINDOWS: usize = 600;

/// The steps of the scenario, in their order. Segment 0 is for calls outside of any step.
pub(super) fn segments(kind: &ScenarioKind, tally: &Tally) -> Vec<SegmentStats> {
    let mut steps = kind.settings().steps();
    // A search finds its steps as it goes.
    let known = tally.segments.len().saturating_sub(1);
    for index in steps.len()..known {
        steps.push(Step {
            label: format!("step {}", index + 1),
            load: None,
            length: Default::default(),
        });
    }
    let nothing = Segment::default();
    let segment = |index: usize| tally.segments.get(index + 1).unwrap_or(&nothing);
    let stats = |(index, step): (usize, &Step)| {
        let mut segment = segment(index).clone();
        segment.leave_out(&tally.pauses);
        stats(step, &segment)
    };
    steps.iter().enumerate().map(stats).collect()
}

fn stats(step: &Step, segment: &Segment) -> SegmentStats {
    SegmentStats {
        label: step.label.clone(),
        load: step.load,
        total_requests: segment.counts.issued,
        successful_requests: segment.counts.ok,
        errors: segment.counts.errors(),
        dropped: segment.counts.dropped,
        requests_per_sec: segment.throughput(),
        latency: LatencyStats::from_histogram(segment.response()),
    }
}

/// Calls window by window.
pub(super) fn windows(calls: &Seconds) -> Vec<Window> {
    let seconds = calls.counts();
    let distributions = calls.distributions();
    let size = seconds.len().div_ceil(MOST_WINDOWS).max(1);
    let windows = seconds.chunks(size).zip(distributions.chunks(size)).enumerate();
    let window = |(index, (seconds, times)): (usize, (&[Second], &[Buckets]))| {
        let mut response_ns = Buckets::default();
        times.iter().for_each(|second| response_ns.merge(second));
        Window {
            from_secs: (index * size) as u64,
            secs: seconds.len() as u64,
            ok: seconds.iter().map(|second| second.ok).sum(),
            errors: seconds.iter().map(|second| second.errors).sum(),
            response_ns,
        }
    };
    windows.map(window).collect()
}

/// The same for each tool, where there are several and their calls were told apart.
pub(super) fn tool_windows(tally: &Tally, tools: &mut [ToolStats]) {
    if tools.len() < 2 {
        return;
    }
    // The windows of a tool that was called early only are as long as those of all calls.
    let seconds = tally.timeline.seconds().len();
    for tool in tools {
        if let Some(calls) = tally.timeline.of(&tool.name) {
            tool.windows = windows(&calls.lasting(seconds));
            tool.windows.retain(|window| window.ok + window.errors > 0);
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::{report::fixture::Run, scenario::Scenario};

    #[test]
    fn steps_that_a_scenario_does_not_name_have_a_number() {
        let run = Run::of(Scenario::sustained()).ok("t", 5, 900);
        let report = run.segment(2).ok("t", 7, 900).report();
        let told: Vec<_> =
            report.segments.iter().map(|step| (step.label.as_str(), step.total_requests)).collect();
        assert_eq!(told, [("step 1", 0), ("step 2", 7)]);
        assert!(report.segments.iter().all(|step| step.load.is_none()));
    }

    #[test]
    fn a_long_run_has_windows_of_several_seconds() {
        let of = |calls| Run::of(Scenario::sustained()).every(1_000).ok("t", calls, 900).report();
        let short = of(600).windows;
        assert_eq!((short.len(), short[599].from_secs, short[599].secs), (600, 599, 1));
        let long = of(601).windows;
        let seen: Vec<_> =
            long.iter().map(|window| (window.from_secs, window.secs, window.ok)).collect();
        assert_eq!(seen[..3], [(0, 2, 2), (2, 2, 2), (4, 2, 2)]);
        assert_eq!((seen.len(), seen[300]), (301, (600, 1, 1)));
        assert_eq!(long[1].response_ns.count(), 2);
    }
}
