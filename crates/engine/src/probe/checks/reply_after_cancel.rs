//! An answer to a request that was cancelled.

use mcp_loadtest_core::{
    check::{CaseVerdict, Depth, Family},
    report::Severity,
};

use super::{
    Check, Running,
    cancel_in_flight::{Answer, CASE, Interrupted, interrupt},
};
use crate::probe::{bench::Bench, seen::Seen, slow_subject::SlowSubject};

pub(super) static CHECK: Check = Check {
    id: "reply_after_cancel",
    family: Family::Cancellation,
    taxonomy: None,
    depth: Depth::Usual,
    about: "looks whether a cancelled request is answered all the same",
    meaning: "a client that has forgotten the request gets an answer that it does not know",
    run,
};

const REFERENCE: &str =
    "MCP cancellation: the receiver should not send a response for the cancelled request";
/// An answer before this part of the call's time was not the end of its work.
const WHOLE_TIME: f64 = 0.5;

fn run(bench: &Bench) -> Running<'_> {
    Box::pin(async move {
        // Seen already where calls were cancelled for another check.
        if bench.results().iter().any(|result| result.check == CHECK.id) {
            return;
        }
        let subjects = bench.slow_subjects().await;
        if subjects.is_empty() {
            let why = "no tool takes long enough to be interrupted";
            return bench.tell(CHECK.case("all", CaseVerdict::CouldNotTell).detail(why));
        }
        for slow in subjects.iter() {
            if let Some(interrupted) = interrupt(bench, slow).await {
                tell(bench, slow, &interrupted);
            }
        }
    })
}

/// Tells what one interruption showed.
pub(super) fn tell(bench: &Bench, slow: &SlowSubject, interrupted: &Interrupted) {
    let could_not = |why: &str| CHECK.case(CASE, CaseVerdict::CouldNotTell).detail(why);
    let result = match &interrupted.answer {
        // Nobody knows what a server would have answered that answers nothing any more.
        Answer::None if interrupted.death.is_some() => could_not("the server does not serve on"),
        Answer::None => CHECK.case(CASE, CaseVerdict::Held),
        Answer::CannotBeSeen => could_not("the stream was closed, which is how it is cancelled"),
        Answer::TooLate => could_not("this time the call ended before it was cancelled"),
        Answer::Some { reply, after } => {
            let seen = Seen::of_reply(reply, None);
            if !seen.is_answer() && interrupted.death.is_some() {
                could_not("the server did not live to answer")
            } else if !seen.is_answer() {
                CHECK.case(CASE, CaseVerdict::Held).detail("its stream ended without an answer")
            } else if matches!(seen, Seen::Taken { .. }) && *after >= slow.took.mul_f64(WHOLE_TIME)
            {
                // Allowed: not all work can be interrupted.
                could_not("the call ran to its end as if nobody had cancelled it")
            } else {
                let words = format!("{} ms after the cancellation: ", after.as_millis());
                CHECK
                    .case(CASE, CaseVerdict::Broken)
                    .severity(Severity::Warning)
                    .detail(words + &seen.words())
                    .reference(REFERENCE)
            }
        }
    };
    bench.tell(result.tool(&slow.tool.name));
}
