//! How a server comes back from a burst.

use std::time::Duration;

use super::finding;
use crate::{
    event::note,
    histogram,
    report::{Finding, RunInfo, Severity, validity::validity},
    scenario::{ScenarioKind, Spike},
    tally::{Segment, Tally, paused_within},
    units::{format_latency, format_span},
};

/// The latency after the burst is not what it was before, or nothing is answered any more.
pub(crate) const NO_RECOVERY: &str = "no_recovery";
/// Calls fail in or after the burst that did not before.
pub(crate) const BURST_ERRORS: &str = "burst_errors";

/// How many times the median before, the one at the end of the run may be …
const SLOWER: u32 = 2;
/// … and how much more, so that noise is no news.
const NOTICEABLE: Duration = Duration::from_millis(10);
/// By how much the share of failed calls in the burst may be above that before.
const MORE_ERRORS: f64 = 0.01;
/// The last part of the cool-down, in seconds: what has not recovered by then will not. In a short
/// run it is what lies wholly in the second half of the cool-down; before, the queue may still drain.
const END: usize = 5;
/// So many calls that were due by the rate before are not missing by chance.
const MISSED: f64 = 5.0;

pub(super) fn judge(tally: &Tally, info: &RunInfo) -> Vec<Finding> {
    let ScenarioKind::Spike(spike) = &info.scenario.kind else { return Vec::new() };
    // Where no call was made after the burst, that segment is missing.
    let [_, before, burst, rest @ ..] = &tally.segments[..] else { return Vec::new() };
    let nothing = Segment::default();
    let after = rest.first().unwrap_or(&nothing);
    let errors = failed_more(before, burst, after);
    let slower = slower_at_the_end(tally, before, after);
    slower
        .or_else(|| silent_after(tally, info, spike, [before, burst, after]))
        .into_iter()
        .chain(errors)
        .collect()
}

/// Silence is the worst way not to recover: no call is left over that could be slow. A run that was cut
/// short has no end to speak of.
fn silent_after(
    tally: &Tally,
    info: &RunInfo,
    spike: &Spike,
    [before, burst, after]: [&Segment; 3],
) -> Option<Finding> {
    let cuts = [note::INTERRUPTED, note::ENDED_ON_FAIL, note::ABORTED];
    if burst.counts.issued == 0 || cuts.iter().any(|cut| tally.noted(cut) > 0) {
        return None;
    }
    // Calls that have all ended well may have waited for us, where we were the limit.
    let total = tally.total();
    if total.counts.errors() == 0 && validity(&info.scenario, tally, &total).client_bound {
        return None;
    }
    let sent = after.counts.issued - after.counts.dropped;
    let usual = before.counts.ended() as f64 / spike.spike_at.as_secs_f64();
    // Calls that take long may be on their way all the time, and come home together.
    let longest = histogram::quantile(&before.response(), 1.0).unwrap_or_default();
    let are_due = |time: Duration| time > longest * 2 && usual * time.as_secs_f64() >= MISSED;
    let cool_down =
        spike.duration.saturating_sub(spike.spike_at.saturating_add(spike.spike_duration));
    let (from, to) = last_seconds(tally, before.first_start?, spike.duration, cool_down);
    let went_on = (to - from).saturating_sub(paused_within(&tally.pauses, from, to));
    let why = if sent == 0 && are_due(cool_down) {
        "no call was made after it, because those before it had not ended".to_owned()
    } else if are_due(went_on) && !any_ended(tally, from, to) {
        format!("no call ended in the last {} of the load", format_span(went_on))
    } else {
        return None;
    };
    let message = format!("the server has not recovered from the burst: {why}");
    Some(finding(NO_RECOVERY, Severity::Warning, message).figure("before_per_sec", usual))
}

