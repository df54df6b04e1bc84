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
fn a_command_without_its_flag_is_shown_with_it() {
    for (args, shown) in [
        (
            ["run", "--", "python3", "my server.py"].as_slice(),
            r#"run --server "python3 'my server.py'""#,
        ),
        (&["run", "python3", "server.py"], r#"run --server "python3 server.py""#),
        (&["probe", "--json", "npx", "-y", "server"], r#"probe --server "npx -y server""#),
    ] {
        let said = refused(args);
        let hint = format!("hint: the command of a server is one word: `mcp-loadtest {shown}`");
        assert!(said.contains(&hint), "{args:?}: {said}");
    }
    for args in [["run", "--no-such-flag"].as_slice(), &["completions", "bash", "python3"]] {
        assert!(!refused(args).contains("--server"), "{args:?}");
    }
}

#[test]
fn a_server_that_is_not_there_says_so() {
    let said = refused(&["probe", "--url", "http://127.0.0.1:1/mcp"]);
    assert!(said.contains("127.0.0.1:1") && said.contains("hint:"), "{said}");
    let said = refused(&["probe", "--url", "ftp://example"]);
    assert!(said.contains("http://"), "{said}");
}

/// A server on a thread that answers one request with a fixed reply.
fn answers(reply: &'static str) -> u16 {
    use std::io::{Read as _, Write as _};
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for socket in listener.incoming() {
            let mut socket = socket.unwrap();
            let _ = socket.read(&mut [0; 4096]);
            let _ = socket.write_all(reply.as_bytes());
        }
    });
    port
}

#[test]
fn redirects_are_told_and_not_followed() {
    let port = answers(
        "HTTP/1.1 307 Temporary Redirect\r\nLocation: http://127.0.0.1:1/elsewhere\r\nContent-Length: 0\r\nConnection: close\r\n\r\n",
    );
    for (scheme, transport) in [("http", "http"), ("http", "sse"), ("ws", "ws")] {
        let url = format!("{scheme}://127.0.0.1:{port}/mcp");
        let said = refused(&["probe", "--url", &url, "--transport", transport]);
        assert!(said.contains("http://127.0.0.1:1/elsewhere"), "{said}");
        assert!(said.contains("hint: if you trust it"), "{said}");
    }
}

#[test]
fn a_bad_file_with_certificates_is_told_by_its_name() {
    let dir = tempfile::tempdir().unwrap();
    let begin = "-----BEGIN CERTIFICATE-----";
    let end = "-----END CERTIFICATE-----";
    for (name, text) in [
        ("empty.pem", String::new()),
        ("prose.pem", "no certificate".into()),
        ("broken.pem", format!("{begin}\n!!!\n{end}\n")),
        ("wrong.pem", format!("{begin}\naGVsbG8=\n{end}\n")),
    ] {
        std::fs::write(dir.path().join(name), text).unwrap();
        let args = ["probe", "--url", "https://127.0.0.1:1/", "--ca-cert", name];
        let ran = run_in(dir.path(), &args);
        assert_eq!(ran.code, 2, "{name}");
        assert!(ran.err.contains(name) && ran.err.contains("hint:"), "{}", ran.err);
    }
    let said = refused(&["probe", "--url", "https://127.0.0.1:1/", "--ca-cert", "missing.pem"]);
    assert!(said.contains("missing.pem"), "{said}");
}

#[test]
fn a_number_of_no_process_is_refused() {
    for command in ["probe", "deadlock-probe", "run"] {
        let said = refused(&[command, "--url", "http://127.0.0.1:1/", "--pid", "2000000000"]);
        assert!(said.contains("no process 2000000000") && said.contains("hint:"), "{said}");
    }
}

