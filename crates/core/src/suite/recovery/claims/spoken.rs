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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_phrase_stands_between_spaces_but_where_it_has_a_star() {
        for (text, phrases, is) in [
            ("It timed, out!", "timed out", true),
            ("mistimed outing", "timed out", false),
            ("it failing", "fail*", true),
            ("unfailing", "fail*", false),
            ("unfailing", "*ing", true),
            ("failings", "*ing", false),
            ("it isn't able-bodied", "*n't able*", true),
            ("able", "x, able", true),
            ("", "able", false),
        ] {
            assert_eq!(Spoken::of(text).has(phrases), is, "`{text}` and `{phrases}`");
        }
        let spoken = Spoken::of("Don't, STOP (it)!");
        assert_eq!(spoken.words().collect::<Vec<_>>(), ["don't", "stop", "it"]);
        assert!(spoken.has_word("it, x") && !spoken.has_word("don, x"));
        assert!(spoken.starts_with("x, don't") && !spoken.starts_with("stop"));
    }

    #[test]
    fn advice_is_told_from_statements() {
        for (text, is) in [
            ("check it", true),
            ("3 check it", true),
            ("it checks", false),
            ("you should go", true),
            ("no data was confirmed", true),
            ("no foxes", false),
            ("foxes were confirmed", false),
        ] {
            assert_eq!(Spoken::of(text).advises(), is, "{text}");
        }
    }
}
