//! Texts at and beyond their limits, and texts that break those who do not expect them.

use serde_json::{Value, json};

use super::{
    edit::{Edit, LONE_SURROGATE},
    site::Site,
};
use crate::{fuzz::Intent, seed::Dice};

/// The longest text.
const LONG: usize = 64 * 1024;

/// Texts that break those who do not expect them.
const HOSTILE: &[(&str, &str)] = &[
    ("empty", ""),
    ("one letter", "a"),
    ("a space", " "),
    ("NUL", "a\0b"),
    ("half a surrogate pair", LONE_SURROGATE),
    ("right to left", "\u{202e}txt.exe"),
    ("four bytes", "\u{1f600}\u{10ffff}"),
    ("composed", "\u{e9}"),
    ("decomposed", "e\u{301}"),
    ("many marks", "a\u{300}\u{301}\u{302}\u{303}\u{304}\u{305}\u{306}\u{307}\u{308}"),
    ("no width", "a\u{200b}\u{feff}b"),
    ("line ends", "a\r\nb\n\nc\u{2028}d\u{85}"),
    ("a path up", "../../../../etc/passwd"),
    ("a path with NUL", "/tmp/a\0.txt"),
    ("a path of Windows", "..\\..\\C:\\con"),
    ("ANSI", "\u{1b}[31mred\u{1b}[0m\u{1b}]0;title\u{7}"),
    ("HTML", "<script>alert(1)</script>&amp;\"'"),
    ("a template", "{{7*7}}${7*7}%s%n{0}"),
    ("quotes", "'\"`\\"),
    ("a number", "1e999"),
    ("JSON", "{\"a\":[1,2"),
    ("a name of JavaScript", "__proto__"),
    ("null", "null"),
    ("not a character", "\u{fffe}\u{fdd0}"),
];

pub(super) fn edits(site: &Site<'_>) -> Vec<Edit> {
    let (right, wrong) = (Some(Intent::Positive), Some(Intent::Negative));
    let shaped = site.each("pattern").chain(site.each("enum")).chain(site.each("const"));
    let right = right.filter(|_| shaped.count() == 0);
    let mut edits = Vec::new();
    let mut sized = |length: u64, label: String, meant| {
        // A limit that cannot be reached cannot be tried.
        if length <= LONG as u64 * 2 {
            edits.push(long(site, "x".repeat(length as usize), label, meant));
        }
    };
    for least in site.each("minLength").filter_map(Value::as_u64) {
        sized(least, "minLength exactly".into(), right);
        if let Some(shorter) = least.checked_sub(1) {
            sized(shorter, "minLength -1".into(), wrong);
        }
    }
    for most in site.each("maxLength").filter_map(Value::as_u64) {
        sized(most, "maxLength exactly".into(), right);
        sized(most.saturating_add(1), "maxLength +1".into(), wrong);
    }
    for _ in site.each("pattern") {
        edits.push(site.set(json!("\u{1}\u{2}"), "not of the pattern", None));
    }
    let hostile = HOSTILE.iter().map(|(label, text)| site.set(json!(text), label, None));
    edits.extend(hostile);
    edits.push(long(site, "y".repeat(LONG), "64 KiB".into(), None));
    edits.push(long(site, "\u{1f600}".repeat(4096), "4096 times four bytes".into(), None));
    edits
}

fn long(site: &Site<'_>, text: String, label: String, meant: Option<Intent>) -> Edit {
    let heavy = text.len() >= LONG;
    Edit { heavy, ..site.set(json!(text), label, meant) }
}

pub(super) fn chance(site: &Site<'_>, dice: &mut Dice) -> Edit {
    let mut text = String::new();
    for _ in 0..dice.below(8) {
        match dice.below(3) {
            0 => text.push_str(HOSTILE[dice.below(HOSTILE.len() as u64) as usize].1),
            1 => text.extend(char::from_u32(dice.below(0x11_0000) as u32)),
            _ => text.push(char::from(32 + dice.below(95) as u8)),
        }
    }
    site.set(json!(text), "a text by chance", None)
}
