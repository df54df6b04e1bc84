//! `negative_path` and `fuzz`: what a tool must refuse, and what a server must survive.

use std::time::Duration;

use mcp_loadtest_core::{
    check::{CONTROL_CALL, CaseResult, Depth, Family, gate_by_check},
    fuzz::{Class, Payload},
    scenario::{Scenario, ToolCall},
    suite::{
        Fuzz, NEGATIVE_CHECKS, NegativePath, TestResult, ToolTest,
        expect::{Judge, Mismatch},
    },
    thresholds::Thresholds,
};
use serde_json::{Map, Value, json};

use super::{desk::Desk, servers::Known};
use crate::{Probe, Run};

/// How many cases of bad arguments are tried, unless something else is said.
const FUZZ_CASES: u32 = 64;

/// What came of the tries.
#[derive(Default)]
pub(super) struct Tried {
    negative_path: Option<(Value, Vec<CaseResult>)>,
    fuzz: Option<Value>,
}

impl Tried {
    /// Adds what expectations and reports look at.
    pub(super) fn write_to(self, document: &mut Value, result: &mut TestResult) {
        if let Some((gate, cases)) = self.negative_path {
            document["negative_path"] = gate;
            result.cases = cases;
        }
        if let Some(fuzz) = self.fuzz {
            document["fuzz"] = fuzz;
        }
    }
}

/// Tries what the test asks for, on sessions of its own.
pub(super) async fn try_out(desk: &Desk, test: &ToolTest, known: &Known) -> Result<Tried, String> {
    let mut tried = Tried::default();
    if let Some(block) = &test.negative_path {
        tried.negative_path = Some(negative_path(desk, test, block, known).await?);
    }
    if let Some(block) = &test.fuzz {
        tried.fuzz = Some(fuzz(desk, test, block, known).await?);
    }
    Ok(tried)
}

async fn negative_path(
    desk: &Desk,
    test: &ToolTest,
    block: &NegativePath,
    known: &Known,
) -> Result<(Value, Vec<CaseResult>), String> {
    let mut checks = block.checks.clone();
    if checks.is_empty() {
        checks = NEGATIVE_CHECKS.iter().map(|check| (*check).to_owned()).collect();
    }
    // Refusals mean something only beside a call that went well.
    if checks.iter().any(|check| check != "unknown_tool") {
        checks.push(CONTROL_CALL.to_owned());
    }
    let patience = test.timeout_ms.map_or(Duration::from_secs(5), Duration::from_millis);
    let report = Probe::new(known.server.clone())
        .depth(Depth::Deep)
        .only(checks)
        // Those of the test, be they none: it vouches for them and asks for the tool by its name.
        .tool(&test.tool, Some(Value::Object(test.args.clone())))
        .patience(patience, patience)
        .seed(desk.settings.seed)
        .with_stop(desk.stop.clone())
        .execute()
        .await
        .map_err(|error| error.to_string())?;
    if !report.tools.iter().any(|tool| tool.name == test.tool) {
        return Err(format!("the server has no tool `{}`", test.tool));
    }
    let cases = report.checks.into_iter().filter(|case| case.family == Family::NegativePath);
    let cases: Vec<_> = cases.collect();
    let gate = serde_json::to_value(gate_by_check(cases.iter())).unwrap_or_default();
    Ok((gate, cases))
}

