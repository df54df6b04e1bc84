//! `gateway` against gateways that are well, and against some that break one thing each.

use std::{net::TcpListener, path::PathBuf, process::Command};

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

/// A port that nobody has; somebody may take it before we do, but not soon.
fn free_port() -> String {
    TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port().to_string()
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

#[test]
fn a_gateway_that_is_well_keeps_everything() {
    let ran = over_pipes(&["--json"], "");
    let report = report(&ran);
    assert_eq!(verdicts(&report), HEALTHY, "{report:#}");
    assert_eq!((ran.code, &report["passed"]), (0, &Value::Bool(true)), "{}", ran.err);
    let schema = mcp_loadtest_mock::gateway::schema();
    jsonschema::validate(&schema, &report).unwrap();
    let retries = &checks(&report)[8];
    assert_eq!(retries["figures"]["attempts"], 1.0, "{retries}");
}

#[test]
fn so_does_one_that_listens() {
    let ran = listening(&["--json", "--protocol", "2025-11-25"], "");
    let report = report(&ran);
    let expected: Vec<_> = HEALTHY
        .iter()
        .map(|(id, verdict)| (*id, if *id == "headers" { "measured" } else { verdict }))
        .collect();
    assert_eq!(verdicts(&report), expected, "{report:#}");
    assert_eq!(ran.code, 0, "{}", ran.err);
}

/// What a fault breaks, and what is said of it.
const SICK: &[(&str, &str, &str)] = &[
    ("swap", "protocol_error", "error -32050 became ToolError"),
    ("swap", "tool_error", "a result with `isError` became error -32603"),
    ("no-data", "protocol_error", "`data` {\"list\":[1,null]"),
    ("no-cancel", "cancel", "for nobody"),
    ("other-id", "cancel", "no such call is running"),
    ("repeat", "duplicates", "took effect 2 times"),
    ("buffer", "streaming", "buffered, they arrive together"),
    ("mute", "streaming", "0 of 5 arrived"),
    ("no-token", "streaming", "the progress token did not reach the server"),
    ("reverse", "order", "`chatty`: in place of block 1 came block 4"),
    ("cache", "crossed", "got an answer that is not theirs"),
    ("twice", "crossed", "the server saw 100 more than once"),
    ("floats", "arguments", "`extras.null` null is gone"),
    ("stuck", "sessions", "nobody told it to begin one"),
    ("serial", "hang", "while one call hung, another got"),
];

#[test]
fn each_fault_is_noticed_by_its_check() {
    for (fault, check, part) in SICK {
        let ran = over_pipes(&["--json", "--only", check], fault);
        let report = report(&ran);
        assert_eq!(verdicts(&report), [(*check, "broken")], "{fault}: {report:#}");
        let evidence = checks(&report)[0]["evidence"].to_string().replace("\\\"", "\"");
        assert!(evidence.contains(part), "{fault}: no {part:?} in {evidence}");
        assert!(checks(&report)[0]["advice"].is_string());
        assert_eq!(ran.code, 1, "{fault}");
    }
}

#[test]
fn retries_are_counted_with_their_pauses() {
    let ran = over_pipes(&["--json", "--only", "retries"], "retry");
    let report = report(&ran);
    let figures = &checks(&report)[0]["figures"];
    assert_eq!((ran.code, &figures["attempts"]), (0, &3.0.into()), "{report:#}");
    assert!(figures["longest_pause_ms"].as_f64().unwrap() >= 100.0, "{figures}");
}

#[test]
fn added_arguments_and_other_names_are_told_but_not_blamed() {
    let ran = over_pipes(&["--json", "--only", "arguments"], "add");
    let told = report(&ran);
    assert_eq!((ran.code, verdicts(&told)), (0, vec![("arguments", "measured")]), "{told:#}");
    assert_eq!(checks(&told)[0]["evidence"][0], "added on the way: `gateway` \"was here\"");
    let ran = over_pipes(&["--only", "arguments,order"], "prefix");
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(ran.out.starts_with("KEPT mcp-loadtest-mock"), "{}", ran.out);
    assert!(ran.out.contains("`echo` goes by the name `mock__echo`"), "{}", ran.out);
}

#[test]
fn headers_that_pass_are_told_from_those_that_do_not() {
    for (fault, part) in [
        (
            "",
            "passed on: X-Request-Id, traceparent, Authorization, X-Mcp-Loadtest; kept back: none",
        ),
        ("strip", "passed on: none; kept back: X-Request-Id, traceparent, Authorization"),
        ("add", "added: X-Forwarded-For"),
    ] {
        let ran = listening(&["--only", "headers", "--protocol", "2025-11-25"], fault);
        assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
        assert!(ran.out.contains(part), "{fault}: no {part:?} in {}", ran.out);
        assert_eq!(ran.out.contains("Authorization header"), fault != "strip", "{}", ran.out);
    }
}

#[test]
fn a_buffer_in_front_of_http_is_noticed() {
    let flags = ["--json", "--only", "streaming", "--protocol", "2025-11-25"];
    let told = report(&listening(&flags, "buffer"));
    assert_eq!(verdicts(&told), [("streaming", "broken")], "{told:#}");
}

#[test]
fn a_gateway_that_passes_nothing_is_not_checked() {
    let ran = over_pipes(&[], "dead");
    assert_eq!((ran.code, &*ran.out), (2, ""), "{}", ran.err);
    assert!(
        ran.err.contains("not even a plain `echo` passes the gateway: error -32000: not today")
    );
    let ran = run(&["gateway", "--", "python3", "-c", "import sys; sys.exit('no config')"]);
    assert_eq!((ran.code, &*ran.out), (2, ""), "{}", ran.err);
    assert!(ran.err.contains("| no config"), "{}", ran.err);
}

#[test]
fn what_cannot_be_meant_is_refused() {
    for (args, part) in [
        (&["gateway"][..], "there is no gateway"),
        (&["gateway", "--gateway", "http://127.0.0.1:1/mcp"], "--upstream-port"),
        (&["gateway", "--only", "cancle", "--", "gw"], "did you mean `cancel`?"),
        (&["gateway", "--only", "hang", "--skip", "hang", "--", "gw"], "no check is left"),
        (&["gateway", "--header", "A: b", "--", "gw"], "--gateway"),
        (&["gateway", "--gateway", "ws://h/", "--upstream-port", "9"], "Streamable HTTP"),
    ] {
        let ran = run(args);
        assert_eq!((ran.code, &*ran.out), (2, ""), "{args:?}: {}", ran.err);
        assert!(ran.err.contains(part), "{args:?}: no {part:?} in {}", ran.err);
    }
}

#[test]
fn every_check_is_explained() {
    let ran = run(&["gateway", "--explain"]);
    for check in mcp_loadtest_mock::gateway::CHECKS {
        assert!(ran.out.contains(check.about), "{}", ran.out);
    }
}

/// A program of an environment, which must be there.
fn installed(environment: &str, program: &str) -> String {
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/env/testenv.py");
    let found = Command::new("python3").arg(&script).args(["path", environment]).output().unwrap();
    let problem = String::from_utf8_lossy(&found.stderr);
    assert!(found.status.success(), "run `make env`: {problem}");
    format!("{}/{program}", String::from_utf8(found.stdout).unwrap().trim())
}

/// Gateways that others wrote: what each breaks is a fact about its version.
fn check_real(command: &[&str], broken: &[&str], not_applicable: &[&str]) {
    let mut args = vec!["gateway", "--json", "--patience", PATIENCE, "--"];
    args.extend(command);
    let ran = run(&args);
    let report = report(&ran);
    let fact = |(id, verdict): &(&'static str, &'static str)| match *id {
        id if broken.contains(&id) => (id, "broken"),
        id if not_applicable.contains(&id) => (id, "not_applicable"),
        id => (id, *verdict),
    };
    assert_eq!(verdicts(&report), HEALTHY.iter().map(fact).collect::<Vec<_>>(), "{report:#}");
    assert_eq!(ran.code, u8::from(!broken.is_empty()), "{}", ran.err);
}

/// It makes tool errors of protocol errors, cancels nothing, and never shakes hands anew.
#[test]
fn mcp_proxy_over_pipes() {
    let program = installed("mcp-proxy-0.13.0", "bin/mcp-proxy");
    let command = [&*program, "{upstream}", "--transport", "streamablehttp"];
    check_real(&command, &["protocol_error", "cancel", "sessions"], &[]);
}

/// It makes tool errors of protocol errors. It speaks the modern era, which has no sessions.
#[test]
fn fastmcp_over_pipes() {
    let python = installed("fastmcp-4.1.4", "bin/python");
    let script =
        PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/real/proxy_fastmcp.py");
    let command = [&*python, script.to_str().unwrap(), "{upstream}"];
    check_real(&command, &["protocol_error"], &["sessions"]);
}