/// The last whole seconds in which load was due, from the start of the run. Calls that end later are
/// stragglers.
fn last_seconds(
    tally: &Tally,
    begin: Duration,
    load: Duration,
    cool_down: Duration,
) -> (Duration, Duration) {
    // Whoever pauses when no load is due any more holds nothing.
    let over = tally.pauses.iter().fold(begin.saturating_add(load), |over, pause| {
        if pause.from < over { over.saturating_add(pause.length()) } else { over }
    });
    let from = over.saturating_sub(Duration::from_secs(END as u64).min(cool_down / 2));
    let from = Duration::from_secs(from.as_secs_f64().ceil() as u64);
    (from, Duration::from_secs(over.as_secs()).max(from))
}

fn any_ended(tally: &Tally, from: Duration, to: Duration) -> bool {
    let seconds = tally.timeline.seconds();
    let until = seconds.len().min(to.as_secs() as usize);
    let last = seconds.get(from.as_secs() as usize..until).unwrap_or_default();
    last.iter().any(|second| second.ok + second.errors > 0)
}

fn slower_at_the_end(tally: &Tally, before: &Segment, after: &Segment) -> Option<Finding> {
    let usual = histogram::quantile(&before.response(), 0.5)?;
    let half = (after.first_start? + after.last_end) / 2;
    let seconds = tally.timeline.distributions();
    // The very last second may hold the stragglers alone.
    let last = seconds.len().saturating_sub(1);
    let first = last.saturating_sub(END).max(half.as_secs_f64().ceil() as usize);
    // Of a cool-down of two seconds that leaves none: the last one that is whole must do, unless it is that
    // of the burst's own calls coming home.
    let whole = after.first_start?.as_secs_f64().ceil() as usize;
    let (first, last) = match first < last {
        true => (first, last),
        false if whole < last && last as f64 - 0.5 >= half.as_secs_f64() => (last - 1, last),
        false => return None,
    };
    let mut end = histogram::Buckets::default();
    seconds.get(first..last)?.iter().for_each(|second| end.merge(second));
    let now = end.quantile(0.5)?;
    if now < usual * SLOWER || now < usual + NOTICEABLE {
        return None;
    }
    let message = format!(
        "the server has not recovered from the burst: the median was {} before it and is {} at the end",
        format_latency(usual),
        format_latency(now)
    );
    let told = finding(NO_RECOVERY, Severity::Warning, message)
        .figure("before_ms", usual.as_secs_f64() * 1e3)
        .figure("at_the_end_ms", now.as_secs_f64() * 1e3);
    Some(told)
}

fn failed_more(before: &Segment, burst: &Segment, after: &Segment) -> Option<Finding> {
    let share = |segment: &Segment| segment.counts.error_rate().unwrap_or(0.0);
    let worst = share(burst).max(share(after));
    if worst < share(before) + MORE_ERRORS {
        return None;
    }
    // What begins when the burst is over may have another cause.
    let told = match share(burst) < share(before) + MORE_ERRORS {
        true => "more calls fail once the burst is over",
        false => "the burst makes calls fail",
    };
    let message = format!(
        "{told}: {:.1}% before it, {:.1}% in it, {:.1}% after it",
        share(before) * 100.0,
        share(burst) * 100.0,
        share(after) * 100.0
    );
    Some(finding(BURST_ERRORS, Severity::Warning, message))
}

#[cfg(test)]
mod tests {
    use super::super::fixture::{Run, info};
    use super::*;
    use crate::{
        event::{Event, GENERATOR_INTERVAL, GeneratorSample},
        outcome::ErrorCategory,
        scenario::Scenario,
        tally::Pause,
    };

    /// The burst is in the middle third; there are ten calls a second.
    fn spike(seconds: u64, at_the_end: u64) -> Tally {
        let third = seconds * 10 / 3;
        (0..third * 3)
            .fold(Run::default(), |run, n| {
                let (segment, took) = match n / third {
                    0 => (1, 5),
                    1 => (2, 300),
                    _ => (3, at_the_end),
                };
                run.ok_in(segment, n * 100, took)
            })
            .tally
    }

