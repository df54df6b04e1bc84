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
    assert!(read("j.xml").contains("<testsuite name=\"suite.yml\" tests=\"2\" failures=\"1\""));
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
