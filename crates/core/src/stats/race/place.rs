//! What the values at each place of many answers show, without any of the answers but the first: what is
//! kept of a value is a number.

use std::{
    collections::{BTreeMap, BTreeSet, HashSet},
    hash::{DefaultHasher, Hash as _, Hasher as _},
};

use serde_json::Value;

use super::{
    ENOUGH, MOST_LEAVES, VolatileKind, VolatilePath, canonical,
    leaves::{Leaves, MOST_NAMED},
};
use crate::stats::stamps::Mask;

/// Times of day in the answers to one burst of calls are no further apart, in seconds.
const NEAR: f64 = 3_600.0;

/// All places of the answers.
#[derive(Debug, Default)]
pub(super) struct Places {
    /// Those of the first answer. No other place is one that all answers have.
    first: BTreeMap<String, Place>,
    /// Some of the others.
    others: BTreeSet<String>,
    /// How long their names are together.
    named: usize,
    /// Whether there are more others than are kept.
    has_more: bool,
    /// How many answers were looked at.
    answers: usize,
    /// How many numbers are kept in all.
    pub(super) prints: usize,
}

impl Places {
    pub(super) fn add(&mut self, answer: &Value) {
        let leaves = Leaves::of(answer).values;
        self.answers += 1;
        if self.answers == 1 {
            self.first =
                leaves.into_iter().map(|(path, value)| (path, Place::new(value))).collect();
            return;
        }
        for (path, value) in leaves {
            match self.first.get_mut(&path) {
                Some(place) => self.prints += place.add(&value),
                None if self.others.contains(&path) => {}
                None => self.add_other(path),
            }
        }
    }

    fn add_other(&mut self, path: String) {
        let named = self.named + path.len();
        if self.others.len() < MOST_LEAVES && named <= MOST_NAMED {
            self.named = named;
            self.others.insert(path);
        } else {
            self.has_more = true;
        }
    }

    /// Where so many answers differ by design, and where otherwise.
    pub(super) fn differing(&self, total: usize) -> (Vec<VolatilePath>, Vec<String>) {
        let (mut volatile, mut divergent) = (Vec::new(), self.others.clone());
        for (path, place) in &self.first {
            let shown =
                if place.count < self.answers { Shown::Divergent } else { place.shown(total) };
            match shown {
                Shown::Same => {}
                Shown::Divergent => _ = divergent.insert(path.clone()),
                Shown::Volatile(kind) => {
                    let (path, example) = (path.clone(), canonical(&place.first));
                    volatile.push(VolatilePath { path, kind, example });
                }
            }
        }
        if self.has_more {
            divergent.insert(String::new());
        }
        (volatile, divergent.into_iter().collect())
    }
}

/// A number for a value; that two share one by chance is not to be expected.
pub(super) fn print(text: &str) -> u64 {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// One number for several values, missing ones included.
pub(super) fn print_all(values: impl Iterator<Item = Option<u64>>) -> u64 {
    let mut hasher = DefaultHasher::new();
    values.for_each(|value| value.hash(&mut hasher));
    hasher.finish()
}

/// What the values at one place show.
enum Shown {
    Same,
    Volatile(VolatileKind),
    Divergent,
}

#[derive(Debug)]
struct Place {
    first: Value,
    print: u64,
    /// How many answers have it.
    count: usize,
    /// From the second value on.
    spread: Option<Spread>,
}

impl Place {
    fn new(first: Value) -> Self {
        let print = print(&canonical(&first));
        Self { first, print, count: 1, spread: None }
    }

    /// How many numbers are kept for it.
    fn add(&mut self, value: &Value) -> usize {
        self.count += 1;
        let print = print(&canonical(value));
        if self.spread.is_none() && print == self.print {
            return 0;
        }
        let spread = self.spread.get_or_insert_with(|| Spread::of(&self.first, self.print));
        spread.add(value, print)
    }

    fn shown(&self, total: usize) -> Shown {
        let Some(spread) = &self.spread else { return Shown::Same };
        let distinct = spread.values.len();
        let all_differ = distinct == total && total >= ENOUGH;
        let kind = match spread.rests.len() {
            1 if spread.is_clock => VolatileKind::Stamp,
            1 if all_differ => VolatileKind::Stamp,
            _ if all_differ && spread.is_counter() => VolatileKind::Counter,
            rests if all_differ && rests == distinct => VolatileKind::Unique,
            // With ids in all of them all texts differ, but some are alike apart from those.
            _ => return Shown::Divergent,
        };
        Shown::Volatile(kind)
    }
}

/// How values at one place differ.
#[derive(Debug)]
struct Spread {
    values: HashSet<u64>,
    /// What is left of them without times of day and UUIDs.
    rests: HashSet<u64>,
    first: Mask,
    /// Whether what differs are times that lie near each other, as those of one run do. Times of other
    /// data do not, and an id that some answers share is somebody's.
    is_clock: bool,
    /// The least and the greatest, while all are whole numbers.
    numbers: Option<(i64, i64)>,
}

impl Spread {
    fn of(value: &Value, value_print: u64) -> Self {
        let first = Mask::of(value);
        Self {
            values: [value_print].into(),
            rests: [print(&first.rest)].into(),
            // Without times what differs is the type of a value.
            is_clock: !first.times.is_empty(),
            numbers: number(value).map(|number| (number, number)),
            first,
        }
    }

    fn add(&mut self, value: &Value, value_print: u64) -> usize {
        if !self.values.insert(value_print) {
            return 0;
        }
        let mask = Mask::of(value);
        self.is_clock &= self.is_near(&mask);
        self.numbers = self
            .numbers
            .zip(number(value))
            .map(|((least, most), number)| (least.min(number), most.max(number)));
        1 + usize::from(self.rests.insert(print(&mask.rest)))
    }

    fn is_near(&self, mask: &Mask) -> bool {
        let mut times = mask.times.iter().zip(&self.first.times);
        mask.ids == self.first.ids
            && mask.times.len() == self.first.times.len()
            && times.all(|(time, other)| (time - other).abs() <= NEAR)
    }

    /// Whether distinct values are consecutive whole numbers, in any order.
    fn is_counter(&self) -> bool {
        self.numbers.is_some_and(|(least, most)| {
            most.checked_sub(least) == i64::try_from(self.values.len() - 1).ok()
        })
    }
}

fn number(value: &Value) -> Option<i64> {
    value.as_i64().or_else(|| value.as_str()?.trim().parse().ok())
}
