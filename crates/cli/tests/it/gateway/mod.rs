//! `gateway` against gateways that are well, and against some that break one thing each.

mod faults;
mod ours;
mod real;
mod usage;

use std::{
    net::TcpListener,
    path::PathBuf,
    sync::atomic::{AtomicU16, Ordering},
};

use serde_json::Value;

use crate::harness::{Ran, run};

/// Enough for any answer that comes, and short enough for those that never do.
const PATIENCE: &str = "5s";

fn fixture(name: &str) -> String {
    let file = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures").join(name);
    file.canonicalize().unwrap().display().to_string()
}

/// The gateway over pipes, with a fault or with none.
fn over_pipes(flags: &[&str], fault: &str) -> Ran {
    let script = fixture("gateway.py");
    let mut args = vec!["gateway", "--patience", PATIENCE];
    args.extend(flags);
    args.extend(["--", "python3", &script, "{upstream}", fault]);
    run(&args)
}

/// A port that nobody has, below those that the system gives out: nobody gets it by chance before we
/// do. Each test is a process, and looks in a corner of its own.
pub(crate) fn free_port() -> String {
    static NEXT: AtomicU16 = AtomicU16::new(0);
    let corner = 20_000 + (std::process::id() % 1_000) as u16 * 10;
    loop {
        let port = corner + NEXT.fetch_add(1, Ordering::Relaxed);
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port.to_string();
        }
    }
}

/// The gateway that listens.
fn listening(flags: &[&str], fault: &str) -> Ran {
    let (own, upstream, script) = (free_port(), free_port(), fixture("gateway-http.py"));
    let url = format!("http://127.0.0.1:{own}/mcp");
    let mut args = vec!["gateway", "--patience", PATIENCE];
    args.extend(["--gateway", &url, "--upstream-port", &upstream]);
    args.extend(flags);
    args.extend(["--", "python3", &script, &own, "{upstream}", fault]);
    run(&args)
}

fn report(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}{}", ran.out, ran.err))
}

fn checks(report: &Value) -> &[Value] {
    report["checks"].as_array().unwrap()
}

/// All checks with their verdicts.
fn verdicts<'a>(report: &'a Value) -> Vec<(&'a str, &'a str)> {
    let word = |check: &'a Value, key: &str| check[key].as_str().unwrap();
    checks(report).iter().map(|check| (word(check, "id"), word(check, "verdict"))).collect()
}

const HEALTHY: &[(&str, &str)] = &[
    ("protocol_error", "kept"),
    ("tool_error", "kept"),
    ("arguments", "kept"),
    ("order", "kept"),
    ("headers", "not_applicable"),
    ("streaming", "kept"),
    ("crossed", "kept"),
    ("latency", "measured"),
    ("retries", "measured"),
    ("cancel", "kept"),
    ("duplicates", "kept"),
    ("sessions", "kept"),
    ("hang", "measured"),
];

/// All checks were made, and came out as with a healthy gateway over pipes, but for these.
fn expect(ran: &Ran, others: &[(&str, &str)]) {
    let report = report(ran);
    let expected: Vec<_> = HEALTHY
        .iter()
        .map(|usual| *others.iter().find(|other| other.0 == usual.0).unwrap_or(usual))
        .collect();
    assert_eq!(verdicts(&report), expected, "{report:#}");
    let broken = others.iter().any(|(_, verdict)| *verdict == "broken");
    assert_eq!(ran.code, u8::from(broken), "{}", ran.err);
}
