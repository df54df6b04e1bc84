//! What the snapshots of whole screens do not have.

use super::{DETAILS, HEAD, HEIGHT, Screen, Signs, fitting, kept::kept};
use crate::{
    report::{
        Finding, Report, Severity,
        fixture::{fuzzed, healthy, ramped, violated},
    },
    scenario::Scenario,
    thresholds::Thresholds,
};
use anstyle::{AnsiColor, Style};
use std::time::Duration;

fn lines(report: &Report, detail: usize) -> Vec<String> {
    let mut screen = Screen::new(&DETAILS[detail], Signs::Ascii);
    screen.tell(report);
    screen.lines.iter().map(|line| format!("{}{}", line.label, line.text)).collect()
}

/// What stands behind a label; nothing where it is not shown.
fn field(report: &Report, label: &str) -> Option<String> {
    let told = lines(report, 0);
    told.iter().find_map(|line| Some(line.strip_prefix(label)?.trim().to_owned()))
}

#[test]
fn the_first_call_of_a_plan_stands_for_the_others() {
    let with = |calls: &[&str]| {
        let calls = calls.iter().map(|call| (*call).to_owned()).collect();
        field(&Report { calls, ..healthy() }, "Calls").unwrap_or_default()
    };
    assert_eq!(with(&[]), "");
    assert_eq!(with(&["get {}"]), "get {}");
    assert_eq!(with(&["get {}", "put {}", "list {}"]), "get {}, and 2 more");
}

#[test]
fn silence_is_told_if_it_ended_or_not() {
    for (hangs, deadlocks, expected) in [
        (0, 0, None),
        (2, 0, Some("2 passed the hang threshold, 0 never answered")),
        (0, 3, Some("0 passed the hang threshold, 3 never answered")),
    ] {
        let report = Report { hang_count: hangs, deadlock_count: deadlocks, ..healthy() };
        assert_eq!(field(&report, "Silence").as_deref(), expected);
    }
}

#[test]
fn calls_that_were_not_sent_are_told_and_count_as_failed_in_their_step() {
    let sent = healthy();
    assert_eq!(field(&sent, "Throughput").unwrap(), "249.40 calls/s (12,345 calls, 12,345 ok)");
    let unsent = Report { dropped: 1_000, ..sent };
    let told = field(&unsent, "Throughput").unwrap();
    assert_eq!(told, "249.40 calls/s (12,345 calls, 12,345 ok, 1,000 not sent)");
    let mut ramp = ramped();
    let step = &mut ramp.segments[0];
    (step.errors, step.dropped, step.label) = (2, 3, "first-step".into());
    let row = field(&ramp, "first-step").unwrap();
    assert_eq!(row.split_whitespace().nth(1), Some("5"), "{row}");
}

#[test]
fn a_finding_has_a_command_of_its_own_or_none() {
    let mut report = violated();
    let [own, meaning] = ["mcp-loadtest replay 7", "users wait"].map(str::to_owned);
    assert_eq!(report.findings[0].severity, Severity::Warning);
    report.findings[0].reproduce = report.again();
    assert_eq!((field(&report, "  again:"), field(&report, "  means:")), (None, None));
    (report.findings[0].reproduce, report.findings[0].meaning) =
        (Some(own.clone()), Some(meaning.clone()));
    assert_eq!(
        (field(&report, "  again:"), field(&report, "  means:")),
        (Some(own), Some(meaning))
    );
    assert_eq!(field(&report, "Again"), report.again(), "and all of them once");
}

#[test]
fn labels_have_the_colour_of_what_they_say() {
    let mut report = violated();
    report.thresholds.min_rps = 1.0;
    for (severity, label) in [(Severity::Critical, "CRITICAL"), (Severity::Info, "INFO")] {
        let mut found = report.findings[0].clone();
        (found.severity, found.id) = (severity, label.into());
        report.findings.push(found);
    }
    let lines = fitting(&report, Signs::Ascii);
    for (label, colour) in [
        ("FAIL", Some(AnsiColor::Red)),
        ("Kept", Some(AnsiColor::Green)),
        ("Violated", Some(AnsiColor::Red)),
        ("INFO", None),
        ("WARNING", Some(AnsiColor::Yellow)),
        ("CRITICAL", Some(AnsiColor::Red)),
        ("Server", None),
    ] {
        let line = lines.iter().find(|line| line.label == label).expect(label);
        let expected = Style::new().fg_color(colour.map(Into::into)).bold();
        assert_eq!(line.style, expected, "{label}");
    }
}

#[test]
fn rows_are_the_first_to_go() {
    for (detail, has_rows) in [(0, true), (2, true), (3, false), (4, false)] {
        let lines = lines(&fuzzed(), detail);
        let has = |label: &str| lines.iter().any(|line| line.starts_with(label));
        assert_eq!((has("Payload"), has("Cases")), (has_rows, true), "{detail}");
    }
    let mut screen = Screen::new(&DETAILS[0], Signs::Ascii);
    screen.more(3, 3);
    assert!(screen.lines.is_empty());
    screen.more(5, 3);
    assert_eq!(screen.lines[0].text, "  and 2 more in report.md");
}

#[test]
fn what_is_critical_keeps_its_hint_longest() {
    let mut report = violated();
    let one = report.findings.swap_remove(0);
    let with =
        |hint: &str, severity| Finding { hint: Some(hint.to_owned()), severity, ..one.clone() };
    report.findings = vec![with("grave", Severity::Critical), with("mere", Severity::Info)];
    let last = DETAILS.len() - 1;
    for (detail, has_grave, has_mere) in [
        (0, true, true),
        (2, true, true),
        (3, true, false),
        (last - 1, true, false),
        (last, false, false),
    ] {
        let lines = lines(&report, detail);
        let has = |hint: &str| lines.iter().any(|line| line == hint);
        let seen = (has("  hint: grave"), has("  hint: mere"));
        assert_eq!(seen, (has_grave, has_mere), "{detail}");
    }
}

#[test]
fn of_too_many_lines_the_first_and_the_last_are_kept() {
    let mut report = violated();
    let violation = report.threshold_violations.remove(0);
    report.threshold_violations = vec![violation; 60];
    let all = lines(&report, DETAILS.len() - 1);
    let kept: Vec<String> = fitting(&report, Signs::Ascii)
        .iter()
        .map(|line| format!("{}{}", line.label, line.text))
        .collect();
    assert_eq!(kept.len(), HEIGHT);
    assert_eq!(kept[..HEAD], all[..HEAD]);
    assert_eq!(kept[HEAD..], all[all.len() - (HEIGHT - HEAD)..]);
}

#[test]
fn limits_that_held_are_told_with_what_was_seen() {
    let thresholds = Thresholds {
        p99_latency: Duration::from_millis(200),
        error_rate: 0.01,
        memory_growth_mb: 10.0,
        min_rps: 5.0,
        ..Thresholds::default()
    };
    let mut report = Report { thresholds, ..healthy() };
    assert_eq!(
        kept(&report).unwrap(),
        "p99_latency 123.4ms of 200ms, error_rate 0.00% of 1.00%, memory_growth_mb 1.00 of 10.00, \
         min_rps 249.40, at least 5.00"
    );
    report.threshold_violations = violated().threshold_violations;
    assert_eq!(
        kept(&report).unwrap(),
        "memory_growth_mb 1.00 of 10.00, min_rps 249.40, at least 5.00"
    );
    report.scenario_kind = Scenario::capacity().build().kind;
    assert_eq!(kept(&report), None, "a search goes beyond its limits on purpose");
    assert_eq!(kept(&healthy()), None);
}
