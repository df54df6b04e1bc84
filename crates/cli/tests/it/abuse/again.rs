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

/// A load is repeated from the file that it left; where that has a mask, the secret is asked for.
#[test]
fn the_command_of_a_load_finds_it_again_and_asks_for_its_secrets() {
    let dir = tempfile::tempdir().unwrap();
    let (server, dir) = (mock("mock-crash.py"), dir.path().to_str().unwrap());
    let flags = ["--duration", "1s", "--json", "-o", dir];
    let load = ["run", "-s", &server, "--tool", "echo"];
    let secret = ["--env", "MOCK_TOKEN=s3cret"];
    let found = |args: &[&str]| {
        let report: Value = serde_json::from_str(&run(args).out).unwrap();
        let all = report["findings"].as_array().unwrap().clone();
        let told = all.into_iter().find(|found| found["reproduce"].is_string());
        let told = told.unwrap_or_else(|| panic!("{report:#}"));
        (told["id"].as_str().unwrap().to_owned(), told["reproduce"].as_str().unwrap().to_owned())
    };
    let (id, command) = found(&[&load[..], &flags[..]].concat());
    assert!(has_finding(&carry_out(&command), &id), "{command}");
    let (id, command) = found(&[&load[..], &flags[..], &secret[..]].concat());
    assert!(has_finding(&carry_out(&format!("{command} {}", secret.join(" "))), &id), "{command}");
    let config = command.strip_prefix("mcp-loadtest run --config ").unwrap();
    let masked = run(&["run", "--config", config]);
    assert_eq!(masked.code, 2, "{}", masked.out);
    assert!(
        masked.err.contains("[server] env.MOCK_TOKEN") && masked.err.contains("--env MOCK_TOKEN=…")
    );
}
