//! What became of the calls, and of the run as a whole.

use super::literal;
use crate::{
    analysis::{DEADLOCK, ENDED_ON_FAIL},
    display::visible,
    outcome::ErrorCategory,
    report::{
        figures::{counted, grouped, percent, total},
        model::{Report, ToolStats},
        phrases,
    },
    units::format_latency,
};

pub(super) fn nothing_measured(report: &Report) -> Option<String> {
    let total = report.throughput.total_requests;
    (report.latency.count == 0).then(|| match total {
        0 => "Nothing was measured: not one call was made.".into(),
        _ => format!("Nothing was measured: of {}, none ended by itself.", counted(total, "call")),
    })
}

pub(super) fn interrupted(report: &Report) -> Option<String> {
    let after = format_latency(report.duration);
    report.interrupted.then(|| {
        format!(
            "The run was interrupted after {after}: the figures cover what was done until then."
        )
    })
}

pub(super) fn paused(report: &Report) -> Option<String> {
    let times = phrases::paused(report)?;
    Some(format!("The load was paused by hand ({times}): rates leave that time out."))
}

/// Calls that were on their way when the run was ended may bring a share back within its limit.
pub(super) fn ended_on_fail(report: &Report) -> Option<String> {
    let ended = report.finding(ENDED_ON_FAIL).filter(|_| report.threshold_violations.is_empty())?;
    let why = ended.evidence.first().map(|why| format!(" ({})", visible(why, 160)));
    Some(format!(
        "The run was ended because a limit was not kept then{}; with the calls that were on their way it was, \
         so only a run without `abort_on_fail` would tell.",
        why.unwrap_or_default()
    ))
}

pub(super) fn deadlock(report: &Report) -> Option<String> {
    if report.deadlock_count == 0 {
        return None;
    }
    let were = if report.deadlock_count == 1 { "was" } else { "were" };
    let waited = report.hung_for.iter().max().copied().unwrap_or_default();
    let told = format!(
        "{} of {}{} {were} never answered, though waited for {}; {}.",
        grouped(report.deadlock_count.into()),
        counted(report.throughput.total_requests, "call"),
        silent_tools(report),
        format_latency(waited),
        others_answered(report),
    );
    let seen = report.finding(DEADLOCK).and_then(|finding| finding.evidence.first());
    Some(match seen {
        Some(evidence) => {
            format!("{told} Seen then: {}.", visible(evidence.trim_end_matches('.'), 300))
        }
        None => told,
    })
}

/// How many calls were answered in the end, well or not.
fn others_answered(report: &Report) -> String {
    let failed = report.errors.by_category.iter().filter(|(category, _)| category.was_answered());
    match total(failed.map(|(_, count)| *count).chain([report.throughput.successful_requests])) {
        0 => "no other call was answered".into(),
        1 => "1 other was answered".into(),
        others => format!("{} others were answered", grouped(others)),
    }
}

fn silent_tools(report: &Report) -> String {
    let is_silent = |tool: &&ToolStats| tool.errors.contains_key(&ErrorCategory::Deadlock);
    let names: Vec<String> =
        report.tools.iter().filter(is_silent).map(|tool| literal(&tool.name)).collect();
    match names.as_slice() {
        [] => String::new(),
        names if names.len() <= 3 => format!(" to {}", names.join(", ")),
        names => format!(" to {} different tools", names.len()),
    }
}

pub(super) fn outcome(report: &Report) -> Option<String> {
    let throughput = &report.throughput;
    if report.errors.total == 0 {
        let all = throughput.total_requests > 0
            && throughput.successful_requests == throughput.total_requests;
        return all.then(|| match throughput.total_requests {
            1 => "The only call ended well.".into(),
            calls => format!("All {} calls ended well.", grouped(calls)),
        });
    }
    // A deadlock has its own sentence.
    let (category, count) = report.errors.by_category.iter().max_by_key(|(_, count)| **count)?;
    if *count == report.errors.total && *category == ErrorCategory::Deadlock {
        return None;
    }
    let (errors, calls) =
        (grouped(report.errors.total), counted(throughput.total_requests, "call"));
    let failed = format!("{errors} of {calls} failed ({})", percent(report.error_rate()?));
    let kind = format!("{} ({})", category.name(), category.meaning());
    Some(if *count == report.errors.total {
        format!("{failed}, all in the same way: {kind}{}.", only_tool(report))
    } else {
        format!("{failed}, most often as {kind}: {}.", grouped(*count))
    })
}

/// Where all failures are of one tool among several.
fn only_tool(report: &Report) -> String {
    let failing: Vec<_> = report.tools.iter().filter(|tool| !tool.errors.is_empty()).collect();
    match failing.as_slice() {
        [only] if report.tools.len() > 1 => {
            format!(", and all in calls to {}", literal(&only.name))
        }
        _ => String::new(),
    }
}

pub(super) fn dropped(report: &Report) -> Option<String> {
    let were = match report.dropped {
        0 => return None,
        1 => "1 call was".into(),
        calls => format!("{} calls were", grouped(calls)),
    };
    Some(format!(
        "{were} due but not sent, too many being in flight: the load was lower than asked for."
    ))
}
