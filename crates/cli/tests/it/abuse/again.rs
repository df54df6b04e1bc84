//! A finding can be seen again by whoever is told of it.

use std::{collections::BTreeMap, process::Command};

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

/// The id of every finding that warns or worse, and its command: there is none without.
fn commands_of(report: &Value) -> Vec<(&str, &str)> {
    let all = report["findings"].as_array().unwrap();
    let grave = all.iter().filter(|found| found["severity"] != "info");
    let commands = grave.map(|found| {
        let command = found["reproduce"].as_str().unwrap_or_else(|| panic!("{found:#}"));
        (found["id"].as_str().unwrap(), command)
    });
    commands.collect()
}

#[test]
fn the_command_of_a_finding_finds_it_again() {
    let listening = listening_mock("bad-http-session.py", &[]);
    let over_pipes = |name: &str| vec!["-s".to_owned(), mock(name)];
    let set = |name: &str, setting: &str| [over_pipes(name), vec!["--env".into(), setting.into()]];
    for (server, only, expected) in [
        (over_pipes("bad-wrong-type.py"), "wrong_type,missing_required", "wrong_type"),
        (over_pipes("bad-batch.py"), "batch,envelope", "batch"),
        (vec!["--url".into(), listening.url.clone()], "http_session", "http_session"),
        // What the calls of the tools show, before any check.
        (over_pipes("mock-broken.py"), "unknown_tool", "deadlock"),
        (set("mock-crash.py", "MOCK_CRASH_RATE=1").concat(), "unknown_tool", "server_crash"),
        (set("hostile-frames.py", "HOSTILE=neither").concat(), "unknown_tool", "malformed_reply"),
    ] {
        let server: Vec<_> = server.iter().map(String::as_str).collect();
        let brisk = ["--hang-threshold", "1s", "--grace-period", "1s", "--only", only];
        let ran = run(&[&["probe", "--json"], &brisk[..], server.as_slice()].concat());
        let report: Value = serde_json::from_str(&ran.out).unwrap();
        assert!(has_finding(&report, expected), "{server:?}: {:?}", findings(&report));
        let mut ids = BTreeMap::<_, Vec<_>>::new();
        commands_of(&report).into_iter().for_each(|(id, command)| {
            ids.entry(command).or_default().push(id);
        });
        for (command, ids) in ids {
            let again = carry_out(command);
            let is_there = |id: &&str| has_finding(&again, id);
            assert!(ids.iter().all(is_there), "{command}: {ids:?} {:?}", findings(&again));
        }
    }
}

/// A tool that does not say that it only reads is called with good arguments or not at all.
#[test]
fn the_command_of_the_negative_path_has_its_arguments_and_its_strictness() {
    let server = mock("bad-extra-field.py");
    let arguments = r#"{"query":"it's","range":{"from":1}}"#;
    let only = ["--tool", "search", "--args", arguments, "--checks", "extra_field", "--strict"];
    let ran = run(&[&["negative-path", "--json", "-s", &server], &only[..]].concat());
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    let severity = |report: &Value| {
        let all = report["findings"].as_array().unwrap().iter();
        let found = all.clone().find(|found| found["id"] == "extra_field");
        found.unwrap_or_else(|| panic!("{report:#}"))["severity"].clone()
    };
    assert_eq!(severity(&report), "critical");
    let (_, command) = commands_of(&report)[0];
    let again = carry_out(command);
    assert_eq!(severity(&again), "critical", "{command}");
    let good: Value = serde_json::from_str(arguments).unwrap();
    assert_eq!(again["tools"][0]["arguments"], good, "{command}");
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
        let told = commands_of(&report);
        let (id, command) = told.first().unwrap_or_else(|| panic!("{report:#}"));
        ((*id).to_owned(), (*command).to_owned())
    };
    let (id, command) = found(&[&load[..], &flags[..]].concat());
    assert!(has_finding(&carry_out(&command), &id), "{command}");
    let brisk = ["--hang-threshold", "1s", "--grace-period", "1s", "--json", "-o", dir];
    let probe = ["deadlock-probe", "-s", &mock("mock-broken.py"), "--tool", "echo"];
    let (id, command) = found(&[&probe[..], &brisk[..]].concat());
    assert_eq!(id, "deadlock");
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
