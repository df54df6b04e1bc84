//! What every store must do, asked of each.

use std::ops::ControlFlow;

use mcp_loadtest_mock::audit::{Closing, Filter, Keep, Kind, Place, Row, Source};

use super::{
    cluster::Cluster,
    rows::{at, open, ten},
};

fn text(text: &str) -> Option<String> {
    Some(text.to_owned())
}

/// What is asked for, and the rows that are the answer.
fn cases() -> Vec<(Filter, Vec<u64>)> {
    let all = Filter::default();
    let last = |limit| Filter { limit: Some(limit), keep: Keep::Last, ..Filter::default() };
    vec![
        (all.clone(), (1..=10).collect()),
        (Filter { from: Some(at(7)), ..all.clone() }, vec![8, 9, 10]),
        (Filter { to: Some(at(2)), ..all.clone() }, vec![1, 2]),
        (Filter { from: Some(at(3)), to: Some(at(3)), ..all.clone() }, vec![]),
        (Filter { tool: text("slow"), ..all.clone() }, vec![1, 4, 7]),
        (Filter { tool: text("SLOW"), ..all.clone() }, vec![]),
        (Filter { method: text("notifications/cancelled"), ..all.clone() }, vec![10]),
        (Filter { session: text("session 2"), ..all.clone() }, vec![3, 7]),
        (Filter { success: Some(false), ..all.clone() }, vec![4, 8]),
        (Filter { success: Some(true), limit: Some(2), ..all.clone() }, vec![1, 2]),
        (Filter { category: text("timeout"), ..all.clone() }, vec![4]),
        (Filter { kind: Some(Kind::Cancellation), ..all.clone() }, vec![10]),
        (Filter { q: text("größe 5"), ..all.clone() }, vec![6]),
        (Filter { q: text("was 7% \\ \u{1f4a5}"), ..all.clone() }, vec![8]),
        (Filter { q: text(""), limit: Some(2), ..all.clone() }, vec![1, 2]),
        (Filter { q: text("was _%"), ..all.clone() }, vec![]),
        (Filter { q: text("'; DROP TABLE audit; --"), ..all.clone() }, vec![]),
        (Filter { after: Some(8), ..all.clone() }, vec![9, 10]),
        (Filter { after: Some(2), limit: Some(3), ..all.clone() }, vec![3, 4, 5]),
        (Filter { limit: Some(0), ..all.clone() }, vec![]),
        (last(3), vec![8, 9, 10]),
        (Filter { tool: text("echo"), ..last(2) }, vec![8, 9]),
        (
            Filter { tool: text("echo"), success: Some(true), q: text("größe"), ..all },
            vec![2, 3, 5, 6, 9],
        ),
    ]
}

fn numbers(rows: &[Row]) -> Vec<u64> {
    rows.iter().map(|row| row.seq).collect()
}

/// Writes ten rows and asks every question, of the writer and of whoever opens the log.
fn ask(store: &str, source: &mut dyn Source) {
    for (filter, expected) in cases() {
        let found = source.query(&filter).unwrap();
        assert_eq!(numbers(&found), expected, "{store}: {filter:?}");
    }
    let mut written = ten();
    written.sort_by_key(|row| row.seq);
    assert_eq!(source.query(&Filter::default()).unwrap(), written, "{store}");
}

/// Rows in the order in which they were recorded, from a place on.
fn since(source: &mut dyn Source, place: Place) -> (Vec<u64>, Place) {
    let mut seen = Vec::new();
    let end = source.since(place, &Filter::default(), &mut |row| {
        seen.push(row.seq);
        ControlFlow::Continue(())
    });
    (seen, end.unwrap())
}

fn follow(store: &str, audit: &mcp_loadtest_mock::audit::Audit) {
    let mut source = audit.read().unwrap().unwrap();
    let (seen, place) = since(&mut *source, Place::default());
    assert_eq!(seen, numbers(&ten()), "{store}");
    assert_eq!(source.end().unwrap(), place, "{store}");
    assert_eq!(since(&mut *source, place), (vec![], place), "{store}");
    audit.record_blocking(Row { seq: 11, ..Row::default() }).unwrap();
    audit.read().unwrap();
    assert_eq!(since(&mut *source, place).0, [11], "{store}: a reader sees what comes later");
    let mut first = Vec::new();
    let stop = &mut |row: Row| {
        first.push(row.seq);
        ControlFlow::Break(())
    };
    source.each(&Filter::default(), stop).unwrap();
    assert_eq!(first, [1], "{store}: one was enough");
}

fn every_case(store: &str) {
    let audit = open(store);
    assert_eq!(audit.next_seq(), 1, "{store}");
    for row in ten() {
        audit.record_blocking(row).unwrap();
    }
    ask(store, &mut *audit.read().unwrap().unwrap());
    follow(store, &audit);
    assert_eq!(audit.close().unwrap(), Closing { emitted: 11, written: 11 }, "{store}");
}

/// What goes on after the process has ended.
fn every_case_again(store: &str) {
    let audit = open(store);
    assert_eq!(audit.next_seq(), 12, "{store}: numbers go on");
    audit.record_blocking(Row { seq: 12, ..Row::default() }).unwrap();
    audit.close().unwrap();
    let mut source = super::rows::spec(store).read().unwrap();
    let after = Filter { after: Some(10), ..Filter::default() };
    assert_eq!(numbers(&source.query(&after).unwrap()), [11, 12], "{store}");
}

#[test]
fn memory() {
    every_case("memory");
}

#[test]
fn sqlite() {
    let dir = tempfile::tempdir().unwrap();
    let store = format!("sqlite:{}", dir.path().join("a b.log").display());
    every_case(&store);
    every_case_again(&store);
}

#[test]
fn json_lines() {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join("audit.jsonl").display().to_string();
    every_case(&store);
    every_case_again(&store);
}

#[test]
fn postgresql() {
    let cluster = Cluster::start();
    every_case(&cluster.url());
    every_case_again(&cluster.url());
}
