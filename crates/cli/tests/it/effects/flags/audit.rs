//! `audit` and what it does with a log of three rows: a call of `first`, one of `second` that failed, and
//! a notification.

use super::Flag;
use crate::effects::proof::{
    Proof::{Hides, Shows, Tested},
    tried,
};

const EVERY_ACTION: &[&str] = &["cli audit::sqlite", "cli audit::json_lines"];

pub(super) const AUDIT: &[Flag] = &[
    Flag(
        "STORE",
        "mysql://x",
        Tested(&["cli audit::what_cannot_be_read_is_told_and_nothing_is_made"]),
    ),
    Flag("--explain", "", Tested(&["cli commands::every_command_explains_itself"])),
];

/// The flags that choose rows, for an action that shows the names of tools.
macro_rules! selection {
    ($action:literal, $($more:expr),* $(,)?) => {
        &[
            Flag("--from", "yesterday", Hides(&["audit", "log.jsonl", $action], &["--from", "2026-05-10T14:30:02Z"], "first")),
            Flag("--to", "yesterday", Hides(&["audit", "log.jsonl", $action], &["--to", "2026-05-10T14:30:02Z"], "second")),
            Flag("--tool", "", Hides(&["audit", "log.jsonl", $action], &["--tool", "first"], "second")),
            Flag("--method", "", Hides(&["audit", "log.jsonl", $action], &["--method", "notifications/initialized"], "second")),
            Flag("--session", "", Hides(&["audit", "log.jsonl", $action], &["--session", "s1"], "second")),
            Flag("--success", "maybe", Hides(&["audit", "log.jsonl", $action], &["--success", "true"], "second")),
            Flag("--category", "", Hides(&["audit", "log.jsonl", $action], &["--category", "upstream"], "first")),
            Flag("--kind", "x", Hides(&["audit", "log.jsonl", $action], &["--kind", "notification"], "second")),
            Flag("--q", "", Hides(&["audit", "log.jsonl", $action], &["--q", "needle"], "second")),
            $($more),*
        ]
    };
}

const LISTED: &[&str] = &["audit", "log.jsonl", "list"];

pub(super) const LIST: &[Flag] = selection!(
    "list",
    Flag("--limit", "x", Hides(LISTED, &["--limit", "1"], "second")),
    Flag("--after", "x", Hides(LISTED, &["--after", "1"], "first")),
    Flag("--json", "", Shows(LISTED, &["--json"], r#""seq": 3"#)),
);

pub(super) const SHOW: &[Flag] = &[
    Flag("SEQ", "x", Tested(EVERY_ACTION)),
    Flag("--json", "", Shows(&["audit", "log.jsonl", "show", "2"], &["--json"], r#""seq": 2"#)),
];

pub(super) const STATS: &[Flag] = selection!(
    "stats",
    Flag("--json", "", Shows(&["audit", "log.jsonl", "stats"], &["--json"], r#""names""#)),
);

const TAILED: &[&str] = &["audit", "log.jsonl", "tail"];
const FOLLOWED: &[&str] = &["cli audit::a_tail_follows_until_it_has_seen_enough"];

pub(super) const TAIL: &[Flag] = selection!(
    "tail",
    Flag("--lines", "x", Hides(TAILED, &["--lines", "1"], "second")),
    Flag("--follow", "", Tested(FOLLOWED)),
    Flag("--count", "x", Tested(FOLLOWED)),
    Flag("--json", "", Shows(TAILED, &["--json"], r#""seq":3"#)),
);

pub(super) const EXPORT: &[Flag] = selection!(
    "export",
    Flag(
        "--format",
        "xml",
        Hides(&["audit", "log.jsonl", "export"], &["--format", "csv"], r#""seq":3"#)
    ),
    Flag(
        "--output",
        "",
        Shows(&["audit", "log.jsonl", "export"], &["--output", "rows.out"], "file rows.out")
    ),
);

#[test]
fn each_action_shows_its_flags() {
    tried("audit list", LIST);
    tried("audit show", SHOW);
    tried("audit stats", STATS);
    tried("audit tail", TAIL);
    tried("audit export", EXPORT);
}
