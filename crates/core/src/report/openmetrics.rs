//! `metrics.prom`: the figures of a run as OpenMetrics text, for Prometheus and its kin.
//!
//! Every sample has the scenario and the server as labels. All label values are escaped: tool names
//! and the like come from the server.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
    io,
};

use hdrhistogram::Histogram;

use super::{LatencyStats, Renderer, Report, json::numbers::finite, phrases::printable};
use crate::display::visible;

/// Upper bounds of the buckets in seconds: those of the MCP conventions of OpenTelemetry, and below
/// them what a server on the same machine needs.
const BOUNDS: [f64; 18] = [
    0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0,
    120.0, 300.0,
];
/// How much of a text from elsewhere is shown.
const LONGEST_LABEL: usize = 200;
const BYTES_PER_MB: f64 = 1024.0 * 1024.0;

/// Writes `metrics.prom`.
pub struct OpenMetrics;

impl Renderer for OpenMetrics {
    fn render(&self, report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
        let mut text = Text::of(report);
        about(report, &mut text);
        calls(report, &mut text);
        times(report, &mut text);
        rates(report, &mut text);
        process(report, &mut text);
        faults(report, &mut text);
        text.lines.push_str("# EOF\n");
        out.write_all(text.lines.as_bytes())
    }
}

/// What a family of samples is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Info,
    Counter,
    Gauge,
    Histogram,
}

impl Kind {
    const fn name(self) -> &'static str {
        match self {
            Self::Info => "info",
            Self::Counter => "counter",
            Self::Gauge => "gauge",
            Self::Histogram => "histogram",
        }
    }

    /// What the names of its samples end in.
    const fn ending(self) -> &'static str {
        match self {
            Self::Info => "_info",
            Self::Counter => "_total",
            Self::Gauge | Self::Histogram => "",
        }
    }
}

type Labels<'a> = [(&'a str, &'a str)];

struct Text {
    lines: String,
    /// Labels of every sample, escaped.
    common: String,
    family: &'static str,
    kind: Kind,
}

impl Text {
    fn of(report: &Report) -> Self {
        let mut common = String::new();
        append_label("scenario", report.scenario_kind.name().as_str(), &mut common);
        append_label("server", &report.server_info.target, &mut common);
        Self { lines: String::new(), common, family: "", kind: Kind::Gauge }
    }

    /// Begins a family. The unit is what its name ends in.
    fn family(&mut self, kind: Kind, name: &'static str, help: &str) {
        (self.family, self.kind) = (name, kind);
        let _ = writeln!(self.lines, "# TYPE {name} {}", kind.name());
        let units = ["seconds", "bytes", "ratio"];
        let unit = units.iter().find(|unit| name.ends_with(&format!("_{unit}")));
        if let Some(unit) = unit {
            let _ = writeln!(self.lines, "# UNIT {name} {unit}");
        }
        let _ = writeln!(self.lines, "# HELP {name} {help}");
    }

    fn sample(&mut self, labels: &Labels<'_>, value: f64) {
        self.line(self.kind.ending(), labels, value);
    }

    fn line(&mut self, ending: &str, labels: &Labels<'_>, value: f64) {
        let mut all = self.common.clone();
        labels.iter().for_each(|(name, value)| append_label(name, value, &mut all));
        let _ = writeln!(self.lines, "{}{ending}{{{all}}} {}", self.family, finite(value));
    }

    /// One family with one sample.
    fn single(&mut self, kind: Kind, name: &'static str, help: &str, value: f64) {
        self.family(kind, name, help);
        self.sample(&[], value);
    }

    fn histogram(&mut self, labels: &Labels<'_>, times: &Histogram<u64>) {
        for bound in BOUNDS {
            let within = times.count_between(0, (bound * 1e9) as u64);
            let bound = format!("{bound:?}");
            self.line("_bucket", &[labels, &[("le", &bound)]].concat(), within as f64);
        }
        self.line("_bucket", &[labels, &[("le", "+Inf")]].concat(), times.len() as f64);
        let sum = if times.is_empty() { 0.0 } else { times.mean() * times.len() as f64 / 1e9 };
        self.line("_count", labels, times.len() as f64);
        self.line("_sum", labels, sum);
    }
}

fn append_label(name: &str, value: &str, to: &mut String) {
    if !to.is_empty() {
        to.push(',');
    }
    let _ = write!(to, "{name}=\"");
    for c in visible(value, LONGEST_LABEL).chars() {
        match c {
            '\\' => to.push_str("\\\\"),
            '"' => to.push_str("\\\""),
            '\n' => to.push_str("\\n"),
            other => to.push(other),
        }
    }
    to.push('"');
}

/// The names of the tools, told apart even where two of them look the same when they are shown.
fn tool_labels(report: &Report) -> Vec<String> {
    let mut taken = BTreeSet::new();
    let label = |(index, tool): (usize, &super::ToolStats)| {
        let shown = visible(&tool.name, LONGEST_LABEL);
        if taken.insert(shown.clone()) {
            return shown;
        }
        // The end of a long label would be cut off again.
        let numbered = format!("{index}:{}", visible(&tool.name, LONGEST_LABEL / 2));
        taken.insert(numbered.clone());
        numbered
    };
    report.tools.iter().enumerate().map(label).collect()
}

