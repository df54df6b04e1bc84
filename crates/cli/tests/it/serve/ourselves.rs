//! Our own probe, against our own server: what we ask of others holds for us.

use serde_json::Value;

use super::workplace;
use crate::{harness::run_in, process::Listening};

/// Checks that have something to look at in a server of this kind.
const CHECKS: &str = "unknown_tool,control_call,wrong_type,oversized,extra_field,unknown_method,bad_id,\
    envelope,broken_json,deep_nesting,endless_line,request_meta,bad_cursor,cancel_unknown,result_shape,\
    output_schema,leak_scan,in_flight_burst,shutdown,stdout_noise,origin,http_headers,client_leaves";

fn probe(target: &[&str]) {
    let dir = workplace();
    let mut words = vec!["probe", "--json", "--only", CHECKS];
    words.extend(target);
    let ran = run_in(dir.path(), &words);
    let report: Value = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}", ran.err));
    assert_eq!((&report["passed"], ran.code), (&true.into(), 0), "{:#}", report["findings"]);
}

#[test]
fn our_probe_passes_it_over_stdio_in_both_eras() {
    let dir = workplace();
    let server = format!(
        "{} serve --mcp --mcp-config {}",
        env!("CARGO_BIN_EXE_mcp-loadtest"),
        dir.path().join(".mcp.json").display()
    );
    for revision in ["2025-11-25", "2026-07-28"] {
        probe(&["-s", &server, "--protocol", revision]);
    }
}

#[test]
fn our_probe_passes_it_over_http_in_both_eras() {
    let dir = workplace();
    let config = dir.path().join(".mcp.json").display().to_string();
    let server =
        Listening::start(&["serve", "--mcp", "--mcp-config", &config, "--listen", "127.0.0.1:0"]);
    for revision in ["2025-11-25", "2026-07-28"] {
        probe(&["--url", &server.url, "--protocol", revision]);
    }
    server.stop();
}
