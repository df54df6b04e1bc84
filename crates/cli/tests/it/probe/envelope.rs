//! Frames, handshakes, cursors, results and error messages.

use serde_json::Value;

use super::{probed, worst};
use crate::{harness::mock, process::listening_mock};

/// A server that was made for a check, and what that check must say of it.
struct Bad {
    check: &'static str,
    server: &'static str,
    flags: &'static [&'static str],
    verdict: &'static str,
    severity: &'static str,
}

const fn bad(check: &'static str, server: &'static str, seen: (&'static str, &'static str)) -> Bad {
    Bad { check, server, flags: &[], verdict: seen.0, severity: seen.1 }
}

const CRASHED: (&str, &str) = ("crashed", "critical");
const ACCEPTED: (&str, &str) = ("accepted", "warning");
const BROKEN: (&str, &str) = ("broken", "critical");
const ODD: (&str, &str) = ("broken", "warning");

static FRAMES: [Bad; 10] = [
    bad("unknown_method", "bad-unknown-method.py", CRASHED),
    bad("envelope", "bad-envelope.py", ACCEPTED),
    bad("bad_id", "bad-bad-id.py", BROKEN),
    bad("bad_method", "bad-bad-method.py", CRASHED),
    bad("batch", "bad-batch.py", CRASHED),
    bad("batch", "mock-normal.py", ODD),
    bad("invalid_byte", "bad-invalid-byte.py", CRASHED),
    bad("broken_json", "bad-broken-json.py", CRASHED),
    bad("deep_nesting", "bad-deep-nesting.py", CRASHED),
    bad("endless_line", "bad-endless-line.py", CRASHED),
];

static LIFE: [Bad; 5] = [
    bad("handshake", "bad-handshake.py", CRASHED),
    bad("discover_kills", "bad-discover-kills.py", ("crashed", "warning")),
    Bad {
        flags: &["--env", "MOCK_REFUSES=1"],
        ..bad("discover_kills", "bad-discover-kills.py", ODD)
    },
    bad("request_meta", "bad-request-meta.py", ACCEPTED),
    bad("bad_cursor", "bad-bad-cursor.py", CRASHED),
];

static RESULTS: [Bad; 9] = [
    bad("endless_cursor", "bad-endless-cursor.py", BROKEN),
    bad("list_determinism", "bad-list-determinism.py", ODD),
    bad("output_schema", "bad-output-schema.py", BROKEN),
    Bad {
        flags: &["--env", "MOCK_MISSING=1"],
        ..bad("output_schema", "bad-output-schema.py", ODD)
    },
    bad("result_shape", "bad-result-shape.py", ODD),
    bad("leak_scan", "bad-leak-scan.py", ODD),
    bad("template_redos", "bad-template-redos.py", ("hung", "critical")),
    bad("resource_read", "bad-resource-read.py", ACCEPTED),
    bad("prompt_get", "bad-prompt-get.py", ACCEPTED),
];

fn is_caught(bad: &Bad) {
    let command = mock(bad.server);
    let mut flags = vec!["-s", command.as_str()];
    flags.extend(bad.flags);
    if bad.server == "mock-normal.py" {
        // The one revision that has batches, of which the mock knows nothing.
        flags.extend(["--protocol", "2025-03-26"]);
    }
    let results = probed(&flags, bad.check);
    let seen = worst(&results, bad.check);
    let expected = (bad.verdict.to_owned(), bad.severity.to_owned());
    assert_eq!(seen, expected, "{} on {}: {results:#?}", bad.check, bad.server);
}

#[test]
fn bad_frames_are_survived_or_told() {
    FRAMES.iter().for_each(is_caught);
}

#[test]
fn bad_beginnings_are_survived_or_told() {
    LIFE.iter().for_each(is_caught);
}

#[test]
fn bad_results_are_told() {
    RESULTS.iter().for_each(is_caught);
}

/// All checks of these tables, and those that only some transports have.
fn all_checks() -> String {
    let http = ["http_session", "http_headers", "origin"];
    let tables = FRAMES.iter().chain(&LIFE).chain(&RESULTS).map(|bad| bad.check);
    tables.chain(http).collect::<Vec<_>>().join(",")
}

fn is_silent(results: &[Value]) {
    let loud: Vec<_> = results
        .iter()
        .filter(|result| matches!(result["severity"].as_str(), Some("critical" | "warning")))
        .collect();
    assert!(loud.is_empty(), "{loud:#?}");
    let unclear = results.iter().filter(|result| result["verdict"] == "could_not_tell");
    assert_eq!(unclear.collect::<Vec<_>>(), Vec::<&Value>::new());
}

#[test]
fn a_healthy_server_is_left_in_peace() {
    for server in ["mock-normal.py", "mock-modern.py"] {
        is_silent(&probed(&["-s", &mock(server)], &all_checks()));
    }
}

#[test]
fn our_own_mock_is_healthy() {
    let program = env!("CARGO_BIN_EXE_mcp-loadtest");
    is_silent(&probed(&["-s", &format!("{program} mock")], &all_checks()));
}

#[test]
fn a_session_that_is_not_looked_at_is_told() {
    let mock = listening_mock("bad-http-session.py", &[]);
    let results = probed(&["--url", &mock.url], "http_session,origin");
    let accepted = results.iter().filter(|result| result["verdict"] == "accepted").count();
    assert_eq!(worst(&results, "http_session"), ("accepted".into(), "warning".into()));
    assert_eq!(worst(&results, "origin"), ("accepted".into(), "warning".into()));
    assert_eq!(accepted, 6, "{results:#?}");
}

#[test]
fn headers_that_are_not_looked_at_are_told() {
    let mock = listening_mock("bad-http-headers.py", &[]);
    let results = probed(&["--url", &mock.url], "http_headers");
    assert_eq!(worst(&results, "http_headers"), ("accepted".into(), "warning".into()));
}

/// Bug of the Python SDK before 1.9.4: one unknown method, and nobody is served any more.
#[test]
fn a_server_that_serves_nobody_after_one_bad_request_has_crashed() {
    let mock = listening_mock("bad-http-500.py", &[]);
    let results = probed(&["--url", &mock.url], "unknown_method");
    let crashed: Vec<_> = results
        .iter()
        .filter(|result| result["verdict"] == "crashed")
        .map(|result| result["case"].as_str().unwrap())
        .collect();
    assert_eq!(crashed, ["a method that does not exist", "a new session afterwards"]);
}

/// A proxy that starts a dead worker anew hides its death.
#[test]
fn a_server_that_is_away_for_a_moment_is_told() {
    for (away, worst) in [("1", "warning"), ("0", "none")] {
        let mock = listening_mock("bad-http-500.py", &[("MOCK_AWAY", away)]);
        let results = probed(&["--url", &mock.url], "unknown_method");
        let told = |result: &&Value| result["detail"].as_str().unwrap_or("").contains("HTTP 502");
        let severity =
            results.iter().find(told).map_or("none", |r| r["severity"].as_str().unwrap());
        assert_eq!(severity, worst, "{results:#?}");
    }
}

/// Once may be a connection that was closed just when the call went out on it.
#[test]
fn a_call_that_is_cut_is_tried_again_once_and_told() {
    for (cuts, verdict, why) in [("60", "held", "cut once"), ("60,90", "broken", "without a reply")]
    {
        let mock = listening_mock("cut-http.py", &[("MOCK_CUTS", cuts)]);
        let results = probed(&["--url", &mock.url], "unanswered");
        assert_eq!(results[0]["verdict"], verdict, "{results:#?}");
        assert!(results[0]["detail"].as_str().unwrap().contains(why), "{results:#?}");
    }
}
