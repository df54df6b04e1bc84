//! How a server ends when its client goes away.

use std::time::Duration;

use mcp_loadtest_core::{
    check::{CaseResult, CaseVerdict, Depth, Family},
    display::visible,
    mcp::Era,
    report::Severity,
};
use mcp_loadtest_wire::{
    process::{StopReport, StopStep},
    session::{Break, OpenError, Options, Questions, Session, Target},
};
use tokio::time::{Instant, sleep};

use super::{Check, Running};
use crate::probe::bench::Bench;

pub(super) static CHECK: Check = Check {
    id: "shutdown",
    family: Family::Resources,
    taxonomy: None,
    depth: Depth::Usual,
    about: "closes the input of fresh servers at bad moments and looks whether they end",
    meaning: "clients that crash or are closed leave such servers running, one for every start",
    run,
};

const REFERENCE: &str = "MCP lifecycle, shutdown over stdio: the client closes the input of the \
                         server and waits for it to exit";

/// A server that did not end in time gets so many times that time before it is blamed.
const SECOND_CHANCE: u32 = 2;
/// How long a server may take to ask something of a client that has just come.
const ASKING: Duration = Duration::from_millis(1200);
/// How long a call is given to begin.
const BEGUN: Duration = Duration::from_millis(200);

/// When the input ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Moment {
    AfterHandshake,
    CallInFlight,
    QuestionOpen,
}

impl Moment {
    const fn words(self) -> &'static str {
        match self {
            Self::AfterHandshake => "input ends right after the handshake",
            Self::CallInFlight => "input ends while a call is in flight",
            Self::QuestionOpen => "input ends while a request of the server is open",
        }
    }
}

fn run(bench: &Bench) -> Running<'_> {
    Box::pin(async move {
        if !matches!(bench.target, Target::Stdio(_)) {
            return bench.skip(&CHECK, "a server that is reached by address is not ended by us");
        }
        // Each has a server of its own, so they need not wait for each other.
        let (first, second, third) = tokio::join!(
            judged(bench, Moment::AfterHandshake),
            judged(bench, Moment::CallInFlight),
            judged(bench, Moment::QuestionOpen),
        );
        for result in [first, second, third] {
            bench.tell(result);
        }
    })
}

async fn judged(bench: &Bench, moment: Moment) -> CaseResult {
    let case = |verdict| CHECK.case(moment.words(), verdict);
    let skip = |why: &str| case(CaseVerdict::Skipped).detail(why);
    if moment == Moment::QuestionOpen && bench.hello.era == Era::Modern {
        return skip("servers ask nothing since 2026-07-28");
    }
    if moment == Moment::CallInFlight && bench.subjects().next().is_none() {
        return skip("no tool can be called");
    }
    let began = Instant::now();
    for patience in [1, SECOND_CHANCE] {
        let ended = match end(bench, moment, patience).await {
            Ok(End::Left(report)) => {
                verdict_on(&report, case, bench.options.shutdown_timeout * patience)
            }
            Ok(End::Before(cause)) => {
                let why = format!("it ended before its input did: {}", cause.message);
                return case(CaseVerdict::Crashed).detail(why);
            }
            Ok(End::Never) => return skip("the server asks its client nothing"),
            Err(error) => return case(CaseVerdict::CouldNotTell).detail(error.to_string()),
        };
        if ended.severity.is_none() || patience == SECOND_CHANCE {
            return ended.took(began.elapsed());
        }
    }
    case(CaseVerdict::CouldNotTell)
}

fn verdict_on(
    report: &StopReport,
    case: impl Fn(CaseVerdict) -> CaseResult,
    patience: Duration,
) -> CaseResult {
    let left: Vec<_> = report.strays.iter().chain(&report.survivors).collect();
    if let Some(stray) = left.first() {
        let command = visible(&stray.command_line, 120);
        let why = format!("{} processes outlived it: {command} (pid {})", left.len(), stray.pid);
        return case(CaseVerdict::Broken).detail(why).reference(REFERENCE);
    }
    // As the wire divides its patience between the steps.
    let waited = patience.as_secs_f64() * 0.4;
    match report.step {
        StopStep::AlreadyEnded | StopStep::Eof => case(CaseVerdict::Held).detail("it ended"),
        StopStep::Term => case(CaseVerdict::Broken)
            .severity(Severity::Warning)
            .detail(format!("still there after {waited:.0} s; it took SIGTERM"))
            .reference(REFERENCE),
        StopStep::Kill => case(CaseVerdict::Broken)
            .detail(format!("still there after {waited:.0} s and after SIGTERM; it took SIGKILL"))
            .reference(REFERENCE),
    }
}

/// How a server was left.
enum End {
    /// Its input ended, and this is what it took until it did.
    Left(StopReport),
    /// It had ended already, by itself.
    Before(Break),
    /// The moment did not come.
    Never,
}

/// Starts a server, brings it to that moment, and ends its input.
async fn end(bench: &Bench, moment: Moment, patience: u32) -> Result<End, OpenError> {
    let questions = match moment {
        Moment::QuestionOpen => Questions::Ignored,
        _ => Questions::Answered,
    };
    let shutdown_timeout = bench.options.shutdown_timeout * patience;
    let options = Options { questions, shutdown_timeout, ..bench.options.clone() };
    let session = bench.fresh_with(&options).await?;
    match moment {
        Moment::AfterHandshake => {}
        Moment::CallInFlight => begin_call(bench, &session).await,
        Moment::QuestionOpen => {
            if !is_asked(&session).await && !session.is_broken() {
                session.close().await;
                return Ok(End::Never);
            }
        }
    }
    let before = session.broken();
    let report = session.cut().await;
    // One that is dead has left nothing to look at but what it started.
    Ok(match (before, report) {
        (Some(cause), Some(report)) if report.strays.is_empty() => End::Before(cause),
        (Some(cause), None) => End::Before(cause),
        (_, Some(report)) => End::Left(report),
        (None, None) => End::Never,
    })
}

async fn begin_call(bench: &Bench, session: &Session) {
    let slow = bench.slow_subjects().await;
    let call = match slow.first() {
        Some(slow) => Some((&slow.tool, &slow.arguments)),
        None => bench.subjects().next(),
    };
    let Some((tool, arguments)) = call else { return };
    let request = session.prepare_tool_call(&tool.name, arguments, &tool.input_schema);
    let (caller, how) = (session.clone(), bench.how());
    tokio::task::spawn_local(async move { caller.call(&request, how).await });
    // Long enough for the server to have begun, and too short for it to be done where it is slow.
    sleep(BEGUN).await;
}

async fn is_asked(session: &Session) -> bool {
    let until = Instant::now() + ASKING;
    while session.server_requests() == 0 && Instant::now() < until && !session.is_broken() {
        sleep(Duration::from_millis(20)).await;
    }
    session.server_requests() > 0
}
