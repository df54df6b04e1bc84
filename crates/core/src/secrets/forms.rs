//! One expression for all the forms in which others may write a secret.
//!
//! A secret is looked for in pieces of at most [`LONGEST_PIECE`] characters, each of them
//!
//! - as it is, every character of it also as JSON, a URL, HTML or a shell may write it (`\"`, `\u0022`, `%22`,
//!   `&quot;`), in any mixture;
//! - in base64, with either alphabet, wherever it stands in what was encoded: a piece that begins at the
//!   first, second or third byte of a group gives three different texts.

use std::{borrow::Cow, fmt::Write as _};

use base64::{Engine as _, engine::general_purpose::STANDARD_NO_PAD};
use regex::bytes::{Regex, RegexBuilder};

use super::{MASK, names::SHORTEST};

/// What is longer is looked for in pieces, so that a part of it is found as well.
pub(super) const LONGEST_PIECE: usize = 64;
/// How long one character of a secret may become: `%252522` and the like.
pub(super) const WIDEST_LETTER: usize = 12;
/// Pieces beyond this are looked for as they are, and in no other form.
const MOST_PIECES: usize = 256;
/// What an expression for so many pieces may take.
const SIZE_LIMIT: usize = 1 << 30;
/// What a search may keep of it in memory, so that it stays fast.
const DFA_LIMIT: usize = 32 << 20;

pub(super) struct Forms {
    /// Nothing where there is no expression: then nothing is shown.
    patterns: Option<Patterns>,
}

struct Patterns {
    whole: Regex,
    /// What is left of a form where a text was cut in its middle, and the sign that it was.
    cut: Regex,
}

impl Forms {
    pub(super) fn of(values: &[String]) -> Self {
        let pieces: Vec<String> = values.iter().flat_map(|value| pieces_of(value)).collect();
        let mut forms: Vec<Vec<String>> = Vec::new();
        for (index, piece) in pieces.iter().enumerate() {
            if index < MOST_PIECES {
                forms.push(piece.chars().map(letter).collect());
                forms.extend(encoded(piece.as_bytes()));
            } else {
                forms.push(vec![regex::escape(piece)]);
            }
        }
        // What begins another one is found as the longer of the two.
        forms.sort_unstable_by_key(|form| std::cmp::Reverse(form.len()));
        let whole: Vec<_> = forms.iter().map(|form| form.concat()).collect();
        let cut = forms.iter().filter_map(|form| beginning(form)).chain([NEVER.to_owned()]);
        let cut: Vec<_> = cut.collect();
        let compiled = compile(&format!("(?:{})+", whole.join("|")))
            .zip(compile(&format!("(?:{}){HALF_A_LETTER}{CUT}", cut.join("|"))));
        Self { patterns: compiled.map(|(whole, cut)| Patterns { whole, cut }) }
    }

    pub(super) fn out_of_bytes<'a>(&self, bytes: &'a [u8]) -> Cow<'a, [u8]> {
        let Some(patterns) = &self.patterns else { return Cow::Borrowed(MASK.as_bytes()) };
        match patterns.whole.replace_all(bytes, MASK.as_bytes()) {
            Cow::Borrowed(bytes) => patterns.cut.replace_all(bytes, MASKED_CUT.as_bytes()),
            Cow::Owned(masked) => Cow::Owned(self.out_of_cuts(masked)),
        }
    }

    /// What is left of secrets at the end of texts that were cut.
    pub(super) fn out_of_cuts(&self, bytes: Vec<u8>) -> Vec<u8> {
        let Some(patterns) = &self.patterns else { return bytes };
        match patterns.cut.replace_all(&bytes, MASKED_CUT.as_bytes()) {
            Cow::Owned(masked) => masked,
            Cow::Borrowed(_) => bytes,
        }
    }

    pub(super) fn out_of_text<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.out_of_bytes(text.as_bytes()) {
            Cow::Borrowed(_) if self.patterns.is_some() => Cow::Borrowed(text),
            masked => Cow::Owned(String::from_utf8_lossy(&masked).into_owned()),
        }
    }

    /// Where the first secret at or behind `from` stands.
    pub(super) fn find(&self, bytes: &[u8], from: usize) -> Option<(usize, usize)> {
        match &self.patterns {
            Some(patterns) => {
                patterns.whole.find_at(bytes, from).map(|found| (found.start(), found.end()))
            }
            None => (from < bytes.len()).then_some((from, bytes.len())),
        }
    }
}

