//! Which calls a scenario makes: the tools that were named, or one that is safe to call.

use std::{cell::RefCell, rc::Rc};

use mcp_loadtest_core::{
    danger::{Danger, danger},
    generate::{self, Budget},
    mcp::Tool,
    scenario::{Scenario, ToolCall},
    seed::Dice,
};
use mcp_loadtest_wire::session::{Prepared, Session};
use serde_json::Value;

use crate::error::RunError;

/// One call with everything that is needed to prepare it.
#[derive(Debug, Clone)]
pub(crate) struct PlannedCall {
    pub(crate) tool: String,
    pub(crate) arguments: Value,
    pub(crate) schema: Value,
    pub(crate) weight: f64,
    /// Whether we made the arguments up.
    pub(crate) generated: bool,
}

/// All calls of a scenario.
#[derive(Debug, Clone)]
pub(crate) struct Plan {
    pub(crate) calls: Vec<PlannedCall>,
}

impl Plan {
    /// Finds the calls of a scenario among the tools that a server has.
    pub(crate) fn make(scenario: &Scenario, tools: &[Tool]) -> Result<Self, RunError> {
        let mut dice = scenario.seed.dice(ARGUMENTS);
        let chosen = if scenario.tool_calls.is_empty() {
            vec![ToolCall::new(&safest(tools)?.name)]
        } else {
            scenario.tool_calls.clone()
        };
        let calls = chosen.iter().map(|call| planned(call, tools, &mut dice));
        Ok(Self { calls: calls.collect::<Result<_, _>>()? })
    }

    /// The calls as a session sends them.
    pub(crate) fn prepare(&self, session: &Session) -> Prepares {
        let prepared = self
            .calls
            .iter()
            .map(|call| session.prepare_tool_call(&call.tool, &call.arguments, &call.schema));
        let mut sum = 0.0;
        let bounds = self.calls.iter().map(|call| {
            sum += call.weight;
            sum
        });
        Prepares { bounds: bounds.collect(), prepared: prepared.collect() }
    }
}

/// The streams of chance that a run has; each choice has its own, so that none disturbs another.
const ARGUMENTS: u64 = 1;
/// Which call comes next; lanes add their index.
pub(crate) const CHOICE: u64 = 1 << 32;

/// Whether a tool may be called without being asked for.
pub(crate) fn danger_of(tool: &Tool) -> Danger {
    let annotations = tool.annotations.as_ref().unwrap_or(&Value::Null);
    danger(
        &tool.name,
        tool.description.as_deref().unwrap_or_default(),
        annotations,
        &tool.input_schema,
    )
}

/// The first tool that may be called unasked.
fn safest(tools: &[Tool]) -> Result<&Tool, RunError> {
    let safe = tools.iter().find(|tool| danger_of(tool).may_be_called_unasked());
    safe.ok_or(RunError::NoTool { listed: tools.len() })
}

fn planned(call: &ToolCall, tools: &[Tool], dice: &mut Dice) -> Result<PlannedCall, RunError> {
    let tool =
        tools.iter().find(|tool| tool.name == call.name).ok_or_else(|| RunError::UnknownTool {
            name: call.name.clone(),
            known: tools.iter().map(|tool| tool.name.clone()).collect(),
        })?;
    let given = call.args.as_object().is_some_and(|args| !args.is_empty());
    let needed =
        tool.input_schema["required"].as_array().is_some_and(|required| !required.is_empty());
    let generated = needed && !given;
    let arguments = if generated {
        generated_arguments(tool, dice, &Budget::default())?
    } else {
        call.args.clone()
    };
    Ok(PlannedCall {
        tool: call.name.clone(),
        arguments,
        schema: tool.input_schema.clone(),
        weight: call.weight,
        generated,
    })
}

/// Arguments that satisfy the tool's schema.
pub(crate) fn generated_arguments(
    tool: &Tool,
    dice: &mut Dice,
    budget: &Budget,
) -> Result<Value, RunError> {
    generate::arguments(&tool.input_schema, dice, budget)
        .map_err(|why| RunError::Arguments { tool: tool.name.clone(), why: why.to_string() })
}

/// Prepared calls and how to choose among them.
pub(crate) struct Prepares {
    bounds: Vec<f64>,
    prepared: Vec<Rc<Prepared>>,
}

impl Prepares {
    /// The next call, by weight.
    pub(crate) fn choose(&self, dice: &RefCell<Dice>) -> &Rc<Prepared> {
        if self.prepared.len() == 1 {
            return &self.prepared[0];
        }
        let total = self.bounds.last().copied().unwrap_or(0.0);
        let point = dice.borrow_mut().unit() * total;
        let index = self.bounds.partition_point(|bound| *bound <= point);
        &self.prepared[index.min(self.prepared.len() - 1)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn tool(name: &str, schema: Value) -> Tool {
        Tool {
            name: name.into(),
            description: None,
            input_schema: schema,
            output_schema: None,
            annotations: None,
        }
    }

    #[test]
    fn an_unknown_tool_is_refused_with_its_nearest_name() {
        use mcp_loadtest_core::hint::Hint as _;
        let scenario: Scenario = Scenario::sustained().tool("ecko").into();
        let error = Plan::make(&scenario, &[tool("echo", json!({}))]).unwrap_err();
        assert_eq!(error.hint().unwrap(), "did you mean `echo`?");
    }

    #[test]
    fn arguments_are_made_up_only_where_they_are_needed_and_missing() {
        let schema =
            json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
        let tools = [tool("add", schema), tool("list", json!({"type": "object"}))];
        let scenario: Scenario = Scenario::sustained().tool("add").into();
        let plan = Plan::make(&scenario, &tools).unwrap();
        assert!(plan.calls[0].generated && plan.calls[0].arguments["n"].is_i64());
        let scenario: Scenario = Scenario::sustained().tool("add").args(json!({"n": 3})).into();
        assert_eq!(Plan::make(&scenario, &tools).unwrap().calls[0].arguments, json!({"n": 3}));
        let scenario: Scenario = Scenario::sustained().tool("list").into();
        assert!(!Plan::make(&scenario, &tools).unwrap().calls[0].generated);
    }
}
