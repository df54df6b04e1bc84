//! The report of a probe for people: the verdict first, the worst finding last.

use std::{collections::BTreeSet, time::Duration};

use anstyle::{AnsiColor, Style};
use mcp_loadtest::{
    ANOTHER_TOOL, Finding, PROBES, ProbeReport, Severity, TIME_IS_OVER, ToolProbe, ToolVerdict,
};
use mcp_loadtest_core::{
    check::{CaseResult, CaseVerdict, Depth, Family},
    display::visible,
    report::wrap::wrap,
    units::format_latency,
};

use super::STOPPED;

/// The width of a screen.
pub(crate) const WIDTH: usize = 80;
/// How much of a sentence is shown; `--json` has all.
const LIMIT: usize = 400;
const INDENT: usize = 4;

const fn style(color: AnsiColor) -> Style {
    Style::new().bold().fg_color(Some(anstyle::Color::Ansi(color)))
}

/// The whole report.
pub(super) fn render(report: &ProbeReport, every_case: bool) -> String {
    let mut text = headline(report);
    text.push_str(&tools(report));
    text.push_str(&checks(report, every_case));
    text.push_str(&findings(&report.findings, every_case));
    text
}

fn count(report: &ProbeReport, severity: Severity) -> usize {
    report.findings.iter().filter(|found| found.severity == severity).count()
}

/// The word above everything else.
pub(super) fn word(report: &ProbeReport) -> (&'static str, AnsiColor) {
    match (report.passed, count(report, Severity::Warning), is_open(report)) {
        (false, ..) => ("CRITICAL", AnsiColor::Red),
        (true, 1.., _) => ("WARNING", AnsiColor::Yellow),
        (true, 0, true) => ("UNDECIDED", AnsiColor::Yellow),
        (true, 0, false) => ("PASS", AnsiColor::Green),
    }
}

fn headline(report: &ProbeReport) -> String {
    let (bugs, warnings) = (count(report, Severity::Critical), count(report, Severity::Warning));
    let (word, color) = word(report);
    let paint = style(color);
    let name = visible(report.server_name.as_deref().unwrap_or("unnamed server"), 60);
    let version = match report.server_version.as_deref().unwrap_or_default() {
        "" => String::new(),
        version => format!(" {}", visible(version, 30)),
    };
    let found = match (bugs, warnings) {
        (0, 0) => {
            let more =
                if report.depth == Depth::Quick { "; without --quick there are more" } else { "" };
            let untold = match untold(report) {
                0 => String::new(),
                cases => format!("; {} could not be told", plural(cases, "case")),
            };
            let left_out = match left_out(report) {
                0 => String::new(),
                checks => format!("; there was no time for {}", plural(checks, "more check")),
            };
            let tried = plural(tried(report), "check");
            format!("nothing found by {tried}{untold}{left_out}{more}")
        }
        (bugs, 0) => plural(bugs, "bug"),
        (0, warnings) => plural(warnings, "warning"),
        (bugs, warnings) => format!("{}, {}", plural(bugs, "bug"), plural(warnings, "warning")),
    };
    let found = if report.interrupted { format!("{found}; {STOPPED}") } else { found };
    let (handshake, took) = (latency(report.handshake_ms), latency(report.took_ms));
    format!(
        "{paint}{word}{paint:#} {name}{version}: {found}\n  \
         MCP {} ({} era), handshake {handshake}, probed in {took}\n",
        report.revision, report.era
    )
}

/// Whether what was tried allows no verdict.
fn is_open(report: &ProbeReport) -> bool {
    let is_known = report.checks.iter().any(CaseResult::was_tried);
    report.interrupted || !is_known
}

/// How many checks had anything to try.
fn tried(report: &ProbeReport) -> usize {
    let cases = report.checks.iter().filter(|case| case.verdict != CaseVerdict::Skipped);
    cases.map(|case| &case.check).collect::<BTreeSet<_>>().len()
}

/// How many were not begun because the time was over.
fn left_out(report: &ProbeReport) -> usize {
    let is_late = |case: &&CaseResult| {
        case.verdict == CaseVerdict::Skipped && case.detail.ends_with(TIME_IS_OVER)
    };
    report.checks.iter().filter(is_late).count()
}

fn untold(report: &ProbeReport) -> usize {
    report.checks.iter().filter(|case| case.verdict == CaseVerdict::CouldNotTell).count()
}

fn latency(ms: f64) -> String {
    format_latency(Duration::from_secs_f64(ms / 1e3))
}