fn about(report: &Report, text: &mut Text) {
    let server = &report.server_info;
    let word = |part: &Option<String>| part.clone().unwrap_or_default();
    let (name, version) = (word(&server.name), word(&server.version));
    text.family(Kind::Info, "mcp_loadtest_run", "What was run, against whom, and how it ended.");
    let labels = [
        ("run_id", report.run_id.as_str()),
        ("verdict", report.verdict.name()),
        ("transport", &server.transport),
        ("server_name", &name),
        ("server_version", &version),
        ("revision", server.revision.map_or("", |revision| revision.as_str())),
    ];
    text.sample(&labels, 1.0);
    let passed = if report.passed() { 1.0 } else { 0.0 };
    text.single(
        Kind::Gauge,
        "mcp_loadtest_passed",
        "1 when every limit held and no bug was found.",
        passed,
    );
    let started = printable(report.started_at);
    let started = started.duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
    let help = "When the run began, in seconds since 1970.";
    text.single(Kind::Gauge, "mcp_loadtest_start_time_seconds", help, started.as_secs_f64());
    let length = report.duration.as_secs_f64();
    text.single(Kind::Gauge, "mcp_loadtest_duration_seconds", "How long all of it took.", length);
    if !report.findings.is_empty() {
        text.family(Kind::Gauge, "mcp_loadtest_findings", "What was concluded.");
        let mut counts = BTreeMap::<_, u32>::new();
        for finding in &report.findings {
            *counts.entry((finding.id.as_str(), severity(finding.severity))).or_default() += 1;
        }
        for ((id, severity), count) in counts {
            text.sample(&[("id", id), ("severity", severity)], f64::from(count));
        }
    }
}

const fn severity(severity: super::Severity) -> &'static str {
    match severity {
        super::Severity::Info => "info",
        super::Severity::Warning => "warning",
        super::Severity::Critical => "critical",
    }
}

fn calls(report: &Report, text: &mut Text) {
    let labels = tool_labels(report);
    let tools = || labels.iter().map(String::as_str).zip(&report.tools);
    text.family(Kind::Counter, "mcp_loadtest_calls", "Calls that were sent.");
    for (label, tool) in tools() {
        text.sample(&[("tool", label)], tool.total_requests as f64);
    }
    text.family(Kind::Counter, "mcp_loadtest_calls_ok", "Calls that ended well.");
    for (label, tool) in tools() {
        text.sample(&[("tool", label)], tool.successful_requests as f64);
    }
    text.family(Kind::Counter, "mcp_loadtest_errors", "Calls that failed, by category.");
    for (label, tool) in tools() {
        for (category, count) in &tool.errors {
            text.sample(&[("tool", label), ("category", category.name())], *count as f64);
        }
    }
    let counters = [
        ("mcp_loadtest_dropped", "Calls that were due but not sent.", report.dropped),
        ("mcp_loadtest_hangs", "Calls that passed the hang threshold.", report.hang_count.into()),
        ("mcp_loadtest_deadlocks", "Calls that were never answered.", report.deadlock_count.into()),
    ];
    for (name, help, count) in counters {
        text.single(Kind::Counter, name, help, count as f64);
    }
}

fn times(report: &Report, text: &mut Text) {
    let help = "From when a call was due until it ended.";
    text.family(Kind::Histogram, "mcp_loadtest_response_time_seconds", help);
    for (label, tool) in tool_labels(report).iter().zip(&report.tools) {
        text.histogram(&[("tool", label)], &tool.latency.histogram);
    }
    let mut whole = |name, help: &str, times: &LatencyStats| {
        if times.count > 0 {
            text.family(Kind::Histogram, name, help);
            text.histogram(&[], &times.histogram);
        }
    };
    let help = "From when a call was sent until it ended.";
    whole("mcp_loadtest_service_time_seconds", help, &report.service);
    let help = "How much later than due calls were sent.";
    whole("mcp_loadtest_schedule_lag_seconds", help, &report.validity.lag);
}

fn rates(report: &Report, text: &mut Text) {
    let rate = report.throughput.requests_per_sec;
    text.single(Kind::Gauge, "mcp_loadtest_requests_per_second", "Ended calls a second.", rate);
    if let Some(share) = report.error_rate() {
        text.single(
            Kind::Gauge,
            "mcp_loadtest_error_ratio",
            "The share of calls that failed.",
            share,
        );
    }
    let bound = if report.validity.client_bound { 1.0 } else { 0.0 };
    let help = "1 when the generator was the limit and not the server.";
    text.single(Kind::Gauge, "mcp_loadtest_client_bound", help, bound);
}

