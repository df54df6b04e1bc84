//! `report.md`: the report for people who were not there.

use std::{fmt::Write as _, io};

use super::{
    Finding, LatencyStats, Renderer, Report, SegmentStats, StepStats, ToolStats, TraceStats,
    Verdict,
    chart::chart,
    felt,
    figures::{counted, decimal, grouped, percent, total},
    markup::{cell, code, prose},
    meaning::meaning,
    phrases,
};
use crate::{
    fault::FaultWindow,
    units::{format_latency, format_size},
};

/// How much of a text from elsewhere is shown.
const LONGEST_TEXT: usize = 500;
/// How much of a name is shown.
const LONGEST_NAME: usize = 80;

/// Writes `report.md`.
pub struct Markdown;

impl Renderer for Markdown {
    fn render(&self, report: &Report, out: &mut dyn io::Write) -> io::Result<()> {
        let sections = [
            head,
            findings,
            what_it_means,
            summary,
            latency,
            tools,
            segments,
            steps,
            fuzz,
            faults,
            errors,
            process,
            thresholds,
            trace,
        ];
        let text: String = sections.iter().map(|section| section(report)).collect();
        out.write_all(text.as_bytes())
    }
}

fn mark(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "✅",
        Verdict::Warning | Verdict::Invalid => "⚠",
        Verdict::Fail | Verdict::Critical => "❌",
    }
}

fn head(report: &Report) -> String {
    let server = &report.server_info;
    let reasons = match phrases::reasons(report) {
        reasons if reasons.is_empty() => reasons,
        reasons => format!(" ({})", prose(&reasons, LONGEST_TEXT)),
    };
    let facts = match phrases::server_facts(server) {
        facts if facts.is_empty() => String::new(),
        facts => format!(" ({})", prose(&facts.join(", "), LONGEST_TEXT)),
    };
    let lines = [
        format!("# Run {}\n", prose(&report.run_id, LONGEST_NAME)),
        // Two spaces at the end of a line break it.
        format!("**Status:** {} {}{reasons}  ", mark(phrases::tone(report)), report.headline()),
        format!("**Server:** {}{facts}  ", code(&server.target, LONGEST_TEXT)),
        format!("**Scenario:** {}  ", phrases::scenario(&report.scenario_kind)),
        format!("**Calls:** {}  ", calls(report)),
        format!("**Started:** {}  ", phrases::started(report.started_at)),
        format!("**Took:** {}, seed {}\n", format_latency(report.duration), report.seed),
    ];
    lines.join("\n")
}

fn calls(report: &Report) -> String {
    let calls: Vec<_> = report.calls.iter().map(|call| code(call, LONGEST_TEXT)).collect();
    if calls.is_empty() { "none".into() } else { calls.join(", ") }
}

fn findings(report: &Report) -> String {
    if report.findings.is_empty() {
        return String::new();
    }
    let again = report.again();
    let mut text = "\n## Findings\n".to_owned();
    for found in &report.findings {
        text.push_str(&finding(found, again.as_deref()));
    }
    if let Some(command) = again.filter(|_| !report.passed()) {
        let _ = writeln!(text, "\nAgain: {}", code(&command, LONGEST_TEXT));
    }
    text
}

/// What shows all findings of a run again is told once, after them.
fn finding(finding: &Finding, again: Option<&str>) -> String {
    let word = phrases::severity(finding.severity);
    let mut text = format!("\n### {word}: {}\n\n", code(&finding.id, LONGEST_NAME));
    let _ = writeln!(text, "{}", prose(&finding.message, LONGEST_TEXT));
    if let Some(meaning) = &finding.meaning {
        let _ = writeln!(text, "\n{}", prose(meaning, LONGEST_TEXT));
    }
    if !finding.evidence.is_empty() {
        text.push('\n');
    }
    for evidence in &finding.evidence {
        let _ = writeln!(text, "- {}", prose(evidence, LONGEST_TEXT));
    }
    if let Some(hint) = &finding.hint {
        let _ = writeln!(text, "\nHint: {}", prose(hint, LONGEST_TEXT));
    }
    if let Some(command) = finding.reproduce.as_ref().filter(|own| Some(own.as_str()) != again) {
        let _ = writeln!(text, "\nAgain: {}", code(command, LONGEST_TEXT));
    }
    text
}

