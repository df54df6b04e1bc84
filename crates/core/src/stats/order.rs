//! Figures that depend on the order of values alone, which one wild value cannot move.

/// The value below which the share `share` of the sorted values lies, between two of them where it
/// falls between; nothing without values.
pub(super) fn quantile(sorted: &[f64], share: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    let at = share.clamp(0.0, 1.0) * last as f64;
    let (below, above) = (sorted[at.floor() as usize], sorted[at.ceil() as usize]);
    Some(below + (above - below) * at.fract())
}

/// The middle value; nothing without values.
pub(crate) fn median(values: impl IntoIterator<Item = f64>) -> Option<f64> {
    quantile(&sorted(values), 0.5)
}

/// The values in ascending order.
pub(super) fn sorted(values: impl IntoIterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.into_iter().collect();
    values.sort_unstable_by(f64::total_cmp);
    values
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_wild_value_does_not_move_the_median() {
        assert_eq!(median([3.0, 1.0, 2.0, 1e300]), Some(2.5));
        assert_eq!(median([7.0]), Some(7.0));
        assert_eq!(median([]), None);
    }

    #[test]
    fn quantiles_lie_between_neighbours() {
        let values = [0.0, 10.0, 20.0];
        assert_eq!(quantile(&values, 0.25), Some(5.0));
        assert_eq!(quantile(&values, 1.0), Some(20.0));
        assert_eq!(quantile(&values, 9.0), Some(20.0));
        assert_eq!(quantile(&[], 0.5), None);
    }
}
