//! Which calls a scenario makes: the tools that were named, or one that is safe to call.

use std::{
    cell::{Cell, RefCell},
    ops::Range,
    rc::Rc,
    sync::Arc,
};

use mcp_loadtest_core::{
    arguments::{Echo, Recipe, Source, Turn, with_nonce},
    danger::{Danger, danger},
    generate::{self, Budget},
    mcp::Tool,
    pace::ThinkTime,
    scenario::{ErrorBehavior, Scenario, ScenarioKind, ToolCall},
    seed::{Dice, Seed},
};
use mcp_loadtest_wire::session::{Prepared, Session};
use serde_json::{Value, json};

use crate::{
    contract::{Agreement, Schemas},
    error::RunError,
    files::Files,
    sequences,
};

/// One call with everything that is needed to prepare it.
#[derive(Debug, Clone)]
pub(crate) enum PlannedCall {
    /// A tool call.
    Tool {
        tool: String,
        arguments: PlannedArguments,
        schema: Value,
        /// What the call must keep to, in strict runs.
        contract: Option<Arc<Schemas>>,
        /// Whether we made the arguments up.
        generated: bool,
    },
    /// A request without parameters.
    Method(String),
}

/// The arguments of a call.
#[derive(Debug, Clone)]
pub(crate) enum PlannedArguments {
    /// The same for every call.
    Fixed(Value),
    /// Made anew for every call; `shown` is what they are made from.
    Varying { source: Arc<Source>, shown: String, echo: Echo },
}

impl PlannedArguments {
    fn new(recipe: &Recipe, schema: &Value, files: &Files, seed: Seed) -> Result<Self, RunError> {
        let rows = recipe.file().and_then(|path| files.get(path));
        let source = recipe.source(rows, schema, seed)?;
        Ok(match source.fixed() {
            Some(bytes) => Self::Fixed(serde_json::from_slice(bytes).unwrap_or_default()),
            None => {
                Self::Varying { source: Arc::new(source), shown: shown(recipe), echo: Echo::Must }
            }
        })
    }

    /// Arguments that we made up. Where any word would do, each call has its own, so that a reply
    /// with the word of another call is noticed.
    fn made_up(value: Value, schema: &Value) -> Self {
        let varying = with_nonce(&value, schema)
            .and_then(|template| Some((Source::template(&template).ok()?, template.to_string())));
        match varying {
            Some((source, shown)) => {
                Self::Varying { source: Arc::new(source), shown, echo: Echo::May }
            }
            None => Self::Fixed(value),
        }
    }

    /// The arguments as a person would write them.
    pub(crate) fn shown(&self) -> String {
        match self {
            Self::Fixed(value) => value.to_string(),
            Self::Varying { shown, .. } => shown.clone(),
        }
    }
}

