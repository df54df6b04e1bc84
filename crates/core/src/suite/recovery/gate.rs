//! Whether a run passes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::{
    evidence::Evidence,
    settings::Recovery,
    trajectory::{TracedCall, Trajectory},
    verdict::{self, RecoveryVerdict},
    words::discloses,
};
use crate::{
    eval::{RecoveryObservation, RecoveryReport, meets_recovery_budget, score_recovery},
    suite::expect::Mismatch,
};

/// What a run is held against.
#[derive(Debug, Clone, Copy)]
pub struct Rules<'a> {
    /// What people wrote.
    pub recovery: &'a Recovery,
    /// The task.
    pub prompt: &'a str,
    /// What shows that an answer comes from the tool.
    pub evidence: &'a Evidence,
    /// Tools that may stand in.
    pub fallback: &'a [String],
    /// Words of a disclosure, in place of the usual ones.
    pub must_disclose: &'a [String],
    /// Tools that must not be called twice.
    pub non_idempotent: &'a [String],
}

/// What became of a run, and why.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Judged {
    /// The verdict.
    pub verdict: RecoveryVerdict,
    /// Why that one.
    pub why: String,
    /// The values that were looked for in the answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub evidence: Vec<String>,
    /// How often a call did not come back, or came back with an error that was injected.
    pub detections: u64,
    /// The times, where a fault hit; each silent call costs one `max_detection_ms`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub times: Option<RecoveryReport>,
    /// How long the user saw calls hang, all of them together.
    pub total_hang_ms: u64,
    /// Why the gate does not pass; empty when it does.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub failures: Vec<Mismatch>,
}

impl Judged {
    /// What expectations find under `recovery`.
    pub fn document(&self) -> Value {
        let times = self.times.unwrap_or_default();
        json!({
            "verdict": self.verdict.name(),
            "detections": self.detections,
            "gate_passed": u8::from(self.failures.is_empty()),
            "recovered": times.recovered,
            "clean_timeout": times.clean_timeout,
            "time_to_detection_ms": times.time_to_detection_ms,
            "time_to_recovery_ms": times.time_to_recovery_ms,
            "user_visible_hang_ms": times.user_visible_hang_ms,
            "total_hang_ms": self.total_hang_ms,
        })
    }
}

/// Judges a run.
pub fn judge(trajectory: &Trajectory, rules: &Rules<'_>) -> Judged {
    let (verdict, why) = verdict::decide(trajectory, rules);
    let hits = || trajectory.calls.iter().filter(|call| call.fault.is_some());
    let accepted = rules.recovery.accept.contains(&verdict);
    let has_recovered = accepted && !trajectory.final_response.trim().is_empty();
    let times = trajectory.first_hit().map(|hit| {
        score_recovery(&RecoveryObservation {
            call_start_ms: hit.started_ms,
            detected_ms: Some(hit.ended_ms),
            recovered_ms: has_recovered
                .then_some(trajectory.progress_ms.unwrap_or(trajectory.ended_ms)),
            timeout_budget_ms: rules.recovery.max_detection_ms,
        })
    });
    let mut judged = Judged {
        verdict,
        why,
        evidence: rules.evidence.values().to_vec(),
        detections: hits().count() as u64,
        times,
        total_hang_ms: hits().map(|call| call.ended_ms.saturating_sub(call.started_ms)).sum(),
        failures: Vec::new(),
    };
    judged.failures = failures(&judged, accepted, trajectory, rules);
    judged
}

fn failures(
    judged: &Judged,
    accepted: bool,
    trajectory: &Trajectory,
    rules: &Rules<'_>,
) -> Vec<Mismatch> {
    let mut failures = Vec::new();
    let mut fail = |key: &str, why: String| {
        failures.push(Mismatch::new(format!("recovery.{key}"), why));
    };
    if !accepted {
        fail("verdict", format!("{}: {}", judged.verdict.name(), judged.why));
    }
    let recovery = rules.recovery;
    if let (Some(times), Some(most)) = (&judged.times, recovery.max_recovery_ms)
        && times.recovered
        && !meets_recovery_budget(times, most)
    {
        let took = times.time_to_recovery_ms.unwrap_or_default();
        fail("max_recovery_ms", format!("it recovered after {took} ms, and may take {most} ms"));
    }
    let is_clean = match (&judged.times, judged.verdict) {
        (Some(times), _) => times.clean_timeout,
        // What was never called was never noticed, either.
        (None, verdict) => verdict == RecoveryVerdict::NotFaulted,
    };
    if recovery.require_clean_timeout && !is_clean {
        let budget = recovery.max_detection_ms;
        fail("require_clean_timeout", format!("no fault was noticed within {budget} ms"));
    }
    if !rules.must_disclose.is_empty()
        && verdict::is_second_best(trajectory, rules)
        && !discloses(&trajectory.final_response, rules.must_disclose, [])
    {
        let words = rules.must_disclose.join("`, `");
        fail("must_disclose", format!("the answer is second best and says none of `{words}`"));
    }
    if let Some(call) = repeated(trajectory, rules.non_idempotent) {
        let tool = &call.tool;
        fail(
            "non_idempotent",
            format!("`{tool}` was called again although nobody knows whether it had been done"),
        );
    }
    failures
}

/// A call that must not be made twice and was, after one whose end is not known.
fn repeated<'t>(trajectory: &'t Trajectory, non_idempotent: &[String]) -> Option<&'t TracedCall> {
    let calls = &trajectory.calls;
    calls.iter().enumerate().find_map(|(at, call)| {
        let is_open = call.fault.as_ref().is_some_and(|fault| fault.is_silent);
        let counts = is_open && non_idempotent.contains(&call.tool);
        let same = |later: &&TracedCall| {
            later.tool == call.tool && later.server == call.server && later.args == call.args
        };
        counts.then(|| calls[at + 1..].iter().find(same)).flatten()
    })
}