fn what_it_means(report: &Report) -> String {
    let sentences = meaning(report);
    if sentences.is_empty() {
        return String::new();
    }
    let list: String =
        sentences.iter().map(|sentence| format!("- {}\n", prose(sentence, LONGEST_TEXT))).collect();
    format!("\n## What this means\n\n{list}")
}

fn summary(report: &Report) -> String {
    let throughput = &report.throughput;
    let rate = report.error_rate().map_or("no call was made".into(), percent);
    let mut text = format!(
        "\n## Summary\n\n\
         - Total requests: {}\n\
         - Throughput: {} req/s\n\
         - Error rate: {rate}\n\
         - Deadlocks: {} Hangs: {}\n",
        grouped(throughput.total_requests),
        decimal(throughput.requests_per_sec),
        grouped(report.deadlock_count.into()),
        grouped(report.hang_count.into()),
    );
    if report.dropped > 0 {
        let _ = writeln!(text, "- Not sent: {}", grouped(report.dropped));
    }
    let further = [
        ("Load", phrases::offered(report)),
        ("Grade", phrases::grades(report)),
        ("Coverage", phrases::coverage(report)),
    ];
    for (name, told) in further.into_iter().filter_map(|(name, told)| Some((name, told?))) {
        let _ = writeln!(text, "- {name}: {}", prose(&told, LONGEST_TEXT));
    }
    text
}

fn latency(report: &Report) -> String {
    if report.latency.count == 0 {
        return "\n## Latency\n\nNo call was measured.\n".into();
    }
    let figures = phrases::latency_figures(report);
    let values = figures.iter().map(|figure| match format_latency(figure.value) {
        value if figure.is_violated => format!("**{value}**"),
        value => value,
    });
    let names = figures.each_ref().map(|figure| figure.name);
    let mut text = format!("\n## Latency\n\n{}", table(&names, [values.collect()]));
    if phrases::service_differs(report) {
        let [p50, p99] = [report.service.p50, report.service.p99].map(format_latency);
        let _ = writeln!(
            text,
            "\nThat is from when a call was due. From when it was sent: p50 {p50}, p99 {p99}."
        );
    }
    let _ = write!(text, "\n```text\n{}```\n", chart(&report.latency.histogram));
    text
}

fn fuzz(report: &Report) -> String {
    let Some(fuzz) = &report.fuzz else { return String::new() };
    let head: Vec<&str> = ["Payload"].into_iter().chain(phrases::FUZZ_COLUMNS).collect();
    let rows = fuzz.payloads.iter().map(|(payload, classes)| {
        let name = payload.as_str().to_owned();
        [name].into_iter().chain(phrases::fuzz_cells(classes)).collect()
    });
    let cases = prose(&phrases::fuzz(fuzz), LONGEST_TEXT);
    format!("\n## Fuzzing\n\n{}\n{cases}\n", table(&head, rows))
}

fn times(latency: &LatencyStats) -> [String; 4] {
    [latency.p50, latency.p95, latency.p99, latency.max].map(|time| match latency.count {
        0 => "-".into(),
        _ => format_latency(time),
    })
}

fn tools(report: &Report) -> String {
    if report.tools.is_empty() {
        return String::new();
    }
    let head =
        ["Tool", "Calls", "Failed", "p50", "p95", "p99", "max", "First call", "Later calls (p50)"];
    let row = |tool: &ToolStats| {
        let failed = total(tool.errors.values().copied());
        let mut row =
            vec![cell(&tool.name, LONGEST_NAME), grouped(tool.total_requests), grouped(failed)];
        row.extend(times(&tool.latency));
        row.extend(
            [tool.first_call, tool.steady_p50].map(|time| time.map_or("-".into(), format_latency)),
        );
        row
    };
    format!("\n## Tools\n\n{}", table(&head, report.tools.iter().map(row)))
}

fn segments(report: &Report) -> String {
    if report.segments.is_empty() {
        return String::new();
    }
    let row = |step: &SegmentStats| {
        let mut row = vec![
            cell(&step.label, LONGEST_NAME),
            grouped(step.total_requests),
            grouped(step.errors),
            grouped(step.dropped),
            decimal(step.requests_per_sec),
        ];
        row.extend(times(&step.latency));
        row
    };
    let head =
        ["Step of the load", "Calls", "Failed", "Not sent", "Calls/s", "p50", "p95", "p99", "max"];
    format!("\n## Load step by step\n\n{}", table(&head, report.segments.iter().map(row)))
}

