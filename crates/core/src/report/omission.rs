//! What a closed model leaves out, and about how much.
//!
//! A caller that waits for a reply makes no call meanwhile. When the server stands still, hardly any
//! call is made, so hardly any is slow, and a percentile looks good. People and agents who come by
//! themselves do not wait for each other. The estimate adds, for each slow call, the calls that would
//! have come while it was waited for.

use std::time::Duration;

use hdrhistogram::Histogram;

use super::model::Report;
use crate::{histogram, pace::Arrival, units::format_latency};

/// The estimate must be this many times what was measured …
const TIMES: f64 = 2.0;
/// … and this much more, to be worth a sentence.
const NOTICEABLE: Duration = Duration::from_millis(50);
/// Calls that are added for one slow call at most.
const MOST_ADDED: u64 = 100_000;
/// Fewer calls than this have no p99.
const ENOUGH: u64 = 100;

/// The sentence, where there is something to tell.
pub(super) fn omission(report: &Report) -> Option<String> {
    let closed = matches!(report.scenario_kind.settings().arrival(), Some(Arrival::Closed(_)));
    if !closed || report.latency.count < ENOUGH {
        return None;
    }
    let (measured, estimate) = (report.latency.p99, estimate(&report.latency.histogram)?);
    let larger = estimate.as_secs_f64() >= measured.as_secs_f64() * TIMES;
    if !larger || estimate < measured + NOTICEABLE {
        return None;
    }
    let rate = (report.throughput.requests_per_sec * 0.9).max(1.0);
    Some(format!(
        "Callers waited for the server here, so while it stood still hardly a call was made: p99 is \
         {}, but for users who do not wait for each other it would be about {}. Measure it with \
         `--rate {rate:.0}/s`.",
        format_latency(measured),
        format_latency(estimate),
    ))
}

/// p99 if calls had kept coming as they do while all is well.
fn estimate(times: &Histogram<u64>) -> Option<Duration> {
    let usual = histogram::quantile(times, 0.5)?.as_nanos() as u64;
    let gap = usual.max(times.max() / MOST_ADDED).max(1);
    histogram::quantile(&times.clone_correct(gap), 0.99)
}

#[cfg(test)]
mod tests {
    use super::super::fixture::Run;
    use super::*;
    use crate::scenario::Scenario;

    fn histogram_of(times: &[(u64, u64)]) -> Histogram<u64> {
        let mut all = histogram::new();
        for (micros, count) in times {
            all.record_n(micros * 1_000, *count).expect("within the bounds");
        }
        all
    }

    /// What is told where p99 was measured as so much, of times whose estimate is known.
    fn told(
        times: &[(u64, u64)],
        count: u64,
        measured: fn(Duration) -> Duration,
    ) -> Option<String> {
        let mut report = Run::of(Scenario::sustained().concurrent(1)).report();
        report.latency.histogram = histogram_of(times);
        let estimate = estimate(&report.latency.histogram).expect("times");
        (report.latency.count, report.latency.p99) = (count, measured(estimate));
        report.throughput.requests_per_sec = 200.0;
        omission(&report)
    }

    #[test]
    fn the_estimate_is_told_if_it_is_twice_as_long_and_fifty_milliseconds_more() {
        // About two seconds, and about 90 ms.
        let (long, short) = (&[(4_000, 2_000), (2_000_000, 1)], &[(1_000, 1_000), (100_000, 1)]);
        let twice: fn(Duration) -> Duration = |estimate| estimate / 2;
        let less: fn(Duration) -> Duration = |estimate| estimate / 2 + Duration::from_micros(1);
        let more: fn(Duration) -> Duration = |estimate| estimate - NOTICEABLE;
        let nearly: fn(Duration) -> Duration =
            |estimate| estimate - NOTICEABLE + Duration::from_micros(1);
        for (name, times, count, measured, is_told) in [
            ("twice", long, 100, twice, true),
            ("less than twice", long, 100, less, false),
            ("too few calls", long, 99, twice, false),
            ("fifty milliseconds more", short, 100, more, true),
            ("not quite fifty", short, 100, nearly, false),
        ] {
            assert_eq!(told(times, count, measured).is_some(), is_told, "{name}");
        }
        let told = told(long, 100, twice).expect("twice");
        assert!(told.ends_with("Measure it with `--rate 180/s`."), "{told}");
    }

    #[test]
    fn no_call_adds_more_than_so_many() {
        // Added every 20 us, a hundred thousandth of the longest: half of all calls lie on the way up.
        let estimate = estimate(&histogram_of(&[(10, 100_000), (2_000_000, 1)])).expect("times");
        assert!((1.95..1.97).contains(&estimate.as_secs_f64()), "{estimate:?}");
    }

    #[test]
    fn a_pause_that_a_closed_model_hides_is_told_and_a_steady_server_is_not() {
        let paused = Run::of(Scenario::sustained().concurrent(1)).ok("t", 2_000, 4_000);
        let paused = paused.ok("t", 1, 2_000_000).report();
        let told = omission(&paused).expect("a pause of two seconds");
        assert!(told.contains("p99 is 4.0"), "{told}");
        let open = Run::of(Scenario::sustained().rate(100.0)).ok("t", 2_000, 4_000);
        assert_eq!(omission(&open.ok("t", 1, 2_000_000).report()), None);
        let steady = Run::of(Scenario::sustained().concurrent(1)).ok("t", 2_000, 4_000);
        assert_eq!(omission(&steady.report()), None);
    }
}
