//! A clause as it is spoken: small letters, without punctuation.

use super::lexicon::{ADVICE, CONFIRMED, IMPERATIVES, is_in, members};

/// The words of a clause, each between spaces.
pub(super) struct Spoken(String);

impl Spoken {
    pub(super) fn of(text: &str) -> Self {
        let lower = text.to_lowercase();
        let words = lower.split(|c: char| !c.is_alphanumeric() && c != '\'');
        let words: Vec<_> = words.filter(|word| !word.is_empty()).collect();
        Self(format!(" {} ", words.join(" ")))
    }

    /// Whether one of these phrases is in it.
    pub(super) fn has(&self, phrases: &str) -> bool {
        let needle = |phrase: &str| match (phrase.strip_prefix('*'), phrase.strip_suffix('*')) {
            (None, None) => format!(" {phrase} "),
            (None, Some(start)) => format!(" {start}"),
            (Some(end), None) => format!("{end} "),
            (Some(_), Some(_)) => phrase.trim_matches('*').to_owned(),
        };
        members(phrases).any(|phrase| self.0.contains(&needle(phrase)))
    }

    pub(super) fn has_word(&self, known: &str) -> bool {
        self.words().any(|word| is_in(known, word))
    }

    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        self.0.split_whitespace()
    }

    pub(super) fn starts_with(&self, known: &str) -> bool {
        self.words().next().is_some_and(|word| is_in(known, word))
    }

    /// Whether it guesses aloud, advises or asks.
    pub(super) fn advises(&self) -> bool {
        let is_number = |word: &&str| word.chars().all(|c| c.is_ascii_digit());
        let first = self.words().find(|word| !is_number(word));
        let is_unconfirmed = self.starts_with("no") && self.has(CONFIRMED);
        is_unconfirmed || self.has(ADVICE) || first.is_some_and(|word| is_in(IMPERATIVES, word))
    }
}
