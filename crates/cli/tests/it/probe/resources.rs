//! What servers keep and leave behind.

use serde_json::Value;

use crate::{
    harness::{mock, run},
    process::{HttpMock, listening_mock},
};

/// One check of a server: how bad its finding is, if it has one, and every verdict.
struct Told {
    severity: Option<String>,
    verdicts: Vec<(String, String)>,
    report: Value,
}

fn told(check: &str, server: &[&str]) -> Told {
    let args = [&["probe", "--only", check, "--json"], server].concat();
    let ran = run(&args);
    let report: Value = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}", ran.err));
    let finding = report["findings"].as_array().unwrap().iter().find(|found| found["id"] == check);
    let cases = report["checks"].as_array().unwrap().iter();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    Told {
        severity: finding.map(|found| text(&found["severity"])),
        verdicts: cases.map(|case| (text(&case["case"]), text(&case["verdict"]))).collect(),
        report,
    }
}

impl Told {
    #[track_caller]
    fn must_be(&self, severity: Option<&str>) {
        assert_eq!(self.severity.as_deref(), severity, "{:#}", self.report);
    }

    #[track_caller]
    fn must_have(&self, verdict: &str) {
        assert!(self.verdicts.iter().any(|(_, seen)| seen == verdict), "{:#}", self.report);
    }
}

/// Over pipes: which server, with which variable, what is found.
const PIPES: &[(&str, &str, &str, Option<&str>)] = &[
    ("request_churn", "bad-request-churn.py", "", Some("critical")),
    ("request_churn", "mock-normal.py", "", None),
    ("reject_churn", "bad-reject-churn.py", "", Some("critical")),
    ("reject_churn", "mock-normal.py", "", None),
    ("shutdown", "bad-shutdown.py", "MOCK_STAYS=call", Some("warning")),
    ("shutdown", "bad-shutdown.py", "MOCK_STAYS=question", Some("warning")),
    ("shutdown", "bad-shutdown.py", "MOCK_STAYS=children", Some("critical")),
    ("shutdown", "bad-impatient.py", "", Some("critical")),
    ("shutdown", "mock-normal.py", "", None),
    ("stdout_noise", "bad-stdout-noise.py", "MOCK_NOISE=start", Some("warning")),
    ("stdout_noise", "bad-stdout-noise.py", "MOCK_NOISE=call", Some("warning")),
    ("stdout_noise", "bad-stdout-noise.py", "MOCK_NOISE=end", Some("warning")),
    ("stdout_noise", "bad-stdout-noise.py", "MOCK_NOISE=unended", Some("warning")),
    ("stdout_noise", "mock-noise.py", "", Some("warning")),
    ("stdout_noise", "mock-normal.py", "", None),
    ("replies_lost_at_end", "bad-replies-lost-at-end.py", "", Some("info")),
    ("replies_lost_at_end", "mock-normal.py", "", None),
    ("idle", "bad-idle.py", "", Some("warning")),
    ("idle", "bad-impatient.py", "", Some("critical")),
    ("idle", "mock-normal.py", "", None),
];

#[test]
fn bad_servers_are_caught_and_good_ones_are_not() {
    for (check, server, variable, severity) in PIPES {
        // Who ends has the time to do so; who stays is waited for in vain. A call that is to be in flight
        // whatever the machine does takes longer than a tool may that nobody asked for.
        let stays = *check == "shutdown" && severity.is_some();
        let more: &[&str] = if stays {
            &["--shutdown-timeout", "2s", "--tool", "echo"]
        } else {
            &["--shutdown-timeout", "30s"]
        };
        let server = mock(server);
        let mut args = [&["-s", server.as_str()][..], more].concat();
        if !variable.is_empty() {
            args.extend(["--env", *variable]);
        }
        let told = told(check, &args);
        told.must_be(*severity);
        if severity.is_none() {
            told.must_have("held");
        }
    }
}

#[test]
fn of_what_a_server_died_among_refused_requests_is_told_with_its_last_words() {
    let told = told("reject_churn", &["-s", &mock("bad-broken-json.py")]);
    told.must_be(Some("critical"));
    let cases = told.report["checks"].as_array().unwrap();
    let case = cases.iter().find(|case| case["verdict"] == "crashed").unwrap();
    let (detail, sent) = (case["detail"].as_str().unwrap(), case["sent"].as_str().unwrap());
    assert!(detail.starts_with("one message is enough: "), "{case:#}");
    assert!(detail.contains("its last words: ") && detail.contains("JSONDecodeError"), "{case:#}");
    assert!(sent.ends_with("\"id\":"), "the message that is cut off: {case:#}");
}

fn at(mock: &HttpMock) -> [String; 4] {
    ["--url".into(), mock.url.clone(), "--pid".into(), mock.pid.to_string()]
}

/// Over HTTP: the same, and what becomes of each case.
const ADDRESSES: &[(&str, &str, &str, Option<&str>)] = &[
    ("session_churn", "bad-session-churn.py", "all", Some("critical")),
    ("session_churn", "bad-session-churn.py", "left", Some("warning")),
    ("session_churn", "mock-http-server.py", "", None),
    ("request_churn", "mock-http-server.py", "", None),
    ("reject_churn", "mock-http-server.py", "", None),
    ("stream_cut", "bad-stream-cut.py", "", Some("critical")),
    ("stream_cut", "bad-stream-cut.py", "half", Some("critical")),
    ("stream_cut", "mock-http-server.py", "", None),
    ("client_leaves", "bad-client-leaves.py", "", Some("critical")),
    ("client_leaves", "mock-http-server.py", "", None),
    ("session_crossing", "bad-session-crossing.py", "", Some("critical")),
    ("session_crossing", "mock-http-server.py", "", None),
];

#[test]
fn the_same_over_http() {
    for (check, server, keeps, severity) in ADDRESSES {
        let mock = listening_mock(server, &[("MOCK_KEEPS", *keeps)]);
        let args = at(&mock);
        let told = told(check, &args.each_ref().map(String::as_str));
        told.must_be(*severity);
        if severity.is_none() {
            told.must_have("held");
        }
    }
}

#[test]
fn clients_that_are_both_refused_show_nothing() {
    let mock = listening_mock("bad-session-crossing.py", &[("MOCK_KEEPS", "neither")]);
    let told = told("session_crossing", &["--url", &mock.url]);
    told.must_be(None);
    told.must_have("could_not_tell");
}

#[test]
fn what_does_not_apply_is_said_and_what_cannot_be_known_too() {
    let server = mock("mock-normal.py");
    for check in ["session_churn", "stream_cut"] {
        told(check, &["-s", &server]).must_have("skipped");
    }
    let mock = listening_mock("mock-http-server.py", &[]);
    for check in ["shutdown", "stdout_noise"] {
        told(check, &["--url", &mock.url]).must_have("skipped");
    }
    told("request_churn", &["--url", &mock.url]).must_have("could_not_tell");
}

#[test]
fn noise_and_shutdown_are_told_once() {
    let noise = told("stdout_noise", &["-s", &mock("mock-noise.py")]);
    let ids: Vec<_> =
        noise.report["findings"].as_array().unwrap().iter().map(|f| &f["id"]).collect();
    assert_eq!(ids, ["stdout_noise"]);
    let server = mock("mock-stubborn.py");
    let stubborn = told("shutdown", &["-s", &server, "--shutdown-timeout", "500ms"]);
    let ids: Vec<_> =
        stubborn.report["findings"].as_array().unwrap().iter().map(|f| &f["id"]).collect();
    assert_eq!(ids, ["shutdown"]);
    stubborn.must_be(Some("critical"));
}
