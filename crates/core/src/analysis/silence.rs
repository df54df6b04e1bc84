//! Calls that were not answered in time: deadlocks, and calls that were only slow.

use super::{
    finding,
    lazy_init::{is_lazy, is_serial},
    plural,
};
use crate::{
    event::{Diagnosis, note},
    outcome::ErrorCategory,
    report::{Finding, RunInfo, Severity},
    scenario::ScenarioKind,
    tally::Tally,
    units::format_latency,
};

/// Calls were never answered.
pub(crate) const DEADLOCK: &str = "deadlock";
/// Most calls of a concurrent burst were slow.
const CONCURRENCY_DEGRADES: &str = "concurrency_degrades_latency";
/// Some calls passed the hang threshold and were answered later.
pub(super) const SLOW_CALLS: &str = "slow_calls";

pub(super) fn judge(tally: &Tally, info: &RunInfo) -> Vec<Finding> {
    deadlock(tally).or_else(|| slow(tally, info)).into_iter().collect()
}

fn deadlock(tally: &Tally) -> Option<Finding> {
    let count = tally.deadlock_count;
    if count == 0 {
        return None;
    }
    let (diagnosis, _) = tally.diagnoses.iter().max_by_key(|(_, note)| note.count)?;
    let longest = tally.hung_for.iter().max().copied().unwrap_or_default();
    let message = format!(
        "DEADLOCK DETECTED: {} of {} never answered within {} ({})",
        count,
        plural(tally.counts().issued, "call"),
        format_latency(longest),
        words(*diagnosis),
    );
    let mut found = finding(DEADLOCK, Severity::Critical, message);
    // Calls of one burst tell the same story; the first of each kind tells it.
    found.evidence =
        tally.diagnoses.values().filter_map(|note| note.examples.first().cloned()).collect();
    found.hint = Some(match tally.noted(note::ORPHAN_REPLY) {
        0 => advice(*diagnosis).to_owned(),
        _ => format!(
            "{}; replies came to ids that were never sent (`orphan_reply`)",
            advice(*diagnosis)
        ),
    });
    found.meaning = truth(*diagnosis).map(str::to_owned);
    Some(found)
}

/// Whatever was never answered is counted as a deadlock, but not every server of which calls are lost
/// has one.
fn truth(diagnosis: Diagnosis) -> Option<&'static str> {
    match diagnosis {
        Diagnosis::RequestLost => Some(
            "The server itself is not deadlocked: it answers a control request. These replies are lost.",
        ),
        Diagnosis::CallStuck => Some(
            "The server itself is not deadlocked: it answers a control request while these calls wait.",
        ),
        Diagnosis::Stopped => {
            Some("The process was stopped from outside: nothing is proven of it.")
        }
        _ => None,
    }
}

fn words(diagnosis: Diagnosis) -> &'static str {
    match diagnosis {
        Diagnosis::Wedged => "wedged: the session answers nothing any more",
        Diagnosis::CallStuck => "the call is stuck, the session still answers",
        Diagnosis::RequestLost => "request lost: the server is alive and idle",
        Diagnosis::Spinning => "the process spins: it burns CPU and answers nothing",
        Diagnosis::Stopped => "the process is stopped by a signal",
        Diagnosis::Slow => "slow",
        Diagnosis::Unclear => "the evidence does not say why",
    }
}

fn advice(diagnosis: Diagnosis) -> &'static str {
    match diagnosis {
        Diagnosis::Wedged => {
            "look for blocking work in the event loop: a lazy import, a lock taken twice, a synchronous call in an async tool"
        }
        Diagnosis::CallStuck => {
            "look at what the tool itself waits for: a lock, a pool, a call without a timeout"
        }
        Diagnosis::RequestLost => {
            "look for a request that is parsed and dropped, or a reply that is never written"
        }
        Diagnosis::Spinning => "profile the process: a loop does not end",
        Diagnosis::Stopped => "continue the process with SIGCONT and look for what stopped it",
        Diagnosis::Slow | Diagnosis::Unclear => "run again with a longer `--grace-period`",
    }
}

