//! The distribution of latency as a chart of plain characters.

use std::{fmt::Write as _, time::Duration};

use hdrhistogram::Histogram;

use super::figures::grouped;
use crate::units::format_latency;

/// How many columns the longest bar has.
const LONGEST_BAR: u64 = 40;
/// More rows than this are no longer taken in at a glance.
const MOST_ROWS: usize = 16;

/// One row a range of times. Empty without samples.
pub(super) fn chart(histogram: &Histogram<u64>) -> String {
    let rows = rows(histogram);
    let most = rows.iter().map(|row| row.count).max().unwrap_or(0);
    let digits = grouped(most).len();
    let mut text = String::new();
    for row in rows {
        let bar = "#".repeat(bar(row.count, most));
        let (from, to) = (format_latency(row.from), format_latency(row.to));
        let count = grouped(row.count);
        let _ = writeln!(
            text,
            "{from:>8} - {to:>8} |{bar:<width$} {count:>digits$}",
            width = LONGEST_BAR as usize
        );
    }
    text
}

/// What is not nothing has a bar.
fn bar(count: u64, most: u64) -> usize {
    let columns = u128::from(count) * u128::from(LONGEST_BAR);
    columns.div_ceil(u128::from(most.max(1))) as usize
}

struct Row {
    from: Duration,
    to: Duration,
    count: u64,
}

fn rows(histogram: &Histogram<u64>) -> Vec<Row> {
    if histogram.is_empty() {
        return Vec::new();
    }
    // A bucket counts as its upper end, as it does for percentiles.
    let bounds =
        bounds(histogram.highest_equivalent(histogram.min()).max(1), histogram.max().max(2));
    let mut counts = vec![0_u64; bounds.len() - 1];
    for bucket in histogram.iter_recorded() {
        let row = bounds
            .partition_point(|bound| *bound <= bucket.value_iterated_to())
            .clamp(1, counts.len())
            - 1;
        counts[row] = counts[row].saturating_add(bucket.count_at_value());
    }
    let ranges = bounds.windows(2).zip(counts);
    ranges
        .map(|(range, count)| Row {
            from: Duration::from_nanos(range[0]),
            to: Duration::from_nanos(range[1]),
            count,
        })
        .collect()
}

/// Round numbers that enclose `min..=max` in nanoseconds: 1-2-5 steps over a wide range, whole
/// decades over a very wide one, equal steps over a narrow one.
fn bounds(min: u64, max: u64) -> Vec<u64> {
    if max / min < 10 {
        return even_bounds(min, max);
    }
    let fine = decade_bounds(min, max, &[1, 2, 5]);
    if fine.len() <= MOST_ROWS + 1 { fine } else { decade_bounds(min, max, &[1]) }
}

fn decade_bounds(min: u64, max: u64, steps: &[u64]) -> Vec<u64> {
    let powers = (0..19).map(|power| 10_u64.pow(power));
    let all: Vec<u64> =
        powers.flat_map(|power| steps.iter().map(move |step| step.saturating_mul(power))).collect();
    let first = all.partition_point(|bound| *bound <= min) - 1;
    let last = all.partition_point(|bound| *bound <= max).min(all.len() - 1);
    all[first..=last].to_vec()
}

/// At most about ten equal steps whose width is 1, 2 or 5 times a power of ten. Steps of less than a
/// hundredth of the value would show the resolution of the histogram and not the server.
fn even_bounds(min: u64, max: u64) -> Vec<u64> {
    let wish = ((max - min) / 10).max(max / 100).max(1);
    let power = 10_u64.pow(wish.ilog10());
    let step = [1, 2, 5, 10]
        .into_iter()
        .map(|factor| factor * power)
        .find(|step| *step >= wish)
        .unwrap_or(wish);
    let first = min / step;
    let last = max / step + 1;
    (first..=last).map(|at| at.saturating_mul(step)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::histogram;
    use proptest::prelude::*;

    fn of(micros: &[(u64, u64)]) -> Histogram<u64> {
        let mut all = histogram::new();
        for (micros, count) in micros {
            for _ in 0..*count {
                histogram::record(&mut all, Duration::from_micros(*micros));
            }
        }
        all
    }

    #[test]
    fn a_wide_range_has_round_steps() {
        let text = chart(&of(&[(1_500, 10), (4_000, 40), (90_000, 1)]));
        insta::assert_snapshot!(text, @r"
          1.00ms -   2.00ms |##########                               10
          2.00ms -   5.00ms |######################################## 40
          5.00ms -   10.0ms |                                          0
          10.0ms -   20.0ms |                                          0
          20.0ms -   50.0ms |                                          0
          50.0ms -  100.0ms |#                                         1
        ");
    }

    #[test]
    fn a_narrow_range_has_even_steps_and_nothing_has_none() {
        assert_eq!(chart(&histogram::new()), "");
        assert_eq!(chart(&of(&[(1_000, 1)])).lines().count(), 1);
        let text = chart(&of(&[(10_000, 5), (10_500, 5), (12_900, 1)]));
        assert!((5..=12).contains(&text.lines().count()), "{text}");
    }

    #[test]
    fn bounds_are_round_numbers_around_what_was_measured() {
        for (name, min, max, expected) in [
            ("less than tenfold", 10, 99, vec![10, 20, 30, 40, 50, 60, 70, 80, 90, 100]),
            ("tenfold", 10, 100, vec![10, 20, 50, 100, 200]),
            (
                "a tenth of the range",
                300,
                700,
                vec![300, 350, 400, 450, 500, 550, 600, 650, 700, 750],
            ),
            ("a hundredth of the value", 1_000, 1_001, vec![1_000, 1_010]),
            ("nothing to divide", 3, 3, vec![3, 4]),
            ("whole decades", 1, 200_000, (0..7).map(|power| 10_u64.pow(power)).collect()),
            (
                "the end of the numbers",
                1,
                u64::MAX,
                (0..19).map(|power| 10_u64.pow(power)).collect(),
            ),
        ] {
            assert_eq!(bounds(min, max), expected, "{name}");
        }
        let most = bounds(1, 100_000);
        assert_eq!((most.len(), most.last()), (MOST_ROWS + 1, Some(&200_000)));
        for (count, columns) in [(0, 0), (1, 1), (25, 1), (26, 2), (500, 20), (1_000, 40)] {
            assert_eq!(bar(count, 1_000), columns, "{count}");
        }
    }

    proptest! {
        #[test]
        fn every_call_is_in_one_row(nanos in prop::collection::vec(0_u64..8_000_000_000_000, 1..40)) {
            let mut all = histogram::new();
            for nanos in &nanos {
                histogram::record(&mut all, Duration::from_nanos(*nanos));
            }
            let rows = rows(&all);
            prop_assert!(rows.len() <= MOST_ROWS, "{}", rows.len());
            prop_assert_eq!(rows.iter().map(|row| row.count).sum::<u64>(), nanos.len() as u64);
        }
    }
}
