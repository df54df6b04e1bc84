//! One trial of a search: does the server keep its limits at this rate?

use std::time::Duration;

use crate::{
    outcome::ErrorCategory,
    stats::search::TrialOutcome,
    tally::Segment,
    thresholds::{Measured, NO_LIMIT, Thresholds},
    units::format_latency,
};

/// The share of the rate that must be sent for a trial to count.
const OFFERED: f64 = 0.97;

/// A queue that grew by more than this share of the trial would grow for ever.
const QUEUE: f64 = 0.05;

/// Judges the calls of a trial at `rate` for `hold`. An error says how it failed, and why.
pub fn judge_trial(
    seen: &[Segment],
    rate: f64,
    hold: Duration,
    limits: &Thresholds,
) -> Result<(), (TrialOutcome, String)> {
    let mut trial = Segment::default();
    seen.iter().for_each(|segment| trial.merge(segment));
    let counts = &trial.counts;
    if counts.dropped > 0 {
        return Err((TrialOutcome::Failed, format!("{} calls were dropped", counts.dropped)));
    }
    let sent_by = trial.first_start.map(|first| trial.last_sent.saturating_sub(first));
    let late = sent_by.is_some_and(|took| took.as_secs_f64() > hold.as_secs_f64() / OFFERED);
    if late || counts.issued == 0 {
        return Err((TrialOutcome::Invalid, format!("{rate:.0}/s could not be sent")));
    }
    if let Some(behind) = queue(&trial).filter(|behind| *behind > hold.mul_f64(QUEUE)) {
        let why = format!("calls were still waiting at its end, {} behind", format_latency(behind));
        return Err((TrialOutcome::Failed, why));
    }
    if let Some(why) = broken(&trial, limits) {
        return Err((TrialOutcome::Failed, why));
    }
    let times = trial.response();
    let at = |quantile| crate::histogram::quantile(&times, quantile);
    let measured = Measured {
        p50_latency: at(0.50),
        p95_latency: at(0.95),
        p99_latency: at(0.99),
        p999_latency: at(0.999),
        error_rate: counts.error_rate(),
        memory_growth_mb: None,
        rps: None,
    };
    let global = Thresholds { memory_growth_mb: f64::INFINITY, min_rps: 0.0, ..limits.clone() };
    let violation = global.evaluate(&measured).into_iter().next();
    let slower = violation.or_else(|| {
        limits.tool.iter().find_map(|limits| {
            let tool = trial.tool(&limits.name)?;
            let times = tool.times.response();
            let at = |quantile| crate::histogram::quantile(times, quantile);
            let measured = Measured {
                p50_latency: at(0.50),
                p95_latency: at(0.95),
                p99_latency: at(0.99),
                p999_latency: at(0.999),
                error_rate: tool.counts.error_rate(),
                rps: Some(f64::INFINITY),
                ..Measured::default()
            };
            limits.evaluate(&measured).into_iter().next()
        })
    });
    match slower {
        None => Ok(()),
        Some(violated) => {
            let why =
                format!("{} {} (limit {})", violated.metric, violated.actual, violated.expected);
            Err((TrialOutcome::Failed, why))
        }
    }
}

/// What no server holds, whatever its limits say.
fn broken(trial: &Segment, limits: &Thresholds) -> Option<String> {
    let counts = &trial.counts;
    let lost = counts.of(ErrorCategory::Deadlock);
    if lost > 0 {
        return Some(format!("{lost} of {} calls were never answered", counts.issued));
    }
    let failed = counts.errors() - counts.of(ErrorCategory::Cancelled);
    let has_own = |name: &str| {
        limits.tool.iter().any(|tool| tool.name == name && tool.error_rate != NO_LIMIT)
    };
    let is_limited =
        limits.error_rate != NO_LIMIT || trial.tools.iter().all(|tool| has_own(&tool.name));
    (!is_limited && failed * 2 > counts.issued)
        .then(|| format!("{failed} of {} calls failed", counts.issued))
}

