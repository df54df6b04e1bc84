//! `explain`: what a tool, a scenario or a check does, step by step.

use mcp_loadtest::{PROBES, ScenarioName};
use mcp_loadtest_core::{display::visible, hint::nearest};
use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, Serialize};

use super::{Answer, Call, Does, Tool};
use crate::{
    commands::{compare, negative_path, probe, report, run as run_command, runs},
    error::CliError,
};

/// What is asked for.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct Asked {
    /// A tool of this server, a scenario, or the id of a check or finding; without it, the topics are
    /// listed.
    topic: Option<String>,
}

/// What something does.
#[derive(Debug, Serialize, JsonSchema)]
struct Explained {
    /// What is explained; null for the list of topics.
    topic: Option<String>,
    /// How it works.
    text: String,
    /// All topics.
    topics: Vec<String>,
}

/// Topics of tools that are no scenarios.
fn of_tool(topic: &str) -> Option<String> {
    Some(match topic {
        "probe" => probe::explanation(),
        "negative_path" => negative_path::EXPLANATION.to_owned(),
        "compare_runs" => compare::EXPLANATION.to_owned(),
        "report_summary" => report::EXPLANATION.to_owned(),
        "list_recent_runs" => runs::EXPLANATION.to_owned(),
        "sustained_load" => run_command::explanation(ScenarioName::Sustained),
        _ => return None,
    })
}

fn of_scenario(topic: &str) -> Option<String> {
    let name = ScenarioName::ALL.iter().find(|name| name.as_str() == topic)?;
    Some(run_command::explanation(*name))
}

fn of_check(topic: &str) -> Option<String> {
    let check = PROBES.iter().find(|check| check.id == topic)?;
    Some(format!("{}: {}", check.id, check.about))
}

fn topics() -> Vec<String> {
    let tools = ["probe", "negative_path", "compare_runs", "report_summary", "list_recent_runs"];
    let scenarios = ScenarioName::ALL.iter().map(|name| name.as_str());
    let checks = PROBES.iter().map(|check| check.id);
    let all = tools.into_iter().chain(["sustained_load"]).chain(scenarios).chain(checks);
    all.map(str::to_owned).collect()
}

async fn run(mut call: Call) -> Result<Answer, CliError> {
    let asked: Asked = call.read()?;
    let topics = topics();
    let Some(topic) = asked.topic else {
        let text = format!("Topics: {}.", topics.join(", "));
        return Answer::new(text.clone(), &Explained { topic: None, text, topics });
    };
    let found = of_tool(&topic).or_else(|| of_scenario(&topic)).or_else(|| of_check(&topic));
    let text = found.ok_or_else(|| {
        let hint = match nearest(&topic, topics.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => "without a topic, all of them are listed".to_owned(),
        };
        CliError::usage(format!("there is nothing about `{}`", visible(&topic, 80)), hint)
    })?;
    Answer::new(text.clone(), &Explained { topic: Some(topic), text, topics })
}

pub(super) const ENTRY: Tool = Tool {
    name: "explain",
    title: "Explain a test",
    about: "Tell how a tool of this server, a scenario or a check works, step by step, and what its \
            result means. Use it to choose the right test or to understand a finding.",
    does: Does::Reads,
    input: || schema_for!(Asked),
    output: || schema_for!(Explained),
    call: |call| Box::pin(run(call)),
};
