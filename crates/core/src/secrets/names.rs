//! Which names say that a value is secret, and which values are found in too much to be one.

use crate::generate::words;

/// Wherever they stand in a name, also within a word: `apikey`, `mytoken`.
const PARTS: &[&str] =
    &["secret", "token", "password", "passwd", "passphrase", "apikey", "credential", "bearer"];

/// Whole words of a name: an `author` has no `auth`, and a `keyboard` is no `key`.
const WORDS: &[&str] = &[
    "auth",
    "authentication",
    "authorization",
    "cookie",
    "jwt",
    "key",
    "keys",
    "oauth",
    "pat",
    "private",
    "session",
    "sid",
    "signature",
];

/// Last words of a longer name: what is passed through is no password, and `PWD` is where we are.
const LAST: &[&str] = &["pass", "pwd"];

/// What a name begins with that switches something on or off.
const SWITCHES: &[&str] = &["allow", "disable", "enable", "no", "require", "skip", "without"];

/// What a name ends with that is about a secret, but not the name of one.
const ABOUT: &[&str] = &[
    "count",
    "dir",
    "directory",
    "enabled",
    "expiry",
    "file",
    "limit",
    "max",
    "method",
    "mode",
    "path",
    "provider",
    "scheme",
    "size",
    "timeout",
    "ttl",
    "type",
    "uri",
    "url",
];

/// Whether the name of a variable, a header, a flag or a member says that its value is secret.
///
/// ```
/// use mcp_loadtest_core::secrets::names_a_secret;
///
/// assert!(names_a_secret("GITHUB_TOKEN") && names_a_secret("--api-key"));
/// assert!(!names_a_secret("LOG_LEVEL") && !names_a_secret("TOKEN_FILE"));
/// ```
pub fn names_a_secret(name: &str) -> bool {
    let words = words(name);
    let is_in = |word: Option<&String>, list: &[&str]| {
        word.is_some_and(|word| list.contains(&word.as_str()))
    };
    if is_in(words.last(), ABOUT) || is_in(words.first(), SWITCHES) {
        return false;
    }
    let small = words.concat();
    PARTS.iter().any(|part| small.contains(part))
        || words.iter().any(|word| is_in(Some(word), WORDS))
        || words.len() > 1 && is_in(words.last(), LAST)
}

/// A secret that is shorter is found in everything.
pub(super) const SHORTEST: usize = 6;
/// A number that is shorter may be a figure.
const SHORTEST_NUMBER: usize = 16;
/// A word that is shorter may be one of a language, or of a protocol.
const SHORTEST_WORD: usize = 12;

/// Whether a value can be told from ordinary words and figures wherever it stands.
pub(super) fn can_be_told(value: &str) -> bool {
    let length = value.chars().count();
    let is_number = value.chars().all(|c| c.is_ascii_digit() || "+-.,:_".contains(c));
    let rest_is_small = value.chars().skip(1).all(|c| c.is_ascii_lowercase());
    let is_large = value.chars().all(|c| c.is_ascii_uppercase());
    let is_word =
        value.starts_with(|c: char| c.is_ascii_alphabetic()) && (rest_is_small || is_large);
    length >= SHORTEST
        && !(is_number && length < SHORTEST_NUMBER)
        && !(is_word && length < SHORTEST_WORD)
}

/// Whether a value looks made up by a machine: for those whose names do not say what they are.
pub(super) fn looks_made_up(value: &str) -> bool {
    let has = |test: fn(&char) -> bool| value.chars().any(|c| test(&c));
    value.len() >= 8
        && has(char::is_ascii_digit)
        && has(char::is_ascii_alphabetic)
        && !value.chars().any(char::is_whitespace)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_is_secret() {
        for name in [
            "API_KEY",
            "GITHUB_TOKEN",
            "Authorization",
            "DB_PASSWORD",
            "SIGNING_KEY",
            "apikey",
            "AUTH",
            "x-api-key",
            "--token",
            "clientSecret",
            "AWS_ACCESS_KEY_ID",
            "X-Session",
            "accessToken",
            "DB_PWD",
        ] {
            assert!(names_a_secret(name), "{name}");
        }
        for name in [
            "PATH",
            "KEYBOARD",
            "MONKEY",
            "LOG_LEVEL",
            "AUTHOR",
            "TOKEN_FILE",
            "auth-url",
            "--no-auth",
            "pass-through",
            "PWD",
            "",
        ] {
            assert!(!names_a_secret(name), "{name}");
        }
    }

    #[test]
    fn ordinary_words_and_figures_are_not_looked_for() {
        for value in [
            "true",
            "info",
            "1234",
            "128000",
            "1.250.000",
            "",
            "disabled",
            "Content",
            "NONE",
            "result",
        ] {
            assert!(!can_be_told(value), "{value}");
        }
        for value in
            ["hunter2x", "s3cr3t", "correct-horse", "AbCdEfGh", "abcdefghijkl", "1234567890123456"]
        {
            assert!(can_be_told(value), "{value}");
        }
        assert!(
            looks_made_up("a1b2c3d4")
                && !looks_made_up("text/html")
                && !looks_made_up("a 1 b 2 c 3")
        );
    }
}
