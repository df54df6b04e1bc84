//! For people: a line for each test, then each failure with all that is known about it.

use anstyle::{AnsiColor, Style};

use super::sums;
use crate::{
    check::CaseVerdict,
    display::visible,
    report::figures::counted,
    suite::{
        recovery::{Judged, Live, Trajectory},
        result::{Outcome, SuiteReport, TestResult},
    },
};

/// So much of a text is shown.
const SHOWN: usize = 300;
/// So many calls of an agent are shown.
const CALLS: usize = 20;
/// So many tests that passed are listed one by one.
const LISTED: usize = 200;

const fn style(color: AnsiColor) -> Style {
    Style::new().bold().fg_color(Some(anstyle::Color::Ansi(color)))
}

fn paint(outcome: Outcome) -> Style {
    match outcome {
        Outcome::Passed => style(AnsiColor::Green),
        Outcome::Failed | Outcome::Broken => style(AnsiColor::Red),
        Outcome::Skipped | Outcome::NotRun => style(AnsiColor::Yellow),
    }
}

pub(super) fn render(report: &SuiteReport) -> String {
    let mut text = String::new();
    let good = || report.tests.iter().filter(|test| !test.is_bad());
    for test in good().take(LISTED) {
        text.push_str(&line(test));
    }
    if let Some(more) = good().count().checked_sub(LISTED).filter(|more| *more > 0) {
        text.push_str(&format!("  … and {more} more that did not fail\n"));
    }
    for test in report.tests.iter().filter(|test| test.is_bad()) {
        text.push('\n');
        text.push_str(&line(test));
        text.push_str(&details(test));
    }
    let ended = if report.interrupted { ", interrupted" } else { "" };
    text + &format!("\n{} in {:.0} ms{ended}\n", sums(report), report.took_ms)
}

fn line(test: &TestResult) -> String {
    let paint = paint(test.outcome);
    let mut line =
        format!("  {paint}{}{paint:#} {}", test.outcome.word(), visible(&test.name, SHOWN));
    if let Some(judged) = &test.recovery {
        line.push_str(&format!(" [{}]", judged.verdict.name()));
    }
    if let Some(repeats) = &test.repeats {
        line.push_str(&format!(
            " ({} of {}, {:.0} % to {:.0} %)",
            repeats.passed,
            repeats.runs,
            repeats.interval.low * 100.0,
            repeats.interval.high * 100.0
        ));
    }
    match test.outcome {
        Outcome::Skipped | Outcome::NotRun if !test.reason.is_empty() => {
            line.push_str(&format!(": {}", visible(&test.reason, SHOWN)));
        }
        Outcome::Skipped | Outcome::NotRun => {}
        _ => line.push_str(&format!(" ({:.0} ms)", test.took_ms)),
    }
    line + "\n"
}

/// All that is known about a failure.
fn details(test: &TestResult) -> String {
    let mut text = String::new();
    let place = test.line.map_or_else(String::new, |line| format!(":{line}"));
    text.push_str(&format!("       {}{place}\n", visible(&test.suite, SHOWN)));
    if !test.reason.is_empty() {
        text.push_str(&format!("       {}\n", visible(&test.reason, 2_000)));
    }
    for failure in &test.failures {
        let (target, why) = (visible(&failure.target, SHOWN), visible(&failure.message, 1_000));
        text.push_str(&format!("       {target}: {why}\n"));
    }
    let failed = test.cases.iter().filter(|case| case.fails());
    for case in failed {
        let verdict = case.verdict.words();
        let taxonomy = case.taxonomy.as_deref().map_or_else(String::new, |id| format!(" [{id}]"));
        let what = visible(&case.case, SHOWN);
        text.push_str(&format!("       {}{taxonomy}: {what}: {verdict}\n", case.check));
        if case.verdict != CaseVerdict::Skipped && !case.detail.is_empty() {
            text.push_str(&format!("         {}\n", visible(&case.detail, SHOWN)));
        }
    }
    if let Some(judged) = &test.recovery {
        text.push_str(&recovery(judged));
    }
    if let Some(live) = &test.live {
        text.push_str(&wire(live));
    }
    if let Some(trajectory) = &test.trajectory {
        text.push_str(&calls(trajectory));
    }
    if !test.reproduce.is_empty() {
        text.push_str(&format!("       again: {}\n", visible(&test.reproduce, 1_000)));
    }
    text
}

fn recovery(judged: &Judged) -> String {
    let mut text = String::new();
    // A verdict that fails the test has been told with its reason.
    if !judged.failures.iter().any(|failure| failure.target.ends_with(".verdict")) {
        let (verdict, why) = (judged.verdict.name(), visible(&judged.why, SHOWN));
        text.push_str(&format!("       verdict {verdict}: {why}\n"));
    }
    if !judged.evidence.is_empty() {
        let values = visible(&judged.evidence.join(", "), SHOWN);
        text.push_str(&format!("       evidence looked for: {values}\n"));
    }
    if let Some(times) = &judged.times {
        let shown = |time: Option<u64>| time.map_or("never".into(), |time| format!("{time} ms"));
        text.push_str(&format!(
            "       detected {}, recovered {}, {} ms of hanging seen\n",
            shown(times.time_to_detection_ms),
            shown(times.time_to_recovery_ms),
            judged.total_hang_ms
        ));
    }
    text
}

/// What only the wire shows.
fn wire(live: &Live) -> String {
    let times = |list: &[u64]| match list {
        [] => "none".to_owned(),
        list => list.iter().take(CALLS).map(u64::to_string).collect::<Vec<_>>().join(" "),
    };
    format!(
        "       on the wire: {} (waits in ms: {}), {} cancelled, {} left running, {} \
         doubled, hangs in ms: {}\n",
        if live.retries == 1 { "1 retry".into() } else { format!("{} retries", live.retries) },
        times(&live.back_off_ms),
        live.cancels,
        live.left_running,
        counted(u64::from(live.duplicated_effects), "effect"),
        times(&live.hang_ms)
    )
}

fn calls(trajectory: &Trajectory) -> String {
    let mut text = String::new();
    for (at, call) in trajectory.calls.iter().enumerate().take(CALLS) {
        let fault = call
            .fault
            .as_ref()
            .map_or_else(String::new, |fault| format!(" [{}]", visible(&fault.name, 80)));
        let args = serde_json::to_string(&call.args).unwrap_or_default();
        text.push_str(&format!(
            "       {:>2}. {}({}){fault} -> {}\n",
            at + 1,
            visible(&call.tool, 80),
            visible(&args, 120),
            visible(&call.text, 160)
        ));
    }
    if let Some(more) = trajectory.calls.len().checked_sub(CALLS).filter(|more| *more > 0) {
        text.push_str(&format!("       … and {}\n", counted(more as u64, "more call")));
    }
    let answer = match trajectory.final_response.trim() {
        "" => format!("nothing ({})", trajectory.stop.name()),
        answer => visible(answer, SHOWN),
    };
    text + &format!("       answer: {answer}\n")
}