fn shown(recipe: &Recipe) -> String {
    match recipe {
        Recipe::Given(args) => args.to_string(),
        Recipe::List { list, .. } => format!("one of {} arguments", list.len()),
        Recipe::File { path, args: None, .. } => format!("rows of {}", path.display()),
        Recipe::File { path, args: Some(args), .. } => {
            format!("{args} with rows of {}", path.display())
        }
        Recipe::Generated => "made from the schema for each call".to_owned(),
    }
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
    pub(crate) fn make(
        scenario: &Scenario,
        tools: &[Tool],
        files: &Files,
    ) -> Result<Self, RunError> {
        let mut planner = Planner {
            tools,
            files,
            seed: scenario.seed,
            strict: scenario.strict,
            dice: scenario.seed.dice(ARGUMENTS),
            plan: Self::default(),
        };
        match &scenario.kind {
            ScenarioKind::Pattern(pattern) => sequences::plan(pattern, scenario, &mut planner)?,
            ScenarioKind::SlowMix(mix) => {
                planner.singles(scenario)?;
                if let Some(slow) = &mix.slow {
                    planner.single(slow)?;
                }
            }
            // It makes its own calls; without a tool that may be called there are other payloads.
            ScenarioKind::Fuzzer(_) if scenario.tool_calls.is_empty() => {}
            _ => planner.singles(scenario)?,
        }
        Ok(planner.plan)
    }

    /// The calls as a session sends them; `count` numbers those whose arguments vary.
    pub(crate) fn prepare(&self, session: &Session, count: &Rc<Count>) -> Prepares {
        let prepared = self.calls.iter().map(|call| match call {
            PlannedCall::Method(method) => (session.prepare(method, json!({})), None),
            PlannedCall::Tool { tool, arguments, schema, contract, .. } => {
                let held = |prepared: Rc<Prepared>, arguments: &Value| match contract {
                    Some(schemas) => {
                        let (schemas, revision) = (schemas.clone(), session.revision());
                        prepared.under(Arc::new(Agreement { schemas, revision }), arguments)
                    }
                    None => prepared,
                };
                match arguments {
                    PlannedArguments::Fixed(value) => {
                        (held(session.prepare_tool_call(tool, value, schema), value), None)
                    }
                    PlannedArguments::Varying { source, echo, .. } => {
                        let base = session.prepare_tool_call(tool, &json!({}), schema);
                        (held(base, &json!({})), Some((source.clone(), *echo)))
                    }
                }
            }
        });
        Prepares { prepared: prepared.collect(), count: count.clone(), session: session.index() }
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

    /// Whoever limits a tool wants it to be called.
    pub(crate) fn must_call(&self, limited: &str) -> Result<(), RunError> {
        let tools = self.calls.iter().filter_map(|call| match call {
            PlannedCall::Tool { tool, .. } => Some(tool),
            PlannedCall::Method(_) => None,
        });
        let known: Vec<String> = tools.cloned().collect();
        if known.iter().any(|tool| tool == limited) {
            return Ok(());
        }
        Err(RunError::LimitOnUncalledTool { name: limited.to_owned(), known })
    }

    /// For runs that may change nothing.
    pub(crate) fn must_only_read(&self, tools: &[Tool]) -> Result<(), RunError> {
        let is_called = |tool: &&Tool| {
            let named = |call: &PlannedCall| matches!(call, PlannedCall::Tool { tool: name, .. } if *name == tool.name);
            self.calls.iter().any(named)
        };
        for tool in tools.iter().filter(is_called) {
            let danger = danger_of(tool);
            if !danger.may_be_called_unasked() {
                let (name, why) = (tool.name.clone(), danger.why().to_owned());
                return Err(RunError::MayDoMore { name, why });
            }
        }
        Ok(())
    }

    /// The first call of any sequence, by weight: for scenarios that make single calls.
    pub(crate) fn single(&self, dice: &RefCell<Dice>) -> usize {
        self.sequences[self.choose(0..self.sequences.len(), dice)].steps[0]
    }
}

/// A plan in the making.
pub(crate) struct Planner<'a> {
    pub(crate) tools: &'a [Tool],
    files: &'a Files,
    seed: Seed,
    strict: bool,
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
        let planned = self.planned(call)?;
        self.plan.calls.push(planned);
        Ok(self.plan.calls.len() - 1)
    }

    fn planned(&mut self, call: &ToolCall) -> Result<PlannedCall, RunError> {
        let tool = self.tools.iter().find(|tool| tool.name == call.name);
        let tool = tool.ok_or_else(|| RunError::UnknownTool {
            name: call.name.clone(),
            known: self.tools.iter().map(|tool| tool.name.clone()).collect(),
        })?;
        let given =
            call.source.is_some() || call.args.as_object().is_some_and(|args| !args.is_empty());
        let needed =
            tool.input_schema["required"].as_array().is_some_and(|required| !required.is_empty());
        let generated = needed && !given;
        let arguments = if generated {
            let made_up = generated_arguments(tool, &mut self.dice, &Budget::default())?;
            PlannedArguments::made_up(made_up, &tool.input_schema)
        } else {
            PlannedArguments::new(&call.recipe(), &tool.input_schema, self.files, self.seed)?
        };
        let contract = self.strict.then(|| Schemas::of(tool).map(Arc::new)).transpose()?;
        let (tool, schema) = (call.name.clone(), tool.input_schema.clone());
        Ok(PlannedCall::Tool { tool, arguments, schema, contract, generated })
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

/// Arguments that satisfy the tool's schema.
pub(crate) fn generated_arguments(
    tool: &Tool,
    dice: &mut Dice,
    budget: &Budget,
) -> Result<Value, RunError> {
    generate::arguments(&tool.input_schema, dice, budget)
        .map_err(|why| RunError::Arguments { tool: tool.name.clone(), why: why.to_string() })
}

/// Numbers the calls of one lane, so that no two calls of a run have the same number. A session
/// that is opened again goes on with it.
pub(crate) struct Count {
    seed: Seed,
    worker: u16,
    next: Cell<u64>,
    stride: u64,
    scratch: RefCell<Vec<u8>>,
}

impl Count {
    /// The count of one lane of several.
    pub(crate) fn new(seed: Seed, worker: u16, place: (u32, u32)) -> Rc<Self> {
        Rc::new(Self {
            seed,
            worker,
            next: Cell::new(u64::from(place.0)),
            stride: u64::from(place.1),
            scratch: RefCell::default(),
        })
    }

    /// Makes the arguments of the next call.
    fn fill(&self, base: &Prepared, source: &Source, echo: Echo, session: u32) -> Rc<Prepared> {
        let iter = self.next.get();
        self.next.set(iter + self.stride);
        let mut scratch = self.scratch.borrow_mut();
        scratch.clear();
        let mut turn = Turn::new(self.seed, iter, session, self.worker);
        let nonce = source.render(&mut turn, &mut scratch).nonce;
        base.with_arguments(&scratch, nonce.map(|nonce| (nonce, echo)))
    }
}

/// Where the arguments of a call come from that vary, and whether its reply gives them back.
type Varied = (Arc<Source>, Echo);

/// Prepared calls.
pub(crate) struct Prepares {
    prepared: Vec<(Rc<Prepared>, Option<Varied>)>,
    count: Rc<Count>,
    session: u32,
}

impl Prepares {
    /// A call by its place in the plan, with the arguments of its turn.
    #[inline]
    pub(crate) fn get(&self, call: usize) -> Rc<Prepared> {
        let (base, source) = &self.prepared[call];
        match source {
            None => base.clone(),
            Some((source, echo)) => self.count.fill(base, source, *echo, self.session),
        }
    }

    /// A call with the arguments of the first turn of the first session, whoever makes it.
    pub(crate) fn alike(&self, call: usize) -> Rc<Prepared> {
        let (base, source) = &self.prepared[call];
        match source {
            None => base.clone(),
            Some((source, echo)) => {
                Count::new(self.count.seed, 0, (0, 1)).fill(base, source, *echo, 0)
            }
        }
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

    fn make(scenario: &Scenario, tools: &[Tool]) -> Result<Plan, RunError> {
        Plan::make(scenario, tools, &Files::default())
    }

    fn fixed(plan: &Plan) -> (&Value, bool) {
        match &plan.calls[0] {
            PlannedCall::Tool { arguments: PlannedArguments::Fixed(value), generated, .. } => {
                (value, *generated)
            }
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn an_unknown_tool_is_refused_with_its_nearest_name() {
        use mcp_loadtest_core::hint::Hint as _;
        let scenario: Scenario = Scenario::sustained().tool("ecko").into();
        let error = make(&scenario, &[tool("echo", json!({}))]).unwrap_err();
        assert_eq!(error.hint().unwrap(), "did you mean `echo`?");
    }

    #[test]
    fn arguments_are_made_up_only_where_they_are_needed_and_missing() {
        let schema =
            json!({"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]});
        let tools = [tool("add", schema), tool("list", json!({"type": "object"}))];
        let scenario: Scenario = Scenario::sustained().tool("add").into();
        let plan = make(&scenario, &tools).unwrap();
        assert!(fixed(&plan).0["n"].is_i64() && fixed(&plan).1);
        let scenario: Scenario = Scenario::sustained().tool("add").args(json!({"n": 3})).into();
        let plan = make(&scenario, &tools).unwrap();
        assert_eq!(fixed(&plan), (&json!({"n": 3}), false));
        let scenario: Scenario = Scenario::sustained().tool("list").into();
        let plan = make(&scenario, &tools).unwrap();
        assert!(matches!(plan.calls[0], PlannedCall::Tool { generated: false, .. }));
    }

    #[test]
    fn a_run_that_may_change_nothing_refuses_a_tool_that_may() {
        let tools = ["list_files", "delete_file"].map(|name| tool(name, json!({})));
        let plan = |name: &str| make(&Scenario::sustained().tool(name).into(), &tools).unwrap();
        plan("list_files").must_only_read(&tools).unwrap();
        let refused = plan("delete_file").must_only_read(&tools).unwrap_err();
        assert!(matches!(refused, RunError::MayDoMore { name, .. } if name == "delete_file"));
    }

    #[test]
    fn sequences_are_chosen_by_weight() {
        let tools = ["a", "b", "c"].map(|name| tool(name, json!({})));
        let weighed = |name: &str, weight| ToolCall::new(name).weight(weight);
        let scenario = Scenario::sustained()
            .tool_call(weighed("a", 1.0))
            .tool_call(weighed("b", 3.0))
            .tool_call(weighed("c", 1e-9));
        let plan = make(&scenario.build(), &tools).unwrap();
        let dice = RefCell::new(Seed(1).dice(0));
        let chosen: Vec<_> = (0..4_000).map(|_| plan.choose(0..3, &dice)).collect();
        let count = |index| chosen.iter().filter(|chosen| **chosen == index).count();
        assert!((900..1_100).contains(&count(0)), "{}", count(0));
        assert_eq!(count(0) + count(1), 4_000);
        assert_eq!(plan.choose(2..3, &dice), 2);
    }
}
