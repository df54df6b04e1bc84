//! Gateways that others wrote: what each breaks is a fact about its version.

use std::{path::PathBuf, process::Command};

use super::{HEALTHY, PATIENCE, report, verdicts};
use crate::harness::run;

/// A program of an environment, which must be there.
fn installed(environment: &str, program: &str) -> String {
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/env/testenv.py");
    let found = Command::new("python3").arg(&script).args(["path", environment]).output().unwrap();
    let problem = String::from_utf8_lossy(&found.stderr);
    assert!(found.status.success(), "run `make env`: {problem}");
    format!("{}/{program}", String::from_utf8(found.stdout).unwrap().trim())
}

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
