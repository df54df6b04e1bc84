//! Things that were noted.

use std::{collections::BTreeMap, time::Duration};

/// How many examples of a kind of note or failure are kept.
const EXAMPLES: usize = 5;

/// Something that was noted, how often, and the first few times in words.
///
/// The examples go by time and not by arrival: a trace has the notes of all workers in one stream,
/// and must give those that the workers' own tallies gave when they were merged.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Note {
    /// How often.
    pub count: u64,
    /// The first few that differ.
    pub examples: Vec<String>,
    /// When each of them came.
    times: Vec<Duration>,
}

impl Note {
    pub(super) fn add(&mut self, at: Duration, example: &str) {
        self.count += 1;
        self.keep(at, example);
    }

    /// The examples that came after this.
    pub fn since(&self, after: Option<Duration>) -> impl Iterator<Item = (Duration, &str)> {
        let all = self.times.iter().copied().zip(self.examples.iter().map(String::as_str));
        all.filter(move |(at, _)| after.is_none_or(|after| *at > after))
    }

    fn keep(&mut self, at: Duration, example: &str) {
        if let Some(known) = self.examples.iter().position(|known| known == example) {
            if self.times[known] <= at {
                return;
            }
            self.examples.remove(known);
            self.times.remove(known);
        }
        let earlier = self
            .times
            .iter()
            .zip(&self.examples)
            .filter(|known| (*known.0, known.1.as_str()) < (at, example));
        let place = earlier.count();
        if place < EXAMPLES {
            self.examples.insert(place, example.to_owned());
            self.times.insert(place, at);
            self.examples.truncate(EXAMPLES);
            self.times.truncate(EXAMPLES);
        }
    }

    pub(super) fn merge(&mut self, other: &Self) {
        self.count += other.count;
        for (at, example) in other.times.iter().zip(&other.examples) {
            self.keep(*at, example);
        }
    }
}

pub(super) fn merge_notes<K: Ord>(to: &mut BTreeMap<K, Note>, from: BTreeMap<K, Note>) {
    for (key, note) in from {
        to.entry(key).or_default().merge(&note);
    }
}
