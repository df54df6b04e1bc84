//! Latency histograms: nanoseconds in, three significant figures kept, one hour at most.

use std::time::Duration;

use hdrhistogram::Histogram;

/// The longest time that is told apart from a longer one.
pub const LONGEST: Duration = Duration::from_secs(3600);
/// The shortest time that is told apart from zero.
const SHORTEST_NANOS: u64 = 1_000;
const FIGURES: u8 = 3;

/// An empty histogram with the bounds that all histograms of a run share, so that they can merge.
pub fn new() -> Histogram<u64> {
    Histogram::new_with_bounds(SHORTEST_NANOS, LONGEST.as_nanos() as u64, FIGURES)
        .expect("the bounds are constants that the histogram accepts")
}

/// Records one time; what lies above the bound counts as the bound.
pub fn record(histogram: &mut Histogram<u64>, time: Duration) {
    // Nothing takes no time. A histogram of zeros alone would also read back as another one: its
    // longest time is zero, while that of its pairs is the end of the lowest bucket.
    let nanos = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX).max(1);
    histogram.saturating_record(nanos);
}

/// The time below which the share `quantile` of all recorded times lies, or nothing without samples.
pub fn quantile(histogram: &Histogram<u64>, quantile: f64) -> Option<Duration> {
    (!histogram.is_empty()).then(|| Duration::from_nanos(histogram.value_at_quantile(quantile)))
}

/// Serde form: the non-empty buckets as `[nanoseconds, count]` pairs.
pub mod as_pairs {
    use super::{Histogram, new};
    use serde::{Deserialize as _, Deserializer, Serialize as _, Serializer, de::Error as _};

    /// Writes the non-empty buckets.
    pub fn serialize<S: Serializer>(histogram: &Histogram<u64>, to: S) -> Result<S::Ok, S::Error> {
        let pairs: Vec<(u64, u64)> = histogram
            .iter_recorded()
            .map(|bucket| (bucket.value_iterated_to(), bucket.count_at_value()))
            .collect();
        pairs.serialize(to)
    }

    /// Reads the buckets back.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Histogram<u64>, D::Error> {
        let mut histogram = new();
        let mut total = 0_u64;
        for (value, count) in Vec::<(u64, u64)>::deserialize(from)? {
            // The histogram itself adds without a check when it is read.
            total = total.checked_add(count).ok_or_else(|| D::Error::custom("too many samples"))?;
            histogram.record_n(value, count).map_err(D::Error::custom)?;
        }
        Ok(histogram)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_beyond_the_bound_are_kept_at_the_bound() {
        let mut histogram = new();
        record(&mut histogram, Duration::ZERO);
        record(&mut histogram, Duration::from_secs(1_000_000));
        assert_eq!(histogram.len(), 2);
        assert!(quantile(&histogram, 1.0).unwrap() >= LONGEST);
        assert_eq!(quantile(&new(), 0.5), None);
    }

    #[test]
    fn pairs_read_back_to_the_same_histogram() {
        #[derive(serde::Serialize, serde::Deserialize, PartialEq, Debug)]
        struct Holder(#[serde(with = "as_pairs")] Histogram<u64>);
        let mut histogram = new();
        for micros in 1..5_000 {
            record(&mut histogram, Duration::from_micros(micros * 7));
        }
        let holder = Holder(histogram);
        let text = serde_json::to_string(&holder).unwrap();
        assert_eq!(serde_json::from_str::<Holder>(&text).unwrap(), holder);
    }
}