fn plural(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

fn tools(report: &ProbeReport) -> String {
    let called = report.tools.iter().filter(|tool| tool.verdict != ToolVerdict::Skipped).count();
    let skipped = report.tools.len() - called;
    let mut text =
        format!("\nTools: {} listed, {called} called, {skipped} skipped\n", report.tools.len());
    let width =
        report.tools.iter().map(|tool| tool.name.chars().count()).max().unwrap_or(0).min(36);
    for tool in &report.tools {
        text.push_str(&tool_line(tool, width));
    }
    let is_feared =
        |tool: &&ToolProbe| tool.verdict == ToolVerdict::Skipped && tool.reason != ANOTHER_TOOL;
    if report.tools.iter().any(|tool| is_feared(&tool)) {
        text.push_str(
            "  Skipped ones are called with --allow-destructive, with made-up arguments.\n",
        );
    }
    text
}

fn tool_line(tool: &ToolProbe, width: usize) -> String {
    let (word, color) = match tool.verdict {
        ToolVerdict::Ok => ("ok", AnsiColor::Green),
        ToolVerdict::ToolError => ("isError", AnsiColor::Cyan),
        ToolVerdict::Slow => ("slow", AnsiColor::Cyan),
        ToolVerdict::Refused => ("refused", AnsiColor::Cyan),
        ToolVerdict::Skipped => ("skipped", AnsiColor::BrightBlack),
        ToolVerdict::Hung => ("HUNG", AnsiColor::Red),
        ToolVerdict::Crashed => ("CRASHED", AnsiColor::Red),
        ToolVerdict::Malformed => ("MALFORMED", AnsiColor::Red),
    };
    let paint = style(color);
    let name = visible(&tool.name, 36);
    let took = tool.took_ms.map(latency).unwrap_or_default();
    let detail = match (&tool.arguments, tool.reason.as_str()) {
        (Some(arguments), "") => visible(&arguments.to_string(), 60),
        (Some(arguments), reason) => {
            format!("{} -> {}", visible(&arguments.to_string(), 40), visible(reason, 60))
        }
        (None, reason) => visible(reason, 90),
    };
    format!("  {paint}{word:<9}{paint:#} {name:<width$} {took:>8}  {detail}\n")
}

/// How one check went.
struct Went<'r> {
    id: &'static str,
    cases: Vec<&'r CaseResult>,
}

impl Went<'_> {
    fn severity(&self) -> Option<Severity> {
        self.cases.iter().filter_map(|case| case.severity).max()
    }

    fn is_known(&self) -> bool {
        self.cases.iter().any(|case| case.verdict.is_known())
    }

    fn is_skipped(&self) -> bool {
        self.cases.iter().all(|case| case.verdict == CaseVerdict::Skipped)
    }

    /// `12 rejected, 1 accepted`.
    fn counts(&self) -> String {
        let verdicts = [
            CaseVerdict::Rejected,
            CaseVerdict::Held,
            CaseVerdict::Accepted,
            CaseVerdict::Broken,
            CaseVerdict::Crashed,
            CaseVerdict::Hung,
            CaseVerdict::CouldNotTell,
            CaseVerdict::Skipped,
        ];
        let counted = verdicts.into_iter().filter_map(|verdict| {
            let count = self.cases.iter().filter(|case| case.verdict == verdict).count();
            (count > 0).then(|| format!("{count} {}", verdict.words()))
        });
        counted.collect::<Vec<_>>().join(", ")
    }
}

fn checks(report: &ProbeReport, every_case: bool) -> String {
    let mut text = format!("\nChecks: {}\n", sums(report));
    let mut skipped = Vec::new();
    for family in Family::ALL {
        let went = PROBES
            .iter()
            .filter(|check| check.family == family)
            .map(|check| Went {
                id: check.id,
                cases: report.checks.iter().filter(|case| case.check == check.id).collect(),
            })
            .filter(|went| !went.cases.is_empty());
        let (left_out, tried): (Vec<_>, Vec<_>) =
            went.partition(|went| went.is_skipped() && !every_case);
        skipped.extend(left_out.iter().map(|went| went.id));
        text.push_str(&family_lines(family, &tried, every_case));
    }
    let reasons = "; --verbose says why";
    if !skipped.is_empty() {
        text.push_str(&listed(
            "skipped",
            "",
            &(skipped.join(", ") + reasons),
            AnsiColor::BrightBlack,
        ));
    }
    text
}

/// A line for several checks, with what follows below it.
fn listed(word: &str, label: &str, names: &str, color: AnsiColor) -> String {
    let paint = style(color);
    let lines = wrap(names, WIDTH - 27);
    let lines = lines.iter().enumerate().map(|(number, line)| {
        let (word, label) = if number == 0 { (word, label) } else { ("", "") };
        format!("  {paint}{word:<9}{paint:#} {label:<14} {line}\n")
    });
    lines.collect()
}

