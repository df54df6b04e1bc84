//! What only a database server can do to a log.

use mcp_loadtest_mock::audit::{Audit, Filter, Redaction, Row};

use super::{
    cluster::Cluster,
    rows::{open, spec, ten},
};

#[test]
fn several_writers_share_a_log_and_no_number_is_used_twice() {
    let cluster = Cluster::start();
    let writers: Vec<_> = (0..3).map(|_| open(&cluster.url())).collect();
    std::thread::scope(|scope| {
        for audit in &writers {
            scope.spawn(|| {
                for _ in 0..2_000 {
                    let row = Row { seq: audit.next_seq(), ..Row::default() };
                    audit.record_blocking(row).unwrap();
                }
            });
        }
    });
    writers.iter().for_each(|audit| assert_eq!(audit.close().unwrap().written, 2_000));
    let mut numbers: Vec<_> = spec(&cluster.url())
        .read()
        .unwrap()
        .query(&Filter::default())
        .unwrap()
        .iter()
        .map(|row| row.seq)
        .collect();
    numbers.dedup();
    assert_eq!(numbers.len(), 6_000);
}

#[tokio::test]
async fn a_log_can_be_used_inside_a_runtime() {
    let cluster = Cluster::start();
    let audit = open(&cluster.url());
    for row in ten() {
        audit.record(row).await.unwrap();
    }
    assert_eq!(audit.query(&Filter::default()).unwrap().len(), 10);
    audit.close().unwrap();
}

#[test]
fn a_client_cannot_end_the_log_with_a_text_that_the_database_refuses() {
    let cluster = Cluster::start();
    let audit = open(&cluster.url());
    audit.record_blocking(Row { method: Some("a\0b".into()), ..Row::default() }).unwrap();
    let found = audit.query(&Filter::default()).unwrap();
    assert_eq!(found[0].method.as_deref(), Some("a\u{fffd}b"));
    audit.close().unwrap();
}

#[test]
fn a_database_that_goes_away_is_noticed() {
    let cluster = Cluster::start();
    let audit = open(&cluster.url());
    audit.record_blocking(Row { seq: 1, ..Row::default() }).unwrap();
    audit.query(&Filter::default()).unwrap();
    drop(cluster);
    audit.record_blocking(Row { seq: 2, ..Row::default() }).unwrap();
    let end = audit.close().unwrap_err();
    assert_eq!((end.emitted, end.written), (2, 1), "{end}");
    assert!(audit.record_blocking(Row::default()).is_err());
}

#[test]
fn a_newer_schema_and_a_database_without_a_log_are_told() {
    let cluster = Cluster::start();
    let error = spec(&cluster.url()).read().err().unwrap().to_string();
    assert!(error.contains("is not an audit log"), "{error}");
    open(&cluster.url()).close().unwrap();
    cluster.execute("INSERT INTO audit_schema_version VALUES (99)");
    let error = Audit::open(&spec(&cluster.url()), Redaction::default()).unwrap_err().to_string();
    assert!(error.contains("newer version"), "{error}");
    let error = spec(&cluster.url()).read().err().unwrap().to_string();
    assert!(error.contains("newer version"), "{error}");
}

#[test]
fn a_server_that_is_not_there_is_told_without_the_password() {
    let error = spec("postgres://ann:hush-hush@127.0.0.1:1/x").read().err().unwrap().to_string();
    assert!(error.contains("cannot open postgres://ann:***@127.0.0.1:1/x"), "{error}");
    assert!(!error.contains("hush-hush"), "{error}");
}
