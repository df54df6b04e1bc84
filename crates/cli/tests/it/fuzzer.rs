//! The fuzzer: bad servers are caught, healthy ones are left in peace, and a case can be seen again.

use std::{
    io::BufRead as _,
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
};

use serde_json::Value;

use crate::{
    harness::{Ran, mock, run, run_in},
    process::listening_mock,
};

const QUICK: &[&str] =
    &["--hang-timeout", "1s", "--grace-period", "2s", "--trace", "full", "--json"];

fn fuzz(dir: &Path, server: &[&str], more: &[&str]) -> (Ran, Value) {
    let ran = run_in(dir, &[&["run", "--scenario", "fuzzer"], server, QUICK, more].concat());
    let summary =
        serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}{}", ran.out, ran.err));
    (ran, summary)
}

fn ids(summary: &Value) -> Vec<&str> {
    let findings = summary["findings"].as_array().unwrap();
    findings.iter().map(|finding| finding["id"].as_str().unwrap()).collect()
}

/// Every case has one class, and every call one end.
fn closes(summary: &Value, cases: u64) {
    let classes = summary["fuzz"].as_object().unwrap();
    let sum: u64 = classes.values().map(|count| count.as_u64().unwrap()).sum();
    assert_eq!(sum, cases, "{summary:#}");
    assert_eq!(summary["requests"], cases, "{summary:#}");
    let ended = summary["ok"].as_u64().unwrap() + summary["errors"].as_u64().unwrap();
    assert_eq!(ended, cases, "{summary:#}");
}

