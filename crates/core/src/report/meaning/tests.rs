//! One test for each rule: where it speaks, and where it is silent.

use std::time::Duration;

use super::{calls, figures, meaning};
use crate::{
    event::note,
    outcome::ErrorCategory,
    report::{
        LatencyStats, Report, StepStats,
        fixture::{self, Run},
    },
    scenario::Scenario,
    thresholds::Thresholds,
};

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
    assert!(told(withdrawn).starts_with("Nothing was measured: of 3 calls, none ended by itself."));
}

#[test]
fn a_run_that_was_ended_for_a_limit_that_is_kept_says_so() {
    let limits = |rate| Thresholds { error_rate: rate, ..Thresholds::default() };
    let ended = |rate| {
        let run = sustained().limits(limits(rate)).ok("t", 400, 9);
        let run = run.failed("t", ErrorCategory::ToolError, 20, "no");
        run.noted(note::ENDED_ON_FAIL, "error_rate: 20 of 100 calls failed")
    };
    says(
        ended(0.1),
        "The run was ended because a limit was not kept then (error_rate: 20 of 100 calls failed); \
         with the calls that were on their way it was, so only a run without `abort_on_fail` would tell.",
    );
    assert!(!told(ended(0.01)).contains("was ended"), "the limit that was broken says it");
    assert!(!told(sustained().ok("t", 400, 9)).contains("was ended"));
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
    let one =
        sustained().ok("t", 8, 900).ok("u", 1, 900).failed("u", ErrorCategory::ToolError, 1, "x");
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
    let shared =
        sustained().ok("a", 480, 1_000).ok("a", 20, 50_000).ok("b", 480, 1_000).ok("b", 20, 50_000);
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
    assert!(!told(sustained().ok("t", 1, 9_000).later(1).ok("t", 9, 20)).contains("first call"));
}