/// How long the queue was that built up while calls were due.
///
/// Beyond its capacity C, a server that is asked for R calls a second for a time T spreads their ends
/// over T · R / C, and their response times grow evenly from the first call to the last. One slow call
/// at the end spreads the ends as well, and two groups of calls spread the response times, but each of
/// them only on one side of the median.
fn queue(trial: &Segment) -> Option<Duration> {
    let due = trial.last_start.saturating_sub(trial.first_start?);
    let ends = trial.last_end.saturating_sub(trial.first_end?);
    let times = trial.response();
    let [low, middle, high] = [0.1, 0.5, 0.9].map(|q| crate::histogram::quantile(&times, q));
    let growth = (middle? - low?).min(high? - middle?).mul_f64(1.0 / 0.4);
    Some(ends.saturating_sub(due).min(growth))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        event::{Call, Event, Failure, Phase},
        tally::Tally,
        thresholds::ToolThresholds,
    };

    /// A hundred calls a second for five seconds, each with its response time in milliseconds.
    fn trial(took: fn(u64) -> u64) -> Result<(), (TrialOutcome, String)> {
        let limits = Thresholds { error_rate: 0.01, ..Thresholds::default() };
        judge_trial(&calls(took).segments, 100.0, Duration::from_secs(5), &limits)
    }

    fn calls(took: fn(u64) -> u64) -> Tally {
        calls_of_which(0, ErrorCategory::ToolError, took)
    }

    /// The same, of which the first so many fail.
    fn calls_of_which(failed: u64, category: ErrorCategory, took: fn(u64) -> u64) -> Tally {
        let mut tally = Tally::default();
        for n in 0..500 {
            let due = Duration::from_millis(n * 10);
            let call = Call {
                request_id: n,
                session: 0,
                worker: 0,
                phase: Phase::Load,
                method: "tools/call".into(),
                tool: Some("echo".into()),
                segment: 0,
                intended: due,
                started: due,
            };
            tally.observe(&Event::Request { call: call.clone(), params: b"{}".as_slice().into() });
            let at = due + Duration::from_millis(took(n));
            tally.observe(&if n < failed {
                let failure = Failure { category, message: "no".into(), code: None };
                Event::Error { call, at, failure }
            } else {
                Event::Response { call, at, result: b"{}".as_slice().into() }
            });
        }
        tally
    }

    #[test]
    fn a_trial_fails_by_any_limit_and_is_none_if_it_could_not_be_offered() {
        let judge = |tally: &Tally, hold: u64, limits: &Thresholds| {
            judge_trial(&tally.segments, 100.0, Duration::from_secs(hold), limits)
        };
        let limit = |millis| ToolThresholds {
            p95_latency: Duration::from_millis(millis),
            ..ToolThresholds::new("echo")
        };
        let of_tool = |millis| Thresholds { tool: vec![limit(millis)], ..Thresholds::default() };
        let calm = calls(|_| 20);
        assert_eq!(judge(&calm, 5, &of_tool(30)), Ok(()));
        let (outcome, why) = judge(&calm, 5, &of_tool(10)).unwrap_err();
        assert_eq!(
            (outcome, why.as_str()),
            (TrialOutcome::Failed, "p95_latency 20.0ms (limit <=10ms)")
        );
        let p50_latency = Duration::from_millis(10);
        let all = Thresholds { p50_latency, ..Thresholds::default() };
        assert!(judge(&calm, 5, &all).unwrap_err().1.starts_with("p50_latency 20.0ms"));
        let unsent = (TrialOutcome::Invalid, "100/s could not be sent".to_owned());
        assert_eq!(judge(&calm, 4, &all), Err(unsent.clone()));
        assert_eq!(judge(&Tally::default(), 5, &all), Err(unsent));
        let mut full = calls(|_| 20);
        full.segments[0].counts.dropped = 3;
        let dropped = (TrialOutcome::Failed, "3 calls were dropped".to_owned());
        assert_eq!(judge(&full, 5, &all), Err(dropped));
    }

    #[test]
    fn a_rate_at_which_calls_are_lost_or_most_fail_is_not_held_whatever_the_limits_say() {
        let judge = |category: ErrorCategory, failed: u64, limits: &Thresholds| {
            let calm = calls_of_which(failed, category, |_| 20);
            judge_trial(&calm.segments, 100.0, Duration::from_secs(5), limits).map_err(|why| why.1)
        };
        let limited = Thresholds { error_rate: 0.9, ..Thresholds::default() };
        let lost = Err("1 of 500 calls were never answered".to_owned());
        assert_eq!(judge(ErrorCategory::Deadlock, 1, &limited), lost);
        let refused = |failed, limits: &Thresholds| judge(ErrorCategory::ToolError, failed, limits);
        assert_eq!(refused(251, &Thresholds::default()), Err("251 of 500 calls failed".into()));
        assert_eq!(refused(250, &Thresholds::default()), Ok(()));
        assert_eq!(refused(251, &limited), Ok(()), "who sets a limit knows what he wants");
        let of = |name| ToolThresholds { error_rate: 0.9, ..ToolThresholds::new(name) };
        let tool = |name| Thresholds { tool: vec![of(name)], ..Thresholds::default() };
        assert_eq!(refused(251, &tool("echo")), Ok(()), "also where it is that of the tool");
        assert_eq!(refused(251, &tool("other")), Err("251 of 500 calls failed".into()));
    }

    #[test]
    fn limits_that_no_trial_can_measure_are_left_out() {
        let calm = calls(|_| 20);
        let tool = ToolThresholds {
            p50_latency: Duration::from_secs(1),
            p95_latency: Duration::from_secs(1),
            p99_latency: Duration::from_secs(1),
            p999_latency: Duration::from_secs(1),
            error_rate: 0.5,
            min_rps: 1e9,
            ..ToolThresholds::new("echo")
        };
        let limits = Thresholds {
            memory_growth_mb: 1.0,
            min_rps: 1e9,
            tool: vec![tool, ToolThresholds { error_rate: 0.0, ..ToolThresholds::new("unused") }],
            ..Thresholds::default()
        };
        let hold = Duration::from_secs(5);
        assert_eq!(judge_trial(&calm.segments, 100.0, hold, &limits), Ok(()));
    }

    #[test]
    fn a_trial_is_offered_up_to_three_hundredths_late() {
        let mut sent = Segment::default();
        (sent.counts.issued, sent.first_start) = (1, Some(Duration::ZERO));
        let judge = |sent: &Segment| {
            let limits = Thresholds::default();
            judge_trial(std::slice::from_ref(sent), 1.0, Duration::from_secs(97), &limits)
        };
        sent.last_sent = Duration::from_secs(100);
        assert_eq!(judge(&sent), Ok(()));
        sent.last_sent += Duration::from_millis(1);
        assert!(matches!(judge(&sent), Err((TrialOutcome::Invalid, _))));
    }

    #[test]
    fn a_queue_of_a_twentieth_of_the_trial_may_be_chance() {
        // The last call ends 249 ms later after it was due than the first.
        let grows = calls(|n| 20 + n / 2);
        let judge = |hold| {
            let limits = Thresholds::default();
            judge_trial(&grows.segments, 100.0, Duration::from_millis(hold), &limits)
        };
        assert_eq!(judge(4_980), Ok(()));
        let (outcome, why) = judge(4_960).unwrap_err();
        assert_eq!(outcome, TrialOutcome::Failed);
        assert_eq!(why, "calls were still waiting at its end, 249.0ms behind");
        let late = trial(|n| if n > 400 { 900 } else { 200 });
        assert_eq!(late, Ok(()), "some are slow at the end, and half of them are not");
        let early = trial(|n| if n < 100 { 20 } else { 900 });
        assert_eq!(early, Ok(()), "some are quick at the beginning");
    }

    #[test]
    fn a_queue_that_grows_fails_a_trial_and_slow_calls_do_not() {
        // At 10 % beyond the capacity each call waits 1 ms longer than the one before.
        let (outcome, why) = trial(|n| 20 + n).unwrap_err();
        assert_eq!(outcome, TrialOutcome::Failed);
        assert!(why.starts_with("calls were still waiting"), "{why}");
        assert_eq!(trial(|_| 20), Ok(()));
        assert_eq!(trial(|n| if n > 490 { 900 } else { 20 }), Ok(()), "slow at the end");
        assert_eq!(trial(|n| if n % 3 == 0 { 900 } else { 20 }), Ok(()), "two groups");
    }
}
