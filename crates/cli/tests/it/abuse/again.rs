//! A finding can be seen again by whoever is told of it.

use std::process::Command;

use serde_json::Value;

use super::{findings, has_finding};
use crate::{
    harness::{mock, run},
    process::listening_mock,
};

/// Carries out what a finding says, as a person would who copies it into a shell.
fn carry_out(command: &str) -> Value {
    let program = env!("CARGO_BIN_EXE_mcp-loadtest");
    let rest = command.strip_prefix("mcp-loadtest ").unwrap_or_else(|| panic!("{command}"));
    let line = format!("{program} {rest} --json");
    let ran = Command::new("sh").args(["-c", &line]).output().unwrap();
    let said = String::from_utf8_lossy(&ran.stderr);
    serde_json::from_slice(&ran.stdout).unwrap_or_else(|_| panic!("{command}: {said}"))
}

#[test]
fn the_command_of_a_finding_finds_it_again() {
    let listening = listening_mock("bad-http-session.py", &[]);
    let over_pipes = |name: &str| vec!["-s".to_owned(), mock(name)];
    for (server, only) in [
        (over_pipes("bad-wrong-type.py"), "wrong_type,missing_required"),
        (over_pipes("bad-batch.py"), "batch,envelope"),
        (vec!["--url".into(), listening.url.clone()], "http_session"),
    ] {
        let server: Vec<_> = server.iter().map(String::as_str).collect();
        let ran = run(&[&["probe", "--json", "--only", only], server.as_slice()].concat());
        let report: Value = serde_json::from_str(&ran.out).unwrap();
        let all = report["findings"].as_array().unwrap();
        let told: Vec<_> = all.iter().filter(|found| found["reproduce"].is_string()).collect();
        assert!(!told.is_empty(), "{only}: {:?}", findings(&report));
        for found in told {
            let (id, command) =
                (found["id"].as_str().unwrap(), found["reproduce"].as_str().unwrap());
            let again = carry_out(command);
            assert!(has_finding(&again, id), "{command}: {:?}", findings(&again));
        }
    }
}