fn sums(report: &ProbeReport) -> String {
    let known = report.checks.iter().filter(|case| case.was_tried()).count();
    let fails = report.checks.iter().filter(|case| case.fails()).count();
    let mut text = format!("{} tried, {fails} failed", plural(known, "case"));
    if untold(report) > 0 {
        text.push_str(&format!(", {} could not be told", untold(report)));
    }
    text
}

fn family_lines(family: Family, went: &[Went<'_>], every_case: bool) -> String {
    let mut text = String::new();
    let fine: Vec<_> = went
        .iter()
        .filter(|went| went.is_known() && went.severity().is_none_or(|s| s == Severity::Info))
        .collect();
    if !fine.is_empty() && !every_case {
        let names: Vec<_> = fine.iter().map(|went| went.id).collect();
        text.push_str(&listed("ok", family.name(), &names.join(", "), AnsiColor::Green));
    }
    for went in went {
        let (word, color) = match (went.severity(), went.is_known()) {
            (Some(Severity::Critical), _) => ("FAIL", AnsiColor::Red),
            (Some(Severity::Warning), _) => ("warning", AnsiColor::Yellow),
            (_, true) if every_case => ("ok", AnsiColor::Green),
            (_, true) => continue,
            (_, false) => ("?", AnsiColor::BrightBlack),
        };
        let paint = style(color);
        let why = if went.is_known() { went.counts() } else { why_not(went) };
        let label = family.name();
        text.push_str(&format!("  {paint}{word:<9}{paint:#} {label:<14} {}: {why}\n", went.id));
        for case in went.cases.iter().filter(|_| every_case) {
            text.push_str(&case_line(case));
        }
    }
    text
}

fn why_not(went: &Went<'_>) -> String {
    let Some(case) = went.cases.first() else { return String::new() };
    format!("{}: {}", case.verdict.words(), visible(&case.detail, 120))
}

fn case_line(case: &CaseResult) -> String {
    let tool = case.tool.as_deref().map(|tool| format!("{} ", visible(tool, 36)));
    format!(
        "            {:<14} {}{}: {}\n",
        case.verdict.words(),
        tool.unwrap_or_default(),
        visible(&case.case, 120),
        visible(&case.detail, 160)
    )
}

/// What was concluded, the gravest last.
pub(in crate::commands) fn findings(findings: &[Finding], notes_in_full: bool) -> String {
    let is_note = |finding: &&Finding| finding.severity == Severity::Info && !notes_in_full;
    let (notes, graver): (Vec<_>, Vec<_>) = findings.iter().partition(is_note);
    let mut text = String::new();
    if !notes.is_empty() {
        text.push_str("\nWorth knowing\n");
    }
    for note in notes {
        let label = format!("{}: ", note.id);
        text.push_str(&paragraph("· ", &(label + &visible(&note.message, LIMIT))));
    }
    text.extend(graver.into_iter().map(finding_lines));
    text
}

fn finding_lines(finding: &Finding) -> String {
    let (word, color) = match finding.severity {
        Severity::Critical => ("BUG", AnsiColor::Red),
        Severity::Warning => ("WARNING", AnsiColor::Yellow),
        Severity::Info => ("note", AnsiColor::Cyan),
    };
    let paint = style(color);
    let mut text = format!("\n{paint}{word} {}{paint:#}\n", finding.id);
    // A single piece of evidence that says the same again, and more, stands for both.
    let (message, evidence) = match finding.evidence.as_slice() {
        [only] if only.starts_with(&finding.message) => (only, &[][..]),
        several => (&finding.message, several),
    };
    text.push_str(&paragraph("", &visible(message, LIMIT)));
    for evidence in evidence {
        let evidence = visible(evidence, LIMIT);
        if !finding.message.contains(evidence.as_str()) {
            text.push_str(&paragraph("· ", &evidence));
        }
    }
    if let Some(meaning) = &finding.meaning {
        text.push_str(&paragraph("means: ", meaning));
    }
    if let Some(hint) = &finding.hint {
        text.push_str(&paragraph("hint: ", hint));
    }
    if let Some(command) = &finding.reproduce {
        // One line, however long: it is there to be copied.
        text.push_str(&format!("    again: {command}\n"));
    }
    text
}

fn paragraph(label: &str, words: &str) -> String {
    let hanging = label.chars().count();
    let lines = wrap(words, WIDTH - INDENT - hanging);
    let lines = lines.iter().enumerate().map(|(number, line)| {
        let label = if number == 0 { label } else { "" };
        format!("{:INDENT$}{label:<hanging$}{line}\n", "")
    });
    lines.collect()
}
