//! The response times of a second that is over, in a byte or two for each bucket that was hit.
//!
//! A busy second hits hundreds of buckets. As pairs of numbers an hour of them takes 50 MB; packed
//! it takes a tenth. Buckets next to one another are equally far apart nearly everywhere, so the
//! distance is written only where it changes.

use crate::histogram::Buckets;

/// Seven bits of a number in each byte; the eighth says that more follow.
const MORE: u8 = 0x80;

/// Buckets as bytes: for each its count, doubled, with a one if the distance from the bucket before
/// is another one than last time; then that distance.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Packed(Box<[u8]>);

impl Packed {
    /// Packs buckets, which are in the order of their times.
    pub(super) fn of(buckets: &Buckets) -> Self {
        let mut bytes = Vec::with_capacity(buckets.0.len() * 2);
        let (mut before, mut step) = (0, 0);
        for (value, count) in &buckets.0 {
            let distance = value.wrapping_sub(before);
            let is_new = distance != step;
            write(&mut bytes, u128::from(*count) * 2 + u128::from(is_new));
            if is_new {
                write(&mut bytes, u128::from(distance));
            }
            (before, step) = (*value, distance);
        }
        Self(bytes.into_boxed_slice())
    }

    /// The same buckets again.
    pub(super) fn buckets(&self) -> Buckets {
        let mut pairs = Vec::new();
        let (mut value, mut step) = (0_u64, 0);
        let mut bytes = &*self.0;
        while !bytes.is_empty() {
            let head = read(&mut bytes);
            if head % 2 == 1 {
                step = read(&mut bytes) as u64;
            }
            value = value.wrapping_add(step);
            pairs.push((value, (head / 2) as u64));
        }
        Buckets(pairs)
    }

    /// Adds what others have.
    pub(super) fn merge(&mut self, other: &Buckets) {
        let mut all = self.buckets();
        all.merge(other);
        *self = Self::of(&all);
    }
}

fn write(bytes: &mut Vec<u8>, mut number: u128) {
    while number >= u128::from(MORE) {
        bytes.push(number as u8 | MORE);
        number >>= 7;
    }
    bytes.push(number as u8);
}

fn read(bytes: &mut &[u8]) -> u128 {
    let (mut number, mut shift) = (0, 0);
    while let Some((byte, rest)) = bytes.split_first() {
        *bytes = rest;
        number |= u128::from(byte & !MORE) << shift;
        shift += 7;
        if byte & MORE == 0 {
            break;
        }
    }
    number
}

#[cfg(test)]
mod tests {
    use std::{collections::BTreeMap, time::Duration};

    use proptest::prelude::*;

    use super::*;
    use crate::histogram;

    proptest! {
        #[test]
        fn what_was_packed_comes_out_again(pairs in prop::collection::btree_map(any::<u64>(), any::<u64>(), 0..200)) {
            let buckets = Buckets(pairs.into_iter().collect());
            prop_assert_eq!(Packed::of(&buckets).buckets(), buckets);
        }

        #[test]
        fn what_is_added_is_the_sum(
            one in prop::collection::btree_map(0..500_u64, 1..1_000_u64, 0..50),
            other in prop::collection::btree_map(0..500_u64, 1..1_000_u64, 0..50),
        ) {
            let mut packed = Packed::of(&Buckets(one.clone().into_iter().collect()));
            packed.merge(&Buckets(other.clone().into_iter().collect()));
            let mut sum: BTreeMap<u64, u64> = one;
            other.into_iter().for_each(|(value, count)| *sum.entry(value).or_default() += count);
            prop_assert_eq!(packed.buckets(), Buckets(sum.into_iter().collect()));
        }
    }

    #[test]
    fn a_busy_second_takes_two_bytes_a_bucket() {
        let mut second = histogram::coarse();
        for call in 0..30_000_u64 {
            histogram::record(&mut second, Duration::from_nanos(1_000_000 + call * call / 100));
        }
        let buckets = Buckets::of(&second);
        assert!(buckets.0.len() > 300, "{}", buckets.0.len());
        let packed = Packed::of(&buckets);
        assert!(packed.0.len() < buckets.0.len() * 2, "{} bytes", packed.0.len());
    }
}
