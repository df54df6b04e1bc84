//! The loop between a model and its tools.

use std::time::Duration;

use mcp_loadtest_core::{
    agent::{
        Conversation, Message, ToolCall, ToolResult, Turn,
        client::{Effect, closed, effect, error, result_text, timed_out},
    },
    event::Phase,
    fault::{CallView, FaultPlan},
    mcp::method,
    outcome::{ErrorCategory, Outcome},
    seed::Seed,
    suite::{
        AgentTest, MAX_TOKENS, MAX_TURNS,
        recovery::{CallFault, MAX_DETECTION_MS, StopReason, TracedCall, Trajectory, Usage},
    },
};
use mcp_loadtest_wire::session::{Deadlines, How};
use serde_json::Value;
use tokio::time::{Instant, timeout_at};

use super::{
    super::{choose::Case, desk::Desk, request::is_answer},
    model::Model,
    tape::{self, Tape},
    toolbox::{Offered, Toolbox},
};

/// One run of an agent.
pub(super) struct Drive<'a> {
    desk: &'a Desk,
    case: Case,
    number: u32,
    agent: &'a AgentTest,
    toolbox: &'a mut Toolbox,
    model: Model,
    faults: FaultPlan,
    patience_ms: u64,
    /// When its time is over, by the wall clock.
    until: Instant,
    /// Milliseconds of virtual time.
    now: u64,
    trajectory: Trajectory,
}

impl<'a> Drive<'a> {
    pub(super) fn new(
        desk: &'a Desk,
        case: Case,
        number: u32,
        toolbox: &'a mut Toolbox,
        model: Model,
    ) -> Self {
        let suite = &desk.suites[case.suite].suite;
        let agent = &suite.agents[case.index];
        let faults = agent.inject.iter().filter_map(|name| suite.fault(name).cloned());
        // Each run has chances of its own, and the same ones every time.
        let seed = Seed(desk.settings.seed.0.wrapping_add(u64::from(number)));
        let recovery = agent.recovery.as_ref();
        Self {
            desk,
            case,
            number,
            agent,
            toolbox,
            model,
            faults: FaultPlan::new(faults, seed),
            patience_ms: recovery.map_or(MAX_DETECTION_MS, |recovery| recovery.max_detection_ms),
            until: Instant::now() + agent.time_budget(),
            now: 0,
            trajectory: Trajectory::default(),
        }
    }

    /// Runs until the agent answers or a budget is used up. An error means that the model could not
    /// be asked.
    pub(super) async fn run(mut self) -> Result<Trajectory, String> {
        let mut conversation = Conversation {
            system: self.agent.system_prompt.clone(),
            messages: vec![Message::User(self.agent.prompt.clone())],
            tools: self.toolbox.specs(),
            max_tokens: self.agent.max_tokens.unwrap_or(MAX_TOKENS),
        };
        let mut turns = Vec::new();
        self.trajectory.stop = self.turns(&mut conversation, &mut turns).await?;
        self.trajectory.ended_ms = self.now;
        if let Some(dir) = &self.desk.settings.record {
            let suite = &self.desk.suites[self.case.suite].file;
            let place = tape::place(suite, &self.desk.settings.agents_in);
            let file = tape::file(dir, &place, &self.agent.name, self.number);
            Tape::of(turns).write(&file, &self.desk.secrets)?;
        }
        Ok(self.trajectory)
    }

    async fn turns(
        &mut self,
        conversation: &mut Conversation,
        turns: &mut Vec<Turn>,
    ) -> Result<StopReason, String> {
        for _ in 0..self.agent.max_turns.unwrap_or(MAX_TURNS) {
            // A model that is never waited for, such as a script, is never late either.
            if self.is_late() {
                return Ok(StopReason::TimeBudget);
            }
            let asked = self.model.turn(&self.agent.prompt, conversation);
            let Ok(turn) = timeout_at(self.until, asked).await else {
                return Ok(StopReason::TimeBudget);
            };
            let turn = turn?;
            turns.push(turn.clone());
            self.take_in(&turn);
            let used = self.trajectory.usage.total();
            if self.agent.token_budget.is_some_and(|most| used > most) {
                return Ok(StopReason::TokenBudget);
            }
            if turn.calls.is_empty() {
                self.trajectory.final_response = turn.text;
                return Ok(StopReason::Completed);
            }
            let calls = turn.calls.clone();
            conversation.messages.push(Message::Model(turn));
            match self.calls(calls).await {
                Ok(results) => conversation.messages.push(Message::Results(results)),
                Err(stop) => return Ok(stop),
            }
        }
        Ok(StopReason::MaxTurns)
    }

    fn is_late(&self) -> bool {
        Instant::now() >= self.until
    }

