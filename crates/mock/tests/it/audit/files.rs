//! What files can do to a log.

use mcp_loadtest_core::{config::TransportName, hint::Hint as _, mcp::Era};
use mcp_loadtest_mock::audit::{
    Audit, Filter, Headers, Kind, Redaction, Row, SentEvent, Timestamp,
};
use proptest::prelude::*;

use super::rows::{open, spec, ten};

fn refused(store: &str) -> String {
    let error = Audit::open(&spec(store), Redaction::default()).unwrap_err();
    format!("{error}; {}", error.hint().unwrap_or_default())
}

#[test]
fn reading_makes_no_file() {
    let dir = tempfile::tempdir().unwrap();
    for store in ["sqlite:x.db", "jsonl:x.jsonl"] {
        let error = spec(store).in_dir(dir.path()).read().err().unwrap();
        assert!(error.to_string().starts_with("there is no audit log at"), "{error}");
    }
    assert_eq!(dir.path().read_dir().unwrap().count(), 0);
}

#[test]
fn what_is_no_log_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x");
    std::fs::write(&path, "hello, this is quite another sort of file\n".repeat(100)).unwrap();
    for word in ["sqlite", "jsonl"] {
        let error = spec(&format!("{word}:{}", path.display())).read();
        let error = error.and_then(|mut log| log.query(&Filter::default())).unwrap_err();
        assert!(error.to_string().contains("is not an audit log"), "{error}");
    }
    assert!(refused(&format!("jsonl:{}", path.display())).contains("is not an audit log"));
}

#[test]
fn a_newer_schema_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.db");
    let store = path.display().to_string();
    open(&store).close().unwrap();
    let database = rusqlite::Connection::open(&path).unwrap();
    database.execute("INSERT INTO audit_schema_version VALUES (99)", []).unwrap();
    assert!(refused(&store).contains("newer version: it has the schema 99"), "{}", refused(&store));
    assert!(spec(&store).read().err().unwrap().to_string().contains("newer version"));
    let lines = dir.path().join("x.jsonl");
    std::fs::write(&lines, "{\"v\":99,\"seq\":1}\n").unwrap();
    assert!(refused(&lines.display().to_string()).contains("newer version"));
}

#[test]
fn several_writers_share_a_database_but_not_a_list_of_lines() {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join("x.db").display().to_string();
    let (first, second) = (open(&store), open(&store));
    for audit in [&first, &second, &first, &second] {
        audit.record_blocking(Row { seq: audit.next_seq(), ..Row::default() }).unwrap();
    }
    assert_eq!(first.close().unwrap().written + second.close().unwrap().written, 4);
    let mut numbers: Vec<_> = open(&store).query(&Filter::default()).unwrap();
    numbers.dedup_by_key(|row| row.seq);
    assert_eq!(numbers.len(), 4);

    let lines = dir.path().join("x.jsonl").display().to_string();
    let _first = open(&lines);
    assert!(refused(&lines).contains("another process writes"), "{}", refused(&lines));
}

#[test]
fn half_a_line_of_a_killed_process_is_left_out_and_cut_off() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("x.jsonl");
    let store = path.display().to_string();
    let audit = open(&store);
    ten().into_iter().for_each(|row| audit.record_blocking(row).unwrap());
    audit.close().unwrap();
    let whole = std::fs::read(&path).unwrap();
    std::fs::write(&path, [&whole[..], b"{\"v\":1,\"seq\":11,\"meth"].concat()).unwrap();
    assert_eq!(spec(&store).read().unwrap().query(&Filter::default()).unwrap().len(), 10);
    let audit = open(&store);
    assert_eq!(audit.next_seq(), 11);
    audit.record_blocking(Row { seq: 11, ..Row::default() }).unwrap();
    assert_eq!(audit.query(&Filter::default()).unwrap().len(), 11);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_noticed() {
    let audit = open("jsonl:/dev/full");
    audit.record_blocking(Row::default()).unwrap();
    let end = audit.close().unwrap_err();
    assert_eq!((end.emitted, end.written), (1, 0), "{end}");
    assert!(end.to_string().contains("No space left"), "{end}");
}

fn any_row() -> impl Strategy<Value = Row> {
    let text = || prop::option::of(any::<String>());
    let word = || prop::option::of(any::<String>().prop_map(std::borrow::Cow::from));
    let small = || 0..=i64::MAX.cast_unsigned();
    let moment = (0..253_402_300_799_999_999_i64).prop_map(Timestamp);
    let kind = prop::sample::select(Kind::ALL.to_vec());
    let transport = prop::option::of(prop::sample::select(TransportName::ALL.to_vec()));
    let era = prop::option::of(prop::sample::select(vec![Era::Legacy, Era::Modern]));
    let headers = prop::collection::vec(("[A-Za-z-]{1,8}", any::<String>()), 0..4);
    let events = prop::collection::vec((small(), any::<String>()), 0..4);
    (
        (moment, kind, transport, era, headers, events),
        (word(), text(), text(), word(), word(), text(), any::<bool>()),
        (word(), word(), any::<Option<u16>>(), any::<Option<i64>>(), text(), word()),
        (any::<bool>(), any::<bool>(), text(), any::<u32>(), small(), small(), small()),
        (any::<u32>(), text(), text()),
    )
        .prop_map(|(a, b, c, d, e)| {
            let mut headers = Headers::default();
            a.4.iter().for_each(|(name, value)| headers.push(name, value));
            let event = |(at_us, method): (u64, String)| SentEvent { at_us, method: method.into() };
            Row {
                seq: 0,
                ts: a.0,
                kind: a.1,
                transport: a.2,
                era: a.3,
                headers,
                events: a.5.into_iter().map(event).collect(),
                revision: b.0,
                session: b.1,
                rpc_id: b.2,
                method: b.3,
                tool: b.4,
                arguments: b.5,
                arguments_truncated: b.6,
                http_verb: c.0,
                http_path: c.1,
                http_status: c.2,
                error_code: c.3,
                error_message: c.4,
                error_category: c.5,
                success: d.0,
                cancelled: d.1,
                fault: d.2,
                attempt: d.3,
                bytes_in: d.4,
                bytes_out: d.5,
                duration_us: d.6,
                event_count: e.0,
                client: e.1,
                note: e.2,
            }
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn rows_read_back_as_they_were_written(rows in prop::collection::vec(any_row(), 1..20)) {
        let dir = tempfile::tempdir().unwrap();
        for store in ["x.db", "x.jsonl"] {
            let audit = open(&dir.path().join(store).display().to_string());
            let mut written = rows.clone();
            for row in &mut written {
                row.seq = audit.next_seq();
                audit.record_blocking(row.clone()).unwrap();
            }
            prop_assert_eq!(audit.query(&Filter::default()).unwrap(), written, "{}", store);
            audit.close().unwrap();
        }
    }
}
