//! Words, and whether they are known.

use std::collections::HashSet;

use super::lexicon::{FUNCTION, TALK, is_in, members};

/// How much of a word must be the same: `north` gives `northern`.
const STEM: usize = 5;
/// The shortest word that says something.
const SHORTEST: usize = 3;
/// The stems of this length or less are whole words: `data` is talk, a `database` is not.
const WHOLE: usize = 4;

/// Words that were given.
#[derive(Debug, Default)]
pub(super) struct Vocabulary {
    words: HashSet<String>,
    stems: HashSet<String>,
    starts: HashSet<String>,
}

impl Vocabulary {
    /// The words of these texts.
    pub(super) fn of<'a>(texts: impl IntoIterator<Item = &'a str>) -> Self {
        let mut vocabulary = Self::default();
        for word in texts.into_iter().flat_map(words) {
            vocabulary.stems.insert(start(&word, STEM));
            vocabulary.starts.insert(start(&word, WHOLE));
            vocabulary.words.insert(word);
        }
        vocabulary
    }

    /// Whether a word is in it in one of its forms.
    pub(super) fn has(&self, word: &str) -> bool {
        let is_short = word.chars().count() == WHOLE;
        self.stems.contains(&start(word, STEM))
            || self.words.contains(&start(word, WHOLE))
            || is_short && self.starts.contains(word)
    }

    pub(super) fn has_exactly(&self, word: &str) -> bool {
        self.words.contains(word)
    }
}

fn start(word: &str, length: usize) -> String {
    word.chars().take(length).collect()
}

/// The words of a text that say something, and its figures.
pub(super) fn words(text: &str) -> Vec<String> {
    let lower = text.to_lowercase();
    let says =
        |word: &&str| word.chars().count() >= SHORTEST && !is_in(FUNCTION, word) || is_number(word);
    let parts = lower.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    parts.filter(says).map(str::to_owned).collect()
}

/// Whether honest talk about tools has such a word.
pub(super) fn is_talk(word: &str) -> bool {
    let is_form = |stem: &str, rest: &str| {
        stem.len() > WHOLE || matches!(rest, "" | "s" | "d" | "ed" | "er" | "ing")
    };
    let is_of = |stem: &str| word.strip_prefix(stem).is_some_and(|rest| is_form(stem, rest));
    is_number(word) || members(TALK).any(is_of)
}

fn is_number(word: &str) -> bool {
    word.chars().all(|c| c.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_known_in_its_forms() {
        let given = Vocabulary::of(["Lisbon: a northern breeze", "data, 24"]);
        for (word, is) in [
            ("north", true),
            ("northwest", true),
            ("database", true),
            ("lisb", true),
            ("lis", false),
            ("oaks", false),
            ("breakers", false),
            ("24", true),
        ] {
            assert_eq!(given.has(word), is, "{word}");
        }
        assert!(given.has_exactly("24") && !given.has_exactly("north"));
    }

    #[test]
    fn words_say_something_and_figures_too() {
        assert_eq!(words("The Fox is at A1, on 7 oaks; no."), ["fox", "7", "oaks"]);
    }

    #[test]
    fn talk_about_tools_has_its_stems_and_short_ones_only_their_forms() {
        for (word, is) in [
            ("availability", true),
            ("answering", true),
            ("data", true),
            ("times", true),
            ("timeless", false),
            ("database", false),
            ("foxes", false),
            ("12", true),
            ("a1", false),
        ] {
            assert_eq!(is_talk(word), is, "{word}");
        }
    }
}