async fn fuzz(desk: &Desk, test: &ToolTest, block: &Fuzz, known: &Known) -> Result<Value, String> {
    let scenario = Scenario::fuzzer()
        .iterations(block.cases.unwrap_or(FUZZ_CASES))
        .payloads([Payload::Arguments])
        .tool_call(ToolCall::new(&test.tool))
        .seed(block.seed.unwrap_or(desk.settings.seed));
    let mut thresholds = Thresholds::default();
    if let Some(ms) = block.max_call_ms {
        thresholds.hang_timeout = Duration::from_millis(ms);
    }
    let report = Run::new(known.server.clone(), scenario)
        .with_thresholds(thresholds)
        .execute()
        .await
        .map_err(|error| error.to_string())?;
    let stats = report.fuzz.ok_or("the fuzzer gave no result")?;
    let mut told = Map::new();
    for class in Class::ALL {
        let word = serde_json::to_value(class).unwrap_or_default();
        told.insert(word.as_str().unwrap_or_default().to_owned(), stats.of(class).into());
    }
    told.insert("cases".into(), stats.cases.into());
    told.insert("failures".into(), failures(&stats).into());
    told.insert(
        "first_failure".into(),
        stats
            .failures
            .first()
            .map_or(Value::Null, |first| json!(format!("{}: {}", first.label, first.seen))),
    );
    Ok(told.into())
}

/// Cases that broke the server.
fn failures(stats: &mcp_loadtest_core::fuzz::FuzzStats) -> u64 {
    [Class::Crash, Class::Hang, Class::ProtocolViolation].map(|class| stats.of(class)).iter().sum()
}

/// What is expected of it, or that nothing was taken or broken. A limit of the time alone says nothing
/// about that.
pub(super) fn judge(
    test: &ToolTest,
    cases: &[CaseResult],
    judge: &mut Judge<'_>,
    document: &Value,
) -> Vec<Mismatch> {
    let mut wrong = Vec::new();
    if let Some(block) = &test.negative_path {
        wrong.extend(judge.judge(&block.expect, document));
        wrong.extend(untried(block, cases));
        if block.expect.assertions.is_empty() && !test.expect.looks_at("negative_path") {
            wrong.extend(not_refused(document));
        }
    }
    if let Some(block) = &test.fuzz {
        wrong.extend(judge.judge(&block.expect, document));
        if block.expect.assertions.is_empty() && !test.expect.looks_at("fuzz") {
            wrong.extend(not_survived(document));
        }
    }
    wrong
}

fn number(document: &Value, path: &str) -> u64 {
    document.pointer(path).and_then(Value::as_u64).unwrap_or_default()
}

/// Checks that the test names and that could not be carried out: passed over, they would look kept.
fn untried(block: &NegativePath, cases: &[CaseResult]) -> Vec<Mismatch> {
    let why = |check: &String| {
        let of_it: Vec<_> = cases.iter().filter(|case| case.check == *check).collect();
        if of_it.iter().any(|case| case.was_tried()) {
            return None;
        }
        let detail = of_it.iter().map(|case| case.detail.as_str()).find(|told| !told.is_empty());
        let detail = detail.unwrap_or("the tool was not called");
        let why = format!("`{check}` could not be tried: {detail}");
        Some(Mismatch::new("negative_path.checks", why))
    };
    block.checks.iter().filter_map(why).collect()
}

fn not_refused(document: &Value) -> Option<Mismatch> {
    if number(document, "/negative_path/gate_passed") == 1 {
        return None;
    }
    let failures = number(document, "/negative_path/failures");
    let why = match (failures, number(document, "/negative_path/checks_run")) {
        (0, 0) => "no check was carried out, so that nothing is known".into(),
        (0, _) => "no call with good arguments went well, so that refusals mean nothing".into(),
        (_, run) => format!("{failures} of {run} checks were not refused as they should be"),
    };
    Some(Mismatch::new("negative_path.failures", why))
}

fn not_survived(document: &Value) -> Option<Mismatch> {
    let (cases, failures) = (number(document, "/fuzz/cases"), number(document, "/fuzz/failures"));
    if cases == 0 {
        return Some(Mismatch::new("fuzz.cases", "no case was tried"));
    }
    let first = document.pointer("/fuzz/first_failure").and_then(Value::as_str);
    let first = first.unwrap_or("not kept");
    (failures > 0).then(|| {
        let why = format!("{failures} of {cases} cases broke the server; the first: {first}");
        Mismatch::new("fuzz.failures", why)
    })
}

