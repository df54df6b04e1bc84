//! What all human-readable reports say in the same words.

use std::{
    collections::BTreeMap,
    time::{Duration, SystemTime},
};

use super::{
    figures::{counted, decimal, grouped},
    model::{Coverage, KeywordCoverage, Report, ServerInfo, Severity, Verdict},
};
use crate::{
    compare::ComparisonVerdict,
    fuzz::{Class, FuzzStats},
    scenario::ScenarioKind,
    thresholds::ThresholdKind,
    units::format_latency,
};

/// The scenario and its settings: `Sustained, 50 concurrent, 60s`.
pub(crate) fn scenario(kind: &ScenarioKind) -> String {
    let settings = kind.settings().phrase();
    format!("{}, {settings}", kind.name().label())
}

/// What is known of the server besides its address, each a short word or two.
pub(super) fn server_facts(server: &ServerInfo) -> Vec<String> {
    let mut facts = Vec::new();
    if !server.transport.is_empty() {
        facts.push(server.transport.clone());
    }
    if let Some(revision) = server.revision {
        facts.push(format!("MCP {revision}"));
    }
    if let Some(name) = &server.name {
        let version = server.version.as_deref().unwrap_or_default();
        facts.push(format!("{name} {version}").trim_end().to_owned());
    }
    if let Some(tools) = server.tools {
        facts.push(counted(u64::from(tools), "tool"));
    }
    facts
}

/// How much load was asked for and offered, and how late it was sent.
pub(super) fn offered(report: &Report) -> Option<String> {
    let validity = &report.validity;
    let (asked, offered) = (validity.asked_per_sec?, validity.offered_per_sec?);
    let lag = &validity.lag;
    let late = match lag.count {
        0 => String::new(),
        _ => format!(
            "; sent {} late (median), {} (p99)",
            format_latency(lag.p50),
            format_latency(lag.p99)
        ),
    };
    Some(format!("{} calls/s asked, {} sent{late}", decimal(asked), decimal(offered)))
}

/// How often and how long the load was held on purpose.
pub(super) fn paused(report: &Report) -> Option<String> {
    let times = counted(report.pauses.len() as u64, "time");
    (!report.pauses.is_empty())
        .then(|| format!("{times}, {} in all", format_latency(report.paused())))
}

/// The grades, by what they were given for.
pub(super) fn grades(report: &Report) -> Option<String> {
    let grades = report.grades?;
    let parts = [
        ("latency", grades.latency),
        ("errors", grades.errors),
        ("concurrency", grades.concurrency),
    ];
    let parts: Vec<String> =
        parts.iter().filter_map(|(name, grade)| Some(format!("{name} {}", (*grade)?))).collect();
    let capped = if grades.is_capped() { "; lower for what was found" } else { "" };
    Some(format!("{} ({}{capped})", grades.overall?, parts.join(", ")))
}

/// How many of the server's tools were called, where there are several, and how much of them.
pub(super) fn coverage(report: &Report) -> Option<String> {
    let Coverage { registered, exercised, error_paths, keywords, .. } = &report.coverage;
    let keywords = keywords.as_ref().filter(|keywords| keywords.listed > 0);
    let of_tools = (*registered > 1).then(|| {
        let tools = counted(*registered as u64, "tool");
        format!("{exercised} of {tools} called, {error_paths} with error replies")
    });
    let of_schemas = keywords.map(|KeywordCoverage { listed, reached, .. }| {
        format!("{reached} of {} reached", counted(*listed as u64, "schema keyword"))
    });
    let parts: Vec<String> = of_tools.into_iter().chain(of_schemas).collect();
    (!parts.is_empty()).then(|| parts.join("; "))
}

/// The columns of the table of cases: what became of them.
pub(super) const FUZZ_COLUMNS: [&str; 5] = ["clean", "accepted", "slow", "broken", "all"];

