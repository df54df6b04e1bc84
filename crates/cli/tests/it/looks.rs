//! What commands print for people, as it looks: one picture for each, without times, paths and versions.

use regex::Regex;

use crate::harness::{Ran, mock, run, run_in};

/// What differs from one run to the next is named and not shown.
fn redacted(text: &str) -> String {
    let fixtures =
        format!("{}/", env!("CARGO_MANIFEST_DIR").replace("crates/cli", "tests/fixtures"));
    let text = text.replace(&fixtures, "");
    let text = text.replace(env!("CARGO_BIN_EXE_mcp-loadtest"), "mcp-loadtest");
    let mut text = text.replace(env!("CARGO_PKG_VERSION"), "[version]");
    for (pattern, name) in [
        (r"\b\d+(\.\d+)?\s?(ns|µs|ms|min|s)\b", "[time]"),
        (r"\b\d+(\.\d+)?\s?(B|KiB|MiB|GiB|KB|MB)\b", "[size]"),
        (r"\[time\] +", "[time] "),
        (r" +\[time\]", " [time]"),
    ] {
        text = Regex::new(pattern).unwrap().replace_all(&text, name).into_owned();
    }
    text
}

/// What is printed when all cases were made, of which this is the number. A tool gets fewer of them the
/// longer its first call took, so where the machine is busy the command is tried again: how it looks then
/// is another picture.
fn with_all_cases(args: &[&str], all: &str) -> Ran {
    let mut ran = run(args);
    for _ in 0..2 {
        if ran.out.contains(all) {
            break;
        }
        ran = run(args);
    }
    ran
}

#[test]
fn a_probe() {
    let server = mock("bad-wrong-type.py");
    let args = ["probe", "-s", &server, "--only", "wrong_type,unknown_tool"];
    let ran = with_all_cases(&args, "Checks: 13 cases tried");
    assert_eq!(ran.code, 1, "{}", ran.err);
    insta::assert_snapshot!(redacted(&ran.out));
}

#[test]
fn a_negative_path() {
    let ran = with_all_cases(&["negative-path", "-s", &mock("bad-wrong-type.py")], ": 32 cases");
    assert_eq!(ran.code, 1, "{}", ran.err);
    insta::assert_snapshot!(redacted(&ran.out));
}

#[test]
fn a_doctor_and_a_server_that_dies() {
    let dying = "python3 -c 'raise SystemExit(\"no licence found\")'";
    let ran = run(&["doctor", "--only", "clock,server", "-s", dying]);
    assert_eq!(ran.code, 1, "{}", ran.err);
    let date = Regex::new(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ").unwrap();
    let system = format!("{} {}", std::env::consts::OS, std::env::consts::ARCH);
    let text = date.replace_all(&ran.out, "[date]").replace(&system, "[system]");
    insta::assert_snapshot!(redacted(&text));
}

#[test]
fn a_gateway_that_breaks_something() {
    let script = mock("gateway.py");
    let script = script.strip_prefix("python3 ").unwrap();
    let checks = ["--only", "tool_error,order", "--patience", "30s"];
    let gateway = ["--", "python3", script, "{upstream}", "swap"];
    let ran = run(&[["gateway"].as_slice(), &checks, &gateway].concat());
    assert_eq!(ran.code, 1, "{}", ran.err);
    let nonce = Regex::new(r"gw-[0-9a-f]+-\d+").unwrap();
    insta::assert_snapshot!(redacted(&nonce.replace_all(&ran.out, "[nonce]")));
}

#[test]
fn a_log_of_messages() {
    let dir = tempfile::tempdir().unwrap();
    let server = format!("{} mock --audit calls.db", env!("CARGO_BIN_EXE_mcp-loadtest"));
    let probe = ["probe", "-s", &server, "--only", "unknown_tool", "--tool", "echo"];
    let folder = dir.path().display().to_string();
    // Nobody is tried and thrown away, who might not come to write down what was asked.
    let settled = ["--protocol", "2026-07-28", "--working-dir", &folder];
    assert_eq!(run_in(dir.path(), &[probe.as_slice(), &settled].concat()).code, 0);
    let ran = run_in(dir.path(), &["audit", "calls.db", "stats"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    insta::assert_snapshot!(redacted(&ran.out));
}