    fn thirds(seconds: u64) -> RunInfo {
        let third = Duration::from_secs(seconds / 3);
        info(Scenario::spike().duration(third * 3).burst(third, third))
    }

    #[test]
    fn a_server_that_stays_slow_is_told_and_one_that_recovers_is_not() {
        for seconds in [6, 9, 30] {
            let info = thirds(seconds);
            assert_eq!(judge(&spike(seconds, 200), &info)[0].id, NO_RECOVERY, "{seconds} s");
            assert_eq!(judge(&spike(seconds, 6), &info), [], "{seconds} s");
        }
        // Too short to say anything of its end; the burst itself must not be taken for it.
        assert_eq!(judge(&spike(3, 6), &thirds(3)), []);
    }

    /// Ten calls a second for 10 s, a burst of them of which one ends 20 s later, and `after`.
    fn burst_then(after: impl Fn(Run) -> Run) -> Run {
        let before = (0..100).fold(Run::default(), |run, n| run.ok_in(1, n * 100, 5));
        let burst = (0..500).fold(before, |run, n| run.ok_in(2, 10_000 + n * 20, 300));
        after(burst.ok_in(2, 19_000, 20_000))
    }

    fn silent(run: &Run) -> Vec<String> {
        judge(&run.tally, &thirds(30)).into_iter().map(|found| found.message).collect()
    }

    #[test]
    fn a_server_that_answers_nothing_after_a_burst_has_not_recovered() {
        let none = burst_then(|run| run);
        let told = "the server has not recovered from the burst: no call was made after it, because those \
                    before it had not ended";
        assert_eq!(silent(&none), [told]);
        let found = judge(&none.tally, &thirds(30)).remove(0);
        assert_eq!((found.id.as_str(), found.severity), (NO_RECOVERY, Severity::Warning));
        assert!((9.9..10.1).contains(&found.figures["before_per_sec"]), "{found:?}");
        let soon_silent = burst_then(|run| (0..20).fold(run, |run, n| run.ok_in(3, 20_000 + n, 5)));
        let told =
            "the server has not recovered from the burst: no call ended in the last 5s of the load";
        assert_eq!(silent(&soon_silent), [told]);
        // Of a burst that one straggler outlives a healthy server has recovered.
        let fine = burst_then(|run| (0..100).fold(run, |run, n| run.ok_in(3, 20_000 + n * 100, 5)));
        assert_eq!(silent(&fine), [""; 0]);
    }

    /// Ten callers of a tool that always takes 3 s come home together: no second without a reply is silence.
    #[test]
    fn a_server_that_is_always_slow_is_not_silent() {
        let spike = Scenario::spike().duration(Duration::from_secs(12));
        let info = info(spike.burst(Duration::from_secs(4), Duration::from_secs(4)));
        let mut run = Run::default();
        for (segment, sent) in [(1, 0), (1, 3_000), (2, 4_000), (2, 6_000), (2, 7_000), (3, 9_000)]
        {
            run = (0..10).fold(run, |run, n| run.ok_in(segment, sent + n, 3_000));
        }
        assert_eq!(judge(&run.tally, &info), []);
    }

    #[test]
    fn calls_that_were_not_sent_are_none_and_few_may_be_missing_by_chance() {
        let mut dropped = burst_then(|run| run);
        let at = Duration::from_secs(21);
        dropped.tally.observe(&Event::Dropped { at, worker: 0, segment: 3, count: 90 });
        assert!(silent(&dropped)[0].contains("no call was made"), "{:?}", silent(&dropped));
        // Where we had no CPU, calls that ended well say nothing of the server; those that did not, do.
        let wall = GENERATOR_INTERVAL;
        let (cpu, starved) = (wall / 4, wall / 2);
        let kept = GeneratorSample { at: wall, worker: 0, wall, cpu, starved };
        let mut ours = burst_then(|run| run);
        ours.tally.observe(&Event::Generator(kept));
        assert_eq!(silent(&ours), [""; 0], "we were the limit");
        let lost = ours.failed(ErrorCategory::Timeout, 9);
        assert!(silent(&lost)[0].contains("no call was made"), "{:?}", silent(&lost));
        let rare = (0..4).fold(Run::default(), |run, n| run.ok_in(1, n * 2_500, 5));
        assert_eq!(silent(&rare.ok_in(2, 10_000, 300)), [""; 0], "a call every 2.5 s");
    }

