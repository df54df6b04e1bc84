//! Which version this is, and of which commit where whoever built it said so.

use std::sync::LazyLock;

/// `0.1.0`, or `0.1.0 (1a2b3c4d5e)` where the commit is known: in release builds of a repository, and
/// where `MCP_LOADTEST_COMMIT` was set at build time.
pub(crate) static VERSION: LazyLock<String> =
    LazyLock::new(|| told(env!("CARGO_PKG_VERSION"), option_env!("MCP_LOADTEST_COMMIT")));

/// As much of a commit tells it from others.
const LONGEST: usize = 10;

fn told(version: &str, commit: Option<&str>) -> String {
    let commit = commit.map(|commit| commit.chars().take(LONGEST).collect::<String>());
    match commit.filter(|commit| !commit.is_empty()) {
        Some(commit) => format!("{version} ({commit})"),
        None => version.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_commit_is_told_where_one_is_known() {
        assert_eq!(told("1.2.3", None), "1.2.3");
        assert_eq!(told("1.2.3", Some("")), "1.2.3");
        assert_eq!(told("1.2.3", Some("0123456789abcdef")), "1.2.3 (0123456789)");
    }
}