/// The end of a text in JSON, also of one within a text, or the sign that more followed.
const CUT: &str = "(?P<end>\\\\*\"|\u{2026})";
/// An empty list would find what is empty.
const NEVER: &str = "[a&&b]";
/// What a cut may leave of a letter that takes several characters.
const HALF_A_LETTER: &str = r"(?:(?:%|&|\\+u)[#0-9A-Za-z]{0,6})?";
const MASKED_CUT: &str = "***${end}";

fn compile(pattern: &str) -> Option<Regex> {
    RegexBuilder::new(pattern).size_limit(SIZE_LIMIT).dfa_size_limit(DFA_LIMIT).build().ok()
}

/// At least half of a form, from its first letter on; what is shorter may be an ordinary word.
fn beginning(letters: &[String]) -> Option<String> {
    let least = (letters.len() / 2).max(SHORTEST);
    let (_, letters) = letters.split_last()?;
    let (surely, perhaps) = letters.split_at_checked(least)?;
    let perhaps =
        perhaps.iter().rev().fold(String::new(), |rest, letter| format!("(?:{letter}{rest})?"));
    Some(surely.concat() + &perhaps)
}

/// The lines of a value, cut where they are long. The last piece is not so short that it is found
/// everywhere.
fn pieces_of(value: &str) -> Vec<String> {
    let mut pieces = Vec::new();
    for line in value.lines().map(str::trim).filter(|line| line.chars().count() >= SHORTEST) {
        let letters: Vec<char> = line.chars().collect();
        let mut rest = letters.as_slice();
        while rest.len() >= LONGEST_PIECE + SHORTEST {
            let (piece, others) = rest.split_at(LONGEST_PIECE);
            pieces.push(piece.iter().collect());
            rest = others;
        }
        pieces.push(rest.iter().collect());
    }
    if pieces.is_empty() {
        // Lines that are all short are found together or not at all.
        pieces.push(value.to_owned());
    }
    pieces
}

/// One character in all the ways in which it may be written.
fn letter(c: char) -> String {
    let mut ways = vec![regex::escape(c.encode_utf8(&mut [0; 4]))];
    let percent = c.encode_utf8(&mut [0; 4]).bytes().fold(String::new(), |mut all, byte| {
        let _ = write!(all, "%(?:25)*(?i:{byte:02x})");
        all
    });
    let escaped = c.encode_utf16(&mut [0; 2]).iter().fold(String::new(), |mut all, unit| {
        let _ = write!(all, r"\\+u(?i:{unit:04x})");
        all
    });
    let code = u32::from(c);
    ways.extend([percent, escaped, format!("&#(?:0*{code}|(?i:x0*{code:x}));")]);
    match c {
        '&' => ways.push("&amp;".into()),
        '<' => ways.push("&lt;".into()),
        '>' => ways.push("&gt;".into()),
        '"' => ways.push("&quot;".into()),
        '\'' => ways.push("&apos;".into()),
        ' ' => ways.push(r"\+".into()),
        // One of them, or as many as it takes to write one.
        '\\' => ways.push(r"\\+".into()),
        _ => {}
    }
    // JSON, Markdown and shells write a backslash before some.
    let before = if c.is_ascii_punctuation() { r"\\*" } else { "" };
    format!("{before}(?:{})", ways.join("|"))
}

/// What of the base64 of a text does not depend on what stands around it.
fn encoded(bytes: &[u8]) -> impl Iterator<Item = Vec<String>> {
    let of_shift = |shift: usize| {
        let mut shifted = vec![0; shift];
        shifted.extend_from_slice(bytes);
        let text = STANDARD_NO_PAD.encode(&shifted);
        // A character is ours if all of its six bits are.
        let first = (shift * 8).div_ceil(6);
        let end = shifted.len() * 8 / 6;
        text.get(first..end).unwrap_or_default().to_owned()
    };
    let texts = [0, 1, 2].map(of_shift).into_iter().filter(|text| text.len() >= SHORTEST);
    texts.map(|text| text.chars().map(base64_letter).collect())
}

