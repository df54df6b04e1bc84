//! Rows to log, and the short way to log them.

use mcp_loadtest_core::{config::TransportName, mcp::Era};
use mcp_loadtest_mock::audit::{Audit, Kind, Redaction, Row, StoreSpec, Timestamp};

/// The moment at which the first row arrived; the others came a second apart.
pub(super) const START: i64 = 1_778_423_400_000_000;

pub(super) fn spec(text: &str) -> StoreSpec {
    text.parse().unwrap()
}

pub(super) fn open(text: &str) -> Audit {
    Audit::open(&spec(text), Redaction::default()).unwrap()
}

pub(super) fn at(second: i64) -> Timestamp {
    Timestamp(START + second * 1_000_000)
}

/// Ten rows that differ in all that can be asked for. They are recorded in another order than that of
/// their arrival, as calls are that take long.
pub(super) fn ten() -> Vec<Row> {
    let mut rows: Vec<_> = (0..10).map(row).collect();
    rows.swap(1, 8);
    rows.swap(2, 5);
    rows
}

fn row(number: i64) -> Row {
    let kinds = [Kind::Request, Kind::Notification, Kind::Cancellation];
    let failed = number % 4 == 3;
    let mut row = Row {
        seq: number.cast_unsigned() + 1,
        ts: at(number),
        kind: kinds[if number < 8 { 0 } else { number as usize - 7 }],
        transport: Some(if number == 0 { TransportName::Stdio } else { TransportName::Http }),
        era: Some(if number % 2 == 0 { Era::Legacy } else { Era::Modern }),
        revision: Some("2025-11-25".into()),
        session: (number % 2 == 0).then(|| format!("session {}", number % 4)),
        rpc_id: Some(format!("\"{number}\"")),
        method: Some(if number == 9 { "notifications/cancelled" } else { "tools/call" }.into()),
        tool: (number != 9).then(|| if number % 3 == 0 { "slow" } else { "echo" }.into()),
        error_code: failed.then_some(-32000 - number),
        error_message: failed.then(|| format!("it'was {number}% \\ \u{1f4a5}")),
        error_category: failed.then(|| if number == 3 { "timeout" } else { "tool" }.into()),
        success: !failed,
        cancelled: number == 7,
        fault: failed.then(|| r#"{"name":"late","ordinal":3}"#.to_owned()),
        attempt: number as u32,
        bytes_in: 100 + number.cast_unsigned(),
        bytes_out: 1 << 40,
        duration_us: 1_000_000 * number.cast_unsigned(),
        http_status: Some(200 + number as u16),
        http_verb: Some("POST".into()),
        http_path: Some("/mcp?a=%20".into()),
        client: Some("[::1]:1234".into()),
        note: (number == 4).then(|| "line\nbreak\ttab\x1b[31m".to_owned()),
        ..Row::default()
    };
    let redaction = Redaction::default().limit(48);
    row.set_arguments(&format!(r#"{{"text":"größe {number}","token":"x"}}"#), &redaction);
    row.set_headers([("Accept", "*/*"), ("Cookie", "x")], &redaction);
    (0..number.cast_unsigned()).for_each(|at| row.push_event(at, "notifications/progress"));
    row
}