fn slow(tally: &Tally, info: &RunInfo) -> Option<Finding> {
    let late = tally.counts().of(ErrorCategory::Hang);
    if late == 0 {
        return None;
    }
    let longest = tally.hung_for.iter().max().copied().unwrap_or_default();
    let is_burst = matches!(info.scenario.kind, ScenarioKind::DeadlockProbe(_));
    let told = format!(
        "{} of {} answered after the hang threshold, the last after {}",
        late,
        plural(tally.counts().issued, "call"),
        format_latency(longest)
    );
    let tools = &tally.total().tools;
    // A first call that does what start-up left undone makes all wait that came with it, and none after.
    let is_lazy = tools.iter().any(is_lazy);
    let is_queue = late * 2 > burst(info) || tools.iter().any(is_serial);
    if !is_burst || !is_queue || is_lazy {
        return Some(finding(SLOW_CALLS, slow_severity(info, late, tally.counts().issued), told));
    }
    // A call that is alone waits for no other: then the tool itself takes that long.
    let is_slow_alone = burst(info) < 2 || late > burst(info);
    Some(if is_slow_alone {
        let message = format!("{told}; a call that is alone takes as long");
        let mut found = finding(SLOW_CALLS, Severity::Warning, message);
        found.hint = Some(
            "if the tool needs that long, set `--hang-threshold` to what its users wait".into(),
        );
        found
    } else {
        let mut found = finding(
            CONCURRENCY_DEGRADES,
            Severity::Warning,
            format!("concurrency degrades latency: {told}"),
        );
        found.hint = Some(
            "compare with `--concurrent 1`; if that is fast, calls wait for one another".into(),
        );
        found
    })
}

/// In a burst a few slow calls are no news; under steady load most calls being slow is a failure.
fn slow_severity(info: &RunInfo, late: u64, issued: u64) -> Severity {
    match info.scenario.kind {
        ScenarioKind::DeadlockProbe(_) => Severity::Info,
        ScenarioKind::Sustained(_) | ScenarioKind::Soak(_) | ScenarioKind::Pattern(_)
            if late * 2 > issued =>
        {
            Severity::Critical
        }
        _ => Severity::Warning,
    }
}

