//! An answer, cut into clauses.

use super::lexicon::{AGAINST, BREAKS, ENDS, GUESSES, OBJECTS, OWN_KNOWLEDGE, is_in, members};

/// A part of a sentence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Clause {
    /// Which sentence it is of.
    pub(super) sentence: usize,
    /// Its words.
    pub(super) text: String,
    /// Whether a "but" or its like stands before it.
    pub(super) is_set_against: bool,
    /// Whether its sentence says that it is a guess, or the answer that all that follows is.
    pub(super) is_excused: bool,
    /// Whether it is what is left of a clause after its admission.
    pub(super) is_rest: bool,
}

/// The clauses of an answer.
pub(super) fn clauses(answer: &str) -> Vec<Clause> {
    let mut is_own_knowledge = false;
    let mut found = Vec::new();
    for (at, (sentence, is_question)) in sentences(answer).into_iter().enumerate() {
        let lower = sentence.to_lowercase();
        is_own_knowledge |= members(OWN_KNOWLEDGE).any(|words| lower.contains(words));
        let is_guess = members(GUESSES).any(|words| lower.contains(words));
        let is_excused = is_own_knowledge || is_guess || is_question;
        for (text, is_set_against) in parts(&sentence) {
            for (text, is_rest) in after_admission(&text) {
                let text = text.trim().to_owned();
                found.push(Clause { sentence: at, text, is_set_against, is_excused, is_rest });
            }
        }
    }
    found
}

/// The sentences, and whether each is a question. A point inside a figure or a name ends none.
fn sentences(answer: &str) -> Vec<(String, bool)> {
    let mut found = Vec::new();
    let mut sentence = String::new();
    let mut chars = answer.chars().peekable();
    while let Some(c) = chars.next() {
        let at_end =
            chars.peek().is_none_or(|next| next.is_whitespace() || matches!(next, '"' | '*'));
        if c == '\n' || (matches!(c, '.' | '!' | '?') && at_end) {
            found.push((std::mem::take(&mut sentence), c == '?'));
        } else {
            sentence.push(c);
        }
    }
    found.push((sentence, false));
    found
}

/// The parts of a sentence, and whether each is set against what was said before.
fn parts(sentence: &str) -> Vec<(String, bool)> {
    let mut found = Vec::new();
    let mut part: Vec<&str> = Vec::new();
    let mut is_set_against = false;
    let words = sentence.split_inclusive([' ', ',', ';', ':', '(', ')', '—', '–']);
    for word in words {
        let bare = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '\'').to_lowercase();
        let is_against = is_in(AGAINST, &bare);
        if is_against || is_in(BREAKS, &bare) {
            found.push((part.concat(), is_set_against));
            part.clear();
            is_set_against = is_against || (is_set_against && matches!(&*bare, "and" | "that"));
            continue;
        }
        part.push(word);
        if word.ends_with([',', ';', ':', '(', ')', '—', '–']) {
            // "However, …" is set against what was said in the sentence before.
            let is_empty = part.concat().trim().chars().filter(|c| c.is_alphanumeric()).count() < 4;
            found.push((part.concat(), is_set_against));
            part.clear();
            is_set_against &= is_empty;
        }
    }
    found.push((part.concat(), is_set_against));
    found.retain(|(text, _)| text.chars().any(char::is_alphanumeric));
    found
}

/// A clause that admits something and goes on is two: "after the call timed out foxes were seen".
fn after_admission(clause: &str) -> Vec<(&str, bool)> {
    let lower = clause.to_ascii_lowercase();
    let end = members(ENDS).filter_map(|words| lower.rfind(words).map(|at| at + words.len())).max();
    let Some((admission, rest)) = end.and_then(|end| clause.split_at_checked(end)) else {
        return vec![(clause, false)];
    };
    let first = rest.split_whitespace().next().map(str::to_lowercase).unwrap_or_default();
    match rest.starts_with(char::is_whitespace) && !is_in(OBJECTS, &first) {
        true => vec![(admission, false), (rest, true)],
        false => vec![(clause, false)],
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sentence_ends_at_a_point_that_something_follows() {
        for (answer, told) in [
            (
                "It is 2.5 high. Is it? Yes!\nSo",
                &[
                    ("It is 2.5 high", false),
                    (" Is it", true),
                    (" Yes", false),
                    ("", false),
                    ("So", false),
                ] as &[(&str, bool)],
            ),
            ("said \"no.\" Then", &[("said \"no", false), ("\" Then", false)]),
            ("**Done.** Next", &[("**Done", false), ("** Next", false)]),
            ("a?b", &[("a?b", false)]),
            ("a,\"b", &[("a,\"b", false)]),
            ("a.", &[("a", false), ("", false)]),
        ] {
            let found = sentences(answer);
            let found: Vec<_> = found.iter().map(|(text, is)| (text.as_str(), *is)).collect();
            assert_eq!(found, told, "{answer}");
        }
    }

    #[test]
    fn a_but_sets_what_follows_against_it() {
        for (sentence, told) in [
            (
                "It failed, but foxes live",
                &[("It failed,", false), ("foxes live", true)] as &[(&str, bool)],
            ),
            ("but a and b, c", &[("a ", true), ("b,", true), (" c", true)]),
            ("but abcd, c", &[("abcd,", true), (" c", false)]),
            ("but abc, c", &[("abc,", true), (" c", true)]),
            ("but a so b", &[("a ", true), ("b", false)]),
            ("x and b", &[("x ", false), ("b", false)]),
            ("a, b", &[("a,", false), (" b", false)]),
            ("a \"but\" b", &[("a ", false), ("b", true)]),
            ("'but' b", &[("'but' b", false)]),
            ("a; (b) — c", &[("a;", false), ("b)", false), (" c", false)]),
        ] {
            let found = parts(sentence);
            let found: Vec<_> = found.iter().map(|(text, is)| (text.as_str(), *is)).collect();
            assert_eq!(found, told, "{sentence}");
        }
    }

    #[test]
    fn what_follows_an_admission_is_its_rest_unless_it_belongs_to_it() {
        for (clause, told) in [
            (
                "the call timed out foxes were seen",
                &[("the call timed out", false), (" foxes were seen", true)] as &[(&str, bool)],
            ),
            ("two errors foxes", &[("two errors", false), (" foxes", true)]),
            ("the call timed out on Monday", &[("the call timed out on Monday", false)]),
            ("timeouts happen", &[("timeouts happen", false)]),
            ("it failed", &[("it failed", false)]),
            ("foxes live", &[("foxes live", false)]),
        ] {
            assert_eq!(after_admission(clause), told);
        }
    }

    #[test]
    fn a_guess_excuses_its_sentence_and_own_knowledge_all_that_follows() {
        for (answer, told) in [
            (
                "Foxes. From memory: wolves. Bears",
                vec![
                    (0, "Foxes", false),
                    (1, "From memory:", true),
                    (1, "wolves", true),
                    (2, "Bears", true),
                ],
            ),
            ("Perhaps foxes. Bears", vec![(0, "Perhaps foxes", true), (1, "Bears", false)]),
            ("Foxes? Bears", vec![(0, "Foxes", true), (1, "Bears", false)]),
        ] {
            let found = clauses(answer);
            let found: Vec<_> =
                found.iter().map(|one| (one.sentence, one.text.as_str(), one.is_excused)).collect();
            assert_eq!(found, told, "{answer}");
        }
    }
}
