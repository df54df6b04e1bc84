//! What the name of a property tells about its value, when the schema says no more than "string".
//!
//! Every value is plain and harmless: relative paths, this machine's own address, no shell text, no
//! SQL that changes anything. It must stay so; a tool may well do what it is told.

use super::budget::Paths;

/// The longest name that is read, in characters, and the most words of it.
const LONGEST: usize = 256;
const MOST_WORDS: usize = 32;

/// Names and the text they suggest. The last words of a property's name count most: `source_url`
/// is a `url`, and `sql query` stands before `query`.
const NAMES: &[(&str, &str)] = &[
    ("path, dir, directory, folder, cwd, root, workspace, repo path, project", "."),
    ("file, filename, file name, filepath, file path, document", "README.md"),
    // A database that is gone when the call is over; SQLite and DuckDB know the name.
    ("db path, db file, database path, database file, db, database, sqlite path", ":memory:"),
    ("glob", "*.md"),
    ("url, uri, link, href, endpoint, website, webhook, base url", "http://127.0.0.1/"),
    ("host, hostname, domain, server", "localhost"),
    ("ip, ip address, ipv4", "127.0.0.1"),
    ("timezone, time zone, tz", "UTC"),
    ("date, day, start date, end date, due date", "2024-01-15"),
    ("time", "12:00"),
    ("datetime, date time, timestamp, since, until, start time, end time", "2024-01-15T12:00:00Z"),
    ("month", "2024-01"),
    ("year", "2024"),
    ("email, email address, mail, recipient", "user@example.com"),
    ("phone, phone number", "+15555550100"),
    // Only reads, whatever the database.
    ("sql, sql query, query sql, statement", "select 1"),
    (
        "query, q, search, keyword, term, text, message, msg, content, body, prompt, input, \
         question, topic, comment, description",
        "hello",
    ),
    // These name no program and run nothing; they are here so that nobody adds a real command.
    ("command, cmd, script, shell, args, argument", "hello"),
    ("expression, formula, equation, code, math", "1+1"),
    ("regex, pattern", "hello"),
    ("name, title, label, key, user, username, user name, owner, table, column", "example"),
    ("id, identifier", "1"),
    ("uuid, guid", "123e4567-e89b-42d3-a456-426614174000"),
    ("language, lang, locale", "en"),
    ("country, country code", "US"),
    ("currency", "USD"),
    ("city, location, place, address", "London"),
    ("state, region", "CA"),
    ("symbol, ticker", "AAPL"),
    ("unit, units", "meter"),
    ("color, colour", "#336699"),
    ("version", "1.0.0"),
    ("method", "GET"),
    ("mime type, content type, media type", "text/plain"),
    ("base64, data", "aGVsbG8="),
    ("json", "{}"),
    ("selector", "body"),
    ("sheet, sheet name, worksheet", "Sheet1"),
    ("cell, range, start cell, end cell", "A1"),
    ("branch, branch name", "main"),
    ("revision, commit, ref, sha", "HEAD"),
    ("port", "8080"),
    ("number, count, limit, amount, value", "1"),
];

/// What stands for the paths above where a tool may change or delete what it is given.
const MADE_UP: [(&str, &str); 2] =
    [(".", "mcp-loadtest-example"), ("README.md", "mcp-loadtest-example.txt")];

/// Numbers that a tool may wait for: always the smallest.
const WAITING: &str = "delay, duration, interval, milliseconds, minutes, ms, retries, seconds, \
                       sleep, steps, wait";

/// The text that a name suggests.
pub(super) fn value(name: &str, paths: Paths) -> Option<&'static str> {
    suggested(name).map(|value| path(value, paths))
}

/// The same text, unless it is a path that exists and should not be named.
pub(super) fn path(value: &str, paths: Paths) -> &str {
    let other = MADE_UP.iter().find(|(here, _)| *here == value && paths == Paths::MadeUp);
    other.map_or(value, |(_, made_up)| made_up)
}

fn suggested(name: &str) -> Option<&'static str> {
    let words = words(name);
    let endings = (0..words.len()).map(|start| words[start..].join(" "));
    let singles = words.iter().rev().cloned();
    endings
        .chain(singles)
        .find_map(|phrase| row(&phrase).or_else(|| row(phrase.strip_suffix('s')?)))
}

