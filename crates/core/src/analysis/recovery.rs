//! How a server comes back from a burst.

use std::time::Duration;

use super::finding;
use crate::{
    histogram,
    report::{Finding, RunInfo, Severity},
    scenario::ScenarioKind,
    tally::{Segment, Tally},
    units::format_latency,
};

/// The latency after the burst is not what it was before.
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

pub(super) fn judge(tally: &Tally, info: &RunInfo) -> Vec<Finding> {
    let ScenarioKind::Spike(_) = &info.scenario.kind else { return Vec::new() };
    let [_, before, burst, after] = &tally.segments[..] else { return Vec::new() };
    let errors = failed_more(before, burst, after);
    slower_at_the_end(tally, before, after).into_iter().chain(errors).collect()
}

fn slower_at_the_end(tally: &Tally, before: &Segment, after: &Segment) -> Option<Finding> {
    let usual = histogram::quantile(&before.response(), 0.5)?;
    let half = (after.first_start? + after.last_end) / 2;
    let seconds = tally.timeline.distributions();
    // The very last second may hold the stragglers alone.
    let last = seconds.len().saturating_sub(1);
    let first = last.saturating_sub(END).max(half.as_secs_f64().ceil() as usize);
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
    use crate::{outcome::ErrorCategory, scenario::Scenario};

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

    #[test]
    fn a_server_that_stays_slow_is_told_and_one_that_recovers_is_not() {
        let info = info(Scenario::spike());
        for seconds in [9, 30] {
            assert_eq!(judge(&spike(seconds, 200), &info)[0].id, NO_RECOVERY, "{seconds} s");
            assert_eq!(judge(&spike(seconds, 6), &info), [], "{seconds} s");
        }
        // Too short to say anything of its end; the burst itself must not be taken for it.
        assert_eq!(judge(&spike(3, 6), &info), []);
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
            judge(&run.tally, &info(Scenario::spike()))
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