#[test]
fn a_server_that_ends_before_it_can_be_reached_says_why() {
    let server = "python3 -c 'import sys; sys.exit(\"no \x1b[2J luck\")'";
    for command in ["probe", "deadlock-probe", "run"] {
        let said = refused(&[command, "-s", server, "--url", "http://127.0.0.1:1/mcp"]);
        assert!(said.contains("exit code 1") && said.contains("luck"), "{said}");
        assert!(!said.contains('\x1b'), "{said}");
    }
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
    let said = refused(&["run", "-s", "x", "--scenario", "fuzzer", "--payloads", "raw_byte"]);
    assert!(said.contains("no payload `raw_byte`"), "{said}");
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
        &["run", "-s", "x", "--name", "y"],
        &["run", "-s", "x", "--url", "http://y", "--transport", "stdio"],
        &["run", "-s", "x", "--url", "http://y", "--pid", "1"],
        &["run", "-s", "x", "--pid", "1"],
        &["run", "--url", "http://y", "--pid", "0"],
        &["run", "--url", "http://y", "--transport", "carrier-pigeon"],
        &["run", "--url", "http://y", "--transport", "ws"],
        &["run", "--url", "http://y", "--memory-growth-mb", "5"],
        &["probe", "--url", "http://y", "--transport", "sse", "--protocol", "2026-07-28"],
        &["probe", "-s", "x", "--ca-cert", "y.pem"],
        &["run", "-s", "x", "--iterations", "3"],
        &["probe", "-s", "x", "--header", "nonsense"],
        &["probe", "-s", "x", "-s", "y"],
        &["deadlock-probe", "--url", "http://x", "--url", "http://y"],
        &["run", "-s", "x", "--label", "a"],
        &["run", "-s", "x", "--repeat", "3"],
        &["run", "-s", "x", "-s", "y", "--label", "a"],
        &["run", "-s", "x", "-s", "y", "--label", "a", "--label", "../b"],
        &["run", "-s", "x", "-s", "y", "--url", "http://z"],
        &["run", "-s", "x", "-s", "y", "--repeat", "0"],
        &["run", "-s", "x", "-s", "y", "--baseline", "last"],
        &["run", "-s", "x", "--tag", "two words"],
        &["run", "-s", "x", "--baseline", "tag:"],
        &["run", "-s", "x", "--compare-p99", "5%"],
        &["compare", "only-one"],
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

#[test]
fn runs_that_cannot_be_compared_are_refused_with_a_hint() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("broken.json"), "{\"schema\":").unwrap();
    std::fs::write(dir.path().join("other.json"), "{\"schema\":\"x\"}").unwrap();
    for (args, said) in [
        (["compare", "missing", "."], "missing is not a run directory"),
        (["compare", ".", "."], "is not a run directory"),
        (["compare", "broken.json", "."], "the metrics are not JSON"),
        (["compare", "other.json", "."], "not `mcp-loadtest/metrics/v1`"),
    ] {
        let ran = run_in(dir.path(), &args);
        assert_eq!((ran.code, ran.out.as_str()), (2, ""), "{args:?}");
        assert!(ran.err.contains(said) && ran.err.contains("hint:"), "{}", ran.err);
    }
    let said = refused(&["compare", "a", "b", "--p99", "ten"]);
    assert!(said.contains("not a percentage") && said.contains("`10%`"), "{said}");
    let said = refused(&["compare", "a", "b", "--undecided", "maybe"]);
    assert!(said.contains("`pass` or `fail`"), "{said}");
    let said = refused(&["run", "-s", "x", "--baseline", "missing"]);
    assert!(said.contains("missing is not a run directory"), "{said}");
    let said = refused(&["runs", "missing"]);
    assert!(said.contains("missing is not a directory") && said.contains("hint:"), "{said}");
    let said = refused(&[
        "run",
        "-s",
        "no-such-command-anywhere",
        "-s",
        "x",
        "--label",
        "ours",
        "--label",
        "theirs",
    ]);
    assert!(said.contains("ours: ") && said.contains("no-such-command-anywhere"), "{said}");
}

#[test]
fn a_wrong_policy_names_file_line_and_key() {
    let dir = tempfile::tempdir().unwrap();
    let text =
        "[server]\ncommand = \"x\"\n[scenario]\ntype = \"sustained\"\n[compare]\np99 = \"10\"\n";
    std::fs::write(dir.path().join("bench.toml"), text).unwrap();
    let ran = run_in(dir.path(), &["run", "--config", "bench.toml"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("bench.toml:6") && ran.err.contains("10%"), "{}", ran.err);
}
