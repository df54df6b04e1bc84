//! Grades and coverage: what a run says of the server beyond its figures.

use super::model::{Coverage, Report, Severity, ToolStats};
use crate::{
    analysis::COLLAPSE,
    outcome::ErrorCategory,
    pace::Level,
    stats::grade::{Grade, Grades, Measured, grades},
};

/// Fewer calls than this are not graded.
const ENOUGH: u64 = 100;

/// The grades of a run; none for one that cannot be judged.
pub(super) fn grade(report: &Report) -> Option<Grades> {
    let judged = report.verdict != super::Verdict::Invalid
        && !report.validity.client_bound
        && !report.interrupted
        && report.dropped == 0
        // Bad input says nothing of how fast good calls are.
        && report.fuzz.is_none()
        && report.latency.count >= ENOUGH;
    if !judged {
        return None;
    }
    let alone = report.segments.iter().find(|step| step.load == Some(Level::Concurrent(1)));
    let loaded = report
        .segments
        .iter()
        .filter(|step| matches!(step.load, Some(Level::Concurrent(2..))))
        .max_by(|one, other| level(one.load).total_cmp(&level(other.load)));
    let measured = grades(&Measured {
        p99: Some(report.latency.p99),
        error_rate: report.error_rate(),
        p50_alone: alone.filter(|step| step.latency.count > 0).map(|step| step.latency.p50),
        p50_loaded: loaded.filter(|step| step.latency.count > 0).map(|step| step.latency.p50),
        collapsed: report.finding(COLLAPSE).is_some(),
    });
    let worst = report.findings.iter().map(|finding| finding.severity).max();
    Some(measured.capped(worst.and_then(cap)))
}

/// The best grade that a server may have of which this was found: fast answers are worth little where
/// some of them are wrong.
pub(super) const fn cap(worst: Severity) -> Option<Grade> {
    match worst {
        Severity::Critical => Some(Grade::F),
        Severity::Warning => Some(Grade::B),
        Severity::Info => None,
    }
}

fn level(load: Option<Level>) -> f64 {
    load.map_or(0.0, Level::get)
}

/// Which of the server's tools were called.
pub(super) fn coverage(report: &Report) -> Coverage {
    let called = |name: &&String| report.tools.iter().any(|tool| tool.name == **name);
    let registered = &report.server_info.tool_names;
    let has_failed = |name: &&String| {
        report.tools.iter().any(|tool| tool.name == **name && answered_with_error(tool))
    };
    Coverage {
        registered: registered.len(),
        exercised: registered.iter().filter(called).count(),
        missed: registered.iter().filter(|name| !called(name)).cloned().collect(),
        error_paths: registered.iter().filter(|name| has_failed(name)).count(),
        keywords: report.server_info.keywords.clone(),
    }
}

fn answered_with_error(tool: &ToolStats) -> bool {
    use ErrorCategory::{ProtocolError, ServerError, ToolError};
    let replies = [ServerError, ProtocolError, ToolError];
    replies.iter().any(|category| tool.errors.get(category).is_some_and(|count| *count > 0))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        report::{
            LatencyStats, SegmentStats, Verdict,
            fixture::{Run, ramped},
            phrases,
        },
        scenario::Scenario,
    };
    use std::time::Duration;

    #[test]
    fn what_cannot_be_judged_has_no_grade() {
        let graded = |change: fn(&mut Report)| {
            let mut report = Run::of(Scenario::sustained()).ok("t", 100, 900).report();
            change(&mut report);
            grade(&report).is_some()
        };
        for (name, change, expected) in [
            ("a hundred calls", (|_| ()) as fn(&mut Report), true),
            ("fewer", |report| report.latency.count = 99, false),
            ("invalid", |report| report.verdict = Verdict::Invalid, false),
            ("failed", |report| report.verdict = Verdict::Fail, true),
            ("our fault", |report| report.validity.client_bound = true, false),
            ("interrupted", |report| report.interrupted = true, false),
            ("not all sent", |report| report.dropped = 1, false),
            ("bad input", |report| report.fuzz = Some(Default::default()), false),
        ] {
            assert_eq!(graded(change), expected, "{name}");
        }
    }

    #[test]
    fn the_highest_load_is_compared_with_one_call_at_a_time() {
        let graded = |steps: &[(u32, u64)]| {
            let mut report = ramped();
            let step = report.segments.remove(0);
            let stats = |(load, p50): &(u32, u64)| SegmentStats {
                load: Some(Level::Concurrent(*load)),
                latency: LatencyStats {
                    p50: Duration::from_millis(*p50),
                    count: u64::from(*p50 > 0),
                    ..LatencyStats::default()
                },
                ..step.clone()
            };
            report.segments = steps.iter().map(stats).collect();
            grade(&report).expect("a valid run").concurrency
        };
        for (name, steps, expected) in [
            ("twice", &[(1, 10), (8, 20)][..], Some(Grade::A)),
            ("five times", &[(1, 10), (8, 50)], Some(Grade::B)),
            ("the highest is not the last", &[(4, 20), (8, 50), (1, 10), (2, 20)], Some(Grade::B)),
            ("nobody was ever alone", &[(2, 10), (8, 20)], None),
            ("nobody had company", &[(1, 10)], None),
            ("no call was measured alone", &[(1, 0), (8, 20)], None),
            ("none under load", &[(1, 10), (8, 0)], None),
        ] {
            assert_eq!(graded(steps), expected, "{name}");
        }
        let caps = [Severity::Critical, Severity::Warning, Severity::Info].map(cap);
        assert_eq!(caps, [Some(Grade::F), Some(Grade::B), None]);
    }

    #[test]
    fn only_replies_are_paths_of_error() {
        use ErrorCategory::{ProtocolError, ServerError, Timeout, ToolError};
        let mut tool = Run::of(Scenario::sustained()).ok("t", 1, 900).report().tools.remove(0);
        for (errors, expected) in [
            (&[(ServerError, 1)][..], true),
            (&[(ProtocolError, 1)], true),
            (&[(Timeout, 9), (ToolError, 1)], true),
            (&[(Timeout, 9), (ToolError, 0)], false),
            (&[], false),
        ] {
            tool.errors = errors.iter().copied().collect();
            assert_eq!(answered_with_error(&tool), expected, "{errors:?}");
        }
    }

    #[test]
    fn what_was_found_caps_the_grade() {
        let healthy = Run::of(Scenario::sustained()).ok("t", 1_000, 900).report();
        assert_eq!(healthy.grades.unwrap().overall, Some(Grade::A), "{:?}", healthy.findings);
        // One of a thousand: fast, hardly an error, and yet a bug.
        let bug = Run::of(Scenario::sustained()).ok("t", 1_000, 900).silent("t", 1, "silence");
        let bug = bug.report();
        assert!(bug.findings.iter().any(|finding| finding.severity == Severity::Critical));
        assert_eq!(bug.grades.unwrap().latency, Some(Grade::A));
        assert_eq!(bug.grades.unwrap().overall, Some(Grade::F));
        let told = phrases::grades(&bug).unwrap();
        assert!(
            told.starts_with("F (latency A, ") && told.ends_with("; lower for what was found)")
        );
    }
}
