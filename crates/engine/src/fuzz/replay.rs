//! One saved case, sent again.

use std::time::Duration;

use mcp_loadtest_core::{
    fuzz::{CaseFile, Class},
    server::Server,
    thresholds::Thresholds,
};
use mcp_loadtest_wire::session::{Options, Session};
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

use super::Lab;
use crate::{
    conductor::{choose_revision, on_local_runtime},
    context::Pids,
    error::RunError,
    target::{Logs, TeeStderr, secrets_of, target, unrecorded},
};

/// What became of a saved case this time.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Replayed {
    /// Its name.
    pub id: String,
    /// What is odd about it.
    pub label: String,
    /// What became of it when it was saved.
    pub was: Class,
    /// What became of it now.
    pub class: Class,
    /// What was seen now.
    pub seen: String,
    /// Whether it is still a bug: the same as before, or another one.
    pub shows: bool,
}

/// A saved case, to be sent again to a fresh server.
#[derive(Debug, Clone)]
pub struct Replay {
    server: Server,
    file: CaseFile,
    hang: Duration,
    grace: Duration,
    strict_protocol: bool,
    tee_stderr: bool,
}

impl Replay {
    /// The case and the server that it is sent to.
    pub fn new(server: impl Into<Server>, file: CaseFile) -> Self {
        let Thresholds { hang_timeout, grace_period, .. } = Thresholds::default();
        Self {
            server: server.into(),
            file,
            hang: hang_timeout,
            grace: grace_period,
            strict_protocol: false,
            tee_stderr: false,
        }
    }

    /// Sets when silence becomes a hang, and how much longer a reply is waited for.
    #[must_use]
    pub fn patience(mut self, hang_timeout: Duration, grace_period: Duration) -> Self {
        self.hang = hang_timeout;
        self.grace = grace_period;
        self
    }

    /// Fails when the server answers with another revision than it was asked for.
    #[must_use]
    pub fn strict_protocol(mut self, strict: bool) -> Self {
        self.strict_protocol = strict;
        self
    }

    /// Also shows the server's stderr as it comes.
    #[must_use]
    pub fn tee_stderr(mut self, tee: bool) -> Self {
        self.tee_stderr = tee;
        self
    }

    /// Sends the case, in a thread of its own.
    pub async fn execute(self) -> Result<Replayed, RunError> {
        let (tell, told) = oneshot::channel();
        std::thread::Builder::new()
            .name("replay".into())
            .spawn(move || {
                let result = on_local_runtime(self.execute_here());
                let _ = tell.send(result.and_then(|result| result));
            })
            .map_err(RunError::thread)?;
        told.await.map_err(|_| RunError::Internal("the replay's thread panicked".into()))?
    }

    async fn execute_here(self) -> Result<Replayed, RunError> {
        let case = self.file.case().map_err(|error| RunError::Unfit(error.to_string()))?;
        let tee = if self.tee_stderr { TeeStderr::On } else { TeeStderr::Off };
        let target = target(&self.server, tee, Logs::default())?;
        let options = unrecorded(&self.server, self.strict_protocol);
        let options = Options { shortest_deadline: self.hang, ..options };
        let revision = choose_revision(&self.server, &target, &options).await?;
        // HTTP repeats some arguments in headers, and only the listing says which.
        let mut tools = Vec::new();
        if case.tool.is_some() {
            let (session, _) = Session::open(&target, &options, revision).await?;
            let listed = session.list_tools(self.server.startup_timeout).await;
            tools = listed.map(|listing| listing.tools).unwrap_or_default();
            session.close().await;
        }
        let patience = (self.hang, self.grace);
        let mut lab = Lab::new(target, &options, revision, patience, tools, Pids::default());
        let trial = lab.attempt_alone(&case).await;
        lab.close().await;
        let trial = trial?;
        Ok(Replayed {
            id: case.id,
            label: case.label,
            was: self.file.class,
            class: trial.class,
            seen: secrets_of(&self.server).text(&trial.seen).into_owned(),
            shows: trial.class == self.file.class || trial.class.is_failure(),
        })
    }
}
