//! All requests that are judged, and who says again what somebody was told.

use std::{
    collections::{HashMap, hash_map::RandomState},
    hash::BuildHasher as _,
};

use serde_json::Value;

use crate::llm::{Ending, Entry};

/// Texts shorter than this may be equal by chance.
const LEAST_QUOTED: usize = 8;

/// A clock may be off by this much, in milliseconds, before anybody is blamed: a request is timed as it comes,
/// an answer when the thread that wrote it comes round to it.
pub(super) const TOLERANCE_MS: f64 = 5.0;

/// All requests, in the order in which they came.
pub(super) struct Requests<'e> {
    pub(super) entries: &'e [&'e Entry],
    /// Which requests hold a text, by a number that stands for the client and the text: each body is read
    /// once, however many answers were cut.
    holding: HashMap<u64, Vec<usize>>,
    hasher: RandomState,
}

impl<'e> Requests<'e> {
    pub(super) fn new(entries: &'e [&'e Entry]) -> Self {
        let mut all = Self { entries, holding: HashMap::new(), hasher: RandomState::new() };
        // Without an answer that was cut nobody asks.
        if entries.iter().any(|entry| cut_text(entry).is_some()) {
            for (at, entry) in entries.iter().enumerate() {
                let body: Value = serde_json::from_str(&entry.body).unwrap_or_default();
                texts(&body, &mut |text| all.hold(&entry.client, text, at));
            }
        }
        all
    }

    fn hold(&mut self, client: &str, text: &str, at: usize) {
        let holding = self.holding.entry(self.hasher.hash_one((client, text))).or_default();
        if holding.last() != Some(&at) {
            holding.push(at);
        }
    }

    /// A later request that says the half answer again, word for word, as if it were whole. Where the text
    /// was whole and only its end was missing, that proves nothing once the client has got the same answer
    /// with its end.
    pub(super) fn quoted_by(&self, cut: &Entry) -> Option<&'e Entry> {
        let said = cut_text(cut)?;
        let holding = self.holding.get(&self.hasher.hash_one((cut.client.as_str(), said)))?;
        let later = holding.iter().map(|at| self.entries[*at]);
        let mut later =
            later.filter(|entry| entry.at_ms >= cut.at_ms && entry.number != cut.number);
        later.find(|entry| !self.may_be_whole(cut, entry))
    }

    /// Whether the text may come from a whole answer to the same question, which came in between.
    fn may_be_whole(&self, cut: &Entry, by: &Entry) -> bool {
        let is_same = |entry: &Entry| {
            entry.client == cut.client
                && entry.path == cut.path
                && entry.body_hash == cut.body_hash
                && entry.at_ms >= cut.at_ms
        };
        let is_before = |entry: &Entry| {
            entry.ending == Ending::Complete && entry.ended_ms() <= by.at_ms + TOLERANCE_MS
        };
        cut.said_whole && self.entries.iter().any(|entry| is_same(entry) && is_before(entry))
    }
}

/// What was said before an answer ended too early, where it is long enough to be known again.
fn cut_text(entry: &Entry) -> Option<&str> {
    let is_cut = matches!(entry.ending, Ending::CutShort | Ending::ErrorEvent | Ending::Broken);
    Some(entry.said.trim()).filter(|said| is_cut && is_long(said))
}

fn is_long(text: &str) -> bool {
    text.chars().nth(LEAST_QUOTED - 1).is_some()
}

fn texts(value: &Value, take: &mut impl FnMut(&str)) {
    match value {
        Value::String(text) => {
            let text = text.trim();
            if is_long(text) {
                take(text);
            }
        }
        Value::Array(list) => list.iter().for_each(|value| texts(value, take)),
        Value::Object(map) => map.values().for_each(|value| texts(value, take)),
        _ => {}
    }
}
