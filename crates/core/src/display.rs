//! Text from a peer, made safe to show: no terminal escapes, no bidi tricks, no endless lines.

use std::fmt::Write as _;

/// Makes peer text safe for a terminal or a log line: control characters, bidi and invisible
/// characters become visible escapes, the text ends after `limit` characters, and nothing in it is
/// a command to a CI runner (`::set-env…` at the start of a line, `##vso[…` anywhere).
///
/// ```
/// # use mcp_loadtest_core::display::visible;
/// assert_eq!(visible("a\x1b[2Jb", 80), "a\\x1b[2Jb");
/// assert_eq!(visible("abcdef", 3), "abc…");
/// ```
pub fn visible(text: &str, limit: usize) -> String {
    let mut safe = String::with_capacity(text.len().min(limit));
    for (count, c) in text.chars().enumerate() {
        if count == limit {
            safe.push('…');
            break;
        }
        match c {
            '\n' => safe.push_str("\\n"),
            '\r' => safe.push_str("\\r"),
            '\t' => safe.push_str("\\t"),
            '#' if safe.ends_with('#') => safe.push_str("\\x23"),
            ':' if safe.ends_with(':') && safe.trim() == ":" => safe.push_str("\\x3a"),
            c if (c as u32) < 0x20 || c == '\x7f' => {
                let _ = write!(safe, "\\x{:02x}", c as u32);
            }
            c if is_deceptive(c) => {
                let _ = write!(safe, "\\u{{{:x}}}", c as u32);
            }
            c => safe.push(c),
        }
    }
    safe
}

/// The same for bytes that may not be UTF-8: those that are not are shown as `\xff`.
pub fn visible_bytes(bytes: &[u8], limit: usize) -> String {
    // Four bytes a character at most: nothing beyond can be shown, so nothing beyond is decoded. One
    // character more is, so that it shows that there is more.
    let head = &bytes[..bytes.len().min(limit.saturating_mul(4).saturating_add(4))];
    let mut text = String::with_capacity(head.len());
    for chunk in head.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            let _ = write!(text, "\\x{byte:02x}");
        }
    }
    visible(&text, limit)
}

/// The last few lines of peer text that say anything, each made safe.
pub fn visible_lines(text: &str, lines: usize, width: usize) -> Vec<String> {
    let said = text.lines().rev().filter(|line| !line.trim().is_empty()).take(lines);
    let mut last: Vec<_> = said.map(|line| visible(line, width)).collect();
    last.reverse();
    last
}

/// JSON that a terminal can be shown: what it would obey, or would not show, is escaped. It reads
/// back as the same.
pub fn json(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        if c == '\x7f' || is_deceptive(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(safe, "\\u{unit:04x}");
            }
        } else {
            safe.push(c);
        }
    }
    safe
}

/// C1 controls, bidi controls, and characters that show nothing: zero-width ones, the soft hyphen,
/// fillers, the byte order mark and tags.
pub(crate) fn is_deceptive(c: char) -> bool {
    matches!(c,
        '\u{80}'..='\u{9f}'
        | '\u{ad}'
        | '\u{34f}'
        | '\u{61c}'
        | '\u{115f}'..='\u{1160}'
        | '\u{180e}'
        | '\u{200b}'..='\u{200f}'
        | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{3164}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{e0000}'..='\u{e007f}')
}

/// Text from a peer inside a Markdown table or sentence: no markup, no mention, no link.
pub fn markdown(text: &str, limit: usize) -> String {
    let mut safe = String::new();
    for c in visible(text, limit).chars() {
        if matches!(
            c,
            '|' | '`' | '*' | '_' | '[' | ']' | '<' | '>' | '!' | '#' | '\\' | '&' | '~' | '$'
        ) {
            safe.push('\\');
        }
        safe.push(c);
        if matches!(c, '@' | '#') {
            // A zero-width space keeps `@org/team` from becoming a mention and `#1` a reference;
            // a backslash does not, because forges look for them after they have rendered.
            safe.push('\u{200b}');
        }
    }
    safe.replace("://", ":\u{200b}//").replace("www.", "www\u{200b}.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terminal_tricks_become_visible() {
        assert_eq!(visible("\u{202e}evil\u{9b}31m\x07", 80), "\\u{202e}evil\\u{9b}31m\\x07");
        assert_eq!(visible_bytes(b"ok\xff\xfe", 80), "ok\\xff\\xfe");
        assert_eq!(visible_bytes(&[b'a'; 1000], 5), "aaaaa…");
        assert_eq!(visible("a\tb", 80), "a\\tb");
        assert_eq!(visible_lines("one\n\n two \nthree\n", 2, 4), [" two…", "thre…"]);
    }

    #[test]
    fn markdown_shows_text_and_nothing_else() {
        assert_eq!(markdown("a|b", 80), "a\\|b");
        assert!(!markdown("![x](http://evil)", 80).contains("![x](http://"));
        assert!(!markdown("@org/team", 80).contains("@o"));
        assert!(!markdown("fixes #1", 80).contains("#1"));
        assert_eq!(markdown("&#64;x $a$", 80), "\\&\\#\u{200b}64;x \\$a\\$");
    }

    #[test]
    fn escaped_json_reads_back() {
        let value = serde_json::json!({"a": "\u{9b}31m\u{202e}ok \u{7f}é\u{e0041}"});
        let text = json(&value.to_string());
        assert!(!text.contains(['\u{9b}', '\u{202e}', '\u{7f}', '\u{e0041}']), "{text}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&text).unwrap(), value);
    }

    #[test]
    fn runners_find_no_commands() {
        assert_eq!(visible("  ::add-mask::x", 80), "  :\\x3aadd-mask::x");
        assert_eq!(visible("std::io", 80), "std::io");
        assert_eq!(visible("x ##vso[y", 80), "x #\\x23vso[y");
    }

    #[test]
    fn each_odd_character_has_its_escape() {
        for (text, shown) in [
            ("a\nb\rc", "a\\nb\\rc"),
            ("\x00\x1f \x7f~", "\\x00\\x1f \\x7f~"),
            ("\u{80}\u{9f}\u{a0}", "\\u{80}\\u{9f}\u{a0}"),
            ("a\u{200b}\u{feff}\u{e007f}é", "a\\u{200b}\\u{feff}\\u{e007f}é"),
            ("# a #b", "# a #b"),
            (": a:", ": a:"),
        ] {
            assert_eq!(visible(text, 80), shown);
        }
        for (limit, shown) in [(0, "…"), (2, "ab…"), (3, "abc"), (4, "abc")] {
            assert_eq!(visible("abc", limit), shown);
            assert_eq!(visible_bytes(b"abc", limit), shown);
        }
        assert_eq!(json("a\u{7f}b \u{202e}é"), "a\\u007fb \\u202eé");
    }
}
