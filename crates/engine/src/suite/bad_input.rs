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
    let args = (!test.args.is_empty()).then(|| Value::Object(test.args.clone()));
    let patience = test.timeout_ms.map_or(Duration::from_secs(5), Duration::from_millis);
    let report = Probe::new(known.server.clone())
        .depth(Depth::Deep)
        .only(checks)
        .tool(&test.tool, args)
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

/// What is expected of it, or that nothing was taken or broken.
pub(super) fn judge(test: &ToolTest, judge: &mut Judge<'_>, document: &Value) -> Vec<Mismatch> {
    let mut wrong = Vec::new();
    let number = |path: &str| document.pointer(path).and_then(Value::as_u64).unwrap_or_default();
    if let Some(block) = &test.negative_path {
        wrong.extend(judge.judge(&block.expect, document));
        let is_usual = block.expect.is_empty() && !test.expect.looks_at("negative_path");
        if is_usual && number("/negative_path/gate_passed") != 1 {
            let (failures, run) =
                (number("/negative_path/failures"), number("/negative_path/checks_run"));
            let why = match failures {
                0 => "no call with good arguments went well, so that refusals mean nothing".into(),
                _ => format!("{failures} of {run} checks were not refused as they should be"),
            };
            wrong.push(Mismatch::new("negative_path.failures", why));
        }
    }
    if let Some(block) = &test.fuzz {
        wrong.extend(judge.judge(&block.expect, document));
        let is_usual = block.expect.is_empty() && !test.expect.looks_at("fuzz");
        let failures = number("/fuzz/failures");
        if is_usual && failures > 0 {
            let first = document.pointer("/fuzz/first_failure").and_then(Value::as_str);
            let why = format!(
                "{failures} of {} cases broke the server; the first: {}",
                number("/fuzz/cases"),
                first.unwrap_or("not kept")
            );
            wrong.push(Mismatch::new("fuzz.failures", why));
        }
        if is_usual && number("/fuzz/cases") == 0 {
            wrong.push(Mismatch::new("fuzz.cases", "no case was tried"));
        }
    }
    wrong
}
