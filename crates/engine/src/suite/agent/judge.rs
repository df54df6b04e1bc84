//! What became of a run of an agent.

use mcp_loadtest_core::{
    fault::Fault,
    suite::{
        AgentTest, Outcome, TestResult,
        expect::{Judge, Mismatch, Target},
        recovery::{
            self, Evidence, Judged, Live, Recovery, RecoveryVerdict, Rules, StopReason, Trajectory,
            canaries,
        },
    },
    tools_file::{ToolEntry, ToolsFile},
};
use serde_json::json;

use super::super::{choose::Case, desk::Desk, loaded::LoadedSuite};

/// What was seen of a run.
pub(super) struct Seen {
    pub(super) trajectory: Trajectory,
    /// What only the wire shows, for an agent of its own.
    pub(super) live: Option<Live>,
    /// Tools that say themselves that they must not be called twice.
    pub(super) non_idempotent: Vec<String>,
}

/// Judges a run and writes it into the result.
pub(super) fn judge(desk: &Desk, case: Case, seen: Seen, took_ms: f64, result: &mut TestResult) {
    let Seen { trajectory, live, non_idempotent } = seen;
    let loaded = &desk.suites[case.suite];
    let agent = &loaded.suite.agents[case.index];
    let judged =
        agent.recovery().map(|rules| recovery(loaded, agent, &rules, non_idempotent, &trajectory));
    let mut document = trajectory.document();
    document["duration_ms"] = took_ms.into();
    if let Some(live) = &live {
        document["live"] = serde_json::to_value(live).unwrap_or_default();
    }
    if let Some(judged) = &judged {
        document["recovery"] = judged.document();
        result.failures.extend(judged.failures.iter().cloned());
    } else if agent.expect.assertions.is_empty() {
        result.failures.extend(no_answer(&trajectory));
    }
    if let Some(live) = &live {
        let verdict = judged.as_ref().map(|judged| judged.verdict);
        result.failures.extend(failed_by_itself(agent, &trajectory, live, verdict));
    }
    let name = result.name.clone();
    let mut snapshots = desk.snapshots.borrow_mut();
    let mut judge =
        Judge { test: &name, snapshots: &mut snapshots[case.suite], secrets: &desk.secrets };
    result.failures.extend(judge.judge(&agent.expect, &document));
    result.outcome = if result.failures.is_empty() { Outcome::Passed } else { Outcome::Failed };
    result.recovery = judged;
    result.trajectory = Some(trajectory);
    result.live = live;
}

/// An agent of which nothing else is expected must at least answer.
fn no_answer(trajectory: &Trajectory) -> Option<Mismatch> {
    let is_empty = trajectory.final_response.trim().is_empty();
    let why = match &trajectory.stop {
        StopReason::Completed if !is_empty => return None,
        StopReason::Completed => "it answered with nothing".to_owned(),
        stop => format!("it was ended by {} without an answer", stop.name()),
    };
    Some(Mismatch::new("final_response", why))
}

/// A program that ends with a failure says that it has not done what it was asked. Whoever says so in words
/// as well may do that.
fn failed_by_itself(
    agent: &AgentTest,
    trajectory: &Trajectory,
    live: &Live,
    verdict: Option<RecoveryVerdict>,
) -> Option<Mismatch> {
    let claims_success =
        matches!(verdict, None | Some(RecoveryVerdict::Recovered | RecoveryVerdict::NotFaulted));
    let is_asked = agent.expect.assertions.iter().any(|one| looks_at_exit_code(&one.target));
    if trajectory.stop != StopReason::Completed || !claims_success || is_asked {
        return None;
    }
    match live.exit_code {
        Some(0) => None,
        Some(code) => {
            Some(Mismatch::new(EXIT_CODE, format!("the agent ended with exit code {code}")))
        }
        None => Some(Mismatch::new(EXIT_CODE, "the agent was ended by a signal".to_owned())),
    }
}

/// Where the document says how the program ended.
const EXIT_CODE: &str = "live.exit_code";

/// Whether a way leads to the exit code, however it is written, or to the object that holds it.
fn looks_at_exit_code(target: &Target) -> bool {
    let live = json!({ "exit_code": "how it ended" });
    let found = target.find(&json!({ "live": live }));
    found.is_some_and(|found| found == live || found == live["exit_code"])
}

fn recovery(
    loaded: &LoadedSuite,
    agent: &AgentTest,
    written: &Recovery,
    non_idempotent: Vec<String>,
    trajectory: &Trajectory,
) -> Judged {
    let evidence = match written.evidence.0.as_slice() {
        [] => taken(loaded, agent),
        values => Evidence::Declared(values.to_vec()),
    };
    let non_idempotent = match written.non_idempotent.0.as_slice() {
        [] => non_idempotent,
        tools => tools.to_vec(),
    };
    recovery::judge(
        trajectory,
        &Rules {
            recovery: written,
            prompt: &agent.prompt,
            evidence: &evidence,
            fallback: &written.fallback.0,
            must_disclose: &written.must_disclose.0,
            non_idempotent: &non_idempotent,
        },
    )
}

/// Evidence from what our own mocks would have answered, had the faults not hit.
fn taken(loaded: &LoadedSuite, agent: &AgentTest) -> Evidence {
    let faults: Vec<&Fault> =
        agent.inject.iter().filter_map(|name| loaded.suite.fault(name)).collect();
    let mut values = Vec::new();
    for server in &agent.servers {
        for tool in canned(loaded, server) {
            let is_hit = faults.iter().any(|fault| {
                let target = fault.selector();
                target.tool.as_ref().is_none_or(|name| *name == tool.name)
                    && target.server.as_ref().is_none_or(|name| name == server)
            });
            if is_hit {
                values.extend(canaries(&tool, &agent.prompt));
            }
        }
    }
    match values.is_empty() {
        true => Evidence::Unknown,
        false => Evidence::Taken(values),
    }
}

/// The tools of a mock of ours, with their canned answers.
pub(super) fn canned(loaded: &LoadedSuite, server: &str) -> Vec<ToolEntry> {
    let mock = loaded.suite.servers.0.get(server).and_then(|entry| entry.mock.as_ref());
    let Some(mock) = mock else { return Vec::new() };
    match &mock.tools_from {
        None => mock.tools.clone(),
        Some(file) => {
            // Whoever started the mock has read the file already, and told what is wrong with it.
            let text = std::fs::read_to_string(loaded.dir.join(file)).unwrap_or_default();
            ToolsFile::parse(&text, "tools").map(|file| file.tools).unwrap_or_default()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_exit_code_can_be_asked_for_in_every_way_that_leads_to_it() {
        for (way, is_asked) in [
            ("live.exit_code", true),
            (r#"live["exit_code"]"#, true),
            (r#"["live"].exit_code"#, true),
            ("live", true),
            ("live.length", false),
            ("live.retries", false),
            ("exit_code", false),
            ("length", false),
            ("recovery.verdict", false),
        ] {
            let target = Target::try_from(way.to_owned()).unwrap();
            assert_eq!(looks_at_exit_code(&target), is_asked, "{way}");
        }
    }
}
