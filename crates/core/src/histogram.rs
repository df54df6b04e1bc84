//! Latency histograms: nanoseconds in, three significant figures kept, one hour at most.

use std::time::Duration;

use hdrhistogram::Histogram;

use crate::units::nanos;

/// The longest time that is told apart from a longer one.
pub const LONGEST: Duration = Duration::from_secs(3600);
/// The shortest time that is told apart from zero.
const SHORTEST_NANOS: u64 = 1_000;
const FIGURES: u8 = 3;
const COARSE_FIGURES: u8 = 2;

/// An empty histogram with the bounds that all histograms of a run share, so that they can merge.
pub fn new() -> Histogram<u64> {
    Histogram::new_with_bounds(SHORTEST_NANOS, LONGEST.as_nanos() as u64, FIGURES)
        .expect("the bounds are constants that the histogram accepts")
}

/// An empty histogram of two figures, for what is kept every second.
pub fn coarse() -> Histogram<u64> {
    Histogram::new_with_bounds(SHORTEST_NANOS, LONGEST.as_nanos() as u64, COARSE_FIGURES)
        .expect("the bounds are constants that the histogram accepts")
}

/// Adds one histogram to another.
pub fn add(to: &mut Histogram<u64>, from: &Histogram<u64>) {
    to.add(from).expect("all histograms of a run have the same bounds");
}

/// Takes from a histogram what is in it as a part.
pub fn take_away(from: &mut Histogram<u64>, part: &Histogram<u64>) {
    if !part.is_empty() {
        from.subtract(part).expect("the part was recorded in the whole as well");
    }
}

/// Records one time; what lies above the bound counts as the bound.
pub fn record(histogram: &mut Histogram<u64>, time: Duration) {
    // Nothing takes no time. A histogram of zeros alone would also read back as another one: its
    // longest time is zero, while that of its pairs is the end of the lowest bucket.
    histogram.saturating_record(nanos(time).max(1));
}

/// The time below which the share `quantile` of all recorded times lies, or nothing without samples.
pub fn quantile(histogram: &Histogram<u64>, quantile: f64) -> Option<Duration> {
    (!histogram.is_empty()).then(|| Duration::from_nanos(histogram.value_at_quantile(quantile)))
}

/// The buckets of a histogram that were hit: the longest time of each in nanoseconds, and its count.
#[derive(
    Debug, Clone, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(transparent)]
pub struct Buckets(pub Vec<(u64, u64)>);

impl Buckets {
    /// The buckets of a histogram.
    pub fn of(histogram: &Histogram<u64>) -> Self {
        let hit = histogram.iter_recorded();
        Self(hit.map(|bucket| (bucket.value_iterated_to(), bucket.count_at_value())).collect())
    }

    /// How many times were recorded.
    pub fn count(&self) -> u64 {
        self.0.iter().fold(0, |sum, (_, count)| sum.saturating_add(*count))
    }

    /// The time below which the share `quantile` of all times lies.
    pub fn quantile(&self, quantile: f64) -> Option<Duration> {
        let rank = (self.count() as f64 * quantile).ceil().max(1.0) as u64;
        let mut seen = 0_u64;
        let found = self.0.iter().find(|(_, count)| {
            seen = seen.saturating_add(*count);
            seen >= rank
        });
        found.map(|(value, _)| Duration::from_nanos(*value))
    }

    /// A histogram with these times; what lies beyond its bounds counts as its bound.
    pub fn to_histogram(&self) -> Histogram<u64> {
        let mut histogram = new();
        for (value, count) in &self.0 {
            histogram.saturating_record_n(*value, *count);
        }
        histogram
    }

    /// The same with two figures, as is enough for what was recorded with two.
    pub fn to_coarse_histogram(&self) -> Histogram<u64> {
        let mut histogram = coarse();
        for (value, count) in &self.0 {
            histogram.saturating_record_n(*value, *count);
        }
        histogram
    }

    /// Adds what another has.
    pub fn merge(&mut self, other: &Self) {
        if self.0.is_empty() {
            self.0.clone_from(&other.0);
            return;
        }
        for (value, count) in &other.0 {
            match self.0.binary_search_by_key(value, |(known, _)| *known) {
                Ok(place) => self.0[place].1 += count,
                Err(place) => self.0.insert(place, (*value, *count)),
            }
        }
    }
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

    #[test]
    fn a_part_is_added_and_taken_away_again() {
        let of = |micros: &[u64]| {
            let mut histogram = new();
            micros.iter().for_each(|micros| record(&mut histogram, Duration::from_micros(*micros)));
            histogram
        };
        let (part, rest) = (of(&[10, 20]), of(&[30]));
        let mut whole = rest.clone();
        add(&mut whole, &part);
        assert_eq!(whole, of(&[10, 20, 30]));
        take_away(&mut whole, &new());
        assert_eq!(whole.len(), 3);
        take_away(&mut whole, &part);
        assert_eq!(Buckets::of(&whole), Buckets::of(&rest));
        assert_eq!(quantile(&whole, 0.5), Some(Duration::from_nanos(rest.max())));
    }

    #[test]
    fn buckets_tell_quantiles_as_the_histogram_does() {
        let buckets = Buckets(vec![(100_000, 1), (200_000, 2), (300_000, 1)]);
        assert_eq!(buckets.count(), 4);
        for (share, nanos) in [
            (0.0, 100_000),
            (0.25, 100_000),
            (0.26, 200_000),
            (0.75, 200_000),
            (0.76, 300_000),
            (1.0, 300_000),
        ] {
            assert_eq!(buckets.quantile(share), Some(Duration::from_nanos(nanos)), "{share}");
        }
        assert_eq!(Buckets::default().quantile(0.5), None);
        for histogram in [buckets.to_histogram(), buckets.to_coarse_histogram()] {
            assert_eq!(histogram.len(), 4);
            assert_eq!(Buckets::of(&histogram).count(), 4);
        }
        // Three figures tell 100.0 ms from 100.1 ms, two do not.
        let near = Buckets(vec![(100_000_000, 1), (100_100_000, 1)]);
        assert_eq!(Buckets::of(&near.to_histogram()).0.len(), 2);
        assert_eq!(Buckets::of(&near.to_coarse_histogram()).0.len(), 1);
    }

    #[test]
    fn merged_buckets_stay_in_order() {
        let mut merged = Buckets::default();
        merged.merge(&Buckets(vec![(1, 2), (3, 4)]));
        merged.merge(&Buckets(vec![(1, 3), (2, 1), (4, 1)]));
        assert_eq!(merged, Buckets(vec![(1, 5), (2, 1), (3, 4), (4, 1)]));
    }
}