fn cases(summary: &Value) -> Vec<PathBuf> {
    let dir = Path::new(summary["run_dir"].as_str().unwrap()).join("cases");
    let mut files: Vec<_> = dir.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn case(file: &Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
}

#[test]
fn bad_servers_are_caught_each_for_what_it_does() {
    let table = [
        ("bad-fuzzer-crash.py", "control_chars", "60", "fuzz_crash"),
        ("bad-fuzzer-hang.py", "deep_nesting", "5", "fuzz_hang"),
        ("bad-fuzzer-twice.py", "arguments", "60", "fuzz_violation"),
        ("bad-fuzzer-late-crash.py", "arguments", "400", "fuzz_crash"),
        ("bad-fuzzer-late-hang.py", "arguments", "20", "fuzz_hang"),
    ];
    for (server, payload, iterations, expected) in table {
        let dir = tempfile::tempdir().unwrap();
        let more = ["--payloads", payload, "--iterations", iterations];
        let (ran, summary) = fuzz(dir.path(), &["-s", &mock(server)], &more);
        assert_eq!(
            (ran.code, &summary["verdict"]),
            (1, &"CRITICAL".into()),
            "{server} {summary:#}"
        );
        assert!(ids(&summary).contains(&expected), "{server} {summary:#}");
        let critical = summary["findings"].as_array().unwrap().iter();
        let critical = critical.filter(|finding| finding["severity"] == "critical").count();
        assert_eq!(critical, 1, "{server} {summary:#}");
        closes(&summary, iterations.parse().unwrap());
        let again = run_in(
            dir.path(),
            &["report", summary["run_dir"].as_str().unwrap(), "--from-trace", "--json"],
        );
        assert_eq!(serde_json::from_str::<Value>(&again.out).unwrap(), summary);
    }
}

/// The cases that were saved as this, with their arguments.
fn saved_as(summary: &Value, class: &str) -> Vec<(PathBuf, Value)> {
    let found = cases(summary).into_iter().filter(|file| case(file)["class"] == class);
    found
        .map(|file| {
            let sent = case(&file)["writes"][0]["text"].as_str().unwrap_or_default().to_owned();
            let frame: Value = serde_json::from_str(&sent).unwrap_or_default();
            (file, frame["params"]["arguments"].clone())
        })
        .collect()
}

#[test]
fn a_case_that_is_answered_and_leaves_a_lock_held_is_blamed_and_not_the_next_one() {
    for (locked, repeats) in [("all", true), ("calls", false)] {
        let dir = tempfile::tempdir().unwrap();
        let setting = format!("MOCK_LOCKED={locked}");
        let server = ["-s", &mock("bad-fuzzer-late-hang.py"), "--env", &setting];
        let (ran, summary) =
            fuzz(dir.path(), &server, &["--payloads", "arguments", "--iterations", "20"]);
        assert_eq!(ran.code, 1, "{summary:#}");
        assert!(ids(&summary).contains(&"fuzz_hang"), "{summary:#}");
        let saved = saved_as(&summary, "hang");
        assert!(!saved.is_empty(), "{summary:#}");
        for (file, arguments) in &saved {
            assert!(arguments.get("text").is_none(), "{locked} {arguments}");
            assert_eq!(case(file)["repeats"], repeats, "{locked} {}", case(file));
        }
        let path = saved[0].0.to_str().unwrap();
        let ran = run_in(dir.path(), &["replay", path]);
        assert!(ran.out.starts_with("STILL SHOWS"), "{}{}", ran.out, ran.err);
        assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
        let ran = run_in(dir.path(), &["replay", path, "-s", &mock("mock-normal.py")]);
        assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
        // Without the one that has to follow, silence proves nothing.
        let mut lonely = case(&saved[0].0);
        assert_eq!(lonely.as_object_mut().unwrap().remove("then").is_some(), !repeats);
        std::fs::write(path, lonely.to_string()).unwrap();
        let ran = run_in(dir.path(), &["replay", path]);
        let word = if repeats { "STILL SHOWS" } else { "COULD NOT TELL" };
        assert!(ran.out.starts_with(word), "{}{}", ran.out, ran.err);
        assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    }
}

#[test]
fn the_last_case_of_a_run_is_heard_out_and_seen_again() {
    let dir = tempfile::tempdir().unwrap();
    let more = ["--payloads", "arguments", "--iterations", "1"];
    let (ran, summary) = fuzz(dir.path(), &["-s", &mock("bad-fuzzer-last-crash.py")], &more);
    assert_eq!(ran.code, 1, "{summary:#}");
    assert_eq!(summary["fuzz"]["crash"], 1, "{summary:#}");
    closes(&summary, 1);
    let saved = &cases(&summary)[0];
    assert_eq!(case(saved)["repeats"], true, "{}", case(saved));
    let path = saved.to_str().unwrap();
    let ran = run_in(dir.path(), &["replay", path]);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    assert!(ran.out.starts_with("STILL SHOWS"), "{}", ran.out);
    // Another end of the same server is no sign of health, but a server that lives on is.
    let mut other = case(saved);
    other["class"] = "hang".into();
    std::fs::write(path, other.to_string()).unwrap();
    let ran = run_in(dir.path(), &["replay", path]);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    assert!(ran.out.starts_with("ANOTHER BUG NOW"), "{}", ran.out);
    assert!(ran.out.contains("was hang, now crash"), "{}", ran.out);
    let ran = run_in(dir.path(), &["replay", path, "-s", &mock("mock-normal.py")]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
}

#[test]
fn the_last_case_over_http_is_heard_out_and_seen_again() {
    let dir = tempfile::tempdir().unwrap();
    let bad = || listening_mock("bad-fuzzer-late-http.py", &[]);
    let first = bad();
    let more = ["--payloads", "arguments", "--iterations", "1", "--startup-timeout", "3s"];
    let (ran, summary) = fuzz(dir.path(), &["--url", &first.url], &more);
    assert_eq!(ran.code, 1, "{summary:#}");
    assert_eq!(summary["fuzz"]["hang"], 1, "{summary:#}");
    let path = cases(&summary)[0].to_str().unwrap().to_owned();
    // Nobody could start that server anew to see the case alone, so silence proves nothing.
    let healthy = listening_mock("mock-http-server.py", &[]);
    for (server, word) in [(bad(), "STILL SHOWS"), (healthy, "COULD NOT TELL")] {
        let ran = run_in(dir.path(), &["replay", &path, "--url", &server.url]);
        assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
        assert!(ran.out.starts_with(word), "{}{}", ran.out, ran.err);
    }
}

#[test]
fn what_hangs_once_is_slow_however_often_unless_the_server_answers_nothing() {
    let more = ["--payloads", "unknown_method", "--iterations", "26", "--seed", "1"];
    let dir = tempfile::tempdir().unwrap();
    let bad = mock("bad-fuzzer-worn.py");
    let (ran, summary) = fuzz(dir.path(), &["-s", &bad], &more);
    assert_eq!(ran.code, 0, "{summary:#}");
    assert!(summary["fuzz"]["slow"].as_u64() >= Some(4), "{summary:#}");
    assert_eq!(summary["fuzz"].get("hang"), None, "{summary:#}");
    let server = ["-s", &bad, "--env", "MOCK_WORN=silent"];
    let (ran, summary) = fuzz(dir.path(), &server, &more);
    assert_eq!(ran.code, 1, "{summary:#}");
    let saved = saved_as(&summary, "hang");
    assert!(!saved.is_empty(), "{summary:#}");
    assert!(saved.iter().all(|(file, _)| case(file)["repeats"] == false), "{summary:#}");
}

#[test]
fn a_case_is_seen_again_with_the_patience_of_its_run() {
    let dir = tempfile::tempdir().unwrap();
    let more = ["--payloads", "deep_nesting", "--iterations", "5"];
    let (_, summary) = fuzz(dir.path(), &["-s", &mock("bad-fuzzer-hang.py")], &more);
    let saved = saved_as(&summary, "hang");
    let path = saved[0].0.to_str().unwrap();
    let said = |more: &[&str]| {
        let ran = run_in(dir.path(), &[&["replay", path, "--json"], more].concat());
        assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
        let told: Value = serde_json::from_str(&ran.out).unwrap();
        let seen = told["seen"].as_str().unwrap().to_owned();
        let waited = seen.trim_end_matches(" s").rsplit(' ').next().unwrap().parse::<f64>();
        waited.unwrap_or_else(|_| panic!("{seen}"))
    };
    // A control request is waited for as long as the run says: 3 s, not 15 s; flags win.
    assert!((2.9..14.0).contains(&said(&[])));
    assert!((2.9..14.0).contains(&said(&["-s", &mock("bad-fuzzer-hang.py")])));
    assert!(said(&["--hang-threshold", "8s"]) >= 9.9);
}

#[test]
fn a_case_is_made_small_saved_and_seen_again() {
    let dir = tempfile::tempdir().unwrap();
    let bad = mock("bad-fuzzer-crash.py");
    let (_, summary) =
        fuzz(dir.path(), &["-s", &bad], &["--payloads", "control_chars", "--iterations", "5"]);
    let file = &cases(&summary)[0];
    let saved = case(file);
    let schema = mcp_loadtest_core::fuzz::schema();
    assert!(jsonschema::validator_for(&schema).unwrap().is_valid(&saved), "{saved:#}");
    assert_eq!((&saved["class"], &saved["repeats"]), (&"crash".into(), &true.into()));
    let bytes = saved["writes"][0]["text"].as_str().unwrap().len() as u64;
    assert!(bytes < saved["original_bytes"].as_u64().unwrap(), "{saved:#}");
    let path = file.to_str().unwrap();
    // The server of the run, another one, and the short way to name a case.
    let ran = run_in(dir.path(), &["replay", path]);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    assert!(ran.out.starts_with("STILL SHOWS control_chars-"), "{}", ran.out);
    let ran = run_in(dir.path(), &["replay", path, "-s", &mock("mock-normal.py")]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(ran.out.starts_with("GONE"), "{}", ran.out);
    let short =
        format!("{}/{}", summary["run_dir"].as_str().unwrap(), saved["id"].as_str().unwrap());
    assert_eq!(run_in(dir.path(), &["replay", &short]).code, 1);
    assert_eq!(run_in(dir.path(), &["replay", "nothing.json", "-s", &bad]).code, 2);
    std::fs::write(dir.path().join("odd.json"), "{}").unwrap();
    let ran = run_in(dir.path(), &["replay", "odd.json", "-s", &bad]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("not a fuzz case"), "{}", ran.err);
}

#[test]
fn a_healthy_server_is_left_in_peace_and_gets_the_same_bytes_each_time() {
    let sent = |seed: &str| {
        let dir = tempfile::tempdir().unwrap();
        let more = ["--iterations", "600", "--seed", seed];
        let (ran, summary) = fuzz(dir.path(), &["-s", &mock("mock-normal.py")], &more);
        assert_eq!(ran.code, 0, "{summary:#}");
        closes(&summary, 600);
        // It takes whatever it is given, which is told and is no failure, nor is it that it may be slow
        // where the machine is.
        let harmless = ["fuzz_accepted", "fuzz_slow"];
        assert!(ids(&summary).iter().all(|id| harmless.contains(id)), "{summary:#}");
        let trace = Path::new(summary["run_dir"].as_str().unwrap()).join("trace.jsonl");
        let lines = std::fs::read(trace).unwrap();
        let lines =
            lines.lines().map(|line| serde_json::from_str::<Value>(&line.unwrap()).unwrap());
        let load = lines.filter(|line| line["kind"] == "request" && line["phase"] == "load");
        load.map(|line| (line["request_id"].clone(), line["params"].clone())).collect::<Vec<_>>()
    };
    let first = sent("5");
    assert_eq!(first.len(), 600);
    assert_eq!(first, sent("5"));
    assert_ne!(first, sent("6"));
}

#[test]
fn lenient_servers_are_warned_about() {
    let dir = tempfile::tempdir().unwrap();
    let more = ["--payloads", "arguments", "--iterations", "40"];
    let (ran, summary) = fuzz(dir.path(), &["-s", &mock("mock-normal.py")], &more);
    assert_eq!((ran.code, &summary["verdict"]), (0, &"WARNING".into()), "{summary:#}");
    // That it may be slow as well is due to the machine.
    let found: Vec<_> = ids(&summary).into_iter().filter(|id| *id != "fuzz_slow").collect();
    assert_eq!(found, ["fuzz_accepted"]);
    let mut saved = cases(&summary).into_iter().map(|file| case(&file));
    assert!(saved.any(|case| case["class"] == "accepted"), "{summary:#}");
    let page =
        std::fs::read_to_string(Path::new(summary["run_dir"].as_str().unwrap()).join("report.md"));
    assert!(page.unwrap().contains("## Fuzzing"));
}

/// How many cases our own mock is given: a few in every test run, many in `make fuzz`.
#[expect(clippy::disallowed_methods, reason = "`make fuzz` says so in the environment")]
fn many() -> String {
    std::env::var("MCP_LOADTEST_FUZZ_CASES").unwrap_or_else(|_| "2000".into())
}

fn is_in_peace(server: &[&str]) {
    let dir = tempfile::tempdir().unwrap();
    let count = many();
    let usual = ["run", "--scenario", "fuzzer", "--duration", "30m", "--trace", "off", "--json"];
    let ran = run_in(dir.path(), &[&usual, server, &["--iterations", &count]].concat());
    let summary: Value = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}", ran.err));
    assert_eq!(ran.code, 0, "{summary:#}");
    closes(&summary, count.parse().unwrap());
    let broken = ["crash", "hang", "protocol_violation"];
    assert!(broken.iter().all(|class| summary["fuzz"].get(class).is_none()), "{summary:#}");
}

fn our_mock() -> String {
    format!("{} mock", env!("CARGO_BIN_EXE_mcp-loadtest"))
}

#[test]
fn our_own_mock_takes_thousands_of_cases_over_stdio() {
    is_in_peace(&["-s", &our_mock()]);
}

struct Listening(Child, String);

impl Drop for Listening {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn listening() -> Listening {
    let mut child = Command::new(env!("CARGO_BIN_EXE_mcp-loadtest"))
        .args(["mock", "--transport", "http"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    std::io::BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    let told: Value = serde_json::from_str(&line).unwrap();
    Listening(child, told["url"].as_str().unwrap().to_owned())
}

#[test]
fn our_own_mock_takes_thousands_of_cases_over_http_in_both_eras() {
    let mock = listening();
    for protocol in ["2025-11-25", "2026-07-28"] {
        is_in_peace(&["--url", &mock.1, "--protocol", protocol]);
    }
}

#[test]
fn our_own_client_takes_thousands_of_mutated_frames() {
    for seed in ["1", "2", "3"] {
        let seed = format!("MOCK_SEED={seed}");
        let ran = run(&[
            "run",
            "-s",
            &mock("bad-fuzz-peer.py"),
            "--env",
            &seed,
            "--tool",
            "echo",
            "--args",
            "{\"text\":\"a\"}",
            "--duration",
            "3s",
            "--concurrent",
            "40",
            "--timeout",
            "200ms",
            "--trace",
            "full",
            "--json",
        ]);
        assert!(!ran.err.contains("panicked"), "{}", ran.err);
        let summary: Value =
            serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}", ran.err));
        assert!(summary["requests"].as_u64().unwrap() > 300, "{summary:#}");
        assert!(!ids(&summary).contains(&"accounting_open"), "{summary:#}");
    }
}
