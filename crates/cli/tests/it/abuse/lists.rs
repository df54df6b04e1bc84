//! Lists of tools that do not end, weigh too much, or hold what no list should.

use super::{against, against_in, findings, has_finding, summary};
use crate::harness::Ran;

const PROBE: &[&str] = &["probe", "--only", "unknown_tool", "--json"];

/// What a probe that came to its end says of the list.
fn told(mode: &str) -> String {
    let ran = against("hostile-list.py", mode, PROBE);
    let report = summary(&ran);
    assert!(has_finding(&report, "frame_defect"), "{mode}: {:?}", findings(&report));
    report["findings"].to_string()
}

#[test]
fn lists_without_end_are_cut_and_told() {
    assert!(told("same_cursor").contains("the same cursor came twice"));
    for mode in ["no_end", "heavy_pages", "heavy_cursors"] {
        assert!(told(mode).contains("the list does not end"), "{mode}");
    }
    assert!(told("million").contains("more than 10000 tools"));
}

#[test]
fn lists_that_contradict_themselves_are_told() {
    assert!(told("same_name").contains("two tools are called `echo`"));
    assert!(told("no_list").contains("no list `tools`"));
}

/// Nothing that a terminal or a runner obeys.
fn assert_tame(what: &str, text: &str) {
    let wild = |c: char| (c.is_control() && c != '\n') || ('\u{202a}'..='\u{202e}').contains(&c);
    assert!(!text.contains(wild), "{what}: {text:?}");
    for line in text.lines() {
        assert!(!line.trim_start().starts_with("::"), "{what}: {line}");
    }
}

#[test]
fn names_of_tools_are_shown_as_text_and_never_become_paths() {
    let dir = tempfile::tempdir().unwrap();
    let inner = dir.path().join("a/b");
    std::fs::create_dir_all(&inner).unwrap();
    let commands: [&[&str]; 4] = [
        &["probe", "--only", "unknown_tool,missing_required,wrong_type", "--junit", "p.xml"],
        &["probe", "--only", "unknown_tool", "--json"],
        &["run", "--tool", "../../up", "--duration", "300ms"],
        &["run", "--scenario", "fuzzer", "--duration", "1s"],
    ];
    for command in commands {
        let ran: Ran = against_in(&inner, "hostile-list.py", "names", command);
        assert!(ran.code <= 1, "{command:?}: {}", ran.err);
        assert_tame(command[0], &(ran.out + &ran.err));
    }
    let unknown = against_in(&inner, "hostile-list.py", "names", &["run", "--tool", "nothing"]);
    assert_eq!(unknown.code, 2, "{}", unknown.err);
    assert_tame("the names that are known", &unknown.err);
    let around: Vec<_> = std::fs::read_dir(dir.path()).unwrap().flatten().collect();
    assert_eq!(around.len(), 1, "only our own directory is there: {around:?}");
    let long = against("hostile-list.py", "long_description", &["probe", "--only", "unknown_tool"]);
    assert!(long.code <= 1 && long.out.len() < 20_000, "{} bytes", long.out.len());
}

#[test]
fn schemas_that_cannot_be_used_are_told_and_nothing_is_fetched() {
    let checks = "missing_required,wrong_type,out_of_bounds";
    let ran = against("hostile-list.py", "schemas", &["probe", "--only", checks, "--json"]);
    let report = summary(&ran);
    let tools = report["tools"].as_array().unwrap();
    assert_eq!(tools.len(), 9, "{tools:#?}");
    let skipped = tools.iter().filter(|tool| tool["verdict"] == "skipped").count();
    assert!(skipped >= 4, "{tools:#?}");
}
