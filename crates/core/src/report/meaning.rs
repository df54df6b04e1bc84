//! What the figures mean, in sentences.
//!
//! Each rule says one thing, and only when the data carry it: how many calls a claim rests on is
//! part of the rule. To add one: a function here and a line in [`RULES`], which is in order of
//! importance. Literals stand between backticks, and text from a server only inside them.

use super::{
    figures::{counted, grouped, percent, ratio, rough_percent, total},
    model::{Report, StepStats, ToolStats},
    omission::omission,
};
use crate::{
    analysis::{DEADLOCK, LAZY_INIT_CLIFF},
    display::visible,
    outcome::ErrorCategory,
    scenario::ScenarioKind,
    units::format_latency,
};

/// More sentences than this are not read.
const MOST: usize = 5;

static RULES: &[fn(&Report) -> Option<String>] = &[
    nothing_measured,
    interrupted,
    paused,
    deadlock,
    outcome,
    lazy_init,
    start_phases,
    latency,
    slow_tail,
    omission,
    waiting,
    dropped,
    memory,
    few_calls,
];

/// What the figures of a report mean, the most important first.
pub fn meaning(report: &Report) -> Vec<String> {
    RULES.iter().filter_map(|rule| rule(report)).take(MOST).collect()
}

/// A name from the server as a literal.
fn literal(name: &str) -> String {
    format!("`{}`", visible(name, 48).replace('`', "'"))
}

fn nothing_measured(report: &Report) -> Option<String> {
    let total = report.throughput.total_requests;
    (report.latency.count == 0).then(|| match total {
        0 => "Nothing was measured: not one call was made.".into(),
        _ => format!("Nothing was measured: of {}, none ended by itself.", counted(total, "call")),
    })
}

fn interrupted(report: &Report) -> Option<String> {
    let after = format_latency(report.duration);
    report.interrupted.then(|| {
        format!(
            "The run was interrupted after {after}: the figures cover what was done until then."
        )
    })
}

fn paused(report: &Report) -> Option<String> {
    let times = super::phrases::paused(report)?;
    Some(format!("The load was paused by hand ({times}): rates leave that time out."))
}

