//! Bad input gets a clear error: what, where, what to do next; exit code 2.

use crate::harness::{mock, run, run_in};

/// Runs a command line that must be refused and gives what it says.
fn refused(args: &[&str]) -> String {
    let ran = run(args);
    assert_eq!(ran.code, 2, "{args:?}\n{}\n{}", ran.out, ran.err);
    assert_eq!(ran.out, "", "{args:?}");
    ran.err
}

#[test]
fn a_server_that_cannot_be_started_says_why() {
    let said = refused(&["probe", "-s", "no-such-command-anywhere --flag"]);
    assert!(said.contains("no-such-command-anywhere") && said.contains("hint:"), "{said}");
    let said = refused(&["probe", "-s", "python3 -c 'import sys; sys.exit(\"no \\x1b[2J luck\")'"]);
    assert!(
        said.contains("exit code 1") && said.contains("luck") && !said.contains('\x1b'),
        "{said}"
    );
}

#[test]
fn a_server_that_is_not_there_says_so() {
    let said = refused(&["probe", "--url", "http://127.0.0.1:1/mcp"]);
    assert!(said.contains("127.0.0.1:1") && said.contains("hint:"), "{said}");
    let said = refused(&["probe", "--url", "ftp://example"]);
    assert!(said.contains("http://"), "{said}");
}

#[test]
fn no_server_at_all_is_told_how_to_name_one() {
    for command in ["probe", "deadlock-probe", "run"] {
        let said = refused(&[command]);
        assert!(said.contains("no server"), "{command}: {said}");
    }
}

#[test]
fn unknown_words_get_the_nearest_known_one() {
    let said = refused(&["run", "-s", "x", "--scenario", "sustaind"]);
    assert!(said.contains("did you mean `sustained`"), "{said}");
    let said = refused(&["run", "-s", "x", "--scenario", "spike"]);
    assert!(said.contains("not built yet"), "{said}");
    let said =
        refused(&["run", "-s", &mock("mock-normal.py"), "--tool", "ecko", "--duration", "1s"]);
    assert!(said.contains("no tool `ecko`") && said.contains("did you mean `echo`"), "{said}");
    let said = refused(&["probe", "-s", "x", "--protocol", "2025-11-24"]);
    assert!(said.contains("2025-11-25"), "{said}");
    refused(&["prob"]);
}

#[test]
fn bad_values_are_refused_before_anything_starts() {
    for args in [
        ["run", "-s", "x", "--duration", "5"].as_slice(),
        &["run", "-s", "x", "--args", "[1]"],
        &["run", "-s", "x", "--args", "{"],
        &["run", "-s", "x", "--concurrent", "0"],
        &["deadlock-probe", "-s", "x", "--concurrent", "4000000000"],
        &["run", "-s", "x", "--error-rate", "2"],
        &["run", "-s", "'unclosed"],
        &["run", "-s", "x", "--url", "http://y"],
        &["run", "-s", "x", "--iterations", "3"],
        &["probe", "-s", "x", "--header", "nonsense"],
        &["mock", "--listen", "0.0.0.0:0", "--transport", "http"],
        &["mock", "--fault", "gremlins"],
    ] {
        refused(args);
    }
}

#[test]
fn a_wrong_configuration_names_file_line_and_key() {
    let dir = tempfile::tempdir().unwrap();
    let text = "[server]\ncommand = \"x\"\n[scenario]\ntype = \"sustained\"\n[thresholds]\np99_latencyy = \"1s\"\n";
    std::fs::write(dir.path().join("bench.toml"), text).unwrap();
    let ran = run_in(dir.path(), &["run", "--config", "bench.toml"]);
    assert_eq!(ran.code, 2);
    assert!(
        ran.err.contains("bench.toml:6") && ran.err.contains("did you mean `p99_latency`?"),
        "{}",
        ran.err
    );
    let said = refused(&["run", "--config", "missing.toml"]);
    assert!(said.contains("missing.toml"), "{said}");
}

#[test]
fn a_directory_that_is_no_run_is_refused() {
    let said = refused(&["report", "."]);
    assert!(said.contains("not a run directory") && said.contains("hint:"), "{said}");
}
