//! What a run of the fuzzer found.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Class, Payload};

/// What a run of the fuzzer found. Every case that was sent has one class.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FuzzStats {
    /// Cases that were asked for.
    pub planned: u64,
    /// Cases that were sent.
    pub cases: u64,
    /// Cases by what became of them.
    pub classes: BTreeMap<Class, u64>,
    /// The same by kind of bad input.
    pub payloads: BTreeMap<Payload, BTreeMap<Class, u64>>,
    /// Arguments that the generator meant to be right or wrong, and that the schema saw otherwise.
    /// They were not sent.
    pub discarded: u64,
    /// The tools whose arguments were tried.
    pub tools: Vec<String>,
    /// The tools that were left alone, because calling them may do something.
    pub left_alone: Vec<String>,
    /// The cases that broke the server; of those that are alike, only the first few.
    pub failures: Vec<FailedCase>,
    /// Some of the cases that were taken though the schema forbids them.
    pub accepted: Vec<FailedCase>,
    /// Why not all cases were sent.
    #[serde(default)]
    pub ended_early: Option<String>,
}

/// A case that broke the server.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FailedCase {
    /// Its name.
    pub id: String,
    /// What became of it.
    pub class: Class,
    /// What is odd about it.
    pub label: String,
    /// What was seen.
    pub seen: String,
    /// Whether it showed again on a server that had seen nothing else.
    pub repeats: bool,
    /// The file in the directory of the run.
    pub file: Option<String>,
}

impl FuzzStats {
    /// Counts a case.
    pub fn count(&mut self, payload: Payload, class: Class) {
        self.cases += 1;
        *self.classes.entry(class).or_default() += 1;
        *self.payloads.entry(payload).or_default().entry(class).or_default() += 1;
    }

    /// A case that was counted turns out to be of another class.
    pub fn recount(&mut self, payload: Payload, from: Class, to: Class) {
        let by_payload = self.payloads.entry(payload).or_default();
        for counts in [&mut self.classes, by_payload] {
            if let Some(count) = counts.get_mut(&from) {
                *count -= 1;
                if *count == 0 {
                    counts.remove(&from);
                }
                *counts.entry(to).or_default() += 1;
            }
        }
    }

    /// How many cases became that.
    pub fn of(&self, class: Class) -> u64 {
        self.classes.get(&class).copied().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_has_one_class() {
        let mut stats = FuzzStats::default();
        stats.count(Payload::RawBytes, Class::Clean);
        stats.count(Payload::RawBytes, Class::Clean);
        stats.count(Payload::Arguments, Class::Crash);
        stats.recount(Payload::RawBytes, Class::Clean, Class::Crash);
        stats.recount(Payload::RawBytes, Class::Hang, Class::Crash);
        assert_eq!((stats.cases, stats.of(Class::Clean), stats.of(Class::Crash)), (3, 1, 2));
        assert_eq!(stats.classes.values().sum::<u64>(), stats.cases);
        let by_payload: u64 = stats.payloads.values().flat_map(|classes| classes.values()).sum();
        assert_eq!(by_payload, stats.cases);
    }

    #[test]
    fn a_class_that_no_case_has_any_more_is_not_listed() {
        let mut stats = FuzzStats::default();
        stats.count(Payload::RawBytes, Class::Clean);
        stats.recount(Payload::RawBytes, Class::Clean, Class::Crash);
        assert_eq!(stats.classes, BTreeMap::from([(Class::Crash, 1)]));
        assert_eq!(stats.payloads[&Payload::RawBytes], stats.classes);
    }
}