fn base64_letter(c: char) -> String {
    match c {
        '+' => r"(?:\+|-|%(?:25)*2[bB]|\\+u002[bB])".into(),
        '/' => r"(?:\\*/|_|%(?:25)*2[fF]|\\+u002[fF])".into(),
        c => c.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use base64::engine::general_purpose::{STANDARD, URL_SAFE, URL_SAFE_NO_PAD};
    use proptest::prelude::*;

    use super::*;

    const SECRET: &str = r#"c4n4ry-5ecret/"9f"\x+é"#;

    fn forms() -> Forms {
        Forms::of(&[SECRET.to_owned()])
    }

    fn percent(text: &str, keep: fn(u8) -> bool) -> String {
        text.bytes().fold(String::new(), |mut all, byte| {
            let _ = if keep(byte) {
                write!(all, "{}", char::from(byte))
            } else {
                write!(all, "%{byte:02X}")
            };
            all
        })
    }

    #[test]
    fn a_secret_is_found_in_every_form() {
        let json = serde_json::to_string(SECRET).unwrap();
        let twice = serde_json::to_string(&json).unwrap();
        let html = SECRET.replace('"', "&quot;");
        let python = json.replace('é', "\\u00e9");
        for told in [
            SECRET.to_owned(),
            json,
            twice,
            html,
            python,
            percent(SECRET, |byte| byte.is_ascii_alphanumeric()),
            percent(SECRET, |_| false).to_lowercase(),
            percent(&percent(SECRET, |byte| byte.is_ascii_alphanumeric()), |byte| byte != b'%'),
        ] {
            let masked = forms().out_of_text(&format!("a {told} b")).into_owned();
            assert!(
                masked == "a *** b" || masked == r#"a "***" b"# || masked == r#"a "\"***\"" b"#,
                "{masked}"
            );
        }
    }

    #[test]
    fn a_long_secret_is_found_in_parts_and_a_cut_one_by_its_head() {
        let long: String = (0..500).map(|at| char::from(b'a' + (at * at % 23) as u8)).collect();
        let forms = Forms::of(std::slice::from_ref(&long));
        assert_eq!(forms.out_of_text(&format!("<{long}>")), "<***>");
        assert_eq!(forms.out_of_text(&format!("<{}>", &long[64..192])), "<***>");
        assert_eq!(forms.out_of_text(&format!("is {}…", &long[..40])), "is ***…");
        let percent = percent(&long[..40], |_| false);
        assert_eq!(
            forms.out_of_text(&format!(r#"{{"a":"{percent}%6","b":1}}"#)),
            r#"{"a":"***","b":1}"#
        );
        assert_eq!(
            forms.out_of_text(&format!("is {}…", &long[..4])),
            format!("is {}…", &long[..4])
        );
        assert_eq!(
            forms.out_of_text(&format!("is {}", &long[..30])),
            format!("is {}", &long[..30])
        );
    }

    #[test]
    fn a_cut_within_a_text_leaves_json_that_can_be_read() {
        let inner = serde_json::json!({ "t": &SECRET[..12], "u": "%63", "v": "x\\" }).to_string();
        let text = serde_json::json!({ "r": inner }).to_string();
        let masked: serde_json::Value = serde_json::from_str(&forms().out_of_text(&text)).unwrap();
        assert_eq!(masked["r"], r#"{"t":"***","u":"%63","v":"x\\"}"#);
    }

    #[test]
    fn what_is_too_short_to_be_cut_is_found_whole() {
        let forms = Forms::of(&["a1b2c3".to_owned()]);
        assert_eq!(
            forms.out_of_text(r#"{"a":"a1b2c3","b":"a1b2c"}"#),
            r#"{"a":"***","b":"a1b2c"}"#
        );
    }

    #[test]
    fn the_lines_of_a_key_are_found_by_themselves() {
        let key = "-----BEGIN KEY-----\nabcDEF123\nghiJKL456\n";
        let forms = Forms::of(&[key.to_owned()]);
        assert_eq!(forms.out_of_text("got ghiJKL456 and abcDEF123"), "got *** and ***");
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..Default::default() })]

        #[test]
        fn base64_is_found_wherever_it_stands(
            before in prop::collection::vec(any::<u8>(), 0..5),
            after in prop::collection::vec(any::<u8>(), 0..5),
            secret in "[!-~]{9,80}",
        ) {
            let forms = Forms::of(std::slice::from_ref(&secret));
            let all = [before, secret.clone().into_bytes(), after].concat();
            for text in [STANDARD.encode(&all), URL_SAFE.encode(&all), URL_SAFE_NO_PAD.encode(&all)] {
                let masked = forms.out_of_text(&text).into_owned();
                prop_assert!(masked.contains(MASK), "{secret}: {masked}");
                prop_assert!(masked.len() < 40, "{secret}: {masked}");
            }
        }

        #[test]
        fn what_tells_nothing_stays_as_it_is(text in "[a-b0-9 %&\\\\]{0,60}") {
            prop_assert_eq!(forms().out_of_text(&text), text.as_str());
        }
    }

    #[test]
    fn what_cannot_be_looked_for_is_not_shown_at_all() {
        let forms = Forms { patterns: None };
        assert_eq!(forms.out_of_text("plain"), MASK);
        assert_eq!(forms.out_of_bytes(b"plain").as_ref(), MASK.as_bytes());
        assert_eq!(forms.out_of_cuts(b"plain".to_vec()), b"plain");
        assert_eq!((forms.find(b"plain", 2), forms.find(b"plain", 5)), (Some((2, 5)), None));
    }

    #[test]
    fn a_text_that_tells_nothing_is_not_copied() {
        assert!(matches!(forms().out_of_text("plain"), Cow::Borrowed("plain")));
    }

    #[test]
    fn letters_are_found_as_html_and_forms_write_them() {
        let forms = Forms::of(&[r#"k&<>"' \9z"#.to_owned()]);
        assert_eq!(forms.out_of_text(r"a k&amp;&lt;&gt;&quot;&apos;+\9z b"), "a *** b");
    }

    #[test]
    fn pieces_are_neither_too_long_nor_too_short_to_be_told() {
        for (length, expected) in [
            (5, &[5][..]),
            (6, &[6]),
            (60, &[60]),
            (69, &[69]),
            (70, &[64, 6]),
            (133, &[64, 69]),
            (134, &[64, 64, 6]),
        ] {
            let pieces = pieces_of(&"x".repeat(length));
            let lengths: Vec<_> = pieces.iter().map(String::len).collect();
            assert_eq!(lengths, expected, "{length}");
        }
        assert_eq!(pieces_of("abc\n  defghi \nxy"), ["defghi"]);
        assert_eq!(pieces_of("abc\ndef"), ["abc\ndef"]);
    }

    #[test]
    fn half_of_a_secret_is_found_where_it_was_cut_and_no_less() {
        for (secret, shown, is_found) in [
            ("a1b2c3d4e5f6g7", "a1b2c3d", true),
            ("a1b2c3d4e5f6g7", "a1b2c3", false),
            ("a1b2c3d", "a1b2c3", true),
            ("a1b2c3d", "a1b2c", false),
        ] {
            let masked =
                Forms::of(&[secret.to_owned()]).out_of_text(&format!("{shown}…")).into_owned();
            let expected = if is_found { "***…".to_owned() } else { format!("{shown}…") };
            assert_eq!(masked, expected, "{shown} of {secret}");
        }
    }

    #[test]
    fn beyond_so_many_pieces_they_are_only_looked_for_as_they_are() {
        let values: Vec<_> = (0..=MOST_PIECES).map(|n| format!("k3-{n:03}")).collect();
        let forms = Forms::of(&values);
        let (last, beyond) = (&values[MOST_PIECES - 1], &values[MOST_PIECES]);
        assert_eq!(forms.out_of_text(&percent(last, |_| false)), MASK);
        let written = percent(beyond, |_| false);
        assert_eq!(forms.out_of_text(&written), written);
        assert_eq!(forms.out_of_text(beyond), MASK);
    }
}
