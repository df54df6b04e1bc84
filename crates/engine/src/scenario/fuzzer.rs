//! `fuzzer`: bad input on purpose.

use std::rc::Rc;

use mcp_loadtest_core::{
    event::note,
    fuzz::Deck,
    mcp::Tool,
    scenario::{Scenario, ScenarioKind, ScenarioName},
    tally::Tally,
};
use mcp_loadtest_wire::session::Session;
use serde_json::{Value, json};

use super::{Driving, Entry, Stage};
use crate::{
    RunError,
    context::Context,
    fuzz::{Hunt, Lab},
    plan::danger_of,
};

pub(super) const ENTRY: Entry = Entry {
    name: ScenarioName::Fuzzer,
    summary: "send malformed and hostile input of every kind and watch what becomes of the server",
    detects: "crashes, hangs, broken replies, type confusion, arguments that are taken against the schema",
    algorithm: "\
1. List the tools. Only those that surely read are called, or those that were named with --tool.
2. Send `iterations` cases one after another, in rounds: the listed payloads (unknown method, numeric
   method, giant payload, control characters, deep nesting, null and string params), raw bytes (bits
   flipped, frames cut, spliced, split over writes, several at once), and arguments for each tool, made
   from its schema: every limit first, then chance. Case N has the same bytes for the same seed.
   Numbers that a tool may wait for stay small.
3. Each case is one of: clean (answered in any way, or rightly ignored), accepted (the schema forbids it,
   the tool took it), slow, protocol_violation, hang, crash. Silence is a hang only when a control
   request is not answered either, or when a proper request stays unanswered.
4. What fails is tried again on a fresh server, made smaller, and saved as cases/<id>.json of the run;
   `replay` sends it again. The server is started anew and the run goes on, for `duration` at most.",
    knobs: "--iterations, --payloads, --duration, --tool, --seed, --hang-timeout, --grace-period",
    drive: |stage| Box::pin(drive(stage)) as Driving,
};

async fn drive(stage: Stage) -> Result<Vec<Tally>, RunError> {
    let ScenarioKind::Fuzzer(settings) = stage.context.blueprint.scenario.kind.clone() else {
        return Err(RunError::Internal("not a fuzzer".into()));
    };
    let Stage { context, session, .. } = stage;
    let limit = context.blueprint.server.startup_timeout;
    let listed = session.list_tools(limit).await;
    let listing = listed.map_err(|reply| RunError::ToolsList(reply.message))?;
    let meta = meta(&session);
    context.close(session).await;
    let (tools, left_alone) = chosen(&context.blueprint.scenario, listing.tools);
    let lab = lab(&context, tools.clone());
    let names = tools.iter().map(|tool| tool.name.clone()).collect();
    let seed = context.blueprint.scenario.seed;
    let deck = Deck::new(seed, meta, &settings.payloads, tools);
    let mut hunt = Hunt::new(context.clone(), lab, deck, settings.duration);
    (hunt.stats.tools, hunt.stats.left_alone) = (names, left_alone);
    context.begin_sampling();
    hunt.carry_out(u64::from(settings.iterations)).await;
    context.end_sampling();
    context.note(note::FUZZ_REPORT, serde_json::to_string(&hunt.stats).unwrap_or_default());
    Ok(Vec::new())
}

fn lab(context: &Rc<Context>, tools: Vec<Tool>) -> Lab {
    let deadlines = context.deadlines();
    Lab::new(
        context.blueprint.target.clone(),
        &context.options(1),
        context.revision,
        (deadlines.hang, deadlines.grace),
        tools,
        context.blueprint.pids.clone(),
    )
}

/// What each request of the era carries.
fn meta(session: &Session) -> Option<Value> {
    let prepared = session.prepare("ping", json!({}));
    let mut params: Value = serde_json::from_slice(prepared.params()).ok()?;
    Some(params["_meta"].take()).filter(Value::is_object)
}

/// The tools that were named, or those that may be called unasked; and the names of the others.
fn chosen(scenario: &Scenario, tools: Vec<Tool>) -> (Vec<Tool>, Vec<String>) {
    let named = |tool: &Tool| scenario.tool_calls.iter().any(|call| call.name == tool.name);
    let unasked = scenario.tool_calls.is_empty();
    let (chosen, others): (Vec<Tool>, Vec<Tool>) = tools.into_iter().partition(|tool| {
        if unasked { danger_of(tool).may_be_called_unasked() } else { named(tool) }
    });
    let others = others.into_iter().filter(|_| unasked).map(|tool| tool.name);
    (chosen, others.collect())
}