    #[test]
    fn a_run_that_was_cut_short_and_a_load_that_was_held_are_not_silent() {
        for cut in [note::INTERRUPTED, note::ENDED_ON_FAIL, note::ABORTED] {
            assert_eq!(silent(&burst_then(|run| run).noted(cut, "x")), [""; 0], "{cut}");
        }
        let mut held = burst_then(|run| {
            (0..100).fold(run, |run, n| {
                run.ok_in(3, 20_000 + n * 100 + if n < 90 { 0 } else { 60_000 }, 5)
            })
        });
        let (from, to) = (Duration::from_secs(29), Duration::from_secs(89));
        held.tally.pauses.push(Pause { from, to });
        assert_eq!(silent(&held), [""; 0]);
        let mut after =
            burst_then(|run| (0..100).fold(run, |run, n| run.ok_in(3, 20_000 + n * 100, 5)));
        let (from, to) = (Duration::from_secs(31), Duration::from_secs(91));
        after.tally.pauses.push(Pause { from, to });
        assert_eq!(silent(&after), [""; 0], "held when all was over");
    }

    #[test]
    fn a_burst_is_blamed_for_what_fails_in_it_and_not_for_what_fails_later() {
        let part = |run: Run| run.tally.segments[0].clone();
        let fine = part(Run::default().oks(20));
        let failing = part(Run::default().oks(5).failed(ErrorCategory::ToolError, 5));
        let told = |burst, after| failed_more(&fine, burst, after).map(|finding| finding.message);
        assert_eq!(told(&fine, &fine), None);
        assert!(told(&failing, &fine).unwrap().starts_with("the burst makes calls fail"));
        assert!(
            told(&fine, &failing).unwrap().starts_with("more calls fail once the burst is over")
        );
    }

    #[test]
    fn what_is_slower_by_a_little_or_in_proportion_only_has_recovered() {
        let judged = |before: u64, at_the_end: u64| {
            let run = (0..300).fold(Run::default(), |run, n| {
                let took = if n < 100 { before } else { at_the_end };
                run.ok_in(1 + (n / 100) as u16, n * 100, took)
            });
            judge(&run.tally, &thirds(30))
        };
        assert_eq!(judged(100, 150), [], "half as long again");
        assert_eq!(judged(4, 12), [], "three times as long, but only 8 ms more");
        let found = judged(5, 200);
        let near = |name: &str, millis: f64| (found[0].figures[name] / millis - 1.0).abs() < 0.02;
        assert!(near("before_ms", 5.0) && near("at_the_end_ms", 200.0), "{found:?}");
    }

    #[test]
    fn one_percent_more_errors_are_told() {
        let part = |run: Run| run.tally.segments[0].clone();
        let fine = part(Run::default().oks(100));
        let one = part(Run::default().oks(99).failed(ErrorCategory::ToolError, 5));
        let two = part(Run::default().oks(98).failed(ErrorCategory::ToolError, 5));
        let told = failed_more(&fine, &one, &fine).map(|finding| finding.message);
        let expected = "the burst makes calls fail: 0.0% before it, 1.0% in it, 0.0% after it";
        assert_eq!(told.as_deref(), Some(expected));
        assert_eq!(failed_more(&one, &two, &two), None, "they failed before as well");
    }
}
