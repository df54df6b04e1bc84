//! One saved case, sent again.

use std::time::Duration;

use mcp_loadtest_core::{
    fuzz::{Case, CaseFile, CaseFileError, Class},
    server::Server,
    thresholds::Thresholds,
};
use mcp_loadtest_wire::session::{OpenError, Options, Session};
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

use super::{Lab, lab::Trial};
use crate::{
    conductor::{choose_revision, on_local_runtime},
    context::Pids,
    error::RunError,
    target::{Logs, TeeStderr, secrets_of, target, unrecorded},
};

/// What is said of a saved case that was sent again.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReplayVerdict {
    /// The same bug as before.
    StillShows,
    /// A bug, but not the one that it was saved for.
    AnotherBug,
    /// It shows no longer.
    Gone,
    /// It did not show, and could not be shown again when it was found either.
    CouldNotTell,
}

impl ReplayVerdict {
    fn of(file: &CaseFile, now: Class) -> Self {
        let can_show = file.repeats || file.then.is_some();
        match file.class {
            was if was == now => Self::StillShows,
            _ if now.is_failure() => Self::AnotherBug,
            was if was.is_failure() && !can_show => Self::CouldNotTell,
            _ => Self::Gone,
        }
    }
}

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
    /// What that means for the case.
    pub verdict: ReplayVerdict,
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
        let unfit = |error: CaseFileError| RunError::Unfit(error.to_string());
        let case = self.file.case().map_err(unfit)?;
        let then = self.file.then.as_ref().map(|then| then.case()).transpose().map_err(unfit)?;
        let tee = if self.tee_stderr { TeeStderr::On } else { TeeStderr::Off };
        let target = target(&self.server, tee, Logs::default())?;
        let options = unrecorded(&self.server, self.strict_protocol);
        let options = Options { shortest_deadline: self.hang, ..options };
        let revision = choose_revision(&self.server, &target, &options).await?;
        // HTTP repeats some arguments in headers, and only the listing says which.
        let mut tools = Vec::new();
        if [Some(&case), then.as_ref()].into_iter().flatten().any(|case| case.tool.is_some()) {
            let (session, _) = Session::open(&target, &options, revision).await?;
            let listed = session.list_tools(self.server.startup_timeout).await;
            tools = listed.map(|listing| listing.tools).unwrap_or_default();
            session.close().await;
        }
        let patience = (self.hang, self.grace);
        let mut lab = Lab::new(target, &options, revision, patience, tools, Pids::default());
        let trial = show(&mut lab, &case, then.as_ref()).await;
        lab.close().await;
        let trial = trial?;
        let verdict = ReplayVerdict::of(&self.file, trial.class);
        Ok(Replayed {
            id: case.id,
            label: case.label,
            was: self.file.class,
            class: trial.class,
            seen: secrets_of(&self.server).text(&trial.seen).into_owned(),
            shows: matches!(verdict, ReplayVerdict::StillShows | ReplayVerdict::AnotherBug),
            verdict,
        })
    }
}

/// Sends a case, and behind it the one that it takes to show, if there is one.
async fn show(lab: &mut Lab, case: &Case, then: Option<&Case>) -> Result<Trial, OpenError> {
    let first = lab.attempt_alone(case).await?;
    match then {
        Some(then) if !first.class.is_failure() => lab.attempt_alone(then).await,
        _ => Ok(first),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcp_loadtest_core::fuzz::{Answer, Payload};

    #[test]
    fn what_never_showed_again_is_not_called_gone() {
        let case = Case {
            id: "raw_bytes-3".into(),
            payload: Payload::RawBytes,
            tool: None,
            index: 3,
            label: "random bytes".into(),
            method: "ping".into(),
            request_id: 9,
            writes: vec![b"{".to_vec()],
            answer: Answer::May,
            intent: None,
            heavy: false,
        };
        let mut file = CaseFile::new(&case, 1, Class::Crash, String::new());
        assert_eq!(ReplayVerdict::of(&file, Class::Clean), ReplayVerdict::CouldNotTell);
        assert_eq!(ReplayVerdict::of(&file, Class::Crash), ReplayVerdict::StillShows);
        assert_eq!(ReplayVerdict::of(&file, Class::Hang), ReplayVerdict::AnotherBug);
        file.repeats = true;
        assert_eq!(ReplayVerdict::of(&file, Class::Clean), ReplayVerdict::Gone);
        let next = CaseFile::new(&case, 1, Class::Crash, String::new());
        file = CaseFile { repeats: false, then: Some(Box::new(next)), ..file };
        assert_eq!(ReplayVerdict::of(&file, Class::Slow), ReplayVerdict::Gone);
        // A warning is no failure: it is either there or not.
        let file = CaseFile::new(&case, 1, Class::Accepted, String::new());
        assert_eq!(ReplayVerdict::of(&file, Class::Clean), ReplayVerdict::Gone);
    }
}
