//! Text in lines of a fixed width, counted in terminal columns.

use std::borrow::Cow;

/// How many columns a character takes. Combining marks count as one: too short a line does no harm.
fn columns(c: char) -> usize {
    let wide = matches!(c as u32,
        0x1100..=0x115f
        | 0x2e80..=0xa4cf
        | 0xac00..=0xd7a3
        | 0xf900..=0xfaff
        | 0xfe30..=0xfe6f
        | 0xff00..=0xff60
        | 0xffe0..=0xffe6
        | 0x1f000..=0x1faff
        | 0x20000..=0x3fffd);
    if wide { 2 } else { 1 }
}

/// How many columns a text takes.
pub fn width(text: &str) -> usize {
    text.chars().map(columns).sum()
}

/// The text cut to this many columns; a cut shows.
pub fn cut(text: &str, room: usize) -> String {
    if width(text) <= room {
        return text.to_owned();
    }
    let mut head = head(text, room.saturating_sub(1)).to_owned();
    head.push('…');
    head
}

/// The text in lines of at most `room` columns, broken at spaces, and inside words that are longer
/// than a line.
pub fn wrap(text: &str, room: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut line = String::new();
    for word in text.split(' ').filter(|word| !word.is_empty()) {
        let word = disarmed(word);
        let mut word = word.as_ref();
        if !line.is_empty() && width(&line) + 1 + width(word) > room {
            lines.push(std::mem::take(&mut line));
        }
        while width(word) > room {
            let head = head(word, room);
            lines.push(disarmed(head).into_owned());
            word = &word[head.len()..];
        }
        if !line.is_empty() {
            line.push(' ');
        }
        line.push_str(word);
    }
    if !line.is_empty() || lines.is_empty() {
        lines.push(line);
    }
    lines
}

/// The longest beginning that fits, and never nothing.
fn head(text: &str, room: usize) -> &str {
    let mut used = 0;
    for (at, c) in text.char_indices() {
        used += columns(c);
        if used > room && at > 0 {
            return &text[..at];
        }
    }
    text
}

/// A CI runner takes a line that begins with `::` as a command, even after white space, and any word
/// may begin a line.
fn disarmed(word: &str) -> Cow<'_, str> {
    word.strip_prefix("::").map_or(Cow::Borrowed(word), |rest| Cow::Owned(format!(":\\x3a{rest}")))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_break_at_spaces_and_long_words_anywhere() {
        assert_eq!(wrap("one two three", 7), ["one two", "three"]);
        assert_eq!(wrap("a abcdefgh b", 3), ["a", "abc", "def", "gh", "b"]);
        assert_eq!(wrap("abc def", 3), ["abc", "def"]);
        assert_eq!(wrap("", 7), [""]);
        assert_eq!(wrap("漢字漢字", 4), ["漢字", "漢字"]);
    }

    #[test]
    fn a_line_holds_a_character_even_where_none_fits() {
        assert_eq!(wrap("漢字", 1), ["漢", "字"]);
        assert_eq!(wrap("漢", 1), ["漢"]);
        assert_eq!((cut("ab", 1), cut("漢字", 1)), ("a…".into(), "漢…".into()));
        assert_eq!(wrap("  one   two  ", 7), ["one two"]);
        assert_eq!(wrap("abc def", 6), ["abc", "def"]);
    }

    #[test]
    fn a_break_makes_no_command() {
        assert_eq!(wrap("xxxx ::error::y", 14), ["xxxx", ":\\x3aerror::y"]);
    }

    #[test]
    fn a_cut_shows() {
        assert_eq!(cut("abcdef", 6), "abcdef");
        assert_eq!(cut("abcdef", 4), "abc…");
    }

    proptest! {
        #[test]
        fn every_line_fits_and_nothing_is_lost(text in "\\PC{0,80}", room in 4_usize..40) {
            let lines = wrap(&text, room);
            let plain = |text: &str| text.replace(' ', "");
            // Only the middle of an endless word that is disarmed too may be three columns longer.
            let slack = |line: &str| if line.starts_with(":\\x3a") { 3 } else { 0 };
            prop_assert!(lines.iter().all(|line| width(line) <= room + slack(line)));
            prop_assert_eq!(plain(&lines.concat().replace("\\x3a", ":")), plain(&text.replace("\\x3a", ":")));
        }
    }
}
