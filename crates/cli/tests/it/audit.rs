//! `audit` on every store that can be read.

use std::path::Path;

use mcp_loadtest_mock::audit::{Audit, Kind, Redaction, Row, Timestamp};
use serde_json::Value;

use crate::{
    cluster::Cluster,
    harness::{Ran, run, run_in},
};

/// Three calls of `echo`, one of `search` that failed, and a notification.
fn rows() -> Vec<Row> {
    let call = |seq: u64, tool: &'static str| {
        let ts = Timestamp(1_778_423_400_000_000 + seq.cast_signed() * 1_000_000);
        let mut row = Row { seq, ts, success: true, duration_us: 1_000 * seq, ..Row::default() };
        row.method = Some("tools/call".into());
        row.tool = Some(tool.into());
        row.attempt = 1;
        row.set_arguments(r#"{"text":"hi","token":"hush-hush"}"#, &Redaction::default());
        row
    };
    let mut failed = call(4, "search");
    failed.success = false;
    failed.error_code = Some(-32603);
    failed.error_message = Some("\x1b[31mno\u{202e} luck\r\nat all".into());
    failed.error_category = Some("upstream".into());
    failed.cancelled = true;
    failed.push_event(12, "notifications/progress");
    failed.headers.push("accept", "*/*");
    let note = Row {
        kind: Kind::Notification,
        method: Some("notifications/initialized".into()),
        tool: None,
        ..call(5, "")
    };
    vec![call(1, "echo"), call(2, "echo"), Row { attempt: 2, ..call(3, "echo") }, failed, note]
}

fn fill(store: &str, dir: &Path) {
    let spec = store.parse::<mcp_loadtest_mock::audit::StoreSpec>().unwrap().in_dir(dir);
    let audit = Audit::open(&spec, Redaction::default()).unwrap();
    rows().into_iter().for_each(|row| audit.record_blocking(row).unwrap());
    audit.close().unwrap();
}

fn json(ran: &Ran) -> Value {
    assert_eq!(ran.code, 0, "{}", ran.err);
    serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}{}", ran.out, ran.err))
}

fn no_terminal_obeys(ran: &Ran) {
    let commands = ran.out.matches(|c: char| (c.is_control() && c != '\n') || c == '\u{202e}');
    assert_eq!(commands.count(), 0, "{:?}", ran.out);
}

fn every_action(store: &str, dir: &Path) {
    let audit = |args: &[&str]| run_in(dir, &[&["audit", store], args].concat());
    let listed = audit(&[]);
    assert_eq!(listed.code, 0, "{}", listed.err);
    assert_eq!(listed.out.lines().count(), 6, "{}", listed.out);
    assert!(!listed.out.contains("hush-hush"));
    no_terminal_obeys(&listed);

    let failed = json(&audit(&["list", "--success", "false", "--json"]));
    assert_eq!(failed[0]["error_category"], "upstream");
    assert_eq!(failed.as_array().unwrap().len(), 1);
    let after = json(&audit(&["list", "--after", "1", "--limit", "2", "--json"]));
    assert_eq!((&after[0]["seq"], &after[1]["seq"]), (&2.into(), &3.into()));
    for (flags, count) in [
        (["--tool", "echo"], 3),
        (["--method", "tools/call"], 4),
        (["--category", "upstream"], 1),
        (["--q", "luck"], 1),
        (["--kind", "notification"], 1),
        (["--from", "2026-05-10T14:30:04Z"], 2),
        (["--to", "2026-05-10T16:30:02+02:00"], 1),
        (["--session", "none of these"], 0),
        (["--from", "10m"], 0),
    ] {
        let found = json(&audit(&[&["list", "--json"], &flags[..]].concat()));
        assert_eq!(found.as_array().unwrap().len(), count, "{flags:?}");
    }

    let shown = audit(&["show", "4"]);
    assert!(shown.out.contains("header               accept: */*"), "{}", shown.out);
    no_terminal_obeys(&shown);
    let whole: Row = serde_json::from_value(json(&audit(&["show", "4", "--json"]))).unwrap();
    assert_eq!(whole, rows()[3]);
    let missing = audit(&["show", "99"]);
    assert_eq!(missing.code, 2);
    assert!(missing.err.contains("there is no row 99"), "{}", missing.err);

    let stats = json(&audit(&["stats", "--json"]));
    let echo = &stats["names"][0];
    assert_eq!(echo["name"], "echo");
    assert_eq!(
        (&echo["count"], &echo["retries"], &echo["max_us"]),
        (&3.into(), &0.into(), &3_000.into()),
        "the same call again, but after one that went well"
    );
    assert!(audit(&["stats"]).out.contains("100.0%"), "{}", audit(&["stats"]).out);

    let tail = audit(&["tail", "-n", "2"]);
    assert_eq!(tail.out.lines().count(), 3, "{}", tail.out);
    exported(dir, &audit);
}