fn steps(report: &Report) -> String {
    if report.steps.is_empty() {
        return String::new();
    }
    let row = |step: &StepStats| {
        let mut row = vec![cell(&step.name, LONGEST_NAME), grouped(step.latency.count)];
        row.extend(times(&step.latency));
        row
    };
    let head = ["Step", "Times", "p50", "p95", "p99", "max"];
    format!("\n## Steps\n\n{}", table(&head, report.steps.iter().map(row)))
}

fn faults(report: &Report) -> String {
    if report.faults.is_empty() {
        return String::new();
    }
    let row = |fault: &FaultWindow| {
        let name = cell(&fault.name, LONGEST_NAME);
        [name].into_iter().chain(felt::cells(report, fault)).collect()
    };
    format!("\n## Faults\n\n{}", table(&felt::COLUMNS, report.faults.iter().map(row)))
}

fn errors(report: &Report) -> String {
    let failures = phrases::failures(report);
    if failures.is_empty() {
        return "\n## Errors\n\nNo call failed.\n".into();
    }
    let rows = failures.iter().map(|(name, count)| vec![(*name).to_owned(), grouped(*count)]);
    let mut text = format!("\n## Errors\n\n{}", table(&["Category", "Count"], rows));
    if !report.errors.examples.is_empty() {
        text.push_str("\nWhat the first of them said:\n\n");
    }
    for (category, examples) in &report.errors.examples {
        for example in examples {
            let _ = writeln!(text, "- {}: {}", category.name(), code(example, LONGEST_TEXT));
        }
    }
    text
}

fn process(report: &Report) -> String {
    let process = &report.process;
    if process.samples.is_empty() {
        return "\n## Process\n\nNot observed.\n".into();
    }
    let pss =
        process.peak_pss_mb.map(|pss| format!(" · Peak PSS: {pss:.1} MB")).unwrap_or_default();
    format!(
        "\n## Process\n\nPeak RSS: {:.1} MB · Final RSS: {:.1} MB{pss} · Avg CPU: {:.1}%\n",
        process.peak_rss_mb, process.final_rss_mb, process.avg_cpu_pct,
    )
}

fn thresholds(report: &Report) -> String {
    let mut text = String::from("\n## Threshold violations\n\n");
    for violation in &report.threshold_violations {
        let expected =
            prose(&violation.expected.replace("<=", "≤").replace(">=", "≥"), LONGEST_NAME);
        let actual = prose(&violation.actual, LONGEST_NAME);
        let tool = violation.tool.as_deref().map(|tool| format!("{} ", code(tool, LONGEST_NAME)));
        let tool = tool.unwrap_or_default();
        let _ =
            writeln!(text, "- {tool}**{}**: expected {expected}, got {actual}", violation.metric);
    }
    if report.threshold_violations.is_empty() {
        text.push_str("None.\n");
    }
    text
}

/// The report lies beside the trace.
fn trace(report: &Report) -> String {
    let told = match report.trace_path.file_name() {
        Some(name) => format!(
            "{}: {} ({}{}){}",
            if report.trace.is_whole() { "Full trace" } else { "Trace" },
            code(&format!("./{}", name.to_string_lossy()), LONGEST_TEXT),
            counted(report.trace_events, "event"),
            match report.trace.bytes {
                0 => String::new(),
                bytes => format!(", {}", format_size(bytes)),
            },
            trace_holes(&report.trace),
        ),
        None => "No trace was kept.".into(),
    };
    format!("\n## Trace\n\n{told}\n")
}

/// `: sampled, 12,345 of 1,000,000 calls kept`; nothing for a trace that has everything.
fn trace_holes(trace: &TraceStats) -> String {
    if trace.is_whole() {
        return String::new();
    }
    let (kept, all) = (grouped(trace.kept_calls), counted(trace.calls, "call"));
    let mut told = format!(": {}, {kept} of {all} kept", trace.mode.as_str());
    if trace.lost_lines > 0 {
        let _ = write!(told, ", {} lost to a slow disk", counted(trace.lost_lines, "line"));
    }
    told
}