fn process(report: &Report, text: &mut Text) {
    let process = &report.process;
    if process.samples.is_empty() {
        return;
    }
    let gauges = [
        (
            "mcp_loadtest_server_peak_memory_bytes",
            "The most memory of the server's processes.",
            process.peak_rss_mb * BYTES_PER_MB,
        ),
        (
            "mcp_loadtest_server_final_memory_bytes",
            "Their memory at the end.",
            process.final_rss_mb * BYTES_PER_MB,
        ),
        (
            "mcp_loadtest_server_cpu_ratio",
            "Their mean CPU; 1 is one core.",
            process.avg_cpu_pct / 100.0,
        ),
    ];
    for (name, help, value) in gauges {
        text.single(Kind::Gauge, name, help, value);
    }
}

/// Calls that faults hit, as far as somebody's log told.
fn faults(report: &Report, text: &mut Text) {
    let mut hits: BTreeMap<&str, u64> = BTreeMap::new();
    for fault in &report.faults {
        let calls = hits.entry(&fault.name).or_default();
        *calls = calls.saturating_add(fault.calls);
    }
    if !hits.is_empty() {
        text.family(Kind::Counter, "mcp_loadtest_fault_hits", "Calls that an injected fault hit.");
    }
    for (name, calls) in hits {
        text.sample(&[("fault", name)], calls as f64);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        outcome::ErrorCategory,
        report::{Severity, fixture},
        scenario::Scenario,
    };

    fn rendered(report: &Report) -> String {
        let mut text = Vec::new();
        OpenMetrics.render(report, &mut text).expect("memory takes everything");
        String::from_utf8(text).expect("text")
    }

    #[test]
    fn figures_are_those_of_the_report() {
        let run = fixture::Run::of(Scenario::sustained().tool("echo"));
        let run = run.ok("echo", 90, 1_500).failed("add", ErrorCategory::ToolError, 3, "no");
        let report = run.report();
        let text = rendered(&report);
        let common = r#"scenario="sustained",server="python -m vibe_trading_mcp""#;
        for line in [
            format!("mcp_loadtest_calls_total{{{common},tool=\"echo\"}} 90"),
            format!("mcp_loadtest_errors_total{{{common},tool=\"add\",category=\"ToolError\"}} 3"),
            format!(
                "mcp_loadtest_response_time_seconds_bucket{{{common},tool=\"echo\",le=\"0.001\"}} 0"
            ),
            format!(
                "mcp_loadtest_response_time_seconds_bucket{{{common},tool=\"echo\",le=\"0.002\"}} 90"
            ),
            format!(
                "mcp_loadtest_response_time_seconds_bucket{{{common},tool=\"echo\",le=\"+Inf\"}} 90"
            ),
            format!("mcp_loadtest_response_time_seconds_count{{{common},tool=\"echo\"}} 90"),
            "# UNIT mcp_loadtest_response_time_seconds seconds".into(),
        ] {
            assert!(text.lines().any(|other| other == line), "{line} is not in\n{text}");
        }
        assert!(text.ends_with("\n# EOF\n"));
    }

    #[test]
    fn findings_are_counted_by_what_they_are() {
        let mut report = fixture::violated();
        let mut found = report.findings.remove(0);
        let mut findings = Vec::new();
        for (id, severity) in [
            ("slow", Severity::Warning),
            ("bug", Severity::Critical),
            ("slow", Severity::Warning),
            ("slow", Severity::Info),
        ] {
            (found.id, found.severity) = (id.into(), severity);
            findings.push(found.clone());
        }
        report.findings = findings;
        let text = rendered(&report);
        let counts: Vec<&str> = text
            .lines()
            .filter(|line| line.starts_with("mcp_loadtest_findings{"))
            .filter_map(|line| line.split_once("_mcp\",").map(|(_, rest)| rest))
            .collect();
        let expected = [
            "id=\"bug\",severity=\"critical\"} 1",
            "id=\"slow\",severity=\"info\"} 1",
            "id=\"slow\",severity=\"warning\"} 2",
        ];
        assert_eq!(counts, expected, "{text}");
    }

    #[test]
    fn text_from_a_server_cannot_leave_its_label() {
        let text = rendered(&fixture::hostile());
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            assert!(line.starts_with("mcp_loadtest_"), "{line}");
        }
        assert!(!text.contains('\r') && !text.contains('\u{1b}'));
        let mut label = String::new();
        append_label("tool", "a\"} 1\nb\\", &mut label);
        assert_eq!(label, r#"tool="a\"} 1\\nb\\""#);
    }

    #[test]
    fn names_that_look_the_same_are_told_apart() {
        let mut report = fixture::Run::of(Scenario::sustained().tool("echo"))
            .ok("a", 1, 5)
            .ok("b", 1, 5)
            .report();
        for (tool, end) in report.tools.iter_mut().zip(["x", "y"]) {
            tool.name = "long".repeat(100) + end;
        }
        let labels = tool_labels(&report);
        assert_ne!(labels[0], labels[1]);
        assert!(labels[1].starts_with("1:long"), "{}", labels[1]);
    }
}
