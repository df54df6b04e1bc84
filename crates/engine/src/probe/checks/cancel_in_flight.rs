//! Cancelling a call that runs.

use std::{pin::pin, time::Duration};

use mcp_loadtest_core::{
    check::{CaseVerdict, Depth, Family},
    mcp::{lifecycle, lifecycle::Withdrawal, method},
};
use mcp_loadtest_wire::session::{Reply, Session, Target};
use serde_json::json;
use tokio::time::timeout;

use super::{Check, Running, reply_after_cancel};
use crate::probe::{at_once::prepared, bench::Bench, slow_subject::SlowSubject};

pub(super) static CHECK: Check = Check {
    id: "cancel_in_flight",
    family: Family::Cancellation,
    taxonomy: None,
    depth: Depth::Usual,
    about: "cancels a call that runs, by message or by closing its stream",
    meaning: "one user who presses stop ends the server, or silences it, for everybody",
    run,
};

/// When a call is cancelled, as a part of the time that it takes …
const CANCELLED_AT: f64 = 0.3;
/// … and until when an answer to it is waited for.
const WAITED_UNTIL: f64 = 1.3;

/// A call that was cancelled while it ran.
pub(super) struct Interrupted {
    /// What came all the same, and how long after the cancellation. Nobody can tell after the stream
    /// was closed.
    pub(super) answer: Answer,
    /// What has become of the server, if it does not live on.
    pub(super) death: Option<(CaseVerdict, String)>,
}

/// Whether a cancelled call was answered.
pub(super) enum Answer {
    None,
    Some { reply: Reply, after: Duration },
    TooLate,
    CannotBeSeen,
}

fn run(bench: &Bench) -> Running<'_> {
    Box::pin(async move {
        let subjects = bench.slow_subjects().await;
        if subjects.is_empty() {
            let why = "no tool takes long enough to be interrupted";
            return bench.tell(CHECK.case("all", CaseVerdict::CouldNotTell).detail(why));
        }
        for slow in subjects.iter() {
            let Some(interrupted) = interrupt(bench, slow).await else { continue };
            reply_after_cancel::tell(bench, slow, &interrupted);
            tell(bench, slow, interrupted);
        }
    })
}

/// Starts a call, cancels it and waits for what becomes of it and of the server.
pub(super) async fn interrupt(bench: &Bench, slow: &SlowSubject) -> Option<Interrupted> {
    let session = match bench.session().await {
        Ok(session) => session,
        Err(error) => {
            bench.no_session(&CHECK, &error);
            return None;
        }
    };
    let answer = cancelled(bench, &session, slow).await;
    let death = bench.aftermath(&session).await;
    if death.is_some() {
        bench.drop_shared().await;
    }
    Some(Interrupted { answer, death })
}

async fn cancelled(bench: &Bench, session: &Session, slow: &SlowSubject) -> Answer {
    let mut call = session.send(&prepared(session, &slow.tool, &slow.arguments), bench.patient());
    let id = call.id();
    let mut ended = pin!(call.ended());
    if timeout(slow.took.mul_f64(CANCELLED_AT), &mut ended).await.is_ok() {
        return Answer::TooLate;
    }
    let by_closing = lifecycle(session.revision()).withdrawal == Withdrawal::NotifyOrClose;
    if by_closing && matches!(bench.target, Target::Http(_)) {
        // Going away closes the stream.
        return Answer::CannotBeSeen;
    }
    let at = tokio::time::Instant::now();
    let params = json!({ "requestId": id, "reason": "a test" });
    let left = slow.took.mul_f64(WAITED_UNTIL - CANCELLED_AT);
    let told = async {
        session.notify(method::CANCELLED, params).await;
        std::future::pending::<()>().await;
    };
    let answer = tokio::select! {
        ending = &mut ended => Answer::Some { reply: ending.into_reply(), after: at.elapsed() },
        () = told => Answer::None,
        () = tokio::time::sleep(left) => Answer::None,
    };
    // Some answer at once, let the call run on, and die of its result.
    tokio::time::sleep_until(at + left).await;
    answer
}

fn tell(bench: &Bench, slow: &SlowSubject, interrupted: Interrupted) {
    let case = CASE;
    let result = match (interrupted.death, interrupted.answer) {
        (Some((verdict, why)), _) => CHECK.case(case, verdict).detail(why),
        (None, Answer::TooLate) => CHECK
            .case(case, CaseVerdict::CouldNotTell)
            .detail("this time the call ended before it was cancelled"),
        (None, Answer::None) => {
            let detail =
                "no answer, and the server lives on; whether the work stopped cannot be seen";
            CHECK.case(case, CaseVerdict::Held).detail(detail)
        }
        (None, Answer::Some { .. } | Answer::CannotBeSeen) => {
            CHECK.case(case, CaseVerdict::Held).detail("the server lives on")
        }
    };
    bench.tell(result.tool(&slow.tool.name));
}

pub(super) const CASE: &str = "cancelled while it runs";