/// One kind of bad input: what became of its cases. Crash, hang and violation are told as one; their
/// findings tell them apart.
pub(super) fn fuzz_cells(classes: &BTreeMap<Class, u64>) -> [String; 5] {
    let of = |wanted: &dyn Fn(Class) -> bool| {
        grouped(classes.iter().filter(|(class, _)| wanted(**class)).map(|(_, count)| *count).sum())
    };
    [
        of(&|class| class == Class::Clean),
        of(&|class| class == Class::Accepted),
        of(&|class| class == Class::Slow),
        of(&Class::is_failure),
        of(&|_| true),
    ]
}

/// The cases of a run by what became of them.
pub(super) fn fuzz(fuzz: &FuzzStats) -> String {
    let classes = Class::ALL.iter().filter(|class| fuzz.of(**class) > 0);
    let classes: Vec<String> =
        classes.map(|class| format!("{} {}", grouped(fuzz.of(*class)), class.as_str())).collect();
    let tools = match fuzz.left_alone.len() as u64 {
        0 => String::new(),
        count => format!("; {} left alone (name one with `--tool`)", counted(count, "tool")),
    };
    let thrown = match fuzz.discarded {
        0 => String::new(),
        count => format!("; {} made and thrown away", grouped(count)),
    };
    format!(
        "{} of {} sent: {}{thrown}{tools}",
        grouped(fuzz.cases),
        grouped(fuzz.planned),
        classes.join(", ")
    )
}

/// Why the word above the run is what it is: `1 critical finding, 2 threshold violations`. It may hold
/// text of the server.
pub(super) fn reasons(report: &Report) -> String {
    let own = own_reasons(report);
    let Some(baseline) = report.baseline.as_ref().filter(|_| tone(report) != report.verdict) else {
        return own;
    };
    let compared = format!("compared with the baseline: {}", baseline.message);
    if own.is_empty() { compared } else { format!("{own}; {compared}") }
}

/// The verdict whose colour the word above the run has.
pub(super) fn tone(report: &Report) -> Verdict {
    match report.baseline.as_ref().map(|baseline| baseline.verdict) {
        _ if !report.verdict.passes() => report.verdict,
        None | Some(ComparisonVerdict::Pass) => report.verdict,
        Some(ComparisonVerdict::Undecided) => Verdict::Invalid,
        Some(ComparisonVerdict::Invalid | ComparisonVerdict::Regression) => Verdict::Fail,
    }
}

fn own_reasons(report: &Report) -> String {
    let of = |severity| {
        report.findings.iter().filter(|finding| finding.severity == severity).count() as u64
    };
    let counts = [
        (of(Severity::Critical), "critical finding"),
        (report.threshold_violations.len() as u64, "threshold violation"),
        (of(Severity::Warning), "warning"),
        (of(Severity::Info), "note"),
    ];
    let mut reasons: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, noun)| counted(*count, noun))
        .collect();
    if report.interrupted {
        reasons.push("interrupted".into());
    }
    reasons.join(", ")
}

/// The word for a severity.
pub(crate) const fn severity(severity: Severity) -> &'static str {
    match severity {
        Severity::Info => "INFO",
        Severity::Warning => "WARNING",
        Severity::Critical => "CRITICAL",
    }
}

/// One figure of the latency line.
pub(super) struct Figure {
    pub(super) name: &'static str,
    pub(super) value: Duration,
    pub(super) is_violated: bool,
}

/// The figures that are shown of the response times, with those marked that violate a threshold.
pub(super) fn latency_figures(report: &Report) -> [Figure; 5] {
    let violated =
        |kind| report.threshold_violations.iter().any(|violation| violation.metric == kind);
    let latency = &report.latency;
    let figure = |name, value, kind| Figure { name, value, is_violated: violated(kind) };
    [
        figure("p50", latency.p50, ThresholdKind::P50Latency),
        figure("p95", latency.p95, ThresholdKind::P95Latency),
        figure("p99", latency.p99, ThresholdKind::P99Latency),
        figure("p999", latency.p999, ThresholdKind::P999Latency),
        Figure { name: "max", value: latency.max, is_violated: false },
    ]
}

