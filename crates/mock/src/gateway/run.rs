//! One check after the other.

use std::{rc::Rc, time::Duration};

use mcp_loadtest_core::{
    mcp::Revision,
    server::{ProtocolChoice, STARTUP_TIMEOUT},
};
use mcp_loadtest_wire::{
    clock::Clock,
    session::{Hello, Options, Session, Target, find_revision},
};
use serde_json::json;
use tokio::{task::LocalSet, time::Instant};
use tokio_util::sync::CancellationToken;

use super::{
    CHECKS, Check, Finding, GatewayError, Subject,
    bench::{Bench, Parts, told},
    hearing::Hearing,
    report::{Checked, Report, Verdict},
    upstream::Upstream,
};

/// How long a client waits for an answer, unless something else is said.
pub const PATIENCE: Duration = Duration::from_secs(10);

/// The tools that checks call.
const TOOLS: &[&str] =
    &["echo", "error", "slow", "flaky", "ledger", "progress", "chatty", "long_output"];

/// A gateway that is to be checked.
///
/// ```no_run
/// use mcp_loadtest_mock::gateway::{Gateway, Subject};
/// use mcp_loadtest_wire::process::Launch;
///
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let mut launch = Launch::new("mcp-proxy");
/// launch.args = ["{upstream}", "--transport", "streamablehttp"].map(String::from).into();
/// let report = Gateway::new(Subject::Pipes(launch)).check().await?;
/// assert!(report.passed);
/// # Ok(())
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Gateway {
    subject: Subject,
    protocol: ProtocolChoice,
    startup_timeout: Duration,
    patience: Duration,
    checks: Vec<&'static Check>,
    stop: CancellationToken,
}

impl Gateway {
    /// All checks, with the usual limits.
    pub fn new(subject: Subject) -> Self {
        Self {
            subject,
            protocol: ProtocolChoice::Auto,
            startup_timeout: STARTUP_TIMEOUT,
            patience: PATIENCE,
            checks: CHECKS.to_vec(),
            stop: CancellationToken::new(),
        }
    }

    /// The revision of MCP that the client speaks.
    #[must_use]
    pub fn protocol(mut self, protocol: ProtocolChoice) -> Self {
        self.protocol = protocol;
        self
    }

    /// How long the gateway may take to start.
    #[must_use]
    pub fn startup_timeout(mut self, limit: Duration) -> Self {
        self.startup_timeout = limit;
        self
    }

    /// How long a client waits for an answer.
    #[must_use]
    pub fn patience(mut self, patience: Duration) -> Self {
        self.patience = patience;
        self
    }

    /// Only those checks for which this holds.
    #[must_use]
    pub fn retain(mut self, wanted: impl Fn(&Check) -> bool) -> Self {
        self.checks.retain(|check| wanted(check));
        self
    }

    /// Whoever fires this ends it; what was found until then is told.
    #[must_use]
    pub fn stop(mut self, stop: CancellationToken) -> Self {
        self.stop = stop;
        self
    }

    /// Makes the checks.
    pub async fn check(self) -> Result<Report, GatewayError> {
        // Sessions live in one thread.
        LocalSet::new().run_until(self.run()).await
    }

    async fn run(self) -> Result<Report, GatewayError> {
        let nothing = Report::nothing(self.subject.told());
        let (checks, stop) = (self.checks.clone(), self.stop.clone());
        let (bench, hello) = tokio::select! {
            opened = self.open() => opened?,
            () = stop.cancelled() => return Ok(nothing),
        };
        let known = tokio::select! {
            control = control(&bench) => control.map(|upstream_revision| Report {
                name: hello.name,
                version: hello.version,
                revision: bench.revision.to_string(),
                upstream_revision,
                renamed: bench.names.renamed(TOOLS),
                ..nothing
            }),
            () = stop.cancelled() => Ok(nothing),
        };
        let report = match known {
            Ok(report) => Ok(make_all(&checks, &bench, report, &stop).await),
            Err(error) => Err(error),
        };
        bench.close().await;
        report
    }

    /// Starts both ends.
    async fn open(self) -> Result<(Bench, Hello), GatewayError> {
        let port = self.subject.upstream_port();
        let upstream =
            Upstream::start(port).map_err(|source| GatewayError::Upstream { port, source })?;
        let target = self.subject.target(upstream.url())?;
        let hearing = Rc::new(Hearing::default());
        let options = Options {
            startup_timeout: self.startup_timeout,
            shortest_deadline: self.patience,
            ..Options::new(hearing.clone(), Clock::start())
        };
        let hold = match &target {
            Target::Stdio(_) => None,
            _ => Some(target.hold(&options).await?),
        };
        let revision = revision(self.protocol, &target, &options).await?;
        let patience = self.patience;
        let parts = Parts { upstream, hearing, target, revision, patience, options, hold };
        Bench::new(parts).await
    }
}

async fn revision(
    protocol: ProtocolChoice,
    target: &Target,
    options: &Options,
) -> Result<Revision, GatewayError> {
    Ok(match protocol {
        ProtocolChoice::Fixed(revision) => revision,
        ProtocolChoice::Auto => find_revision(target, options).await?.revision,
    })
}

/// A gateway through which nothing passes would pass many a check. Gives the revision that the server
/// was spoken to in.
async fn control(bench: &Bench) -> Result<Option<String>, GatewayError> {
    let failed = |why: String, session: Option<Session>| GatewayError::Control {
        why,
        stderr: session.map(|session| session.stderr_tail()).unwrap_or_default(),
    };
    let (mark, marker) = (bench.upstream.mark(), bench.marker());
    let session = bench.session().await.ok();
    let reply = match bench.call("echo", json!({ "message": marker })).await {
        Ok(reply) => reply,
        Err(untold) => return Err(failed(untold.0, session)),
    };
    let rows = bench.upstream.calls_with(mark, "echo", &marker);
    match (reply.failure(), rows.last()) {
        (None, Some(row)) => Ok(row.revision.as_ref().map(ToString::to_string)),
        (None, None) => {
            Err(failed("it was answered, but never reached the server".into(), session))
        }
        (Some(_), _) => Err(failed(told(&reply), session)),
    }
}

/// Makes the checks until it is to stop.
async fn make_all(
    checks: &[&Check],
    bench: &Bench,
    mut report: Report,
    stop: &CancellationToken,
) -> Report {
    for check in checks {
        tokio::select! {
            biased;
            () = stop.cancelled() => return report,
            checked = make(check, bench) => report.checks.push(checked),
        }
    }
    report.interrupted = false;
    report.passed = report.checks.iter().all(|checked| checked.verdict.passes());
    report
}

async fn make(check: &Check, bench: &Bench) -> Checked {
    let begun = Instant::now();
    let finding = match (check.run)(bench).await {
        Ok(finding) => finding,
        Err(untold) => Finding::new(Verdict::CouldNotTell, untold.0),
    };
    // Whatever the check has set is not to be met by the next one.
    bench.upstream.set_fault(None);
    Checked {
        id: check.id.into(),
        verdict: finding.verdict,
        evidence: finding.evidence,
        figures: finding.figures,
        advice: (finding.verdict == Verdict::Broken).then(|| check.advice.into()),
        took_ms: begun.elapsed().as_secs_f64() * 1e3,
    }
}
