//! Text from elsewhere inside HTML and inside the data that the page carries.
//!
//! Everything that is written into the page passes through here, whoever it came from: a rule
//! without exceptions is one that can be checked.

use serde_json::Value;

use crate::display::visible;

/// How much of a text from elsewhere is shown.
pub(crate) const LONGEST_TEXT: usize = 500;
/// How much of a name is shown.
pub(crate) const LONGEST_NAME: usize = 80;

/// A text as the content of an element or of a quoted attribute.
pub(crate) fn text(text: &str, limit: usize) -> String {
    entities(&visible(text, limit))
}

/// A sentence in which pairs of backticks mark literals.
pub(crate) fn prose(text: &str, limit: usize) -> String {
    let text = visible(text, limit);
    let parts: Vec<&str> = text.split('`').collect();
    let mut safe = String::new();
    for (at, part) in parts.iter().enumerate() {
        match (at % 2 == 1, at + 1 < parts.len()) {
            (true, true) => safe.push_str(&format!("<code>{}</code>", entities(part))),
            (true, false) => safe.push_str(&format!("`{}", entities(part))),
            (false, _) => safe.push_str(&entities(part)),
        }
    }
    safe
}

/// JSON inside a `script` element. Only strings of it can hold these characters, and in a string
/// the escape means the same; without it `</script>` or `<!--` would end or swallow the element.
pub(crate) fn json(value: &Value) -> String {
    let mut safe = String::new();
    for c in value.to_string().chars() {
        match c {
            '<' | '>' | '&' | '\'' | '\u{2028}' | '\u{2029}' => {
                safe.push_str(&format!("\\u{:04x}", c as u32));
            }
            c => safe.push(c),
        }
    }
    safe
}

fn entities(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => safe.push_str("&amp;"),
            '<' => safe.push_str("&lt;"),
            '>' => safe.push_str("&gt;"),
            '"' => safe.push_str("&quot;"),
            '\'' => safe.push_str("&#39;"),
            c => safe.push(c),
        }
    }
    safe
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn markup_becomes_text() {
        assert_eq!(text("<b a='1'>\"&", 80), "&lt;b a=&#39;1&#39;&gt;&quot;&amp;");
        assert_eq!(text("a\u{202e}b", 80), "a\\u{202e}b");
        assert_eq!(prose("call `<x>` took", 80), "call <code>&lt;x&gt;</code> took");
        assert_eq!(prose("odd ` <x>", 80), "odd ` &lt;x&gt;");
    }

    #[test]
    fn data_never_ends_its_element_and_reads_back() {
        let hostile = json!({"name": "</script><!--<script>\u{2028}&'"});
        let told = json(&hostile);
        assert!(!told.contains(['<', '>', '&', '\'', '\u{2028}']), "{told}");
        assert_eq!(serde_json::from_str::<Value>(&told).unwrap(), hostile);
    }
}