/// Whether service times tell something that response times do not: the two differ by more than a
/// fifth at the 99th percentile.
pub(super) fn service_differs(report: &Report) -> bool {
    let (response, service) = (report.latency.p99, report.service.p99);
    report.latency.count > 0 && response.abs_diff(service) * 5 > response
}

/// Failures by category, the most frequent first.
pub(super) fn failures(report: &Report) -> Vec<(&'static str, u64)> {
    let mut failures: Vec<_> = report
        .errors
        .by_category
        .iter()
        .map(|(category, count)| (category.name(), *count))
        .collect();
    failures.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
    failures
}

/// When the run began, to the second: `2026-05-10 07:30:00 UTC`.
pub(super) fn started(at: SystemTime) -> String {
    let text = humantime::format_rfc3339_seconds(printable(at)).to_string();
    text.replace('T', " ").replace('Z', " UTC")
}

/// The nearest time that has a calendar date of four digits: others make the formatter panic.
pub(crate) fn printable(at: SystemTime) -> SystemTime {
    const END_OF_9999: Duration = Duration::from_secs(253_402_300_799);
    let since = at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    SystemTime::UNIX_EPOCH + since.min(END_OF_9999)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        report::{
            LatencyStats,
            fixture::healthy,
            summary::{BaselineSummary, summary},
        },
        scenario::Scenario,
    };

    #[test]
    fn a_comparison_is_told_only_of_a_run_that_passes_by_itself() {
        use ComparisonVerdict::{Invalid, Pass, Regression, Undecided};
        let why = "compared with the baseline: p99 is up";
        for (own, compared, colour, word, told) in [
            (Verdict::Pass, None, Verdict::Pass, "PASS", ""),
            (Verdict::Pass, Some(Pass), Verdict::Pass, "PASS", ""),
            (Verdict::Warning, Some(Pass), Verdict::Warning, "WARNING", ""),
            (Verdict::Pass, Some(Undecided), Verdict::Invalid, "UNDECIDED", why),
            (Verdict::Warning, Some(Undecided), Verdict::Invalid, "UNDECIDED", why),
            (Verdict::Pass, Some(Invalid), Verdict::Fail, "INVALID", why),
            (Verdict::Pass, Some(Regression), Verdict::Fail, "REGRESSION", why),
            (Verdict::Fail, Some(Regression), Verdict::Fail, "FAIL", ""),
            (Verdict::Critical, Some(Undecided), Verdict::Critical, "CRITICAL", ""),
            (Verdict::Invalid, Some(Regression), Verdict::Invalid, "INVALID", ""),
        ] {
            let baseline = compared.map(|verdict| BaselineSummary {
                run_id: "01JV".into(),
                run_dir: None,
                verdict,
                message: "p99 is up".into(),
            });
            let mut report = Report { verdict: own, baseline, ..healthy() };
            let name = format!("{own:?} {compared:?}");
            assert_eq!((tone(&report), reasons(&report).as_str()), (colour, told), "{name}");
            assert_eq!([report.headline(), summary(&report, None).headline()], [word; 2], "{name}");
            report.interrupted = true;
            let both =
                if told.is_empty() { "interrupted".into() } else { format!("interrupted; {why}") };
            assert_eq!(reasons(&report), both, "{name}");
        }
    }

    #[test]
    fn only_what_is_known_of_a_server_is_told() {
        let server = ServerInfo { transport: "http".into(), ..ServerInfo::default() };
        assert_eq!(server_facts(&ServerInfo::default()), [""; 0]);
        assert_eq!(server_facts(&server), ["http"]);
        let named = ServerInfo { name: Some("echo".into()), tools: Some(1), ..server };
        assert_eq!(server_facts(&named), ["http", "echo", "1 tool"]);
    }

    #[test]
    fn load_is_told_with_how_late_it_was_sent() {
        let mut report = healthy();
        assert_eq!(offered(&report), None);
        let validity = &mut report.validity;
        (validity.asked_per_sec, validity.offered_per_sec) = (Some(1_000.0), Some(999.5));
        assert_eq!(offered(&report).unwrap(), "1,000.00 calls/s asked, 999.50 sent");
        report.validity.lag = LatencyStats {
            count: 9,
            p50: Duration::from_millis(1),
            p99: Duration::from_millis(20),
            ..LatencyStats::default()
        };
        assert_eq!(
            offered(&report).unwrap(),
            "1,000.00 calls/s asked, 999.50 sent; sent 1.00ms late (median), 20.0ms (p99)"
        );
    }

    #[test]
    fn coverage_is_told_where_there_is_something_to_cover() {
        for (registered, listed, expected) in [
            (1, 0, None),
            (2, 0, Some("1 of 2 tools called, 0 with error replies")),
            (1, 1, Some("1 of 1 schema keyword reached")),
            (
                2,
                1,
                Some("1 of 2 tools called, 0 with error replies; 1 of 1 schema keyword reached"),
            ),
        ] {
            let keywords = Some(KeywordCoverage { listed, reached: 1, missed: Vec::new() });
            let coverage = Coverage { registered, exercised: 1, keywords, ..Coverage::default() };
            let report = Report { coverage, ..healthy() };
            assert_eq!(super::coverage(&report).as_deref(), expected, "{registered} {listed}");
        }
    }

    #[test]
    fn cases_of_which_there_is_none_are_not_told() {
        let mut stats = FuzzStats {
            planned: 10,
            cases: 5,
            classes: [(Class::Clean, 5), (Class::Slow, 0)].into(),
            ..FuzzStats::default()
        };
        assert_eq!(fuzz(&stats), "5 of 10 sent: 5 clean");
        (stats.discarded, stats.left_alone) = (1, vec!["delete".into()]);
        assert_eq!(
            fuzz(&stats),
            "5 of 10 sent: 5 clean; 1 made and thrown away; 1 tool left alone (name one with `--tool`)"
        );
    }

    #[test]
    fn service_times_differ_by_more_than_a_fifth() {
        for (count, response, service, expected) in [
            (1, 100, 80, false),
            (1, 100, 79, true),
            (1, 100, 120, false),
            (1, 100, 121, true),
            (0, 100, 10, false),
        ] {
            let mut report = healthy();
            (report.latency.count, report.latency.p99) = (count, Duration::from_millis(response));
            report.service.p99 = Duration::from_millis(service);
            assert_eq!(service_differs(&report), expected, "{count} {response} {service}");
        }
    }

    #[test]
    fn scenarios_read_like_the_design() {
        let sustained: Scenario =
            Scenario::sustained().concurrent(50).duration(Duration::from_secs(60)).into();
        assert_eq!(scenario(&sustained.kind), "Sustained, 50 concurrent, 60s");
        let probe: Scenario = Scenario::deadlock_probe().into();
        assert_eq!(scenario(&probe.kind), "DeadlockProbe, 20 concurrent, hang 5s, grace 10s");
        let cold: Scenario = Scenario::cold_start().into();
        assert_eq!(scenario(&cold.kind), "ColdStart, 5 starts, the first not counted");
    }

    #[test]
    fn times_without_a_calendar_date_do_not_panic() {
        let day = Duration::from_secs(86_400);
        assert_eq!(started(SystemTime::UNIX_EPOCH - day), "1970-01-01 00:00:00 UTC");
        assert_eq!(started(SystemTime::UNIX_EPOCH + day * 9_000_000), "9999-12-31 23:59:59 UTC");
    }
}
