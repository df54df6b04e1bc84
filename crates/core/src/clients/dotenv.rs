//! The `.env` files that entries refer to with `envFile`.

/// The variables of a `.env` file: `NAME=value` lines, comments, `export`, quotes.
pub(super) fn dotenv(text: &str) -> Vec<(String, String)> {
    let variable = |line: &str| {
        let line = line.trim();
        let line = line.strip_prefix("export ").unwrap_or(line);
        let (name, value) = line.split_once('=').filter(|_| !line.starts_with('#'))?;
        let value = value.trim();
        let quoted = ['"', '\'']
            .into_iter()
            .find_map(|quote| value.strip_prefix(quote)?.strip_suffix(quote));
        let bare = || value.split(" #").next().unwrap_or_default().trim_end();
        Some((name.trim().to_owned(), quoted.unwrap_or_else(bare).to_owned()))
    };
    text.lines().filter_map(variable).collect()
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
}