#[cfg(test)]
mod tests {
    use mcp_loadtest_core::{check::CaseVerdict, secrets::Secrets, suite::expect::Store};

    use super::*;

    fn judged(written: Value, cases: &[CaseResult], document: &Value) -> Vec<String> {
        let test: ToolTest = serde_json::from_value(written).unwrap();
        let (mut snapshots, secrets) = (Store::default(), Secrets::default());
        let mut by = Judge { test: "t", snapshots: &mut snapshots, secrets: &secrets };
        judge(&test, cases, &mut by, document).into_iter().map(|wrong| wrong.message).collect()
    }

    fn gate(run: u64, failures: u64, passed: u64) -> Value {
        let gate = json!({"checks_run": run, "failures": failures, "gate_passed": passed});
        json!({ "negative_path": gate, "duration_ms": 5 })
    }

    /// A test with this block, and nothing else expected.
    fn with(key: &str, block: Value) -> Value {
        json!({ "name": "t", "tool": "x", key: block })
    }

    #[test]
    fn a_check_that_was_not_tried_fails_who_names_it() {
        let case = |check: &str, verdict, detail: &str| {
            CaseResult::new(check, Family::NegativePath, "c", verdict).detail(detail)
        };
        let cases = [
            case("wrong_type", CaseVerdict::Rejected, ""),
            case("wrong_type", CaseVerdict::Skipped, "1 of 2 places were tried"),
            case("enum_miss", CaseVerdict::Skipped, "no tool lists the values of an argument"),
            case("oversized", CaseVerdict::CouldNotTell, "no answer"),
        ];
        let named = |checks: Value| {
            judged(with("negative_path", json!({ "checks": checks })), &cases, &gate(1, 0, 1))
        };
        assert_eq!(named(json!(["wrong_type"])), [""; 0]);
        assert_eq!(named(json!([])), [""; 0], "who names none takes what there is");
        assert_eq!(
            named(json!(["enum_miss", "oversized", "missing_required"])),
            [
                "`enum_miss` could not be tried: no tool lists the values of an argument",
                "`oversized` could not be tried: no answer",
                "`missing_required` could not be tried: the tool was not called",
            ]
        );
    }

    #[test]
    fn why_a_gate_does_not_pass_is_told() {
        for (document, told) in [
            (gate(0, 0, 0), "no check was carried out, so that nothing is known"),
            (gate(1, 0, 0), "no call with good arguments went well, so that refusals mean nothing"),
            (gate(3, 2, 0), "2 of 3 checks were not refused as they should be"),
        ] {
            assert_eq!(judged(with("negative_path", json!({})), &[], &document), [told]);
        }
        assert_eq!(judged(with("negative_path", json!({})), &[], &gate(1, 0, 1)), [""; 0]);
    }

    #[test]
    fn a_limit_of_the_time_leaves_the_usual_gates_where_they_are() {
        let in_time = json!({ "expect": { "max_duration_ms": 1000 } });
        let broken = json!({ "fuzz": { "cases": 2, "failures": 1, "first_failure": "x" } });
        assert_eq!(judged(with("negative_path", in_time.clone()), &[], &gate(1, 1, 0)).len(), 1);
        assert_eq!(judged(with("fuzz", in_time), &[], &broken).len(), 1);
        let own = |target: &str| {
            let matcher = json!({ "exact": 1 });
            json!({ "expect": [{ "target": target, "matcher": matcher }] })
        };
        let failures = own("negative_path.failures");
        assert_eq!(judged(with("negative_path", failures), &[], &gate(1, 1, 0)), [""; 0]);
        assert_eq!(judged(with("fuzz", own("fuzz.failures")), &[], &broken), [""; 0]);
        let nothing = json!({ "fuzz": { "cases": 0, "failures": 0 } });
        assert_eq!(judged(with("fuzz", json!({})), &[], &nothing), ["no case was tried"]);
    }
}