    /// Makes the calls of a turn, or says which budget they have used up.
    async fn calls(&mut self, calls: Vec<ToolCall>) -> Result<Vec<ToolResult>, StopReason> {
        let mut results = Vec::new();
        for call in calls {
            let made = self.trajectory.calls.len();
            if self.agent.max_tool_calls.is_some_and(|most| made >= most as usize) {
                return Err(StopReason::MaxToolCalls);
            }
            results.push(self.call(call).await);
            if self.is_late() {
                return Err(StopReason::TimeBudget);
            }
        }
        Ok(results)
    }

    fn take_in(&mut self, turn: &Turn) {
        self.now = self.now.saturating_add(turn.after_ms);
        self.trajectory.turns += 1;
        let Usage { input, output } = &mut self.trajectory.usage;
        *input = input.saturating_add(turn.usage.input);
        *output = output.saturating_add(turn.usage.output);
    }

    /// Makes a call, or what a fault makes of it.
    async fn call(&mut self, call: ToolCall) -> ToolResult {
        let mut traced = TracedCall {
            tool: call.name.clone(),
            args: call.args,
            started_ms: self.now,
            ..TracedCall::default()
        };
        match self.toolbox.find(&call.name) {
            None => {
                traced.text = error(-32602, &format!("Unknown tool: {}", call.name));
                traced.is_error = true;
            }
            Some(offered) => {
                traced.server.clone_from(&offered.server);
                traced.tool.clone_from(&offered.tool.name);
                self.now = self.dispatch(offered, &mut traced).await;
            }
        }
        traced.ended_ms = self.now;
        let result = ToolResult {
            id: call.id,
            name: call.name,
            text: traced.text.clone(),
            is_error: traced.is_error,
        };
        self.trajectory.calls.push(traced);
        result
    }

    /// Gives the moment at which the call is over.
    async fn dispatch(&self, offered: &Offered, traced: &mut TracedCall) -> u64 {
        let (transport, era) = self.toolbox.way(offered);
        let treatment = self.faults.decide(&CallView {
            method: method::TOOLS_CALL,
            tool: Some(&offered.tool.name),
            session: None,
            server: Some(&offered.server),
            elapsed: Duration::from_millis(self.now),
            transport,
            era,
        });
        traced.aimed_at = !treatment.decisions.is_empty();
        let fired = treatment.decisions.iter().filter(|decision| decision.fired);
        let name = fired.map(|decision| decision.fault.clone()).collect::<Vec<_>>().join(", ");
        let mut fail = |text: String, is_silent: bool| {
            traced.text = text;
            traced.is_error = true;
            traced.fault = Some(CallFault { name: name.clone(), is_silent });
        };
        match effect(&treatment, self.patience_ms) {
            Effect::Silence => {
                fail(timed_out(), true);
                self.now.saturating_add(self.patience_ms)
            }
            Effect::Failure(text) => {
                fail(text, false);
                self.now
            }
            Effect::Cut(text) => {
                fail(text, true);
                self.now
            }
            Effect::Delay(delay) => self.really_call(offered, traced, delay).await,
        }
    }

    /// Nothing but time stands in the way.
    async fn really_call(&self, offered: &Offered, traced: &mut TracedCall, delay: u64) -> u64 {
        let session = self.toolbox.session(offered);
        let args = Value::Object(traced.args.clone());
        let prepared =
            session.prepare_tool_call(&offered.tool.name, &args, &offered.tool.input_schema);
        let left = self.until.saturating_duration_since(Instant::now());
        let timeout = Duration::from_millis(self.patience_ms).min(left);
        let deadlines = Deadlines { hang: Duration::MAX, grace: Duration::MAX, timeout };
        let how = How { keep_body: true, ..How::new(Phase::Load, deadlines) };
        let reply = session.call(&prepared, how).await;
        if !is_answer(&reply) {
            self.toolbox.keep_waiting(offered);
        }
        let after = self.now.saturating_add(delay);
        let category = match reply.outcome {
            Outcome::Ok => {
                traced.text = result_text(&reply.json().unwrap_or_default());
                return after;
            }
            Outcome::Failed(category) => category,
        };
        traced.is_error = true;
        let mut really = |text: String, name: &str| {
            traced.text = text;
            traced.fault = Some(CallFault { name: name.to_owned(), is_silent: true });
        };
        match category {
            ErrorCategory::ToolError => {
                traced.text = result_text(&reply.json().unwrap_or_default());
                after
            }
            // A server that is really silent is waited for in real time, and costs as much.
            ErrorCategory::Timeout
            | ErrorCategory::Hang
            | ErrorCategory::Deadlock
            | ErrorCategory::Malformed => {
                really(timed_out(), "no reply");
                self.now.saturating_add(u64::try_from(timeout.as_millis()).unwrap_or(u64::MAX))
            }
            ErrorCategory::Crash | ErrorCategory::Disconnected | ErrorCategory::Cancelled => {
                really(closed(), "connection lost");
                after
            }
            ErrorCategory::ServerError | ErrorCategory::ProtocolError => {
                traced.text = error(reply.code.unwrap_or_default(), &reply.message);
                after
            }
        }
    }
}
