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

    /// The examples, and when each of them came.
    pub fn told(&self) -> impl Iterator<Item = (Duration, &str)> {
        self.times.iter().copied().zip(self.examples.iter().map(String::as_str))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn note(told: &[(u64, &str)]) -> Note {
        let mut note = Note::default();
        told.iter().for_each(|(at, text)| note.add(Duration::from_secs(*at), text));
        note
    }

    fn kept(note: &Note) -> Vec<(u64, &str)> {
        note.told().map(|(at, text)| (at.as_secs(), text)).collect()
    }

    #[test]
    fn an_example_keeps_its_first_time() {
        let again = note(&[(3, "b"), (2, "a"), (9, "a"), (1, "b"), (1, "a")]);
        assert_eq!((again.count, kept(&again)), (5, vec![(1, "a"), (1, "b")]));
        let mut both = note(&[(5, "a"), (6, "c")]);
        both.merge(&again);
        assert_eq!((both.count, kept(&both)), (7, vec![(1, "a"), (1, "b"), (6, "c")]));
    }

    #[test]
    fn the_earliest_five_are_kept() {
        let texts = ["g", "f", "e", "d", "c", "b", "a"];
        let late: Vec<_> = texts.into_iter().zip(1..).map(|(text, at)| (8 - at, text)).collect();
        let expected = vec![(1, "a"), (2, "b"), (3, "c"), (4, "d"), (5, "e")];
        assert_eq!(kept(&note(&late)), expected);
        let early: Vec<_> = late.into_iter().rev().collect();
        assert_eq!(kept(&note(&early)), expected);
    }
}