fn row(phrase: &str) -> Option<&'static str> {
    let named = |(names, _): &&(&str, &str)| names.split(", ").any(|name| name == phrase);
    NAMES.iter().find(named).map(|(_, value)| *value)
}

/// Whether a number of this name may be a time to wait.
pub(crate) fn is_waiting(name: &str) -> bool {
    words(name).iter().any(|word| WAITING.split(", ").any(|waiting| waiting == word))
}

/// Whether the careful value of a flag is `true`: a dry run rather than a real one.
pub(super) fn is_cautious(name: &str) -> bool {
    matches!(
        words(name).join(" ").as_str(),
        "dry run" | "dryrun" | "read only" | "readonly" | "preview"
    )
}

/// The words of a name in `snake_case`, `kebab-case` or `camelCase`, in lower case.
pub fn words(name: &str) -> Vec<String> {
    let letters: Vec<char> = name.chars().take(LONGEST).collect();
    let mut words = vec![String::new()];
    for (index, &letter) in letters.iter().enumerate() {
        if !letter.is_alphanumeric() {
            words.push(String::new());
            continue;
        }
        let before = index.checked_sub(1).and_then(|at| letters.get(at));
        let after = letters.get(index + 1);
        // `getHTTPStatus`: a capital begins a word after a small letter, or before one.
        let follows_small = before.is_some_and(|c| c.is_lowercase() || c.is_numeric());
        let leads_small =
            before.is_some_and(|c| c.is_uppercase()) && after.is_some_and(|c| c.is_lowercase());
        if letter.is_uppercase() && (follows_small || leads_small) {
            words.push(String::new());
        }
        if let Some(word) = words.last_mut() {
            word.extend(letter.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    words.truncate(MOST_WORDS);
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_split_into_words() {
        for (name, expected) in [
            ("read_text_file", "read text file"),
            ("get-tiny-image", "get tiny image"),
            ("getHTTPStatus", "get http status"),
            ("sourceURL", "source url"),
            ("mcp__git.git_log", "mcp git git log"),
            ("sha256Sum", "sha256 sum"),
            ("__", ""),
        ] {
            assert_eq!(words(name).join(" "), expected);
        }
        assert!(words(&"a_".repeat(100_000)).len() <= MOST_WORDS);
    }

    #[test]
    fn the_last_words_count_most() {
        for (name, expected) in [
            ("path", "."),
            ("file_path", "README.md"),
            ("paths", "."),
            ("sourceUrl", "http://127.0.0.1/"),
            ("source_timezone", "UTC"),
            ("sql_query", "select 1"),
            ("search_query", "hello"),
            ("user_email", "user@example.com"),
            ("query_string", "hello"),
        ] {
            assert_eq!(value(name, Paths::Existing), Some(expected), "{name}");
        }
        assert_eq!(value("frobnicate", Paths::Existing), None);
    }

    #[test]
    fn what_may_be_deleted_is_made_up() {
        assert_eq!(value("path", Paths::MadeUp), Some("mcp-loadtest-example"));
        assert_eq!(value("file_path", Paths::MadeUp), Some("mcp-loadtest-example.txt"));
        assert_eq!(value("timezone", Paths::MadeUp), Some("UTC"));
    }

    #[test]
    fn no_value_can_hurt() {
        for (names, value) in NAMES {
            let is_bad =
                value.starts_with('/') || value.contains([';', '|', '&', '$', '`', '\\', '~']);
            assert!(!is_bad && !value.contains(".."), "{names:?}: {value}");
        }
    }

    #[test]
    fn what_makes_a_tool_careful_or_slow_is_known_by_its_name() {
        for (name, is_careful) in
            [("dry_run", true), ("readOnly", true), ("preview", true), ("run", false), ("", false)]
        {
            assert_eq!(is_cautious(name), is_careful, "{name}");
        }
        for (name, waits) in [("sleepMs", true), ("wait", true), ("page", false), ("", false)] {
            assert_eq!(is_waiting(name), waits, "{name}");
        }
    }
}
