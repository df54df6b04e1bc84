//! Our own proxy as a gateway: without a fault it changes nothing, and with one it is noticed.

use serde_json::Value;

use super::{PATIENCE, checks, expect, fixture, free_port, report, verdicts};
use crate::harness::{Ran, run};

const PROGRAM: &str = env!("CARGO_BIN_EXE_mcp-loadtest");

/// The proxy between our client and our server.
fn over_http(flags: &[&str], faults: &[&str]) -> Ran {
    let (own, upstream) = (free_port(), free_port());
    let (url, listen) = (format!("http://127.0.0.1:{own}/mcp"), format!("127.0.0.1:{own}"));
    let mut args = vec!["gateway", "--json", "--patience", PATIENCE];
    args.extend(["--gateway", &url, "--upstream-port", &upstream]);
    args.extend(flags);
    args.extend(["--", PROGRAM, "proxy", "--upstream", "{upstream}", "--listen", &listen]);
    args.extend(faults.iter().flat_map(|fault| ["--fault", fault]));
    run(&args)
}

/// The proxy in front of a gateway over pipes.
fn over_pipes(flags: &[&str], faults: &[&str]) -> Ran {
    let script = fixture("gateway.py");
    let mut args = vec!["gateway", "--json", "--patience", PATIENCE];
    args.extend(flags);
    args.extend(["--", PROGRAM, "proxy"]);
    args.extend(faults.iter().flat_map(|fault| ["--fault", fault]));
    args.extend(["--", "python3", &script, "{upstream}"]);
    run(&args)
}

#[test]
fn it_keeps_everything_over_http_in_the_legacy_era() {
    expect(&over_http(&["--protocol", "2025-11-25"], &[]), &[("headers", "measured")]);
}

#[test]
fn it_keeps_everything_over_http_in_the_modern_era() {
    let others = [("headers", "measured"), ("sessions", "not_applicable")];
    expect(&over_http(&["--protocol", "2026-07-28"], &[]), &others);
}

#[test]
fn it_keeps_everything_over_pipes() {
    expect(&over_pipes(&[], &[]), &[]);
}

type Place = fn(&[&str], &[&str]) -> Ran;

/// A fault, the check that looks at it, and what it says.
const CASES: &[(Place, &str, &str, &str, &str)] = &[
    (over_http, "tool-error@tool=error", "protocol_error", "broken", "-32050 became ToolError"),
    (over_pipes, "tool-error@tool=error", "protocol_error", "broken", "-32050 became ToolError"),
    (over_http, "error:-32001@tool=error", "tool_error", "broken", "became error -32001"),
    (over_http, "error:-32001@tool=error", "protocol_error", "broken", "`code` -32050 became"),
    (over_http, "malformed@tool=chatty", "order", "broken", "`chatty` got Malformed"),
    (over_http, "wrong-id@tool=echo,every=7", "crossed", "broken", "got no answer"),
    (over_pipes, "wrong-id@tool=echo,every=7", "crossed", "broken", "answers were to no call"),
    (over_pipes, "duplicate@tool=echo", "crossed", "broken", "answers were to no call"),
    (over_pipes, "reorder@tool=echo", "crossed", "kept", "each has its answer"),
    (over_http, "http:503@tool=echo,nth=5", "crossed", "broken", "1 got no answer"),
    (over_http, "disconnect@tool=flaky", "retries", "could_not_tell", "the call never arrived"),
    (over_http, "crash@tool=echo,nth=2", "arguments", "broken", "the call never arrived"),
];

#[test]
fn its_faults_are_noticed() {
    for (place, fault, check, verdict, part) in CASES {
        let flags = ["--only", check, "--protocol", "2025-11-25"];
        let ran = place(&flags, &[fault]);
        let report: Value = report(&ran);
        assert_eq!(verdicts(&report), [(*check, *verdict)], "{fault}: {report:#}");
        let evidence = checks(&report)[0]["evidence"].to_string();
        assert!(evidence.contains(part), "{fault}: no {part:?} in {evidence}");
        assert_eq!(ran.code, u8::from(*verdict != "kept"), "{fault}");
    }
}