fn deadlock(report: &Report) -> Option<String> {
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
            format!("{told} Seen then: {}.", visible(evidence.trim_end_matches('.'), 160))
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

fn outcome(report: &Report) -> Option<String> {
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

/// The finding decides what a cliff is; the figures tell how high the highest is.
fn lazy_init(report: &Report) -> Option<String> {
    report.finding(LAZY_INIT_CLIFF)?;
    let firsts =
        report.tools.iter().filter_map(|tool| Some((tool, tool.first_call?, tool.steady_p50?)));
    let (tool, first, steady) =
        firsts.max_by_key(|(_, first, steady)| first.saturating_sub(*steady))?;
    Some(format!(
        "The first call to {} took {}, later ones {} (median): users of a fresh process wait.",
        literal(&tool.name),
        format_latency(first),
        format_latency(steady),
    ))
}

fn start_phases(report: &Report) -> Option<String> {
    let is_cold_start = matches!(report.scenario_kind, ScenarioKind::ColdStart(_));
    let steps: Vec<&StepStats> =
        report.steps.iter().filter(|step| step.latency.count > 0).collect();
    if !is_cold_start || steps.len() < 2 {
        return None;
    }
    let longest = steps.iter().max_by_key(|step| step.latency.p50)?;
    let sum = steps.iter().map(|step| step.latency.p50).sum::<std::time::Duration>();
    let share = longest.latency.p50.as_secs_f64() / sum.as_secs_f64().max(1e-9);
    let (name, took) = (literal(&longest.name), format_latency(longest.latency.p50));
    let of = format!("{took} of {} ({}, medians)", format_latency(sum), rough_percent(share));
    Some(if share >= 0.5 {
        format!("A start spends most of its time in {name}: {of}.")
    } else {
        format!("No single step dominates a start; the longest is {name}: {of}.")
    })
}

/// Below a hundred calls the 99th percentile is the slowest call, and is called that. Where half of
/// the calls were never answered, the median is only the time that we waited.
fn latency(report: &Report) -> Option<String> {
    let stats = &report.latency;
    if stats.count < 2 || u64::from(report.deadlock_count) >= stats.count.div_ceil(2) {
        return None;
    }
    let (whose, slow) = match stats.count {
        ..100 => ("; the slowest took", stats.max),
        _ => (" and 99% at most", stats.p99),
    };
    let (half, slowly) = (format_latency(stats.p50), format_latency(slow));
    let mut told =
        format!("Half of the {} took at most {half}{whose} {slowly}", counted(stats.count, "call"));
    if slow >= stats.p50 * 2 {
        told += &format!(", {} times the median", ratio(slow, stats.p50));
    }
    told.push('.');
    if report.deadlock_count > 0 {
        told.push_str(" Calls never answered count with the time waited for them.");
    }
    Some(told)
}

/// The tail is what lies at or above the 99th percentile, once that is twice the median. It is
/// concentrated on a tool that has two thirds of it and half as much again as its share of calls.
fn slow_tail(report: &Report) -> Option<String> {
    const FEWEST: u64 = 5;
    let bound = report.latency.p99;
    if report.tools.len() < 2 || bound < report.latency.p50 * 2 {
        return None;
    }
    let nanos = u64::try_from(bound.as_nanos()).unwrap_or(u64::MAX);
    let slow = |tool: &ToolStats| tool.latency.histogram.count_between(nanos, u64::MAX);
    let all = total(report.tools.iter().map(slow));
    let tool = report.tools.iter().max_by_key(|tool| slow(tool))?;
    let share = slow(tool) as f64 / all.max(1) as f64;
    let calls = tool.latency.count as f64 / report.latency.count.max(1) as f64;
    (all >= FEWEST && share >= 2.0 / 3.0 && share >= calls * 1.5).then(|| {
        format!(
            "The slow tail is concentrated on {}: {} of all calls, but {} of those that took {} or longer.",
            literal(&tool.name),
            rough_percent(calls),
            rough_percent(share),
            format_latency(bound),
        )
    })
}

/// Response times are twice the service times and more: calls waited before they were sent.
fn waiting(report: &Report) -> Option<String> {
    let (response, service) = (report.latency.p99, report.service.p99);
    let noticeable = std::time::Duration::from_millis(1);
    (report.latency.count >= 100 && response >= service * 2 && response - service >= noticeable)
        .then(|| {
            let (due, sent) = (format_latency(response), format_latency(service));
            format!(
                "Calls waited before they were sent: 99% ended within {due} of when they were due, \
             but within {sent} of when they were sent."
            )
        })
}

fn dropped(report: &Report) -> Option<String> {
    let were = match report.dropped {
        0 => return None,
        1 => "1 call was".into(),
        calls => format!("{} calls were", grouped(calls)),
    };
    Some(format!(
        "{were} due but not sent, too many being in flight: the load was lower than asked for."
    ))
}

/// A change of a tenth and of five megabytes: less is the noise of any allocator.
fn memory(report: &Report) -> Option<String> {
    let growth = report.process.growth_mb()?;
    let (first, last) = (report.process.samples.first()?.rss_mb, report.process.final_rss_mb);
    let is_change = growth.abs() >= 5.0 && growth.abs() >= first * 0.1;
    is_change.then(|| {
        let verb = if growth > 0.0 { "grew" } else { "fell" };
        let caution =
            if growth > 0.0 { "; only a longer run tells whether that goes on" } else { "" };
        format!("The server's memory {verb} from {first:.1} MB to {last:.1} MB{caution}.")
    })
}

/// Who found a deadlock has other worries than percentiles.
fn few_calls(report: &Report) -> Option<String> {
    match report.latency.count {
        _ if report.deadlock_count > 0 => None,
        0 | 1_000.. => None,
        1 => Some("One call is too few for percentiles.".into()),
        calls @ 2..100 => Some(format!(
            "{calls} calls are too few for p99 and p999: both are just the slowest call."
        )),
        calls => Some(format!("{calls} calls are too few for p999: it is just the slowest call.")),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{
        super::fixture::{self, Run},
        *,
    };
    use crate::scenario::Scenario;

    fn sustained() -> Run {
        Run::of(Scenario::sustained())
    }

    fn told(run: Run) -> String {
        meaning(&run.report()).join("\n")
    }

    #[track_caller]
    fn says(run: Run, sentence: &str) {
        let told = told(run);
        assert!(told.lines().any(|line| line == sentence), "{told}");
    }

    #[test]
    fn nothing_measured_is_all_that_is_said_of_nothing() {
        assert_eq!(told(sustained()), "Nothing was measured: not one call was made.");
        let withdrawn = sustained().failed("t", ErrorCategory::Cancelled, 3, "x");
        assert!(
            told(withdrawn).starts_with("Nothing was measured: of 3 calls, none ended by itself.")
        );
    }

    #[test]
    fn a_deadlock_names_the_call_what_was_waited_and_what_still_answered() {
        let sentences = meaning(&fixture::deadlocked());
        assert_eq!(
            sentences[0],
            "17 of 20 calls to `analyze_options` were never answered, though waited for 15.0s; 3 others were \
             answered. Seen then: `ping` was not answered for 2.00s either; the process sleeps (state S) and uses 0% CPU."
        );
        assert!(!sentences.iter().any(|sentence| sentence.contains("failed")), "{sentences:?}");
        let alone = told(Run::of(Scenario::deadlock_probe()).silent("t", 1, ""));
        assert!(
            alone.starts_with(
                "1 of 1 call to `t` was never answered, though waited for 15.0s; no other call"
            ),
            "{alone}"
        );
    }

    #[test]
    fn calls_end_well_or_fail_in_one_way_or_in_several() {
        says(sustained().ok("t", 12_345, 900), "All 12,345 calls ended well.");
        says(sustained().ok("t", 1, 900), "The only call ended well.");
        let one = sustained().ok("t", 8, 900).ok("u", 1, 900).failed(
            "u",
            ErrorCategory::ToolError,
            1,
            "x",
        );
        says(
            one,
            "1 of 10 calls failed (10.00%), all in the same way: ToolError (the tool answered with isError), and all in calls to `u`.",
        );
        let several = sustained().ok("t", 7, 9).failed("t", ErrorCategory::Crash, 1, "x").failed(
            "t",
            ErrorCategory::Timeout,
            2,
            "x",
        );
        says(
            several,
            "3 of 10 calls failed (30.00%), most often as Timeout (given up at the configured call timeout): 2.",
        );
    }

    #[test]
    fn latency_speaks_of_percentiles_only_with_a_hundred_calls() {
        says(
            sustained().ok("t", 98, 1_000).ok("t", 1, 50_000),
            "Half of the 99 calls took at most 1.00ms; the slowest took 50.0ms, 50 times the median.",
        );
        says(
            sustained().ok("t", 500, 1_000).ok("t", 20, 10_000),
            "Half of the 520 calls took at most 1.00ms and 99% at most 10.0ms, 10 times the median.",
        );
        says(
            sustained().ok("t", 5_000, 1_000),
            "Half of the 5,000 calls took at most 1.00ms and 99% at most 1.00ms.",
        );
        assert!(!told(sustained().ok("t", 1, 1_000)).contains("Half"));
    }

    #[test]
    fn few_calls_make_few_percentiles() {
        says(sustained().ok("t", 1, 9), "One call is too few for percentiles.");
        says(
            sustained().ok("t", 99, 9),
            "99 calls are too few for p99 and p999: both are just the slowest call.",
        );
        says(
            sustained().ok("t", 999, 9),
            "999 calls are too few for p999: it is just the slowest call.",
        );
        assert!(!told(sustained().ok("t", 1_000, 9)).contains("too few"));
    }

    #[test]
    fn the_tail_is_blamed_on_a_tool_only_when_it_is_that_tools() {
        let slow = sustained().ok("fast", 960, 1_000).ok("slow", 40, 50_000);
        says(
            slow,
            "The slow tail is concentrated on `slow`: 4% of all calls, but all of those that took 50.0ms or longer.",
        );
        let shared = sustained()
            .ok("a", 480, 1_000)
            .ok("a", 20, 50_000)
            .ok("b", 480, 1_000)
            .ok("b", 20, 50_000);
        assert!(!told(shared).contains("tail"));
        let even = sustained().ok("a", 500, 1_000).ok("b", 500, 1_100);
        assert!(!told(even).contains("tail"));
        let alone = sustained().ok("a", 960, 1_000).ok("a", 40, 50_000);
        assert!(!told(alone).contains("tail"));
    }

    #[test]
    fn a_cliff_is_told_where_the_analysis_found_one() {
        let cliff =
            Run::of(Scenario::deadlock_probe()).ok("t", 1, 7_000_000).later(10).ok("t", 9, 20_000);
        says(
            cliff,
            "The first call to `t` took 7.00s, later ones 20.0ms (median): users of a fresh process wait.",
        );
        assert!(
            !told(sustained().ok("t", 1, 9_000).later(1).ok("t", 9, 20)).contains("first call")
        );
    }

    #[test]
    fn the_longest_step_of_a_start_is_named() {
        let start = Run::of(Scenario::cold_start())
            .step("spawn", 100)
            .step("initialize", 1_900)
            .ok("t", 1, 9);
        says(
            start,
            "A start spends most of its time in `initialize`: 1.90s of 2.00s (95%, medians).",
        );
        let even = Run::of(Scenario::cold_start())
            .step("a", 100)
            .step("b", 110)
            .step("c", 90)
            .ok("t", 1, 9);
        says(
            even,
            "No single step dominates a start; the longest is `b`: 110.0ms of 300.1ms (37%, medians).",
        );
        assert!(!told(sustained().step("a", 100).step("b", 110).ok("t", 1, 9)).contains("start"));
    }

    #[test]
    fn waiting_for_ones_turn_is_told_apart_from_slowness() {
        let queue = sustained().late(200, 90_000, 10_000);
        says(
            queue,
            "Calls waited before they were sent: 99% ended within 100.0ms of when they were due, but within 10.0ms of when they were sent.",
        );
        assert!(!told(sustained().ok("t", 200, 10_000)).contains("waited"));
    }

    #[test]
    fn memory_is_told_when_it_changes() {
        let grown = sustained().ok("t", 2_000, 9).memory(&[100.0, 130.5]);
        says(
            grown,
            "The server's memory grew from 100.0 MB to 130.5 MB; only a longer run tells whether that goes on.",
        );
        says(
            sustained().ok("t", 2_000, 9).memory(&[100.0, 60.0]),
            "The server's memory fell from 100.0 MB to 60.0 MB.",
        );
        assert!(!told(sustained().ok("t", 2_000, 9).memory(&[100.0, 104.0])).contains("memory"));
        assert!(!told(sustained().ok("t", 2_000, 9).memory(&[100.0])).contains("memory"));
    }

    #[test]
    fn what_was_cut_short_or_not_sent_is_said() {
        let mut report = sustained().ok("t", 10, 9).report();
        report.interrupted = true;
        report.dropped = 3;
        report.duration = Duration::from_secs(2);
        let told = meaning(&report);
        assert_eq!(
            told[0],
            "The run was interrupted after 2.00s: the figures cover what was done until then."
        );
        assert!(told.contains(&"3 calls were due but not sent, too many being in flight: the load was lower than asked for.".to_owned()));
    }

    #[test]
    fn names_from_the_server_stay_inside_their_literals() {
        let run = sustained().ok("fast", 960, 1_000).ok("x` and `y\u{1b}[2J", 40, 50_000);
        assert!(told(run).contains("on `x' and 'y\\x1b[2J`: 4%"));
    }
}
