//! `probe`: is the server alive and well? One call per tool that may be called unasked.

use std::{rc::Rc, time::Duration};

use mcp_loadtest_core::{
    analysis,
    display::visible,
    event::Phase,
    generate::{Budget, Paths},
    mcp::{Era, Revision, Tool},
    outcome::{ErrorCategory, Outcome},
    report::{Finding, RunInfo, Severity},
    scenario::Scenario,
    seed::Seed,
    server::Server,
    thresholds::Thresholds,
};
use mcp_loadtest_wire::{
    clock::Clock,
    session::{Deadlines, How, Options, Reply, Session},
};
use schemars::{JsonSchema, schema_for};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::sync::oneshot;

use crate::{
    conductor::{choose_revision, on_local_runtime},
    error::RunError,
    plan::{danger_of, generated_arguments},
    recorder::Recorder,
    stop::Stop,
    target::{Logs, TeeStderr, strictness, target},
    wall_clock::Identity,
};

/// What became of a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ToolVerdict {
    /// It answered.
    Ok,
    /// It answered with `isError`: with made-up arguments that is no fault.
    ToolError,
    /// It answered with a JSON-RPC error.
    Refused,
    /// It answered, but only after the hang threshold: some tools are meant to take their time.
    Slow,
    /// It did not answer at all.
    Hung,
    /// The server died of it.
    Crashed,
    /// Its reply was not valid.
    Malformed,
    /// It was not called.
    Skipped,
}

/// One tool and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolProbe {
    /// Its name.
    pub name: String,
    /// What became of it.
    pub verdict: ToolVerdict,
    /// What it was called with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Value>,
    /// How long it took.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub took_ms: Option<f64>,
    /// Why it was skipped, or what it said.
    #[serde(skip_serializing_if = "String::is_empty", default)]
    pub reason: String,
}

/// What a probe found.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ProbeReport {
    /// The version of this document.
    pub schema: String,
    /// Who was probed.
    pub target: String,
    /// The name that the server gives itself.
    pub server_name: Option<String>,
    /// The version that the server gives itself.
    pub server_version: Option<String>,
    /// The era that was spoken.
    pub era: Era,
    /// The revision that was spoken.
    pub revision: Revision,
    /// How long the handshake took.
    pub handshake_ms: f64,
    /// Every tool that the server lists.
    pub tools: Vec<ToolProbe>,
    /// What was concluded.
    pub findings: Vec<Finding>,
    /// Whether no bug was found.
    pub passed: bool,
}

impl ProbeReport {
    /// `schemas/probe.v1.json`.
    pub fn json_schema() -> Value {
        schema_for!(Self).to_value()
    }
}

/// How long a probe may take to end once it was told to.
const AFTER_STOP: Duration = Duration::from_secs(2);

/// A quick look at a server.
#[derive(Debug, Clone)]
pub struct Probe {
    server: Server,
    allow_destructive: bool,
    strict_protocol: bool,
    tee_stderr: bool,
    hang_timeout: Duration,
    grace_period: Duration,
    seed: Seed,
    stop: Stop,
}

impl Probe {
    /// A probe that calls only what reads.
    pub fn new(server: impl Into<Server>) -> Self {
        let thresholds = Thresholds::default();
        Self {
            server: server.into(),
            allow_destructive: false,
            strict_protocol: false,
            tee_stderr: false,
            hang_timeout: thresholds.hang_timeout,
            grace_period: thresholds.grace_period,
            seed: Seed::default(),
            stop: Stop::new(),
        }
    }

    /// Calls every tool, also those that may change or run something.
    #[must_use]
    pub fn allow_destructive(mut self, allow: bool) -> Self {
        self.allow_destructive = allow;
        self
    }

    /// Fails when the server answers with another revision than it was asked for.
    #[must_use]
    pub fn strict_protocol(mut self, strict: bool) -> Self {
        self.strict_protocol = strict;
        self
    }

    /// Shows the server's stderr on ours as it comes.
    #[must_use]
    pub fn tee_stderr(mut self, tee: bool) -> Self {
        self.tee_stderr = tee;
        self
    }

    /// Sets when silence becomes a hang, and how much longer a reply is waited for.
    #[must_use]
    pub fn patience(mut self, hang_timeout: Duration, grace_period: Duration) -> Self {
        self.hang_timeout = hang_timeout;
        self.grace_period = grace_period;
        self
    }

    /// Sets what arguments are made up from.
    #[must_use]
    pub fn seed(mut self, seed: Seed) -> Self {
        self.seed = seed;
        self
    }

    /// Lets somebody else end the probe early.
    #[must_use]
    pub fn with_stop(mut self, stop: Stop) -> Self {
        self.stop = stop;
        self
    }

    /// Carries the probe out, in a thread of its own.
    pub async fn execute(self) -> Result<ProbeReport, RunError> {
        let (tell, told) = oneshot::channel();
        std::thread::Builder::new()
            .name("probe".into())
            .spawn(move || {
                let stop = self.stop.clone();
                let result = on_local_runtime(async {
                    tokio::select! {
                        result = self.execute_here() => result,
                        () = given_up(&stop) => Err(RunError::Interrupted),
                    }
                });
                let result = result.and_then(|result| result);
                let _ = tell.send(result);
            })
            .map_err(|error| RunError::Internal(error.to_string()))?;
        told.await.map_err(|_| RunError::Internal("the probe's thread panicked".into()))?
    }

