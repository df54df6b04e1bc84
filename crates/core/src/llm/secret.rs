//! Keys that must not be written down, wherever they stand in a text.

use std::{borrow::Cow, ops::Range, sync::LazyLock};

use regex::Regex;

pub use crate::secrets::MASK;

/// The forms in which providers hand out keys, and what people carry in URLs.
static KEY: LazyLock<Regex> = LazyLock::new(|| {
    #[expect(clippy::expect_used, reason = "the expression is a constant that a test compiles")]
    Regex::new(r"sk-[A-Za-z0-9_-]{16,}|AIza[A-Za-z0-9_-]{30,}|\b(?:ghp|gho|xox[abp])[_-][A-Za-z0-9-]{20,}|AKIA[A-Z0-9]{16}|[?&]key=[^&\s]+")
        .expect("it is an expression")
});

/// A text without the keys in it.
pub fn masked(text: &str) -> Cow<'_, str> {
    KEY.replace_all(text, MASK)
}

/// Where the keys of providers stand in a text.
pub(crate) fn keys_in(text: &str) -> impl Iterator<Item = Range<usize>> {
    let keys = KEY.find_iter(text).filter(|found| !found.as_str().starts_with(['?', '&']));
    keys.map(|found| found.range())
}

/// How many different characters a key has at least that was not typed by hand.
const REAL_VARIETY: usize = 14;

/// Whether a key looks as if a provider had handed it out: long, of a known form, and not a word
/// such as `sk-test-test-test-test`.
pub fn looks_real(key: &str) -> bool {
    let key = key.strip_prefix("Bearer ").unwrap_or(key).trim();
    // Most keys of tests end here, and every request brings one.
    if !(key.starts_with("sk-") || key.starts_with("AIza")) || key.len() < 35 {
        return false;
    }
    let mut seen: Vec<char> = key.chars().collect();
    seen.sort_unstable();
    seen.dedup();
    let has = |test: fn(&char) -> bool| seen.iter().any(test);
    seen.len() >= REAL_VARIETY && has(char::is_ascii_digit) && has(char::is_ascii_uppercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_found_wherever_they_stand() {
        let text = r#"{"note":"use sk-proj-abcdefghijklmnopqrstuv, please"}"#;
        assert_eq!(masked(text), r#"{"note":"use ***, please"}"#);
        assert_eq!(masked("/v1beta/models/x:y?key=abc&alt=sse"), "/v1beta/models/x:y***&alt=sse");
        assert_eq!(masked("a task-force of sk-ill"), "a task-force of sk-ill");
    }

    #[test]
    fn what_was_typed_by_hand_is_no_real_key() {
        let made_up = format!("sk-proj-{}", "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7");
        assert!(looks_real(&made_up));
        assert!(looks_real(&format!("Bearer {made_up}")));
        let long =
            ["sk-abcdefghijklmnopqrstuvwxyz-abcdefgh1", "sk-abcdefghijklmnopqrstuvwxyz-ABCDEFGHI"];
        for word in long {
            assert!(!looks_real(word), "{word}");
        }
        assert!(looks_real("AIzaSyA1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q"));
        for word in ["sk-test", "test", "sk-mock-mock-mock-mock-mock-mock-mock-mock", "", "no-key"]
        {
            assert!(!looks_real(word), "{word}");
        }
    }

    #[test]
    fn a_real_key_is_long_and_begins_as_providers_have_it() {
        let varied = "aB3dE6gH9jK2mN5pQ8sT1vW4yZ7";
        for (key, is_real) in [
            (format!("sk-proj-{varied}"), true),
            (format!("sk-pro-{varied}"), false),
            (format!("no-proj-{varied}-{varied}"), false),
            (format!("AIza-----{varied}"), true),
            (format!(" AIza----{varied} "), true),
            (format!("AIza---{varied}"), false),
        ] {
            assert_eq!(looks_real(&key), is_real, "{key}");
        }
    }

    #[test]
    fn places_of_keys_leave_out_what_only_a_url_carries() {
        let text = "a sk-proj-abcdefghijklmnopqrstuv?key=short AKIAABCDEFGHIJKLMNOP";
        let found: Vec<_> = keys_in(text).map(|range| &text[range]).collect();
        assert_eq!(found, ["sk-proj-abcdefghijklmnopqrstuv", "AKIAABCDEFGHIJKLMNOP"]);
        assert_eq!(keys_in("no key").count(), 0);
    }
}
