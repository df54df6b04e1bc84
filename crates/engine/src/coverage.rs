//! What the arguments of a plan reach of the schemas of a server's tools.

use std::collections::BTreeSet;

use mcp_loadtest_core::{
    arguments::Turn, display::visible, generate::keywords, mcp::Tool, report::KeywordCoverage,
    seed::Seed,
};
use serde_json::Value;

use crate::plan::{Plan, PlannedArguments, PlannedCall};

/// So many of those that vary stand for all of them.
const SAMPLES: u64 = 64;
/// Places that are named.
const NAMED: usize = 100;
const SHOWN: usize = 120;

/// The keywords of all tools, and those that the planned calls reach; nothing if no tool is called.
pub(crate) fn of_keywords(plan: &Plan, tools: &[Tool], seed: Seed) -> Option<KeywordCoverage> {
    let is_tool = |call: &&PlannedCall| matches!(call, PlannedCall::Tool { .. });
    plan.calls.iter().find(is_tool)?;
    let mut coverage = KeywordCoverage::default();
    for tool in tools {
        let all = keywords::all(&tool.input_schema);
        let reached = reached(plan, tool, seed);
        coverage.listed += all.len();
        coverage.reached += all.intersection(&reached).count();
        let room = NAMED - coverage.missed.len();
        let missed = all.difference(&reached).take(room);
        let named = missed.map(|place| visible(&format!("{}: {place}", tool.name), SHOWN));
        coverage.missed.extend(named);
    }
    Some(coverage)
}

fn reached(plan: &Plan, tool: &Tool, seed: Seed) -> BTreeSet<String> {
    let arguments = plan.calls.iter().filter_map(|call| match call {
        PlannedCall::Tool { tool: name, arguments, .. } if *name == tool.name => Some(arguments),
        _ => None,
    });
    let values = arguments.flat_map(|arguments| samples(arguments, seed));
    values.flat_map(|value| keywords::reached(&tool.input_schema, &value)).collect()
}

/// The arguments of the first calls.
fn samples(arguments: &PlannedArguments, seed: Seed) -> Vec<Value> {
    match arguments {
        PlannedArguments::Fixed(value) => vec![value.clone()],
        PlannedArguments::Varying { source, .. } => {
            let sample = |iter| {
                let mut bytes = Vec::new();
                source.render(&mut Turn::new(seed, iter, 0, 0), &mut bytes);
                serde_json::from_slice(&bytes).ok()
            };
            (0..SAMPLES).filter_map(sample).collect()
        }
    }
}

#[cfg(test)]
mod tests {
    use mcp_loadtest_core::scenario::Scenario;
    use serde_json::json;

    use super::*;
    use crate::files::Files;

    #[test]
    fn what_no_call_reaches_is_named() {
        let tool = |name: &str, schema| Tool {
            name: name.into(),
            description: None,
            input_schema: schema,
            output_schema: None,
            annotations: None,
        };
        let limited = json!({
            "properties": { "n": { "minimum": 0 }, "unit": { "enum": ["m", "km"] } },
        });
        let tools = [tool("add", limited.clone()), tool("other", limited)];
        let scenario: Scenario = Scenario::sustained().tool("add").args(json!({ "n": 3 })).into();
        let plan = Plan::make(&scenario, &tools, &Files::default()).unwrap();
        let coverage = of_keywords(&plan, &tools, Seed(1)).unwrap();
        assert_eq!((coverage.listed, coverage.reached), (4, 1));
        assert_eq!(coverage.missed, ["add: /unit enum", "other: /n minimum", "other: /unit enum"]);
        assert_eq!(of_keywords(&Plan::default(), &tools, Seed(1)), None);
    }
}
