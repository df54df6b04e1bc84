//! Head-of-line blocking: whether calls to a fast tool wait for calls to a slow one beside them.

use std::time::Duration;

use hdrhistogram::Histogram;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{histogram, units::format_latency};

/// What slow calls do to fast ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum BlockingVerdict {
    /// Fast calls wait for slow ones.
    Blocked,
    /// Fast calls are slower beside slow ones, but do not wait for them: they share something.
    Shared,
    /// Fast calls do not notice.
    Independent,
    /// There are too few calls, or the slow ones are not slow enough to tell.
    CouldNotTell,
}

/// The times of the fast tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Typical {
    /// Median.
    pub p50: Duration,
    /// 95th percentile.
    pub p95: Duration,
}

/// What slow calls did to the fast tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Blocking {
    /// What they did.
    pub verdict: BlockingVerdict,
    /// The fast tool on its own, where it was called.
    pub alone: Option<Typical>,
    /// The fast tool beside slow calls, where it was called.
    pub beside: Option<Typical>,
    /// How long a slow call takes.
    pub slow: Duration,
    /// What shows it, in a sentence.
    pub reason: String,
}

/// Fewer calls than this have no 95th percentile.
pub const ENOUGH: u64 = 20;
/// A server that serves one call at a time lets few fast ones through: where all of them are so few,
/// half of them must have waited.
const FEW: u64 = 5;
/// Slow calls must take this many times the fast ones …
const SLOWER: f64 = 5.0;
/// … and this long, or a wait for them cannot be told from noise.
const SLOW: Duration = Duration::from_millis(50);
/// Fast calls wait when they take longer by this share of a slow call. One that comes by chance while
/// a slow call runs waits for half of it on average …
const WAITED: f64 = 0.3;
/// … or when they take this many times as long as alone and [`SLOW`] more.
const MANY_TIMES: f64 = 10.0;
/// Fast calls share something when they take this many times as long …
const NOTICEABLE_TIMES: f64 = 1.5;
/// … and this much more.
const NOTICEABLE: Duration = Duration::from_millis(1);

/// Judges the times of a fast tool alone and beside calls that take `slow`.
pub fn judge_blocking(alone: &Histogram<u64>, beside: &Histogram<u64>, slow: Duration) -> Blocking {
    let (alone_times, beside_times) = (typical(alone), typical(beside));
    let (verdict, reason) = match (alone_times, beside_times) {
        (Some(fast), Some(now)) if alone.len() >= ENOUGH && beside.len() >= ENOUGH => {
            compare(fast, now, slow)
        }
        (Some(fast), Some(now))
            if alone.len() >= ENOUGH
                && beside.len() >= FEW
                && compare(fast, Typical { p95: fast.p95, ..now }, slow).0
                    == BlockingVerdict::Blocked =>
        {
            compare(fast, now, slow)
        }
        _ => {
            let fewest = alone.len().min(beside.len());
            let reason = format!("{fewest} fast calls are too few to tell, {ENOUGH} are needed");
            (BlockingVerdict::CouldNotTell, reason)
        }
    };
    Blocking { verdict, alone: alone_times, beside: beside_times, slow, reason }
}

fn typical(times: &Histogram<u64>) -> Option<Typical> {
    Some(Typical { p50: histogram::quantile(times, 0.5)?, p95: histogram::quantile(times, 0.95)? })
}

fn compare(alone: Typical, beside: Typical, slow: Duration) -> (BlockingVerdict, String) {
    if slow < SLOW || slow.as_secs_f64() < SLOWER * alone.p50.as_secs_f64() {
        let reason = format!(
            "slow calls take {}, fast ones {}: too near to tell one from the other",
            format_latency(slow),
            format_latency(alone.p50),
        );
        return (BlockingVerdict::CouldNotTell, reason);
    }
    let pairs = [("median", alone.p50, beside.p50), ("p95", alone.p95, beside.p95)];
    let told = |(name, before, after): &(&str, Duration, Duration)| {
        format!(
            "beside calls of {} the {name} of fast ones is {}, alone {}",
            format_latency(slow),
            format_latency(*after),
            format_latency(*before),
        )
    };
    let waits = |(_, before, after): &&(&str, Duration, Duration)| {
        let more = after.saturating_sub(*before);
        more.as_secs_f64() >= WAITED * slow.as_secs_f64()
            || (after.as_secs_f64() >= MANY_TIMES * before.as_secs_f64() && more >= SLOW)
    };
    let notices = |(_, before, after): &&(&str, Duration, Duration)| {
        after.as_secs_f64() > NOTICEABLE_TIMES * before.as_secs_f64()
            && after.saturating_sub(*before) >= NOTICEABLE
    };
    if let Some(pair) = pairs.iter().find(waits) {
        (BlockingVerdict::Blocked, told(pair))
    } else if let Some(pair) = pairs.iter().find(notices) {
        (BlockingVerdict::Shared, told(pair))
    } else {
        (BlockingVerdict::Independent, told(&pairs[0]))
    }
}

#[cfg(test)]
mod tests {
    use super::super::fixture::times;
    use super::*;
    use BlockingVerdict::{Blocked, CouldNotTell, Independent, Shared};

    const SECOND: Duration = Duration::from_secs(1);

