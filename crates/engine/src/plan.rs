//! Which calls a scenario makes: the tools that were named, or one that is safe to call.

use std::{cell::RefCell, ops::Range, rc::Rc};

use mcp_loadtest_core::{
    danger::{Danger, danger},
    generate::{self, Budget},
    mcp::Tool,
    pace::ThinkTime,
    scenario::{ErrorBehavior, Scenario, ScenarioKind, ToolCall},
    seed::Dice,
};
use mcp_loadtest_wire::session::{Prepared, Session};
use serde_json::{Value, json};

use crate::{error::RunError, sequences};

/// One call with everything that is needed to prepare it.
#[derive(Debug, Clone)]
pub(crate) enum PlannedCall {
    /// A tool call.
    Tool {
        tool: String,
        arguments: Value,
        schema: Value,
        /// Whether we made the arguments up.
        generated: bool,
    },
    /// A request without parameters.
    Method(String),
}

/// Calls that follow each other. Most have one step.
#[derive(Debug, Clone)]
pub(crate) struct PlannedSequence {
    pub(crate) weight: f64,
    pub(crate) think_time: ThinkTime,
    pub(crate) error_behavior: ErrorBehavior,
    /// Which calls of the plan, in their order.
    pub(crate) steps: Vec<usize>,
}

impl PlannedSequence {
    /// A single call.
    fn single(call: usize, weight: f64) -> Self {
        Self {
            weight,
            think_time: ThinkTime::default(),
            error_behavior: ErrorBehavior::default(),
            steps: vec![call],
        }
    }
}

/// All calls of a scenario.
#[derive(Debug, Clone, Default)]
pub(crate) struct Plan {
    pub(crate) calls: Vec<PlannedCall>,
    pub(crate) sequences: Vec<PlannedSequence>,
}

impl Plan {
    /// Finds the calls of a scenario among the tools that a server has.
    pub(crate) fn make(scenario: &Scenario, tools: &[Tool]) -> Result<Self, RunError> {
        let mut planner =
            Planner { tools, dice: scenario.seed.dice(ARGUMENTS), plan: Self::default() };
        match &scenario.kind {
            ScenarioKind::Pattern(pattern) => sequences::plan(pattern, scenario, &mut planner)?,
            ScenarioKind::SlowMix(mix) => {
                planner.singles(scenario)?;
                if let Some(slow) = &mix.slow {
                    planner.single(slow)?;
                }
            }
            _ => planner.singles(scenario)?,
        }
        Ok(planner.plan)
    }

    /// The calls as a session sends them.
    pub(crate) fn prepare(&self, session: &Session) -> Prepares {
        let prepared = self.calls.iter().map(|call| match call {
            PlannedCall::Tool { tool, arguments, schema, .. } => {
                session.prepare_tool_call(tool, arguments, schema)
            }
            PlannedCall::Method(method) => session.prepare(method, json!({})),
        });
        Prepares { prepared: prepared.collect() }
    }

    /// One of these sequences, by weight.
    #[inline]
    pub(crate) fn choose(&self, among: Range<usize>, dice: &RefCell<Dice>) -> usize {
        if among.len() < 2 {
            return among.start;
        }
        let sequences = &self.sequences[among.clone()];
        let total: f64 = sequences.iter().map(|sequence| sequence.weight).sum();
        let mut point = dice.borrow_mut().unit() * total;
        let chosen = sequences.iter().position(|sequence| {
            point -= sequence.weight;
            point < 0.0
        });
        chosen.map_or(among.end - 1, |place| among.start + place)
    }

    /// The first call of any sequence, by weight: for scenarios that make single calls.
    pub(crate) fn single(&self, dice: &RefCell<Dice>) -> usize {
        self.sequences[self.choose(0..self.sequences.len(), dice)].steps[0]
    }
}

/// A plan in the making.
pub(crate) struct Planner<'a> {
    pub(crate) tools: &'a [Tool],
    dice: Dice,
    pub(crate) plan: Plan,
}

impl Planner<'_> {
    /// One sequence for each tool call of the scenario; without any, the safest tool.
    fn singles(&mut self, scenario: &Scenario) -> Result<(), RunError> {
        if scenario.tool_calls.is_empty() {
            return self.single(&ToolCall::new(&safest(self.tools)?.name));
        }
        scenario.tool_calls.iter().try_for_each(|call| self.single(call))
    }

    fn single(&mut self, call: &ToolCall) -> Result<(), RunError> {
        let index = self.call(call)?;
        self.plan.sequences.push(PlannedSequence::single(index, call.weight));
        Ok(())
    }

    /// Adds a tool call and gives its place.
    pub(crate) fn call(&mut self, call: &ToolCall) -> Result<usize, RunError> {
        let planned = planned(call, self.tools, &mut self.dice)?;
        self.plan.calls.push(planned);
        Ok(self.plan.calls.len() - 1)
    }

    /// Adds a request without parameters and gives its place.
    pub(crate) fn method(&mut self, method: &str) -> usize {
        self.plan.calls.push(PlannedCall::Method(method.to_owned()));
        self.plan.calls.len() - 1
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
    Ok(PlannedCall::Tool {
        tool: call.name.clone(),
        arguments,
        schema: tool.input_schema.clone(),
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

/// Prepared calls.
pub(crate) struct Prepares {
    prepared: Vec<Rc<Prepared>>,
}

impl Prepares {
    /// A call by its place in the plan.
    #[inline]
    pub(crate) fn get(&self, call: usize) -> &Rc<Prepared> {
        &self.prepared[call]
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
        let PlannedCall::Tool { arguments, generated: true, .. } = &plan.calls[0] else { panic!() };
        assert!(arguments["n"].is_i64());
        let scenario: Scenario = Scenario::sustained().tool("add").args(json!({"n": 3})).into();
        let plan = Plan::make(&scenario, &tools).unwrap();
        let PlannedCall::Tool { arguments, generated: false, .. } = &plan.calls[0] else {
            panic!()
        };
        assert_eq!(*arguments, json!({"n": 3}));
        let scenario: Scenario = Scenario::sustained().tool("list").into();
        let plan = Plan::make(&scenario, &tools).unwrap();
        assert!(matches!(plan.calls[0], PlannedCall::Tool { generated: false, .. }));
    }

    #[test]
    fn sequences_are_chosen_by_weight() {
        let tools = ["a", "b", "c"].map(|name| tool(name, json!({})));
        let weighed = |name: &str, weight| ToolCall::new(name).weight(weight);
        let scenario = Scenario::sustained()
            .tool_call(weighed("a", 1.0))
            .tool_call(weighed("b", 3.0))
            .tool_call(weighed("c", 1e-9));
        let plan = Plan::make(&scenario.build(), &tools).unwrap();
        let dice = RefCell::new(mcp_loadtest_core::seed::Seed(1).dice(0));
        let chosen: Vec<_> = (0..4_000).map(|_| plan.choose(0..3, &dice)).collect();
        let count = |index| chosen.iter().filter(|chosen| **chosen == index).count();
        assert!((900..1_100).contains(&count(0)), "{}", count(0));
        assert_eq!(count(0) + count(1), 4_000);
        assert_eq!(plan.choose(2..3, &dice), 2);
    }
}
