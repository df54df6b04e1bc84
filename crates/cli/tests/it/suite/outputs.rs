//! What is printed and written.

use super::{Bench, repository};
use crate::harness::run;

const SUITE: &str = "servers: {m: {mock: {}}}\ntools:\n  - {name: good, tool: echo, args: {message: x}}\n  \
    - {name: bad, tool: nope}\n";

#[test]
fn failures_come_last_with_the_command_that_shows_them_again() {
    let ran = Bench::new(SUITE).test(&[]);
    let (good, bad) = (ran.out.find("PASS good").unwrap(), ran.out.find("FAIL bad").unwrap());
    assert!(good < bad, "{}", ran.out);
    assert!(ran.out.contains("again: mcp-loadtest test suite.yml --name bad"), "{}", ran.out);
    assert!(ran.out.contains("suite.yml:4"), "{}", ran.out);
}

#[test]
fn files_and_annotations_are_written() {
    let bench = Bench::new(SUITE);
    let ran = bench.test(&["--junit", "j.xml", "--markdown", "m.md", "--github"]);
    assert_eq!(ran.code, 1);
    assert!(ran.err.contains("::error file=suite.yml,line=4,title=bad failed::"), "{}", ran.err);
    let read = |name: &str| std::fs::read_to_string(bench.path().join(name)).unwrap();
    let sums =
        "<testsuite name=\"suite.yml\" tests=\"2\" skipped=\"0\" errors=\"0\" failures=\"1\"";
    assert!(read("j.xml").contains(sums), "{}", read("j.xml"));
    assert!(read("m.md").contains("1 passed, 1 failed"));
    let junit = bench.test(&["--format", "junit"]);
    assert!(junit.out.starts_with("<?xml"), "{}", junit.out);
}

#[test]
fn the_report_and_the_example_keep_to_the_published_schemas() {
    let schema = |name: &str| {
        let file = repository().join("schemas").join(name);
        let schema = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
        jsonschema::validator_for(&schema).unwrap()
    };
    let (report, _) = Bench::new(SUITE).report(&[]);
    if let Err(error) = schema("test.v1.json").validate(&report) {
        panic!("{error}");
    }
    let example = repository().join("examples/fault-injection-recovery.yml");
    let text = std::fs::read_to_string(example).unwrap();
    let document = mcp_loadtest_core::yaml::read(&text, "example").unwrap();
    if let Err(error) = schema("suite.v1.json").validate(&document) {
        panic!("{error}");
    }
}

#[test]
fn help_has_examples_and_explain_lists_the_models() {
    let help = run(&["test", "--help"]);
    assert!(help.out.contains("mcp-loadtest test suite.yml --update"), "{}", help.out);
    let explained = run(&["test", "--explain"]);
    assert!(explained.out.contains("scripted:never-calls"), "{}", explained.out);
}

#[cfg(unix)]
#[test]
fn an_interrupted_run_tells_what_was_done() {
    use std::io::{BufRead as _, BufReader, Read as _};

    use rustix::process::{Pid, Signal, kill_process};

    let bench = Bench::new("");
    let log = bench.path().join("calls.jsonl");
    bench.write(
        "suite.yml",
        &format!(
            "servers:\n  m: {{command: [PROGRAM, mock, --fault, 'hang@tool=lorem', --audit, 'jsonl:{}']}}\n\
             run_options: {{parallel: 1}}\ntools:\n  - {{name: done, tool: echo, args: {{message: x}}}}\n  \
             - {{name: second, tool: echo, args: {{message: y}}}}\n  - {{name: hangs, tool: lorem, args: {{words: 3}}, timeout_ms: 600000}}\n  \
             - {{name: never, tool: echo, args: {{message: x}}}}\n",
            log.display()
        ),
    );
    let mut child = crate::process::binary()
        .args(["test", "suite.yml", "--json"])
        .current_dir(bench.path())
        .spawn()
        .unwrap();
    // When the second call has arrived, the first is over. A run that never makes it ends by the
    // test's own limit.
    let calls = || {
        let Ok(file) = std::fs::File::open(&log) else { return 0 };
        let lines = BufReader::new(file).lines().map_while(Result::ok);
        lines.filter(|line| line.contains("\"echo\"")).count()
    };
    while calls() < 2 {
        std::thread::yield_now();
    }
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let mut out = String::new();
    child.stdout.take().unwrap().read_to_string(&mut out).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(130));
    let report: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert_eq!(report["interrupted"], true);
    let outcomes: Vec<_> =
        super::outcomes(&report).into_iter().map(|(_, outcome)| outcome).collect();
    assert_eq!(outcomes[0], "passed", "{report:#}");
    assert_eq!(outcomes[2..], ["not_run", "not_run"], "{report:#}");
}
