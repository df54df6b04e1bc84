//! The negative path: what must be refused.

use std::path::PathBuf;

use serde_json::Value;

use crate::harness::{Ran, mock, run};

/// Patience that a hang is found with in a moment, and that a busy machine does not use up.
const PATIENCE: [&str; 4] = ["--hang-threshold", "3s", "--grace-period", "3s"];

fn negative_path(server: &str, flags: &[&str]) -> (Ran, Value) {
    let ran =
        run(&[["negative-path", "-s", server, "--json"].as_slice(), &PATIENCE, flags].concat());
    let report =
        serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}{}", ran.out, ran.err));
    (ran, report)
}

fn list<'r>(report: &'r Value, name: &str) -> impl Iterator<Item = &'r Value> {
    report[name].as_array().unwrap().iter()
}

/// The verdicts of a check, each once, in alphabetical order.
fn verdicts(report: &Value, check: &str) -> Vec<String> {
    let of = list(report, "checks").filter(|case| case["check"] == check);
    let mut verdicts: Vec<_> =
        of.map(|case| case["verdict"].as_str().unwrap().to_owned()).collect();
    verdicts.sort();
    verdicts.dedup();
    verdicts
}

/// The findings of a severity.
fn findings(report: &Value, severity: &str) -> Vec<String> {
    let of = list(report, "findings").filter(|finding| finding["severity"] == severity);
    of.map(|finding| finding["id"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn each_fault_is_found_by_its_check_and_by_no_other() {
    for (fixture, checks, verdict) in [
        ("bad-missing-required.py", ["missing_required"].as_slice(), "accepted"),
        ("bad-wrong-type.py", &["wrong_type"], "accepted"),
        ("bad-enum-miss.py", &["enum_miss"], "accepted"),
        // A text of any length is beyond its limit too.
        ("bad-out-of-bounds.py", &["out_of_bounds", "oversized"], "accepted"),
        ("bad-oversized.py", &["oversized"], "crashed"),
        ("bad-dies-of-bad-arguments.py", &["missing_required"], "crashed"),
    ] {
        let (ran, report) = negative_path(&mock(fixture), &[]);
        assert_eq!(ran.code, 1, "{fixture}: {}", ran.err);
        assert_eq!(findings(&report, "critical"), checks, "{fixture}: {report:#}");
        let seen = verdicts(&report, checks[0]);
        assert!(seen.contains(&verdict.to_owned()), "{fixture}: {seen:?}");
        assert_eq!(report["negative_path"]["gate_passed"], 0, "{fixture}");
    }
}

/// Over pipes there is nobody to hang up on: the process is gone, also where it says that all was well.
#[test]
fn a_server_that_leaves_at_a_long_text_has_crashed() {
    let flags = ["--checks", "oversized", "--env", "MOCK_LARGE=leave"];
    let (_, report) = negative_path(&mock("bad-oversized.py"), &flags);
    assert!(verdicts(&report, "oversized").contains(&"crashed".into()), "{report:#}");
}

#[test]
fn a_server_that_keeps_its_schema_passes_without_a_finding() {
    for fixture in ["good-strict.py", "good-open-schema.py", "mock-normal.py", "mock-modern.py"] {
        let (ran, report) = negative_path(&mock(fixture), &[]);
        assert_eq!((ran.code, &report["findings"]), (0, &Value::Array(vec![])), "{fixture}");
        assert_eq!(report["negative_path"]["gate_passed"], 1, "{fixture}");
        assert_eq!(verdicts(&report, "unknown_tool"), ["rejected"], "{fixture}");
        assert_eq!(verdicts(&report, "control_call"), ["held"], "{fixture}");
        assert!(!verdicts(&report, "wrong_type").contains(&"could_not_tell".into()), "{fixture}");
    }
}

#[test]
fn an_open_schema_lets_unexpected_fields_in_unless_strictness_is_asked_for() {
    let server = mock("good-open-schema.py");
    let (_, open) = negative_path(&server, &["--checks", "extra_field"]);
    assert_eq!(verdicts(&open, "extra_field"), ["held"]);
    let (ran, strict) = negative_path(&server, &["--checks", "extra_field", "--strict"]);
    assert_eq!((ran.code, verdicts(&strict, "extra_field")), (1, vec!["accepted".into()]));
}

#[test]
fn a_closed_schema_that_lets_them_in_is_a_warning_and_with_strictness_a_failure() {
    let server = mock("bad-extra-field.py");
    let (ran, report) = negative_path(&server, &[]);
    assert_eq!((ran.code, verdicts(&report, "extra_field")), (0, vec!["accepted".into()]));
    assert_eq!(findings(&report, "warning"), ["extra_field"]);
    let (ran, report) = negative_path(&server, &["--strict"]);
    assert_eq!((ran.code, findings(&report, "critical")), (1, vec!["extra_field".into()]));
}

#[test]
fn arguments_that_the_schema_forbids_prove_nothing_when_they_are_refused() {
    let given = ["--tool", "search", "--args", r#"{"query":"x"}"#];
    let (ran, report) = negative_path(&mock("good-strict.py"), &given);
    assert_eq!((ran.code, verdicts(&report, "control_call")), (1, vec!["could_not_tell".into()]));
    assert_eq!(findings(&report, "critical"), [""; 0], "{report:#}");
    let said = list(&report, "checks").find(|case| case["check"] == "control_call").unwrap();
    assert!(said["detail"].as_str().unwrap().contains("none that its schema allows"), "{said:#}");
    // With nothing to try there is nothing to pass.
    let server = mock("good-strict.py");
    let probe = run(&[&["probe", "-s", &server, "--only", "wrong_type"], &given[..]].concat());
    assert!(probe.out.starts_with("UNDECIDED"), "{}", probe.out);
    assert!(!probe.out.contains("--allow-destructive"), "{}", probe.out);
}

#[test]
fn an_unknown_tool_that_is_answered_is_found() {
    let (ran, report) = negative_path(&mock("bad-unknown-tool.py"), &["--checks", "unknown_tool"]);
    assert_eq!((ran.code, findings(&report, "critical")), (1, vec!["unknown_tool".into()]));
    assert_eq!(report["negative_path"]["checks_run"], 1);
}

#[test]
fn a_server_that_refuses_everything_does_not_pass() {
    let server = mock("bad-control-call.py");
    let (ran, report) = negative_path(&server, &[]);
    assert_eq!((ran.code, &report["negative_path"]["gate_passed"]), (1, &0.into()));
    assert_eq!(verdicts(&report, "control_call"), ["could_not_tell"]);
    assert_eq!(
        findings(&report, "critical"),
        Vec::<String>::new(),
        "made-up arguments prove nothing"
    );
    let good = r#"{"query":"x","range":{"from":1}}"#;
    let (ran, report) = negative_path(&server, &["--tool", "search", "--args", good]);
    assert_eq!((ran.code, findings(&report, "critical")), (1, vec!["control_call".into()]));
    let table = run(&["negative-path", "-s", &server]);
    assert!(table.out.contains("no tool took good arguments"), "{}", table.out);
}

#[test]
fn a_crash_is_one_finding_and_the_run_goes_on() {
    let (_, report) = negative_path(&mock("bad-dies-of-bad-arguments.py"), &[]);
    let crashed = list(&report, "checks").filter(|case| case["verdict"] == "crashed");
    assert_eq!(crashed.count(), 3, "after three deaths a check lets go of a tool: {report:#}");
    assert_eq!(findings(&report, "critical").len(), 1);
    for later in ["enum_miss", "out_of_bounds", "extra_field"] {
        assert_eq!(verdicts(&report, later)[0], "rejected", "{later}");
    }
}

#[test]
fn a_silent_call_is_told_from_a_silent_server_and_from_a_slow_tool() {
    let script = mock("bad-oversized.py");
    for how in ["hang", "wedge"] {
        let flags = ["--checks", "oversized", "--env", &format!("MOCK_LARGE={how}")];
        let (ran, report) = negative_path(&script, &flags);
        assert_eq!((ran.code, verdicts(&report, "oversized")[0].as_str()), (1, "hung"), "{how}");
    }
    let flags = ["--checks", "extra_field,oversized", "--env", "MOCK_DELAY_S=4"];
    let (ran, report) = negative_path(&mock("good-slow.py"), &flags);
    assert_eq!((ran.code, findings(&report, "critical")), (0, vec![]), "{report:#}");
}

#[test]
fn an_error_that_is_none_is_told_without_a_wait() {
    let flags = ["--checks", "missing_required", "--hang-threshold", "600s"];
    let ran =
        run(&[["negative-path", "-s", &mock("bad-error-code.py"), "--json"].as_slice(), &flags]
            .concat());
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((ran.code, verdicts(&report, "missing_required")), (1, vec!["broken".into()]));
}

#[test]
fn the_class_of_a_refusal_is_held_against_the_revision() {
    let mock = PathBuf::from(env!("CARGO_BIN_EXE_mcp-loadtest"));
    let mock = format!("{} mock", mock.display());
    for protocol in ["2025-06-18", "2025-11-25", "2026-07-28"] {
        let (ran, report) = negative_path(&mock, &["--protocol", protocol]);
        assert_eq!((ran.code, &report["revision"]), (0, &protocol.into()), "{report:#}");
        assert_eq!(report["findings"], Value::Array(vec![]), "{report:#}");
    }
}

#[test]
fn names_that_do_not_exist_are_answered_with_the_nearest() {
    let ran = run(&["negative-path", "-s", &mock("good-strict.py"), "--checks", "wrong_tipe"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("did you mean `wrong_type`?"), "{}", ran.err);
    assert!(ran.err.contains("missing_required"), "{}", ran.err);
    let ran = run(&["negative-path", "-s", &mock("good-strict.py"), "--tool", "serch"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("did you mean `search`?"), "{}", ran.err);
}

#[test]
fn the_same_seed_sends_the_same_cases() {
    let sent = || {
        let (_, report) = negative_path(&mock("good-strict.py"), &["--seed", "5", "--cases", "4"]);
        let cases =
            list(&report, "checks").map(|case| (case["case"].clone(), case["sent"].clone()));
        cases.collect::<Vec<_>>()
    };
    assert_eq!(sent(), sent());
}

#[test]
fn the_table_counts_and_the_explanation_explains() {
    let ran = run(&["negative-path", "-s", &mock("bad-enum-miss.py"), "--cases", "3"]);
    assert!(ran.out.starts_with("FAIL mock, MCP 2025-11-25"), "{}", ran.out);
    assert!(ran.out.contains("places in the schema were tried"), "{}", ran.out);
    assert!(ran.out.contains("BUG enum_miss"), "{}", ran.out);
    assert!(ran.out.contains("`search` `order` is none of its values"), "{}", ran.out);
    let ran = run(&["negative-path", "--explain"]);
    assert!(ran.code == 0 && ran.out.starts_with("Algorithm:"), "{}", ran.out);
}