    async fn execute_here(self) -> Result<ProbeReport, RunError> {
        let tee = if self.tee_stderr { TeeStderr::On } else { TeeStderr::Off };
        let target = target(&self.server, tee, Logs::default())?;
        let recorder = Rc::new(Recorder::writing(None, 0, Default::default()));
        let options = Options {
            startup_timeout: self.server.startup_timeout,
            message_limit: usize::try_from(self.server.max_message.0).unwrap_or(usize::MAX),
            shutdown_timeout: self.server.shutdown_timeout,
            strictness: strictness(&self.server, self.strict_protocol),
            shortest_deadline: self.hang_timeout,
            ..Options::new(recorder.clone(), Clock::start())
        };
        let held = target.hold(&options).await?;
        let revision = choose_revision(&self.server, &target, &options).await?;
        let (mut session, hello) = Session::open(&target, &options, revision).await?;
        drop(held);
        let listing = if hello.has_tools() {
            let listed = session.list_tools(self.server.startup_timeout).await;
            listed.map_err(|reply| RunError::ToolsList(reply.message))?
        } else {
            Default::default()
        };
        let mut tools = Vec::new();
        for (number, tool) in listing.tools.iter().enumerate() {
            // A server that died of one tool is started again for the next.
            if session.broken().is_some() {
                session.close().await;
                session = Session::open(&target, &options, revision).await?.0;
            }
            tools.push(self.probe_tool(&session, tool, number as u64).await);
        }
        for (name, why) in listing.refused {
            tools.push(skipped(&name, format!("its description cannot be used: {why}")));
        }
        session.close().await;
        let findings = self.findings(&recorder, &tools);
        Ok(ProbeReport {
            schema: "mcp-loadtest/probe/v1".into(),
            target: self.server.to_string(),
            server_name: hello.name,
            server_version: hello.version,
            era: hello.era,
            revision: hello.revision,
            handshake_ms: hello.took.as_secs_f64() * 1e3,
            passed: findings.iter().all(|finding| finding.severity < Severity::Critical),
            tools,
            findings,
        })
    }

    async fn probe_tool(&self, session: &Session, tool: &Tool, number: u64) -> ToolProbe {
        let danger = danger_of(tool);
        if !self.allow_destructive && !danger.may_be_called_unasked() {
            return skipped(&tool.name, danger.why().to_owned());
        }
        if self.stop.is_stopped() {
            return skipped(&tool.name, "interrupted".into());
        }
        let arguments = match self.arguments(tool, number) {
            Ok(arguments) => arguments,
            Err(error) => return skipped(&tool.name, error.to_string()),
        };
        let prepared = session.prepare_tool_call(&tool.name, &arguments, &tool.input_schema);
        let deadlines =
            Deadlines { hang: self.hang_timeout, grace: self.grace_period, timeout: Duration::MAX };
        let how = How::new(Phase::Load, deadlines);
        let reply = tokio::select! {
            reply = session.call(&prepared, how) => reply,
            () = self.stop.stopped() => return skipped(&tool.name, "interrupted".into()),
        };
        ToolProbe {
            name: tool.name.clone(),
            verdict: verdict(&reply),
            arguments: Some(arguments),
            took_ms: Some(reply.took().as_secs_f64() * 1e3),
            reason: visible(&reply.message, 200),
        }
    }

    /// A tool that may change things is shown made-up paths and never the place where we stand.
    fn arguments(&self, tool: &Tool, number: u64) -> Result<Value, RunError> {
        let paths = if self.allow_destructive { Paths::MadeUp } else { Paths::Existing };
        let budget = Budget { paths, ..Budget::default() };
        generated_arguments(tool, &mut self.seed.dice(number), &budget)
    }

    /// The findings of a run, without those that made-up arguments or a slow tool alone can cause.
    fn findings(&self, recorder: &Recorder, tools: &[ToolProbe]) -> Vec<Finding> {
        let identity = Identity::new();
        let info = RunInfo {
            run_id: identity.run_id,
            started_at: identity.started_at,
            duration: Duration::ZERO,
            scenario: Scenario::sustained().into(),
            thresholds: Thresholds::default(),
            server_info: Default::default(),
            trace: Default::default(),
            trace_path: Default::default(),
            run_dir: None,
        };
        let called = tools.iter().any(|tool| tool.verdict != ToolVerdict::Skipped);
        let mut findings = analysis::judge(&recorder.finish(), &info);
        findings.retain(|finding| match finding.id.as_str() {
            "errors" | "no_success" | "slow_calls" => false,
            "nothing_measured" => called,
            _ => true,
        });
        findings
    }
}

/// A probe that was told to stop tells what it has, unless it hangs in a start.
async fn given_up(stop: &Stop) {
    stop.stopped().await;
    tokio::time::sleep(AFTER_STOP).await;
}

fn skipped(name: &str, reason: String) -> ToolProbe {
    ToolProbe {
        name: name.to_owned(),
        verdict: ToolVerdict::Skipped,
        arguments: None,
        took_ms: None,
        reason,
    }
}

fn verdict(reply: &Reply) -> ToolVerdict {
    match reply.outcome {
        Outcome::Ok => ToolVerdict::Ok,
        Outcome::Failed(category) => match category {
            ErrorCategory::ToolError => ToolVerdict::ToolError,
            ErrorCategory::ServerError | ErrorCategory::ProtocolError => ToolVerdict::Refused,
            ErrorCategory::Hang => ToolVerdict::Slow,
            ErrorCategory::Deadlock | ErrorCategory::Timeout => ToolVerdict::Hung,
            ErrorCategory::Crash | ErrorCategory::Disconnected => ToolVerdict::Crashed,
            ErrorCategory::Malformed => ToolVerdict::Malformed,
            ErrorCategory::Cancelled => ToolVerdict::Skipped,
        },
    }
}
