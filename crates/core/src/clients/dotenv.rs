//! The `.env` files that entries refer to with `envFile`.

/// The variables of a `.env` file: `NAME=value` lines, comments, `export`, quotes.
pub(super) fn dotenv(text: &str) -> Vec<(String, String)> {
    let variable = |line: &str| {
        let line = line.trim();
        let line = line.strip_prefix("export ").unwrap_or(line);
        let (name, value) = line.split_once('=').filter(|_| !line.starts_with('#'))?;
        let value = value.trim();
        let bare = || value.split(" #").next().unwrap_or_default().trim_end();
        Some((name.trim().to_owned(), quoted(value).unwrap_or_else(bare).to_owned()))
    };
    text.lines().filter_map(variable).collect()
}

/// What stands between quotes with nothing behind them but a comment.
fn quoted(value: &str) -> Option<&str> {
    let quote = value.chars().next().filter(|first| ['"', '\''].contains(first))?;
    let inner = value.strip_prefix(quote)?;
    inner.match_indices(quote).map(|(at, _)| inner.split_at(at)).find_map(|(text, rest)| {
        let behind = rest.strip_prefix(quote)?.trim_start();
        // A quote behind a backslash belongs to the text, also where a `#` is next.
        let ends = behind.is_empty() || (behind.starts_with('#') && !text.ends_with('\\'));
        ends.then_some(text)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_comments_and_quotes() {
        let text =
            "# note\nexport A=1 # one\nB=\"two # 2\"\n\nC = 'x'\nD=\nno variable\r\nE=a=b\r\n";
        let expected = [("A", "1"), ("B", "two # 2"), ("C", "x"), ("D", ""), ("E", "a=b")];
        let expected = expected.map(|(name, value)| (name.to_owned(), value.to_owned()));
        assert_eq!(dotenv(text), expected);
    }

    #[test]
    fn quotes_with_a_comment_behind_them() {
        for (written, value) in [
            ("\"abc\" # prod", "abc"),
            ("\"x # y\" # z", "x # y"),
            ("'it is \"x\"'\t# \"z\"", "it is \"x\""),
            ("\"\" # nothing", ""),
            (r#""C:\dir\""#, r"C:\dir\"),
            ("\"say \\\"#\\\" twice\"", "say \\\"#\\\" twice"),
            // No quotes around a value: they are a part of it.
            ("\"a\" and \"b", "\"a\" and \"b"),
            ("\"open # note", "\"open"),
        ] {
            let expected = [("A".to_owned(), value.to_owned())];
            assert_eq!(dotenv(&format!("A={written}")), expected, "{written}");
        }
    }
}