#[test]
fn the_longest_step_of_a_start_is_named() {
    let start =
        Run::of(Scenario::cold_start()).step("spawn", 100).step("initialize", 1_900).ok("t", 1, 9);
    says(start, "A start spends most of its time in `initialize`: 1.90s of 2.00s (95%, medians).");
    let even =
        Run::of(Scenario::cold_start()).step("a", 100).step("b", 110).step("c", 90).ok("t", 1, 9);
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
    // Where a leak was found, it is known.
    let climb: Vec<f64> = (0..120).map(|second| 50.0 + f64::from(second)).collect();
    let leaking = Run::of(Scenario::soak()).ok("t", 2_000, 9).memory(&climb);
    says(leaking, "The server's memory grew from 50.0 MB to 169.0 MB.");
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

#[test]
fn a_deadlock_tells_others_and_tools_by_their_number() {
    let silent = |tools: &[&'static str]| {
        tools.iter().fold(sustained(), |run, tool| run.silent(tool, 1, "seen"))
    };
    let told = |run: Run| calls::deadlock(&run.report()).expect("a deadlock");
    let three = told(silent(&["a", "b", "c"]));
    assert!(three.starts_with("3 of 3 calls to `a`, `b`, `c` were never"), "{three}");
    let four = told(silent(&["a", "b", "c", "d"]));
    assert!(four.starts_with("4 of 4 calls to 4 different tools were never"), "{four}");
    let one = told(silent(&["a"]).failed("b", ErrorCategory::ToolError, 1, "x"));
    assert!(one.contains("15.0s; 1 other was answered."), "{one}");
    let refused = silent(&["a"]).ok("b", 2, 9).failed("b", ErrorCategory::ServerError, 1, "x");
    let lost = told(refused.failed("b", ErrorCategory::Disconnected, 5, "x"));
    assert!(lost.contains("; 3 others were answered."), "who was cut off has no answer: {lost}");
    let mut unseen = silent(&["a"]).report();
    unseen.findings.clear();
    let told = calls::deadlock(&unseen).expect("a deadlock");
    assert!(told.ends_with("no other call was answered."), "{told}");
}

#[test]
fn outcomes_are_told_once_and_for_what_they_are() {
    says(
        sustained().ok("t", 1, 9).failed("t", ErrorCategory::ToolError, 1, "x"),
        "1 of 2 calls failed (50.00%), all in the same way: ToolError (the tool answered with isError).",
    );
    let mixed = sustained().silent("t", 2, "x").failed("t", ErrorCategory::Crash, 1, "x");
    let mixed = calls::outcome(&mixed.report()).expect("a crash has no sentence of its own");
    assert!(mixed.starts_with("3 of 3 calls failed (100.00%), most often as Deadlock"), "{mixed}");
    assert_eq!(calls::outcome(&sustained().silent("t", 2, "x").report()), None);
    let mut unsent = sustained().ok("t", 7, 9).report();
    (unsent.throughput.total_requests, unsent.dropped) = (10, 3);
    assert_eq!(calls::outcome(&unsent), None, "what was not sent did not end well");
    unsent.dropped = 1;
    let told = calls::dropped(&unsent).expect("one");
    assert!(told.starts_with("1 call was due but not sent"), "{told}");
}

#[test]
fn a_start_needs_two_steps_that_were_measured() {
    let told = |run: Run| figures::start_phases(&run.report());
    let cold = || Run::of(Scenario::cold_start());
    assert_eq!(told(cold().step("a", 100)), None);
    let mut empty = cold().step("a", 100).report();
    empty.steps.push(StepStats { name: "b".into(), latency: LatencyStats::default() });
    assert_eq!(figures::start_phases(&empty), None);
    let even = told(cold().step("a", 100).step("b", 100)).expect("two steps");
    assert!(even.starts_with("A start spends most of its time in `b`: 100."), "{even}");
}

/// A healthy run with this count and these times in microseconds: the median, p99, and p99 from when
/// calls were sent.
fn with(count: u64, p50: u64, p99: u64, sent: u64) -> Report {
    let mut report = fixture::healthy();
    let [p50, p99, sent] = [p50, p99, sent].map(Duration::from_micros);
    report.latency = LatencyStats { count, p50, p99, max: p99 * 3, ..report.latency };
    report.service.p99 = sent;
    report
}

#[test]
fn latency_is_told_from_two_calls_on_and_as_a_multiple_from_twice_on() {
    let told = |count, p99, deadlocks| {
        let mut report = with(count, 1_000, p99, p99);
        report.deadlock_count = deadlocks;
        figures::latency(&report).unwrap_or_default()
    };
    let never = "Calls never answered count with the time waited for them.";
    for (count, p99, deadlocks, expected) in [
        (1, 500, 0, ""),
        (2, 500, 0, "Half of the 2 calls took at most 1.00ms; the slowest took 1.50ms."),
        (
            99,
            700,
            0,
            "Half of the 99 calls took at most 1.00ms; the slowest took 2.10ms, 2.1 times the median.",
        ),
        (100, 1_999, 0, "Half of the 100 calls took at most 1.00ms and 99% at most 2.00ms."),
        (
            100,
            2_000,
            0,
            "Half of the 100 calls took at most 1.00ms and 99% at most 2.00ms, 2.0 times the median.",
        ),
        (
            100,
            1_000,
            49,
            &format!("Half of the 100 calls took at most 1.00ms and 99% at most 1.00ms. {never}"),
        ),
        (100, 1_000, 50, ""),
        (5, 500, 3, ""),
    ] {
        assert_eq!(told(count, p99, deadlocks), expected, "{count} {p99} {deadlocks}");
    }
}

#[test]
fn calls_waited_if_there_are_enough_and_it_is_noticed() {
    for (name, count, due, sent, is_told) in [
        ("twice, and a millisecond", 100, 2_000, 1_000, true),
        ("too few", 99, 2_000, 1_000, false),
        ("less than twice", 100, 2_000, 1_001, false),
        ("less than a millisecond", 100, 1_998, 999, false),
    ] {
        let told = figures::waiting(&with(count, 900, due, sent));
        assert_eq!(told.is_some(), is_told, "{name}: {told:?}");
    }
}

#[test]
fn a_tail_has_five_calls_two_thirds_of_which_are_one_tools() {
    // Quick and slow calls of a, then of b.
    for (name, quick, slow, other_quick, other_slow, is_told) in [
        ("five", 100, 0, 0, 5, true),
        ("four", 100, 0, 0, 4, false),
        ("two thirds", 100, 2, 0, 4, true),
        ("less than two thirds", 100, 3, 0, 5, false),
        ("two thirds of the calls, too", 40, 0, 60, 20, true),
        ("more of the calls", 40, 0, 61, 20, false),
    ] {
        let run = sustained().ok("a", quick, 1_000).ok("a", slow, 50_000);
        let mut report = run.ok("b", other_quick, 1_000).ok("b", other_slow, 50_000).report();
        let ms = Duration::from_millis;
        (report.latency.p50, report.latency.p99) = (ms(25), ms(50));
        let told = figures::slow_tail(&report);
        assert_eq!(told.is_some(), is_told, "{name}: {told:?}");
        report.latency.p50 += Duration::from_nanos(1);
        assert_eq!(figures::slow_tail(&report), None, "{name}: p99 is not twice the median");
    }
    let three = sustained().ok("a", 900, 1_000).ok("b", 60, 1_000).ok("c", 40, 50_000);
    assert!(told(three).contains("concentrated on `c`: 4% of all calls"));
}

#[test]
fn memory_changes_by_five_megabytes_and_a_tenth() {
    for (name, first, last, expected) in [
        ("both", 50.0, 55.0, "grew from 50.0 MB to 55.0 MB; only"),
        ("less than five", 40.0, 44.9, ""),
        ("less than a tenth", 60.0, 65.0, ""),
        ("down", 50.0, 45.0, "fell from 50.0 MB to 45.0 MB."),
        ("down by too little", 40.0, 35.1, ""),
    ] {
        let told = figures::memory(&sustained().memory(&[first, last]).report());
        assert_eq!(told.is_some(), !expected.is_empty(), "{name}: {told:?}");
        assert!(told.unwrap_or_default().contains(expected), "{name}");
    }
}

#[test]
fn who_found_a_deadlock_is_told_nothing_of_percentiles() {
    let report = |deadlocks| Report { deadlock_count: deadlocks, ..with(10, 1, 1, 1) };
    assert!(figures::few_calls(&report(0)).is_some());
    assert_eq!(figures::few_calls(&report(1)), None);
}
