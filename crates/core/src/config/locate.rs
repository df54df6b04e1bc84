//! Finds the line and column of a key in the text of a configuration.

use std::ops::Range;

use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::path::{KeyPath, Step};

/// Line and column of a byte, both from 1; columns count characters.
pub(super) fn position(text: &str, offset: usize) -> (u32, u32) {
    let before = &text[..text.floor_char_boundary(offset)];
    let line_begins = before.rfind('\n').map_or(0, |at| at + 1);
    let count = |n: usize| u32::try_from(n + 1).unwrap_or(u32::MAX);
    (count(before.matches('\n').count()), count(before[line_begins..].chars().count()))
}

/// Where the key at the end of the path begins. When the path ends in something that was not
/// written (a missing key), the nearest enclosing table is meant.
pub(super) fn find(document: &DeTable<'_>, path: &KeyPath) -> Option<usize> {
    let mut found = None;
    let mut table = Some(document);
    let mut array = None;
    for step in path.steps() {
        let (span, value) = match step {
            Step::Key(name) => match entry(table, name) {
                Some(entry) => entry,
                None => break,
            },
            Step::Index(index) => {
                match array.and_then(|list: &[Spanned<DeValue<'_>>]| list.get(*index)) {
                    Some(value) => (value.span(), value.get_ref()),
                    None => break,
                }
            }
        };
        found = Some(span.start);
        table = value.as_table();
        array = match value {
            DeValue::Array(list) => Some(&**list),
            _ => None,
        };
    }
    found
}

fn entry<'a, 'i>(
    table: Option<&'a DeTable<'i>>,
    name: &str,
) -> Option<(Range<usize>, &'a DeValue<'i>)> {
    let (key, value) = table?.iter().find(|(key, _)| key.get_ref() == name)?;
    Some((key.span(), value.get_ref()))
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "\
[server]
command = \"x\"
env.A = \"1\"

[[scenario.tool_call]]
name = \"a\"

[[scenario.tool_call]]
name = \"ü\"
args = { x = 1, y = [1, 2] }
";

    fn at(path: &str) -> Option<(u32, u32)> {
        let document = DeTable::parse(TEXT).unwrap();
        find(document.get_ref(), &path.into()).map(|offset| position(TEXT, offset))
    }

    #[test]
    fn keys_are_found_where_they_stand() {
        assert_eq!(at("server.command"), Some((2, 1)));
        assert_eq!(at("server.env.A"), Some((3, 5)));
        assert_eq!(at("scenario.tool_call[1].name"), Some((9, 1)));
        assert_eq!(at("scenario.tool_call[1].args.y[1]"), Some((10, 25)));
    }

    #[test]
    fn what_is_missing_is_found_at_its_table() {
        assert_eq!(at("server.url"), Some((1, 2)));
        assert_eq!(at("scenario.tool_call[1].weight").map(|(line, _)| line), Some(8));
        assert_eq!(at("thresholds.p50_latency"), None);
        assert_eq!(at("scenario.tool_call[9].name"), at("scenario.tool_call"));
    }

    #[test]
    fn positions_are_safe_at_the_edges() {
        assert_eq!(position("", 0), (1, 1));
        assert_eq!(position("ü", 1), (1, 1));
        assert_eq!(position("a\nb", 99), (2, 2));
    }
}
