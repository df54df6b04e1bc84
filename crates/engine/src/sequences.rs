//! The sequences of `pattern`: those that a person wrote, or one that comes with the tool.

use mcp_loadtest_core::{
    config::Arguments,
    mcp::{Tool, method},
    pace::ThinkTime,
    scenario::{ErrorBehavior, Pattern, PatternName, Scenario, Sequence, ToolCall},
};
use std::time::Duration;

use crate::{
    error::RunError,
    plan::{PlannedSequence, Planner, danger_of},
};

/// The pause between the steps of a sequence that comes with the tool.
const THINK_TIME: ThinkTime = ThinkTime::fixed(Duration::from_millis(100));

/// Plans the sequences of a pattern.
pub(crate) fn plan(
    pattern: &Pattern,
    scenario: &Scenario,
    planner: &mut Planner<'_>,
) -> Result<(), RunError> {
    if !pattern.sequences.is_empty() {
        return pattern.sequences.iter().try_for_each(|sequence| written(sequence, planner));
    }
    let steps = match pattern.pattern {
        PatternName::ExploreThenAct => explore_then_act(scenario, planner)?,
        PatternName::ReadThenWrite => read_then_write(scenario, planner)?,
    };
    planner.plan.sequences.push(PlannedSequence {
        weight: 1.0,
        think_time: THINK_TIME,
        error_behavior: ErrorBehavior::Abort,
        steps,
    });
    Ok(())
}

fn written(sequence: &Sequence, planner: &mut Planner<'_>) -> Result<(), RunError> {
    let steps = sequence.steps.iter().map(|step| match (&step.tool, &step.method) {
        (Some(tool), _) => {
            let call = ToolCall::new(tool);
            planner.call(&match &step.args {
                Some(Arguments(args)) => call.args(args.clone()),
                None => call,
            })
        }
        (None, method) => Ok(planner.method(method.as_deref().unwrap_or(method::TOOLS_LIST))),
    });
    let steps = steps.collect::<Result<_, _>>()?;
    planner.plan.sequences.push(PlannedSequence {
        weight: sequence.weight,
        think_time: sequence.think_time,
        error_behavior: sequence.error_behavior,
        steps,
    });
    Ok(())
}

/// Lists the tools, calls one that only reads, then another. Tools that were named are used in
/// their order.
fn explore_then_act(
    scenario: &Scenario,
    planner: &mut Planner<'_>,
) -> Result<Vec<usize>, RunError> {
    let calls = named_or(scenario, || {
        let reading = reading(planner.tools);
        let first = reading.first().ok_or(RunError::NoTool { listed: planner.tools.len() })?;
        let second = reading.get(1).unwrap_or(first);
        Ok([first, second].map(|tool| ToolCall::new(&tool.name)).to_vec())
    })?;
    let mut steps = vec![planner.method(method::TOOLS_LIST)];
    for call in &calls {
        steps.push(planner.call(call)?);
    }
    Ok(steps)
}

/// Calls a tool that only reads, then one that changes something. What changes something is never
/// called unasked, so it has to be named.
fn read_then_write(scenario: &Scenario, planner: &mut Planner<'_>) -> Result<Vec<usize>, RunError> {
    let calls = named_or(scenario, || Err(RunError::NoWritingTool))?;
    let reads_first = match calls.as_slice() {
        [only] => {
            let reading = reading(planner.tools);
            let other = reading.iter().find(|tool| tool.name != only.name);
            other.map(|tool| ToolCall::new(&tool.name))
        }
        _ => None,
    };
    let steps = reads_first.iter().chain(&calls).map(|call| planner.call(call));
    steps.collect()
}

fn named_or(
    scenario: &Scenario,
    choose: impl FnOnce() -> Result<Vec<ToolCall>, RunError>,
) -> Result<Vec<ToolCall>, RunError> {
    if scenario.tool_calls.is_empty() { choose() } else { Ok(scenario.tool_calls.clone()) }
}

fn reading(tools: &[Tool]) -> Vec<&Tool> {
    tools.iter().filter(|tool| danger_of(tool).may_be_called_unasked()).collect()
}
