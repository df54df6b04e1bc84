//! Text from elsewhere inside Markdown.

use crate::display::{markdown, visible};

/// A sentence in which pairs of backticks mark literals. Everything else in it is plain text, so a
/// peer's backtick may move the boundary between the two but never opens any other markup.
pub(crate) fn prose(text: &str, limit: usize) -> String {
    let text = visible(text, limit);
    let parts: Vec<&str> = text.split('`').collect();
    let mut safe = String::new();
    for (at, part) in parts.iter().enumerate() {
        let is_literal = at % 2 == 1;
        let is_closed = at + 1 < parts.len();
        match (is_literal, is_closed) {
            (true, true) if part.is_empty() => safe.push_str("\\`\\`"),
            (true, true) => safe.push_str(&format!("`{part}`")),
            (true, false) => safe.push_str(&format!("\\`{}", markdown(part, usize::MAX))),
            (false, _) => safe.push_str(&markdown(part, usize::MAX)),
        }
    }
    safe
}

/// A literal: in a code span nothing is a link, a mention, an image or HTML.
pub(crate) fn code(text: &str, limit: usize) -> String {
    let text = visible(text, limit);
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    let fence = "`".repeat(longest + 1);
    // The spaces belong to the fence; a span of nothing is no span at all.
    let pad =
        if text.is_empty() || text.starts_with('`') || text.ends_with('`') { " " } else { "" };
    format!("{fence}{pad}{text}{pad}{fence}")
}

/// A literal in a table, where a bar would end the cell even inside a code span.
pub(crate) fn cell(text: &str, limit: usize) -> String {
    code(text, limit).replace('|', "\\x7c")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn literals_stay_literals() {
        assert_eq!(prose("the call to `get_x` took 5", 80), "the call to `get_x` took 5");
        assert_eq!(prose("a_b `c", 80), "a\\_b \\`c");
        assert_eq!(prose("``", 80), "\\`\\`");
        assert_eq!(code("a`b", 80), "``a`b``");
        assert_eq!(code("`", 80), "`` ` ``");
        for (text, told) in
            [("`a", "`` `a ``"), ("a`", "`` a` ``"), ("", "`  `"), ("a``b`c", "```a``b`c```")]
        {
            assert_eq!(code(text, 80), told);
        }
        assert_eq!(prose("`a` b `c` d", 80), "`a` b `c` d");
        assert_eq!(cell("a|b", 80), "`a\\x7cb`");
    }

    #[test]
    fn a_name_with_backticks_opens_no_markup() {
        let told = prose("the call to `x`<img src=y>`z` took 5", 80);
        assert_eq!(told, "the call to `x`\\<img src=y\\>`z` took 5");
    }
}
