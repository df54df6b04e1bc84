//! Calls that are cancelled, and calls that come together.

use serde_json::Value;

use crate::{
    harness::{mock, run},
    process::listening_mock,
};

/// Quick to give up, because silence is what some of these servers answer; not too quick, because
/// the machine may be busy.
const IMPATIENT: &[&str] = &["--hang-threshold", "4s", "--grace-period", "3s", "--deep", "--json"];

/// The results of one check.
fn results(check: &str, server: &[&str]) -> Vec<Value> {
    let ran = run(&[&["probe", "--only", check], server, IMPATIENT].concat());
    let report: Value = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}", ran.err));
    let results = report["checks"].as_array().unwrap().clone();
    assert!(!results.is_empty(), "{check} told nothing");
    results.into_iter().filter(|result| result["check"] == check).collect()
}

fn of_mock(check: &str, script: &str, env: &str) -> Vec<Value> {
    let command = mock(script);
    let mut server = vec!["-s", &command, "--allow-destructive"];
    server.extend(["--env", env].iter().filter(|_| !env.is_empty()));
    results(check, &server)
}

/// A check, a server, its setting, the verdict that one of the results must have, and how bad it is.
type Row = (&'static str, &'static str, &'static str, &'static str, &'static str);

const CAUGHT: &[Row] = &[
    ("cancel_unknown", "bad-cancel.py", "MOCK_CANCEL=unknown", "crashed", "critical"),
    ("cancel_unknown", "bad-cancel.py", "MOCK_CANCEL=answers", "broken", "warning"),
    ("cancel_in_flight", "bad-cancel.py", "MOCK_CANCEL=crash", "crashed", "critical"),
    ("cancel_in_flight", "bad-cancel.py", "MOCK_CANCEL=deaf", "hung", "critical"),
    ("reply_after_cancel", "bad-cancel.py", "MOCK_CANCEL=error", "broken", "warning"),
    ("rapid_cancel", "bad-cancel.py", "MOCK_CANCEL=crash", "crashed", "critical"),
    ("rapid_cancel", "bad-cancel.py", "MOCK_CANCEL=lost", "broken", "critical"),
    ("reused_id", "bad-reused-id.py", "", "crashed", "critical"),
    ("large_replies", "bad-large-replies.py", "MOCK_LARGE=torn", "broken", "critical"),
    ("large_replies", "bad-large-replies.py", "MOCK_LARGE=twice", "broken", "critical"),
    ("large_replies", "bad-large-replies.py", "MOCK_LARGE=missing", "broken", "critical"),
    ("large_replies", "mock-crossed.py", "", "broken", "critical"),
    ("in_flight_burst", "bad-in-flight-burst.py", "", "broken", "critical"),
    ("in_flight_burst", "bad-in-flight-burst.py", "MOCK_BUSY=1", "held", "info"),
    ("head_of_line", "bad-head-of-line.py", "", "broken", "warning"),
    ("deadlock", "bad-deadlock.py", "", "hung", "critical"),
    ("lazy_init_cliff", "mock-lazy.py", "", "broken", "warning"),
    ("race", "mock-race.py", "", "broken", "critical"),
    ("race", "mock-crossed.py", "", "broken", "critical"),
    ("cold_storm", "bad-cold-storm.py", "", "broken", "critical"),
    ("write_read_back", "bad-write-read-back.py", "", "broken", "critical"),
];

#[test]
fn each_check_catches_the_server_that_was_made_for_it() {
    for (check, script, env, verdict, severity) in CAUGHT {
        let results = of_mock(check, script, env);
        let is_it =
            |result: &&Value| result["verdict"] == *verdict && result["severity"] == *severity;
        assert!(
            results.iter().any(|result| is_it(&result)),
            "{check} {script} {env}: {results:#?}"
        );
    }
}

/// The same servers without their fault, and one that never had any.
const HEALTHY: &[(&str, &str)] = &[
    ("mock-normal.py", ""),
    ("mock-modern.py", ""),
    ("bad-cancel.py", "MOCK_CANCEL=none"),
    ("bad-head-of-line.py", "MOCK_THREADED=1"),
    ("bad-write-read-back.py", "MOCK_HEALTHY=1"),
    ("mock-race.py", "MOCK_HEALTHY=1"),
];

#[test]
fn healthy_servers_are_not_accused() {
    let checks: std::collections::BTreeSet<&str> = CAUGHT.iter().map(|row| row.0).collect();
    let checks = checks.into_iter().collect::<Vec<_>>().join(",");
    for (script, env) in HEALTHY {
        let command = mock(script);
        let mut args =
            vec!["probe", "--only", &checks, "-s", &command, "--allow-destructive", "--json"];
        args.extend(["--env", env].iter().filter(|_| !env.is_empty()));
        let report: Value = serde_json::from_str(&run(&args).out).unwrap();
        assert_eq!(report["findings"], serde_json::json!([]), "{script} {env}");
    }
}

/// A server that dies at the line after the one that killed it: the check that sent that one is told, none
/// that comes later. The tool that is slow by itself is no cliff, and nobody cancels it to find out.
#[test]
fn a_death_is_told_of_the_check_that_caused_it() {
    let command = mock("bad-dies-after-cancel.py");
    let only = "lazy_init_cliff,cancel_unknown,reused_id,cancel_in_flight,race";
    let dying = run(&["probe", "--only", only, "-s", &command, "--json"]);
    let report: Value = serde_json::from_str(&dying.out).unwrap();
    let told = report["findings"].as_array().unwrap();
    let told: Vec<_> = told.iter().map(|found| found["id"].as_str().unwrap()).collect();
    assert_eq!(told, ["cancel_unknown", "cancel_in_flight"], "{report:#}");
}

#[test]
fn a_write_is_kept_only_where_writing_is_allowed() {
    let command = mock("bad-write-read-back.py");
    let results = results("write_read_back", &["-s", &command]);
    assert_eq!(results[0]["verdict"], "skipped", "{results:?}");
}

#[test]
fn a_store_that_nobody_would_recognise_can_be_named() {
    let command = mock("bad-write-read-back.py");
    let odd = ["-s", &command, "--allow-destructive", "--env", "MOCK_PUT=frobnicate"];
    let unnamed = results("write_read_back", &odd);
    assert_eq!(unnamed[0]["verdict"], "skipped", "{unnamed:?}");
    let pair = |pair: &str, healthy: &str| {
        let healthy = format!("MOCK_HEALTHY={healthy}");
        results("write_read_back", &[&odd[..], &["--env", &healthy, "--pair", pair]].concat())
    };
    assert_eq!(pair("frobnicate=list_notes", "0")[0]["severity"], "critical");
    assert_eq!(pair("frobnicate=list_notes", "1")[0]["verdict"], "held");
    assert_eq!(pair("list_notes=frobnicate", "1")[0]["verdict"], "could_not_tell");
    let args = ["probe", "-s", &command, "--allow-destructive", "--only", "write_read_back"];
    let gone = run(&[&args[..], &["--pair", "nothing=list_notes"]].concat());
    assert_eq!(gone.code, 2, "{}{}", gone.out, gone.err);
}

#[test]
fn streams_that_use_up_the_workers_are_noticed() {
    let few = listening_mock("bad-stream-head-of-line.py", &[]);
    let caught = results("stream_head_of_line", &["--url", &few.url]);
    assert_eq!(caught[0]["severity"], "critical", "{caught:?}");
    let many = listening_mock("bad-stream-head-of-line.py", &[("MOCK_WORKERS", "50")]);
    let held = results("stream_head_of_line", &["--url", &many.url]);
    assert_eq!(held[0]["verdict"], "held", "{held:?}");
}
