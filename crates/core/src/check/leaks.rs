//! What an error message should not tell: where the server's files are, what its code looks like,
//! what its secrets are.
//!
//! What was in the request is no leak: whoever sent it knows it already.

use std::sync::LazyLock;

use regex::Regex;

/// What kind of thing was told.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Leak {
    /// The calls that led to the error.
    StackTrace,
    /// Where a file of the server itself is.
    OwnFile,
    /// A key, a password, a token.
    Secret,
    /// A statement for a database.
    Sql,
}

impl Leak {
    /// The words for people.
    pub const fn words(self) -> &'static str {
        match self {
            Self::StackTrace => "a stack trace",
            Self::OwnFile => "the path of a file of the server",
            Self::Secret => "a secret",
            Self::Sql => "a statement for its database",
        }
    }
}

/// A secret that is shorter than this is found everywhere.
const SHORTEST_SECRET: usize = 6;

/// So much of a text is looked at.
const LONGEST_TEXT: usize = 16 << 10;

/// What each kind of leak looks like.
static PATTERNS: LazyLock<Vec<(Leak, Regex)>> = LazyLock::new(|| {
    let patterns = [
        (Leak::StackTrace, r"Traceback \(most recent call last\)"),
        (Leak::StackTrace, r#"File "[^"\n]+", line \d+, in "#),
        (Leak::StackTrace, r"\n\s*at [^\n]*?(?:file://|node:|[/\\])[^\n]*?:\d+:\d+\)?"),
        (Leak::StackTrace, r"\bat [\w.$<>]+\(\w+\.(?:java|kt|scala):\d+\)"),
        (Leak::StackTrace, r"\n\s*at [^\n]*? in [^\n]*?\.cs:line \d+"),
        (Leak::StackTrace, r"panicked at [^\n]*?\.rs:\d+:\d+"),
        (Leak::StackTrace, r"\ngoroutine \d+ \["),
        (
            Leak::OwnFile,
            r"(?:/|[A-Za-z]:\\)[A-Za-z0-9_.@+\\/-]*(?:site-packages|node_modules)[A-Za-z0-9_.@+\\/-]+",
        ),
        (
            Leak::OwnFile,
            r"(?:/|[A-Za-z]:\\)[A-Za-z0-9_.@+-]+[\\/][A-Za-z0-9_.@+\\/-]*\.(?:py|js|mjs|cjs|ts|rb|go|rs|java|php|cs)\b",
        ),
        (Leak::Secret, r"\bAKIA[0-9A-Z]{16}\b"),
        (Leak::Secret, r"\bgh[pousr]_[A-Za-z0-9]{36,}"),
        (Leak::Secret, r"\bgithub_pat_[A-Za-z0-9_]{40,}"),
        (Leak::Secret, r"\bsk-[A-Za-z0-9_-]{20,}"),
        (Leak::Secret, r"\bxox[abprs]-[A-Za-z0-9-]{10,}"),
        (Leak::Secret, r"\bAIza[0-9A-Za-z_-]{35}"),
        (Leak::Secret, r"-----BEGIN [A-Z ]{0,20}PRIVATE KEY-----"),
        (Leak::Sql, r"\[SQL: "),
        (Leak::Sql, r"(?i)\bselect\s[^\n]*?\sfrom\s+\w+[^\n]*?\swhere\s"),
        (Leak::Sql, r"(?i)\binsert\s+into\s+\S+[^\n]*?\svalues\b"),
        (Leak::Sql, r"(?i)\bupdate\s+\S+\s+set\s+\S+\s*="),
        (Leak::Sql, r"(?i)\bdelete\s+from\s+\S+\s+where\s"),
    ];
    let compiled = patterns.into_iter().map(|(leak, pattern)| {
        (leak, Regex::new(pattern).expect("the patterns are constants that a test compiles"))
    });
    compiled.collect()
});

/// What a text tells that was not in the request; each kind once, with what shows it. A secret is
/// not shown.
pub fn find(said: &str, sent: &str, secrets: &[&str]) -> Vec<(Leak, String)> {
    let said = shortened(said);
    let mut found: Vec<(Leak, String)> = Vec::new();
    let told = secrets.iter().filter(|secret| secret.len() >= SHORTEST_SECRET);
    let told = told.filter(|secret| said.contains(**secret) && !sent.contains(**secret));
    // Not even its head: whoever gave it knows which one is meant by its length.
    let words =
        |secret: &&str| format!("one that was given to it ({} characters)", secret.chars().count());
    found.extend(told.map(|secret| (Leak::Secret, words(secret))).next());
    for (leak, pattern) in PATTERNS.iter() {
        if found.iter().any(|(known, _)| known == leak) {
            continue;
        }
        let told = pattern.find_iter(said).map(|hit| hit.as_str().trim());
        if let Some(hit) = told.into_iter().find(|hit| !sent.contains(*hit)) {
            let shown = match leak {
                Leak::Secret => masked(hit),
                _ => crate::display::visible(hit, 120),
            };
            found.push((*leak, shown));
        }
    }
    found
}

fn masked(secret: &str) -> String {
    let head: String = secret.chars().take(4).collect();
    format!("{head}… ({} characters)", secret.chars().count())
}

fn shortened(text: &str) -> &str {
    let mut end = text.len().min(LONGEST_TEXT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kinds(said: &str) -> Vec<Leak> {
        find(said, "", &[]).into_iter().map(|(leak, _)| leak).collect()
    }

    #[test]
    fn traces_of_all_languages_are_known() {
        for said in [
            "Traceback (most recent call last):\n  boom",
            "boom\n    at call (node:internal/modules/cjs/loader:1:2)",
            "boom\n    at file:///srv/app/index:10:3",
            "boom\n\tat com.acme.Tool.call(Tool.java:42)",
            "thread 'main' panicked at src/main.rs:4:5",
            "panic: boom\n\ngoroutine 1 [running]:",
        ] {
            assert_eq!(kinds(said), [Leak::StackTrace], "{said}");
        }
    }

    #[test]
    fn files_of_the_server_are_told_from_those_of_the_user() {
        assert_eq!(kinds("error in /srv/app/tools/search.py"), [Leak::OwnFile]);
        assert_eq!(kinds("/opt/x/node_modules/zod/lib/index"), [Leak::OwnFile]);
        assert_eq!(kinds(r"C:\app\server.js failed"), [Leak::OwnFile]);
        for said in [
            "ENOENT: no such file or directory, open '/home/me/notes.txt'",
            "Access denied - path outside allowed directories: /etc/passwd not in /tmp/a",
            "see https://example.org/docs/errors",
            "cannot read main.py",
            "and/or.js",
        ] {
            assert_eq!(kinds(said), [], "{said}");
        }
    }

    #[test]
    fn what_was_asked_for_is_no_leak() {
        let path = "/home/me/project/setup.py";
        let sql = "SELECT a FROM b WHERE c";
        assert_eq!(find(&format!("{path} does not exist"), &format!("read {path}"), &[]), []);
        assert_eq!(find(&format!("near WHERE: {sql} x"), &format!("{sql} x"), &[]), []);
        assert_eq!(find("token hunter22 is wrong", "hunter22", &["hunter22"]), []);
    }

    #[test]
    fn secrets_are_found_and_not_shown() {
        let found = find("login with hunter22hunter failed", "", &["hunter22hunter", "me"]);
        assert_eq!(found, [(Leak::Secret, "one that was given to it (14 characters)".to_owned())]);
        assert_eq!(kinds("key AKIAIOSFODNN7EXAMPLE"), [Leak::Secret]);
        assert_eq!(kinds("-----BEGIN RSA PRIVATE KEY-----"), [Leak::Secret]);
        assert_eq!(kinds("task-list and sk-short"), []);
    }

    #[test]
    fn statements_are_found_and_talk_about_them_is_not() {
        assert_eq!(kinds("no such column: SELECT x FROM users WHERE id = 1"), [Leak::Sql]);
        assert_eq!(kinds("(sqlite3.OperationalError) [SQL: PRAGMA x]"), [Leak::Sql]);
        for said in [
            "Only SELECT queries are allowed",
            "please select one from the list",
            "update available",
        ] {
            assert_eq!(kinds(said), [], "{said}");
        }
    }

    #[test]
    fn each_kind_is_told_once_and_all_kinds_are_told() {
        let key = "a".repeat(24);
        let said = format!(
            "Traceback (most recent call last):\n  File \"x\", line 1, in call\n\
             /srv/a/b.py [SQL: PRAGMA x] and UPDATE t SET a = 1, sk-{key}"
        );
        let told = [
            (Leak::StackTrace, "Traceback (most recent call last)"),
            (Leak::OwnFile, "/srv/a/b.py"),
            (Leak::Secret, "sk-a… (27 characters)"),
            (Leak::Sql, "[SQL:"),
        ];
        assert_eq!(find(&said, "", &[]), told.map(|(leak, shown)| (leak, shown.to_owned())));
        let words = told.map(|(leak, _)| leak.words());
        assert_eq!(
            words,
            [
                "a stack trace",
                "the path of a file of the server",
                "a secret",
                "a statement for its database"
            ]
        );
    }

    #[test]
    fn a_secret_counts_from_six_characters_on_and_only_where_it_is_told() {
        for (secret, said, is_found) in [
            ("abcdef", "is abcdef", true),
            ("abcde", "is abcde", false),
            ("abcdef", "is something else", false),
        ] {
            assert_eq!(!find(said, "", &[secret]).is_empty(), is_found, "{secret}: {said}");
        }
    }

    #[test]
    fn a_long_text_is_cut_between_its_characters() {
        let ascii = "a".repeat(LONGEST_TEXT + 1);
        assert_eq!(shortened(&ascii).len(), LONGEST_TEXT);
        let wide = format!("a{}", "\u{e9}".repeat(LONGEST_TEXT));
        assert_eq!(shortened(&wide).len(), LONGEST_TEXT - 1);
        assert_eq!(shortened("a\u{e9}"), "a\u{e9}");
    }
}