fn exported(dir: &Path, audit: &dyn Fn(&[&str]) -> Ran) {
    let csv = audit(&["export", "--format", "csv"]);
    assert!(csv.out.starts_with("seq,ts,kind,"), "{}", csv.out);
    assert_eq!(csv.out.matches("2026-05-10T14:30:0").count(), 5, "{}", csv.out);
    assert!(!csv.out.contains('\x1b'));
    let lines = audit(&["export", "--output", "exported.jsonl"]);
    assert_eq!(lines.code, 0, "{}", lines.err);
    assert!(lines.err.contains("5 rows written"), "{}", lines.err);
    let again: Vec<Row> =
        serde_json::from_value(json(&run_in(dir, &["audit", "exported.jsonl", "list", "--json"])))
            .unwrap();
    assert_eq!(again, rows(), "what was exported is a log");
}

#[test]
fn sqlite() {
    let dir = tempfile::tempdir().unwrap();
    fill("sqlite:x.db", dir.path());
    every_action("x.db", dir.path());
    let files: Vec<_> = dir.path().read_dir().unwrap().map(|it| it.unwrap().file_name()).collect();
    assert_eq!(files.len(), 2, "reading leaves nothing behind: {files:?}");
}

#[test]
fn json_lines() {
    let dir = tempfile::tempdir().unwrap();
    fill("x.jsonl", dir.path());
    every_action("jsonl:x.jsonl", dir.path());
}

#[test]
fn postgresql() {
    let (cluster, dir) = (Cluster::start(), tempfile::tempdir().unwrap());
    fill(&cluster.url(), dir.path());
    every_action(&cluster.url(), dir.path());
    cluster.execute("INSERT INTO audit_schema_version VALUES (99)");
    let newer = run(&["audit", &cluster.url()]);
    assert_eq!(newer.code, 2);
    assert!(newer.err.contains("newer version"), "{}", newer.err);
}

#[test]
fn the_default_log_is_that_of_the_mock() {
    let dir = tempfile::tempdir().unwrap();
    fill("sqlite:mcp-loadtest-audit.db", dir.path());
    assert_eq!(
        json(&run_in(dir.path(), &["audit", "list", "--json"])).as_array().unwrap().len(),
        5
    );
}

#[test]
fn a_tail_follows_until_it_has_seen_enough() {
    let dir = tempfile::tempdir().unwrap();
    let spec = "x.db".parse::<mcp_loadtest_mock::audit::StoreSpec>().unwrap().in_dir(dir.path());
    let audit = Audit::open(&spec, Redaction::default()).unwrap();
    // The last to arrive is recorded first, as happens to calls that take long.
    let mut rows = rows();
    let first = rows.pop().unwrap();
    audit.record_blocking(first).unwrap();
    audit.read().unwrap();
    let tail = std::thread::scope(|scope| {
        let tail = scope.spawn(|| {
            let args = ["audit", "x.db", "tail", "--follow", "--count", "4", "--json"];
            run_in(dir.path(), &args)
        });
        rows.into_iter().for_each(|row| audit.record_blocking(row).unwrap());
        // Whether the tail began before these rows or after them, it must see four that are new.
        let mut seq = 100;
        while !tail.is_finished() {
            seq += 1;
            audit.record_blocking(Row { seq, ..Row::default() }).unwrap();
            audit.read().unwrap();
        }
        tail.join().unwrap()
    });
    assert_eq!(tail.code, 0, "{}", tail.err);
    assert!(tail.out.lines().count() >= 5, "{}", tail.out);
}

#[test]
fn what_cannot_be_read_is_told_and_nothing_is_made() {
    let dir = tempfile::tempdir().unwrap();
    for (store, told) in [
        ("missing.db", "there is no audit log at"),
        ("jsonl:missing", "there is no audit log at"),
        ("postgres://ann:hush-hush@127.0.0.1:1/x", "cannot open postgres://ann:***@127.0.0.1:1/x"),
        ("memory", "can only be read by the process that writes it"),
        ("mysql://x", "use one of sqlite:PATH"),
        ("none", "keeps no rows"),
    ] {
        let ran = run_in(dir.path(), &["audit", store, "list"]);
        assert_eq!(ran.code, 2, "{store}");
        assert!(ran.err.contains(told), "{store}: {}", ran.err);
        // With a hyphen, which the random name of a folder never has.
        assert!(!ran.err.contains("hush-hush"), "{}", ran.err);
    }
    assert_eq!(dir.path().read_dir().unwrap().count(), 0);
    let ran = run(&["audit", "x.db", "list", "--from", "yesterday"]);
    assert!(ran.err.contains("how long ago"), "{}", ran.err);
}
