//! Gateways that others wrote: what each breaks is a fact about its version.

use std::{path::PathBuf, process::Command};

use super::{checks, expect, free_port, report};
use crate::harness::{Ran, run};

/// They open a connection for every call, and may have to share the machine.
const PATIENCE: &str = "15s";

/// And what they import takes many seconds of CPU.
const START_LIMIT: &str = "180s";

/// What all of them are asked with.
fn asked(revision: &str) -> Vec<&str> {
    let limits = ["--patience", PATIENCE, "--startup-timeout", START_LIMIT];
    [&["gateway", "--json"][..], &limits, &["--protocol", revision]].concat()
}

/// A program of an environment, which must be there.
fn installed(environment: &str, program: &str) -> String {
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/env/testenv.py");
    let found = Command::new("python3").arg(&script).args(["path", environment]).output().unwrap();
    let problem = String::from_utf8_lossy(&found.stderr);
    assert!(found.status.success(), "run `make env`: {problem}");
    format!("{}/{program}", String::from_utf8(found.stdout).unwrap().trim())
}

fn over_pipes(revision: &str, command: &[&str]) -> Ran {
    let mut args = asked(revision);
    args.push("--");
    args.extend(command);
    run(&args)
}

/// It makes tool errors of protocol errors, cancels nothing, and never shakes hands anew.
#[test]
fn mcp_proxy_over_pipes() {
    let program = installed("mcp-proxy-0.13.0", "bin/mcp-proxy");
    let ran = over_pipes("2025-11-25", &[&program, "{upstream}", "--transport", "streamablehttp"]);
    let facts = [("protocol_error", "broken"), ("cancel", "broken"), ("sessions", "broken")];
    expect(&ran, &facts);
}

/// What starts FastMCP as a gateway.
fn fastmcp() -> [String; 3] {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/real/proxy_fastmcp.py");
    [installed("fastmcp-4.1.4", "bin/python"), script.into(), "{upstream}".into()]
}

/// It makes tool errors of protocol errors. It speaks the modern era, which has no sessions.
#[test]
fn fastmcp_over_pipes() {
    let ran = over_pipes("2026-07-28", &fastmcp().each_ref().map(String::as_str));
    expect(&ran, &[("protocol_error", "broken"), ("sessions", "not_applicable")]);
}

/// The same; and in the legacy era it shakes hands anew.
#[test]
fn fastmcp_over_http() {
    let (own, upstream, command) = (free_port(), free_port(), fastmcp());
    let url = format!("http://127.0.0.1:{own}/mcp");
    let mut args = asked("2025-11-25");
    args.extend(["--gateway", &url, "--upstream-port", &upstream, "--"]);
    args.extend(command.each_ref().map(String::as_str));
    args.push(&own);
    let ran = run(&args);
    expect(&ran, &[("protocol_error", "broken"), ("headers", "measured")]);
    // A client's token reaches the server, too.
    let report = report(&ran);
    let headers = checks(&report).iter().find(|check| check["id"] == "headers").unwrap();
    assert_eq!(headers["figures"]["passed"], 4.0, "{headers}");
}