/// A table whose source reads well too.
fn table(head: &[&str], rows: impl IntoIterator<Item = Vec<String>>) -> String {
    let mut lines = vec![head.iter().map(|name| (*name).to_owned()).collect(), Vec::new()];
    lines.extend(rows);
    let widest = |at: usize| {
        lines.iter().filter_map(move |line| line.get(at)).map(|cell| cell.chars().count()).max()
    };
    let widths: Vec<usize> = (0..head.len()).map(|at| widest(at).unwrap_or(0).max(3)).collect();
    lines[1] = widths.iter().map(|width| "-".repeat(*width)).collect();
    let mut text = String::new();
    for line in lines {
        let cells = line.iter().zip(&widths).map(|(cell, width)| format!(" {cell:<width$} |"));
        let _ = writeln!(text, "|{}", cells.collect::<String>());
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        config::Trace,
        outcome::ErrorCategory,
        report::{
            ServerInfo,
            fixture::{Run, healthy, violated},
        },
        scenario::Scenario,
    };

    #[test]
    fn a_trace_says_what_it_does_not_have() {
        let mut report = Report { trace_events: 5, ..healthy() };
        let all = TraceStats { bytes: 0, ..report.trace };
        let sampled =
            TraceStats { mode: Trace::Sampled, calls: 1_000_000, kept_calls: 12_345, ..all };
        for (stats, expected) in [
            (all, "Full trace: `./trace.jsonl` (5 events)"),
            (TraceStats { bytes: 2_048, ..all }, "Full trace: `./trace.jsonl` (5 events, 2.0KiB)"),
            (sampled, "Trace: `./trace.jsonl` (5 events): sampled, 12,345 of 1,000,000 calls kept"),
            (
                TraceStats { lost_lines: 1, ..sampled },
                "Trace: `./trace.jsonl` (5 events): sampled, 12,345 of 1,000,000 calls kept, 1 line lost to a slow disk",
            ),
        ] {
            report.trace = stats;
            assert_eq!(trace(&report), format!("\n## Trace\n\n{expected}\n"));
        }
        report.trace_path = Default::default();
        assert_eq!(trace(&report), "\n## Trace\n\nNo trace was kept.\n");
    }

    #[test]
    fn what_there_is_not_is_not_told() {
        let mut report = Report { server_info: ServerInfo::default(), ..healthy() };
        assert!(head(&report).contains("**Server:** `  `  \n"), "{}", head(&report));
        assert!(!summary(&report).contains("Not sent"));
        (report.dropped, report.calls) = (1_000, vec!["get {}".into(), "put {}".into()]);
        assert!(summary(&report).contains("\n- Not sent: 1,000\n"), "{}", summary(&report));
        assert!(head(&report).contains("**Calls:** `get {}`, `put {}`  \n"), "{}", head(&report));
        let withdrawn =
            Run::of(Scenario::sustained()).failed("t", ErrorCategory::Cancelled, 2, "x");
        let told = tools(&withdrawn.report());
        let row: Vec<&str> = told.lines().last().unwrap_or_default().split('|').collect();
        let cells: Vec<&str> = row.iter().map(|cell| cell.trim()).collect();
        assert_eq!(cells, ["", "`t`", "2", "2", "-", "-", "-", "-", "-", "-", ""]);
    }

    #[test]
    fn a_finding_has_its_parts_in_their_order() {
        let mut found = violated().findings.remove(0);
        (found.id, found.message) = ("slow".into(), "It is slow.".into());
        (found.evidence, found.meaning, found.hint) = (Vec::new(), None, None);
        found.reproduce = None;
        assert_eq!(finding(&found, None), "\n### WARNING: `slow`\n\nIt is slow.\n");
        found.evidence = vec!["one".into(), "two".into()];
        (found.meaning, found.hint) = (Some("Users wait.".into()), Some("Look.".into()));
        found.reproduce = Some("mcp-loadtest run".into());
        assert_eq!(
            finding(&found, Some("mcp-loadtest run --config other.toml")),
            "\n### WARNING: `slow`\n\nIt is slow.\n\nUsers wait.\n\n- one\n- two\n\nHint: Look.\n\
             \nAgain: `mcp-loadtest run`\n"
        );
        assert!(!finding(&found, Some("mcp-loadtest run")).contains("Again"));
    }
}
