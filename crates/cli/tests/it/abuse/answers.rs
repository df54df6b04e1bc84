//! Answers that no server should give: each has its finding, and none does harm.

use std::path::Path;

use serde_json::Value;

use super::{against, against_in, file_of_run, findings, has_finding, summary};
use crate::{
    harness::{Ran, run, run_in},
    process::{fixture, listening_mock},
};

/// Patience for answers that do come, on a machine that may be busy.
const PATIENT: &[&str] = &["deadlock-probe", "--tool", "echo", "--concurrent", "2", "--json"];
/// Patience for answers that never come.
const BRISK: &[&str] = &["--hang-threshold", "1s", "--grace-period", "1s"];

/// What must be found in a reply of this kind; and whether calls fail of it.
struct Reply {
    mode: &'static str,
    finding: Option<&'static str>,
    fails: bool,
}

const fn odd(mode: &'static str, finding: &'static str) -> Reply {
    Reply { mode, finding: Some(finding), fails: false }
}

const fn fine(mode: &'static str) -> Reply {
    Reply { mode, finding: None, fails: false }
}

const fn broken(mode: &'static str) -> Reply {
    Reply { mode, finding: Some("malformed_reply"), fails: true }
}

fn check(reply: &Reply, ran: &Ran) {
    let told = summary(ran);
    let (mode, found) = (reply.mode, findings(&told));
    assert_eq!(ran.code, u8::from(reply.fails), "{mode}: {found:?}");
    let good = told["ok"].as_u64().unwrap();
    assert_eq!(good == 0, reply.fails, "{mode}: {told:#}");
    match reply.finding {
        Some(id) => assert!(found.contains(&id), "{mode}: {found:?}"),
        None => assert!(!has_finding(&told, "frame_defect"), "{mode}: {found:?}"),
    }
}

fn over_pipes(replies: &[Reply]) {
    for reply in replies {
        check(reply, &against("hostile-frames.py", reply.mode, PATIENT));
    }
}

#[test]
fn ids_that_were_never_sent_or_changed_their_type_are_told() {
    over_pipes(&[
        odd("unknown_id", "orphan_reply"),
        odd("twice", "orphan_reply"),
        odd("text_id", "frame_defect"),
        odd("float_id", "frame_defect"),
    ]);
}

/// Only who asked may withdraw a request. That it was over already is no harm: the two may cross.
#[test]
fn a_call_that_the_server_withdraws_is_told_and_its_reply_counts() {
    over_pipes(&[odd("withdrawn", "call_withdrawn")]);
    let told = summary(&against("hostile-frames.py", "withdrawn_before", PATIENT));
    assert!(!has_finding(&told, "call_withdrawn"), "{told:#}");
}

#[test]
fn replies_with_both_or_neither_of_result_and_error_are_malformed() {
    over_pipes(&[broken("both"), broken("neither")]);
}

#[test]
fn deep_wide_and_doubled_json_is_taken_or_told() {
    over_pipes(&[
        broken("deep"),
        odd("member_twice", "frame_defect"),
        fine("prototype"),
        fine("many_keys"),
    ]);
}

/// The evidence of all findings of the one run in this directory.
fn evidence_in(dir: &Path) -> String {
    let metrics: Value = serde_json::from_str(&file_of_run(dir, "metrics.json")).unwrap();
    let found = metrics["findings"].as_array().unwrap().iter();
    let lines = found.flat_map(|found| found["evidence"].as_array().into_iter().flatten());
    lines.map(|line| line.as_str().unwrap()).collect::<Vec<_>>().join("\n")
}