/// How many calls the barrier released; the steady calls after it do not dilute the share.
fn burst(info: &RunInfo) -> u64 {
    match &info.scenario.kind {
        ScenarioKind::DeadlockProbe(probe) => u64::from(probe.concurrent),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Run, info};
    use super::*;
    use crate::scenario::Scenario;

    fn ids(run: Run, info: &RunInfo) -> Vec<(String, Severity)> {
        judge(&run.tally, info).into_iter().map(|found| (found.id, found.severity)).collect()
    }

    #[test]
    fn a_tool_that_takes_as_long_alone_is_no_matter_of_concurrency() {
        let told = |concurrent: u32, slow: u32, quick: u64| {
            let run = (0..slow).fold(Run::default(), |run, _| run.slow(6_000));
            let run = (0..quick).fold(run, |run, n| run.ok(40_000 + n * 4_000, 2_000));
            ids(run, &info(Scenario::deadlock_probe().concurrent(concurrent)))
        };
        let queue = [(CONCURRENCY_DEGRADES.to_owned(), Severity::Warning)];
        let slow = [(SLOW_CALLS.to_owned(), Severity::Warning)];
        assert_eq!(told(20, 20, 5), queue);
        assert_eq!(told(20, 25, 0), slow, "the steady calls are as slow");
        assert_eq!(told(1, 6, 0), slow);
    }

    #[test]
    fn an_unanswered_call_is_a_deadlock() {
        let probe = info(Scenario::deadlock_probe());
        let found = judge(&Run::default().oks(19).silent(Diagnosis::Wedged).tally, &probe);
        assert_eq!(found[0].id, DEADLOCK);
        assert!(
            found[0].message.starts_with("DEADLOCK DETECTED: 1 of 20 calls"),
            "{}",
            found[0].message
        );
        assert_eq!(found[0].evidence, ["ping unanswered"]);
        assert_eq!(found[0].meaning, None);
    }

    #[test]
    fn lost_replies_of_a_server_that_is_alive_are_told_as_such_below_the_headline() {
        let probe = info(Scenario::deadlock_probe());
        let found = judge(&Run::default().oks(19).silent(Diagnosis::RequestLost).tally, &probe);
        assert_eq!((found[0].id.as_str(), found[0].severity), (DEADLOCK, Severity::Critical));
        assert!(found[0].message.starts_with("DEADLOCK DETECTED: "), "{}", found[0].message);
        let told = found[0].meaning.as_deref().unwrap();
        assert!(told.starts_with("The server itself is not deadlocked"), "{told}");
    }

    #[test]
    fn every_diagnosis_has_its_words_and_its_advice() {
        let probe = info(Scenario::deadlock_probe());
        let all = [
            Diagnosis::Wedged,
            Diagnosis::CallStuck,
            Diagnosis::RequestLost,
            Diagnosis::Spinning,
            Diagnosis::Stopped,
            Diagnosis::Slow,
            Diagnosis::Unclear,
        ];
        let told = all.map(|one| {
            let found = judge(&Run::default().oks(9).silent(one).tally, &probe).remove(0);
            (found.message, found.hint, found.meaning)
        });
        insta::assert_debug_snapshot!(told);
    }

    #[test]
    fn late_answers_are_slow_and_not_a_deadlock() {
        let probe = info(Scenario::deadlock_probe().concurrent(4));
        let mostly = Run::default().slow(6_000).slow(7_000).slow(8_000).ok(0, 5);
        assert_eq!(ids(mostly, &probe), [(CONCURRENCY_DEGRADES.to_owned(), Severity::Warning)]);
        let few = Run::default().slow(6_000).oks(3);
        assert_eq!(ids(few, &probe), [(SLOW_CALLS.to_owned(), Severity::Info)]);
    }

    #[test]
    fn a_lazy_first_call_is_not_blamed_on_concurrency_and_a_serial_server_is() {
        let probe = info(Scenario::deadlock_probe().concurrent(4));
        let after =
            |run: Run, took: u64| (0..5).fold(run, |run, n| run.ok(40_000 + n * 2 * took, took));
        let lazy = after((0..4).fold(Run::default(), |run, n| run.slow(7_000 + n)), 20);
        assert_eq!(ids(lazy, &probe), [(SLOW_CALLS.to_owned(), Severity::Info)]);
        // One after the other, the last of four passes the threshold.
        let serial =
            after(Run::default().ok(0, 1_500).ok(0, 3_000).ok(0, 4_500).slow(6_000), 1_500);
        assert_eq!(ids(serial, &probe), [(CONCURRENCY_DEGRADES.to_owned(), Severity::Warning)]);
        let one = after(Run::default().ok(0, 20).ok(0, 20).ok(0, 20).slow(6_000), 20);
        assert_eq!(ids(one, &probe), [(SLOW_CALLS.to_owned(), Severity::Info)]);
    }

    #[test]
    fn steady_load_that_is_mostly_slow_is_a_failure() {
        let mostly = || Run::default().slow(6_000).slow(7_000).ok(0, 5);
        let steady =
            [Scenario::sustained().build(), Scenario::soak().build(), Scenario::pattern().build()];
        for steady in steady.map(info) {
            let critical = [(SLOW_CALLS.to_owned(), Severity::Critical)];
            assert_eq!(ids(mostly(), &steady), critical);
            let few = Run::default().slow(6_000).oks(5);
            assert_eq!(ids(few, &steady), [(SLOW_CALLS.to_owned(), Severity::Warning)]);
        }
        // What is beyond the capacity on purpose is slow on purpose.
        let ramp = info(Scenario::ramp());
        assert_eq!(ids(mostly(), &ramp), [(SLOW_CALLS.to_owned(), Severity::Warning)]);
    }

    #[test]
    fn a_healthy_run_is_silent() {
        assert!(judge(&Run::default().oks(50).tally, &info(Scenario::deadlock_probe())).is_empty());
    }

    #[test]
    fn half_of_the_calls_are_not_most_of_them() {
        for concurrent in [2_u32, 4] {
            let late =
                (0..concurrent / 2).fold(Run::default(), |run, n| run.slow(6_000 + u64::from(n)));
            let run = late.oks(u64::from(concurrent / 2));
            let probe = info(Scenario::deadlock_probe().concurrent(concurrent));
            assert_eq!(ids(run, &probe), [(SLOW_CALLS.to_owned(), Severity::Info)], "{concurrent}");
        }
        let steady = Run::default().slow(6_000).ok(0, 5);
        let expected = [(SLOW_CALLS.to_owned(), Severity::Warning)];
        assert_eq!(ids(steady, &info(Scenario::sustained())), expected);
    }
}
