//! The call that shows whether a tool works: without it a refusal would mean nothing.

use std::time::Duration;

use mcp_loadtest_core::{
    display::visible,
    event::Phase,
    generate::{Budget, Paths},
    mcp::Tool,
    outcome::{ErrorCategory, Outcome},
};
use mcp_loadtest_wire::session::{Deadlines, Hello, How, Options, Reply, Session, Target};
use serde_json::{Value, json};

use super::{
    ANOTHER_TOOL, Probe,
    bench::KnownTool,
    report::{ToolProbe, ToolVerdict},
};
use crate::{
    error::RunError,
    plan::{danger_of, generated_arguments},
};

/// Tools beyond these are not called unless one is asked for: what is known of each takes room, and
/// a server may list as many as it likes.
const MOST_CALLED: u64 = 250;

impl Probe {
    /// Lists the tools and calls each one that may be called; then ends the session.
    pub(super) async fn call_tools(
        &self,
        mut session: Session,
        hello: &Hello,
        target: &Target,
        options: &Options,
    ) -> Result<Vec<KnownTool>, RunError> {
        let listing = if hello.has_tools() {
            let listed = session.list_tools(self.server.startup_timeout).await;
            listed.map_err(|reply| RunError::ToolsList(reply.message))?
        } else {
            Default::default()
        };
        let mut known = Vec::new();
        for (number, tool) in listing.tools.into_iter().enumerate() {
            // A server that died of one tool is started again for the next.
            if session.broken().is_some() {
                session.close().await;
                session = Session::open(target, options, hello.revision).await?.0;
            }
            let control = self.call_tool(&session, &tool, number as u64).await;
            known.push(KnownTool { tool, control });
        }
        for (name, why) in listing.refused {
            let control = skipped(&name, format!("its description cannot be used: {why}"));
            known.push(KnownTool { tool: nameless(name), control });
        }
        session.close().await;
        Ok(known)
    }

    async fn call_tool(&self, session: &Session, tool: &Tool, number: u64) -> ToolProbe {
        let danger = danger_of(tool);
        let asked_for = self.settings.tool.as_deref();
        if asked_for.is_some_and(|name| name != tool.name) {
            return skipped(&tool.name, ANOTHER_TOOL.into());
        }
        if asked_for.is_none() && number >= MOST_CALLED {
            let why =
                format!("only the first {MOST_CALLED} tools are called; name it with `--tool`");
            return skipped(&tool.name, why);
        }
        let arguments_given = asked_for.and(self.settings.arguments.clone());
        if !self.settings.allow_destructive
            && arguments_given.is_none()
            && !danger.may_be_called_unasked()
        {
            return skipped(&tool.name, danger.why().to_owned());
        }
        if self.stop.is_stopped() {
            return skipped(&tool.name, "interrupted".into());
        }
        let arguments = match arguments_given.map_or_else(|| self.arguments(tool, number), Ok) {
            Ok(arguments) => arguments,
            Err(error) => return skipped(&tool.name, error.to_string()),
        };
        let prepared = session.prepare_tool_call(&tool.name, &arguments, &tool.input_schema);
        let deadlines = Deadlines {
            hang: self.settings.hang_timeout,
            grace: self.settings.grace_period,
            timeout: Duration::MAX,
        };
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
        let paths = if self.settings.allow_destructive { Paths::MadeUp } else { Paths::Existing };
        let budget = Budget { paths, ..Budget::default() };
        generated_arguments(tool, &mut self.settings.seed.dice(number), &budget)
    }
}

fn nameless(name: String) -> Tool {
    Tool {
        name,
        description: None,
        input_schema: json!({}),
        output_schema: None,
        annotations: None,
    }
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