#[test]
fn bytes_that_are_no_message_cost_only_their_call() {
    let first_only = [PATIENT, &["--env", "HOSTILE_CALLS=1"]].concat();
    for (mode, failed, shown) in [
        ("not_utf8", 1, r"invalid_utf8: {"),
        ("not_utf8", 1, r#""x":"\xff\xfe""#),
        ("byte_order_mark", 0, r"\u{feff}{"),
        ("nul", 1, r"}\x00"),
        ("carriage_return", 0, ""),
        ("two_on_a_line", 1, r#"}{"jsonrpc""#),
        ("over_two_lines", 1, r"truncated_json: {"),
        ("over_two_lines", 1, r#"not_json: "result""#),
        ("trailing_comma", 1, r",}"),
        ("batch", 1, r"batch: [{"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let told = summary(&against_in(dir.path(), "hostile-frames.py", mode, &first_only));
        let calls = told["requests"].as_u64().unwrap();
        assert_eq!(
            (&told["errors"], &told["ok"]),
            (&failed.into(), &(calls - failed).into()),
            "{mode}"
        );
        let evidence = evidence_in(dir.path());
        assert!(evidence.contains(shown), "{mode}: {evidence}");
        assert_eq!(evidence.is_empty(), shown.is_empty(), "{mode}: {evidence}");
    }
}

#[test]
fn numbers_are_kept_as_they_are_written() {
    over_pipes(&[broken("beyond_numbers"), fine("odd_numbers")]);
    let dir = tempfile::tempdir().unwrap();
    against_in(dir.path(), "hostile-frames.py", "unknown_id", PATIENT);
    let told = file_of_run(dir.path(), "metrics.json");
    assert!(told.contains("id 9007199254740993 never sent"), "{told}");
}

/// The call is one, however often the server comes back with a question.
#[test]
fn a_call_of_many_slow_rounds_hangs_once() {
    let patience = ["--hang-threshold", "200ms", "--grace-period", "2m"];
    let more = [PATIENT, &patience].concat();
    let told = summary(&against("hostile-modern.py", "slow_rounds", &more));
    assert_eq!(told["deadlock_count"], 0, "{told:#}");
    assert_eq!(told["hang_count"], told["requests"], "{told:#}");
    assert!(told["requests"].as_u64().unwrap() > 0, "{told:#}");
}

#[test]
fn questions_are_refused_and_calls_go_on() {
    over_pipes(&[fine("question")]);
    check(&fine("questions"), &against("hostile-modern.py", "questions", PATIENT));
}

fn over_http(mode: &str) -> Ran {
    at_address("hostile-http.py", mode)
}

fn at_address(server: &str, mode: &str) -> Ran {
    let server = listening_mock(server, &[("HOSTILE", mode)]);
    run(&[PATIENT, BRISK, &["--url", &server.url]].concat())
}

#[test]
fn lengths_and_chunks_that_lie_are_noticed() {
    for mode in ["too_short", "two_lengths", "length_and_chunks", "bad_chunk"] {
        check(&broken(mode), &over_http(mode));
    }
    for mode in ["too_long", "endless_length", "endless_chunk"] {
        let cut = Reply { mode, finding: Some("disconnected"), fails: true };
        check(&cut, &over_http(mode));
    }
    // What follows a reply belongs to no request: its connection is not used again.
    let ran = over_http("smuggled");
    check(&fine("smuggled"), &ran);
    assert_eq!(summary(&ran)["errors"], 0, "{}", ran.out);
}

#[test]
fn replies_that_are_none_are_malformed() {
    for (mode, shown) in [
        ("page", "HTTP 200 with a body that is neither JSON nor an event stream: <html>"),
        ("half", r#"HTTP 200 without a reply to the request: {"jsonrpc""#),
        ("accepted", "HTTP 202 without a reply"),
        ("no_content", "HTTP 204 without a reply"),
        // As it came: nothing was unpacked.
        ("gzip", r"HTTP 200 without a reply to the request: \x1f\x8b"),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let server = listening_mock("hostile-http.py", &[("HOSTILE", mode)]);
        let ran = run_in(dir.path(), &[PATIENT, BRISK, &["--url", &server.url]].concat());
        check(&broken(mode), &ran);
        let evidence = evidence_in(dir.path());
        assert!(evidence.contains(shown), "{mode}: {evidence}");
    }
}

#[test]
fn a_stream_that_only_keeps_alive_does_not_keep_a_call_alive() {
    for mode in ["comments", "drip"] {
        let silent = Reply { mode, finding: Some("deadlock"), fails: true };
        check(&silent, &at_address("hostile-stream.py", mode));
    }
    let short = Reply { mode: "end", finding: Some("disconnected"), fails: true };
    check(&short, &at_address("hostile-stream.py", "end"));
}

#[test]
fn a_flood_beside_a_call_keeps_no_other_call_waiting() {
    // Time for the other call to be answered on a machine that may be busy, too.
    let patience = ["--hang-threshold", "3s", "--grace-period", "7s"];
    let ran = against("hostile-silence.py", "flood", &[PATIENT, &patience].concat());
    let told = summary(&ran);
    assert_eq!((ran.code, told["deadlock_count"].as_u64()), (1, Some(1)), "{told:#}");
    assert_eq!(told["errors"], 1, "{told:#}");
}

#[test]
fn a_probe_does_not_listen_for_ever_to_a_server_that_never_pauses() {
    let probe = ["probe", "--only", "unknown_method,bad_id", "--json"];
    let ran = against("hostile-silence.py", "flood", &[&probe, BRISK].concat());
    assert!(ran.code <= 1, "{}", ran.err);
    assert!(summary(&ran)["checks"].as_array().is_some_and(|checks| !checks.is_empty()));
}

#[test]
fn a_reply_that_comes_after_its_call_was_given_up_is_no_second_failure() {
    let dir = tempfile::tempdir().unwrap();
    let script = fixture("hostile-silence.py").canonicalize().unwrap();
    let config = format!(
        "[server]\ncommand = \"python3\"\nargs = [{script:?}]\nenv = {{ HOSTILE = \"late\" }}\n\
         [scenario]\ntype = \"sustained\"\nduration = \"10s\"\nconcurrent = 1\n\
         [[scenario.tool_call]]\nname = \"echo\"\nargs = {{ text = \"x\" }}\n\
         [thresholds]\nhang_timeout = \"2s\"\ngrace_period = \"5s\"\n"
    );
    std::fs::write(dir.path().join("bench.toml"), config).unwrap();
    let ran = run_in(dir.path(), &["run", "--config", "bench.toml", "--json"]);
    let told = summary(&ran);
    assert_eq!((&told["errors"], &told["deadlock_count"]), (&1.into(), &1.into()), "{told:#}");
    assert!(!has_finding(&told, "orphan_reply"), "{told:#}");
    let trace = Path::new(told["run_dir"].as_str().unwrap()).join("trace.jsonl");
    let trace = std::fs::read_to_string(trace).unwrap();
    assert!(trace.contains("late_reply"), "the reply is written down as late");
}

#[test]
fn input_is_never_asked_for_without_end_and_never_answered_with_real_data() {
    for mode in ["rounds", "heavy_state", "nothing_asked", "other_kind"] {
        check(&broken(mode), &against("hostile-modern.py", mode, PATIENT));
    }
    let dir = tempfile::tempdir().unwrap();
    let load = ["run", "--tool", "echo", "--duration", "300ms", "--trace", "full", "--json"];
    let secret = ["--env", "API_KEY=a-real-one"];
    let ran =
        against_in(dir.path(), "hostile-modern.py", "secrets", &[&load[..], &secret].concat());
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    let trace = file_of_run(dir.path(), "trace.jsonl");
    assert!(trace.contains("you said") && trace.contains("api_key"), "the question was answered");
    assert!(!trace.contains("a-real-one"), "{trace}");
}

#[test]
fn a_server_that_takes_no_version_is_not_asked_for_ever() {
    let ran = against("hostile-modern.py", "no_version", PATIENT);
    assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{}", ran.err);
    assert!(ran.err.contains("-32022"), "{}", ran.err);
}
