//! Each check of a probe catches the server that was made for it, and is silent on a healthy one.

mod concurrency;
mod determinism;
mod envelope;
mod negative_path;
mod resources;

use std::sync::Arc;

use mcp_loadtest::{Probe, Server, Stop};
use serde_json::Value;

use crate::harness::{mock, run};

/// Carries out checks on a server and gives all results.
fn probed(server: &[&str], only: &str) -> Vec<Value> {
    let patience = ["--hang-threshold", "3s", "--grace-period", "5s"];
    let ran = run(&[&["probe", "--only", only, "--json"], patience.as_slice(), server].concat());
    let report: Value = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}", ran.err));
    report["checks"].as_array().unwrap().clone()
}

/// The tables, as they are written.
const TABLES: &[&str] = &[
    include_str!("concurrency.rs"),
    include_str!("envelope.rs"),
    include_str!("negative_path.rs"),
    include_str!("resources.rs"),
];

#[test]
fn every_check_has_a_server_that_it_catches() {
    for check in mcp_loadtest::PROBES {
        let name = format!("\"{}\"", check.id);
        let is_there = TABLES.iter().any(|table| table.contains(&name));
        assert!(is_there, "no table in cli/tests/it/probe has a server that {name} must catch");
    }
}

#[test]
fn a_probe_that_is_stopped_says_what_it_left_out() {
    let stop = Stop::new();
    let watcher = stop.clone();
    let command = mock("mock-normal.py");
    let server = Server::stdio("python3").arg(command.trim_start_matches("python3 "));
    let probe = Probe::new(server)
        .with_stop(stop)
        .only(["unknown_tool", "wrong_type"])
        .watched_by(Arc::new(move |_: &str| watcher.stop()));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let report = runtime.block_on(probe.execute()).unwrap();
    assert!(report.passed && report.interrupted, "{report:?}");
    for check in ["unknown_tool", "wrong_type"] {
        let told = report.checks.iter().find(|case| case.check == check).unwrap();
        assert!(!told.verdict.is_known(), "{told:?}");
        assert_eq!(told.detail, "the probe was stopped", "{told:?}");
    }
}

/// The gravest result of a check, as verdict and severity.
fn worst(results: &[Value], check: &str) -> (String, String) {
    let rank = |result: &&Value| match result["severity"].as_str() {
        Some("critical") => 3,
        Some("warning") => 2,
        Some("info") => 1,
        _ => 0,
    };
    let of_check = results.iter().filter(|result| result["check"] == check);
    let worst = of_check.max_by_key(rank).unwrap_or_else(|| panic!("{check} told nothing"));
    let text = |key: &str| worst[key].as_str().unwrap_or("none").to_owned();
    (text("verdict"), text("severity"))
}
