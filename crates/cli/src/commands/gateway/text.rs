//! The report of a gateway for people: the verdict first, the worst last.

use anstyle::{AnsiColor, Style};
use mcp_loadtest_core::display::visible;
use mcp_loadtest_mock::gateway::{CHECKS, Checked, Report, Verdict};

/// How much of a sentence is shown; `--json` has all.
const LIMIT: usize = 400;
const ID: usize = 15;
const WORD: usize = 14;

/// What each check means and what to do.
pub(super) fn reference() -> String {
    let line = |about: &str| format!("{:<ID$} {about}\n", "");
    let entry = |check: &&mcp_loadtest_mock::gateway::Check| {
        let advice = if check.advice.is_empty() { String::new() } else { line(check.advice) };
        format!("{:<ID$} {}\n{advice}", check.id, check.about)
    };
    CHECKS.iter().map(entry).collect()
}

pub(super) fn render(report: &Report) -> String {
    let mut text = headline(report);
    for (ours, theirs) in &report.renamed {
        text.push_str(&format!("  `{ours}` goes by the name `{}`\n", visible(theirs, 80)));
    }
    text.push('\n');
    let mut checks: Vec<_> = report.checks.iter().collect();
    // The order of checks that came to the same end stays.
    checks.sort_by_key(|checked| checked.verdict);
    for checked in checks {
        text.push_str(&lines(checked));
    }
    text
}

fn count(report: &Report, verdict: Verdict) -> usize {
    report.checks.iter().filter(|checked| checked.verdict == verdict).count()
}

/// The word above everything else.
pub(super) fn headline_of(report: &Report) -> (&'static str, AnsiColor) {
    match (count(report, Verdict::Broken), report.interrupted, report.passed) {
        (1.., ..) => ("BROKEN", AnsiColor::Red),
        (0, true, _) => ("INTERRUPTED", AnsiColor::Yellow),
        (0, false, false) => ("UNDECIDED", AnsiColor::Yellow),
        (0, false, true) => ("KEPT", AnsiColor::Green),
    }
}

/// What the gateway calls itself, or else how it was reached.
pub(super) fn name_of(report: &Report) -> String {
    let name = report.name.as_deref().unwrap_or(&report.gateway);
    let version = report.version.as_deref().unwrap_or("");
    format!("{} {}", visible(name, 80), visible(version, 40)).trim_end().to_owned()
}

/// How many checks came to which end.
pub(super) fn sums(report: &Report) -> String {
    let sums = [
        (Verdict::Kept, "kept"),
        (Verdict::Measured, "measured"),
        (Verdict::NotApplicable, "not applicable"),
        (Verdict::CouldNotTell, "could not be told"),
        (Verdict::Broken, "broken"),
    ];
    let sums: Vec<_> = sums
        .into_iter()
        .filter_map(|(verdict, words)| match count(report, verdict) {
            0 => None,
            several => Some(format!("{several} {words}")),
        })
        .collect();
    sums.join(", ")
}

fn headline(report: &Report) -> String {
    let (word, color) = headline_of(report);
    let paint = style(color);
    let upstream = report.upstream_revision.as_deref().unwrap_or("unknown");
    format!(
        "{paint}{word}{paint:#} {}: {}\n  MCP {} with the client, {} with the server\n",
        name_of(report),
        sums(report),
        report.revision,
        visible(upstream, 20)
    )
}

fn lines(checked: &Checked) -> String {
    let color = match checked.verdict {
        Verdict::Kept => AnsiColor::Green,
        Verdict::Measured => AnsiColor::Cyan,
        Verdict::NotApplicable => AnsiColor::BrightBlack,
        Verdict::CouldNotTell => AnsiColor::Yellow,
        Verdict::Broken => AnsiColor::Red,
    };
    let paint = style(color);
    let mut evidence = checked.evidence.iter().map(|sentence| visible(sentence, LIMIT));
    let first = evidence.next().unwrap_or_default();
    let word = checked.verdict.as_str();
    let mut text = format!("{paint}{word:<WORD$}{paint:#} {:<ID$} {first}\n", checked.id);
    for sentence in evidence {
        text.push_str(&format!("{:<WORD$} {:<ID$} {sentence}\n", "", ""));
    }
    if let Some(advice) = &checked.advice {
        text.push_str(&format!("{:<WORD$} {:<ID$} hint: {advice}\n", "", ""));
    }
    text
}

const fn style(color: AnsiColor) -> Style {
    Style::new().bold().fg_color(Some(anstyle::Color::Ansi(color)))
}
