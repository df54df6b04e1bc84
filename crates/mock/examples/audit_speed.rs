//! How fast the audit log is, and what it costs: `cargo run --release --example audit_speed -- [STORE] [ROWS]`.
//!
//! Two threads build rows as a server over HTTP does and record them. All processor time counts: that
//! of building, of writing, and of the system.

#![expect(clippy::print_stdout, reason = "it prints its figures")]

#[cfg(unix)]
mod unix {
    use std::{error::Error, thread, time::Duration};

    use mcp_loadtest_core::{config::TransportName, mcp::Era};
    use mcp_loadtest_mock::audit::{Audit, Kind, Redaction, Row, StoreSpec, Timestamp};
    use rustix::time::{ClockId, clock_gettime};

    const THREADS: u64 = 2;
    const HEADERS: [(&str, &str); 7] = [
        ("host", "127.0.0.1:3000"),
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", "2025-11-25"),
        ("mcp-session-id", "01JV3Y8Q6WJ8W6T0Y5ZKX0N1B2"),
        ("authorization", "Bearer abcdefghijklmnop"),
        ("content-length", "139"),
    ];

    pub(super) fn main() -> Result<(), Box<dyn Error>> {
        let mut words = std::env::args().skip(1);
        let store = words.next().unwrap_or_else(|| StoreSpec::DEFAULT.into());
        let rows: u64 = words.next().map_or(Ok(1_000_000), |text| text.parse())?;
        let audit = Audit::open(&store.parse()?, Redaction::default())?;
        let (wall, cpu) = (now(ClockId::Monotonic), now(ClockId::ProcessCPUTime));
        thread::scope(|scope| {
            for _ in 0..THREADS {
                scope.spawn(|| record(&audit, rows / THREADS));
            }
        });
        let closing = audit.close()?;
        let (wall, cpu) = (now(ClockId::Monotonic) - wall, now(ClockId::ProcessCPUTime) - cpu);
        println!("{store}: {} of {} rows written", closing.written, closing.emitted);
        println!("{:>10.0} rows/s", rows as f64 / wall.as_secs_f64());
        println!("{:>10.2} us of processor time a row", cpu.as_secs_f64() * 1e6 / rows as f64);
        Ok(())
    }

    fn record(audit: &Audit, rows: u64) {
        for number in 0..rows {
            if let Err(error) = audit.record_blocking(row(audit, number)) {
                println!("{error}");
                return;
            }
        }
    }

    fn row(audit: &Audit, number: u64) -> Row {
        let arguments =
            format!(r#"{{"text":"call {number} of a test that is quite ordinary","n":{number}}}"#);
        let mut row = Row {
            seq: audit.next_seq(),
            ts: Timestamp::now(),
            kind: Kind::Request,
            transport: Some(TransportName::Http),
            era: Some(Era::Legacy),
            revision: Some("2025-11-25".into()),
            session: Some("01JV3Y8Q6WJ8W6T0Y5ZKX0N1B2".into()),
            rpc_id: Some(number.to_string()),
            method: Some("tools/call".into()),
            tool: Some("echo".into()),
            http_verb: Some("POST".into()),
            http_path: Some("/mcp".into()),
            http_status: Some(200),
            success: true,
            attempt: audit.attempt("tools/call", "echo", &arguments),
            bytes_in: 139,
            bytes_out: 187,
            duration_us: 17 + number % 1000,
            client: Some("127.0.0.1:51234".into()),
            ..Row::default()
        };
        row.set_arguments(&arguments, audit.redaction());
        row.set_headers(HEADERS, audit.redaction());
        row
    }

    fn now(clock: ClockId) -> Duration {
        clock_gettime(clock).try_into().unwrap_or_default()
    }
}

#[cfg(unix)]
fn main() -> Result<(), Box<dyn std::error::Error>> {
    unix::main()
}

#[cfg(not(unix))]
fn main() {
    println!("processor time is measured on Unix only");
}
