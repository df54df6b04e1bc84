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
    ("reply_after_cancel", "bad-cancel.py", "MOCK_CANCEL=mute", "could_not_tell", "none"),
    ("rapid_cancel", "bad-cancel.py", "MOCK_CANCEL=crash", "crashed", "critical"),
    ("rapid_cancel", "bad-cancel.py", "MOCK_CANCEL=lost", "broken", "critical"),
    ("reused_id", "bad-reused-id.py", "", "crashed", "critical"),
    ("unanswered", "bad-unanswered.py", "", "broken", "critical"),
    ("unanswered", "bad-unanswered.py", "MOCK_LOST=renamed", "broken", "critical"),
    ("unanswered", "mock-normal.py", "", "held", "none"),
    ("large_replies", "bad-large-replies.py", "MOCK_LARGE=torn", "broken", "critical"),
    ("large_replies", "bad-large-replies.py", "MOCK_LARGE=twice", "broken", "critical"),
    ("large_replies", "bad-large-replies.py", "MOCK_LARGE=missing", "broken", "critical"),
    ("large_replies", "bad-large-replies.py", "MOCK_LARGE=halved", "broken", "critical"),
    ("large_replies", "bad-large-replies.py", "MOCK_LARGE=refused", "could_not_tell", "none"),
    ("large_replies", "bad-large-replies.py", "MOCK_LARGE=busy", "held", "info"),
    ("large_replies", "mock-crossed.py", "", "broken", "critical"),
    ("in_flight_burst", "bad-in-flight-burst.py", "", "broken", "critical"),
    ("in_flight_burst", "bad-in-flight-burst.py", "MOCK_BUSY=1", "held", "info"),
    ("head_of_line", "bad-head-of-line.py", "", "broken", "warning"),
    ("head_of_line", "bad-head-of-line.py", "MOCK_BESIDE=exits", "crashed", "critical"),
    ("head_of_line", "bad-head-of-line.py", "MOCK_BESIDE=aborts", "could_not_tell", "none"),
    ("deadlock", "bad-deadlock.py", "", "hung", "critical"),
    ("deadlock", "bad-deadlock.py", "MOCK_FIRST=exits", "crashed", "critical"),
    ("deadlock", "bad-deadlock.py", "MOCK_FIRST=garbles", "broken", "critical"),
    ("deadlock", "bad-deadlock.py", "MOCK_FIRST=refuses", "could_not_tell", "none"),
    ("lazy_init_cliff", "mock-lazy.py", "", "broken", "warning"),
    ("race", "mock-race.py", "", "broken", "critical"),
    ("race", "mock-crossed.py", "", "broken", "critical"),
    // Proof does not have to be seen twice.
    ("race", "mock-crossed.py", "MOCK_ONCE=1", "broken", "critical"),
    ("cold_storm", "bad-cold-storm.py", "", "broken", "critical"),
    ("write_read_back", "bad-write-read-back.py", "", "broken", "critical"),
    ("write_read_back", "bad-write-read-back.py", "MOCK_BESIDE=exits", "crashed", "critical"),
    ("write_read_back", "bad-write-read-back.py", "MOCK_BESIDE=forgets", "broken", "critical"),
    ("write_read_back", "bad-write-read-back.py", "MOCK_BESIDE=refuses", "could_not_tell", "none"),
];

#[test]
fn each_check_catches_the_server_that_was_made_for_it() {
    for (check, script, env, verdict, severity) in CAUGHT {
        let results = of_mock(check, script, env);
        let is_it = |result: &&Value| {
            let seen = result["severity"].as_str().unwrap_or("none");
            result["verdict"] == *verdict && seen == *severity
        };
        assert!(
            results.iter().any(|result| is_it(&result)),
            "{check} {script} {env}: {results:#?}"
        );
    }
}

/// What a server does once it is worn out, after how many calls, and what a check then says of it. Nothing that
/// was refused, lost or garbled may hold.
type Worn = (&'static str, &'static str, &'static str, &'static str, &'static str);

const WORN: &[Worn] = &[
    ("race", "8", "exits", "crashed", "critical"),
    ("race", "35", "refuses", "broken", "warning"),
    ("race", "35", "garbles", "broken", "critical"),
    ("in_flight_burst", "1", "refuses", "could_not_tell", "none"),
    ("in_flight_burst", "1", "garbles", "broken", "critical"),
    ("rapid_cancel", "20", "refuses", "could_not_tell", "none"),
    ("rapid_cancel", "20", "garbles", "broken", "critical"),
    ("reused_id", "2", "refuses", "could_not_tell", "none"),
    ("reused_id", "2", "garbles", "broken", "critical"),
    ("request_churn", "5", "refuses", "could_not_tell", "none"),
    // It says nothing of the calls that it makes to hear error messages: somebody has to.
    ("leak_scan", "1", "exits", "crashed", "critical"),
];

#[test]
fn servers_that_are_worn_out_do_not_hold() {
    let command = mock("bad-wears-out.py");
    for (check, after, then, verdict, severity) in WORN {
        let (after, then) = (format!("MOCK_AFTER={after}"), format!("MOCK_THEN={then}"));
        let results = results(check, &["-s", &command, "--env", &after, "--env", &then]);
        let is_it = |result: &Value| {
            result["verdict"] == *verdict
                && result["severity"].as_str().unwrap_or("none") == *severity
        };
        assert!(results.iter().any(is_it), "{check} {after} {then}: {results:#?}");
    }
}

#[test]
fn calls_that_fail_at_once_are_no_cliff() {
    let command = mock("bad-wears-out.py");
    for (then, verdict) in [("exits", "crashed"), ("refuses", "could_not_tell")] {
        let then = format!("MOCK_THEN={then}");
        let server = ["-s", &command, "--env", "MOCK_AFTER=3", "--env", "MOCK_LAZY_S=2"];
        let results = results("lazy_init_cliff", &[&server[..], &["--env", &then]].concat());
        assert_eq!(results[0]["verdict"], verdict, "{results:?}");
    }
}

#[test]
fn a_death_at_a_call_that_went_well_before_is_told() {
    let command = mock("bad-wears-out.py");
    let told = run(&["probe", "--only", "unknown_tool,result_shape", "-s", &command, "--json"]);
    let report: Value = serde_json::from_str(&told.out).unwrap();
    let of_check = |result: &&Value| result["check"] == "result_shape";
    let mut results = report["checks"].as_array().unwrap().iter().filter(of_check);
    assert!(results.any(|result| result["verdict"] == "crashed"), "{report:#}");
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

#[test]
fn streams_that_nobody_holds_are_in_nobodys_way() {
    let none = listening_mock("bad-stream-head-of-line.py", &[("MOCK_STREAMS", "0")]);
    let skipped = results("stream_head_of_line", &["--url", &none.url]);
    assert_eq!(skipped[0]["verdict"], "skipped", "{skipped:?}");
}

#[test]
fn requests_that_are_turned_away_beside_streams_are_told() {
    let busy = [("MOCK_WORKERS", "50"), ("MOCK_STREAMS", "busy")];
    let busy = listening_mock("bad-stream-head-of-line.py", &busy);
    let told = results("stream_head_of_line", &["--url", &busy.url]);
    assert_eq!(told[0]["verdict"], "broken", "{told:?}");
    assert_eq!(told[0]["severity"], "warning", "{told:?}");
}