    fn calls(millis: f64) -> Histogram<u64> {
        times(std::iter::repeat_n(millis, 50))
    }

    fn judged(alone: f64, beside: f64, slow: Duration) -> BlockingVerdict {
        judge_blocking(&calls(alone), &calls(beside), slow).verdict
    }

    #[test]
    fn a_server_that_works_one_call_after_the_other_blocks() {
        let blocking = judge_blocking(&calls(2.0), &calls(500.0), SECOND);
        assert_eq!(blocking.verdict, Blocked);
        assert!(
            blocking.reason.starts_with("beside calls of 1.00s the median of fast ones is 500"),
            "{}",
            blocking.reason
        );
        assert_eq!(judged(2.0, 302.0 + 2.0, SECOND), Blocked);
        assert_eq!(judged(2.0, 60.0, SECOND), Blocked, "thirty times as long");
        assert_eq!(judged(300.0, 310.0, SECOND * 2), Independent);
    }

    #[test]
    fn one_call_in_ten_that_waits_is_blocked_too() {
        let some = times((0..100).map(|n| if n % 10 == 0 { 900.0 } else { 2.0 }));
        let blocking = judge_blocking(&calls(2.0), &some, SECOND);
        assert_eq!(blocking.verdict, Blocked);
        assert!(blocking.reason.contains("p95"), "{}", blocking.reason);
        let one = times((0..100).map(|n| if n == 0 { 900.0 } else { 2.0 }));
        assert_eq!(judge_blocking(&calls(2.0), &one, SECOND).verdict, Independent);
    }

    #[test]
    fn a_shared_processor_is_not_a_queue_and_a_healthy_server_is_silent() {
        assert_eq!(judged(2.0, 8.0, SECOND), Shared);
        assert_eq!(judged(2.0, 2.6, SECOND), Independent);
        assert_eq!(judged(0.1, 0.9, SECOND), Independent, "below a millisecond");
        assert_eq!(judged(20.0, 5.0, SECOND), Independent, "faster");
    }

    #[test]
    fn it_says_when_it_cannot_tell() {
        assert_eq!(judged(2.0, 30.0, Duration::from_millis(40)), CouldNotTell);
        assert_eq!(judged(300.0, 900.0, SECOND), CouldNotTell);
        assert_eq!(judged(2.0, 2.0, Duration::ZERO), CouldNotTell);
        let few = judge_blocking(&calls(2.0), &times([2.0; 19]), SECOND);
        assert_eq!(
            (few.verdict, few.reason.as_str()),
            (CouldNotTell, "19 fast calls are too few to tell, 20 are needed")
        );
        let waited = |count| times(std::iter::repeat_n(600.0, count));
        assert_eq!(judge_blocking(&calls(2.0), &waited(5), SECOND).verdict, Blocked);
        assert_eq!(judge_blocking(&calls(2.0), &waited(4), SECOND).verdict, CouldNotTell);
        let none = judge_blocking(&times([]), &times([]), Duration::MAX);
        assert_eq!((none.verdict, none.alone), (CouldNotTell, None));
    }

    #[test]
    fn each_limit_belongs_to_what_it_allows() {
        let millis = |time: f64| Duration::from_secs_f64(time / 1e3);
        let judged = |alone: f64, beside: f64, slow: f64| {
            let typical = |time| Typical { p50: millis(time), p95: millis(time) };
            compare(typical(alone), typical(beside), millis(slow)).0
        };
        for (name, alone, beside, slow, expected) in [
            ("slow enough", 2.0, 2.0, 50.0, Independent),
            ("not slow enough", 2.0, 2.0, 49.9, CouldNotTell),
            ("five times as slow", 125.0, 125.0, 625.0, Independent),
            ("not quite", 125.0, 125.0, 624.0, CouldNotTell),
            ("a wait of three tenths of a slow call", 250.0, 1_000.0, 2_500.0, Blocked),
            ("a wait of less", 250.0, 990.0, 2_500.0, Shared),
            ("twice as long, 100 ms more", 100.0, 200.0, 1_000.0, Shared),
            ("ten times as long, 36 ms more", 4.0, 40.0, 1_000.0, Shared),
            ("ten times as long, 70 ms more", 7.8125, 78.125, 1_000.0, Blocked),
            ("half as long again", 125.0, 187.5, 1_000.0, Independent),
            ("a little more", 125.0, 188.0, 1_000.0, Shared),
            ("twice as long, a millisecond more", 1.0, 2.0, 1_000.0, Shared),
        ] {
            assert_eq!(judged(alone, beside, slow), expected, "{name}");
        }
    }

    #[test]
    fn few_calls_count_by_their_median_alone() {
        let one = judge_blocking(&calls(2.0), &times([2.0, 2.0, 2.0, 2.0, 900.0]), SECOND);
        assert_eq!(one.verdict, CouldNotTell, "{}", one.reason);
        let few = judge_blocking(&times([2.0; 19]), &calls(600.0), SECOND);
        assert_eq!(few.verdict, CouldNotTell, "{}", few.reason);
        let enough = judge_blocking(&times([2.0; 20]), &times([2.0; 20]), SECOND);
        assert_eq!(enough.verdict, Independent, "{}", enough.reason);
    }
}
