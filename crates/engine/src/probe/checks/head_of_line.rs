//! A slow call in the way of others.

use std::{rc::Rc, time::Duration};

use mcp_loadtest_core::{
    check::{CaseResult, CaseVerdict, Depth, Family},
    report::Severity,
    units::format_latency,
};
use mcp_loadtest_wire::session::{Prepared, Session};

use super::{Check, Running};
use crate::probe::{
    at_once::{Landed, at_once, median, prepared},
    bench::Bench,
    slow_subject::SlowSubject,
};

pub(super) static CHECK: Check = Check {
    id: "head_of_line",
    family: Family::Concurrency,
    taxonomy: None,
    depth: Depth::Usual,
    about: "makes fast requests while a slow call runs",
    meaning: "one slow call makes everybody on the session wait for it",
    run,
};

/// How often the fast request is made alone.
const ALONE: usize = 5;
/// When the fast requests are sent, as a part of the slow call's time.
const SENT_AT: f64 = 0.15;
/// One that waits takes at least this part of the time that the slow call had left …
const WAITED: f64 = 0.5;
/// … and this many times as long as alone.
const TIMES: u32 = 10;
/// So often in a row it must have waited: once may be the machine.
const REPEATS: usize = 2;

fn run(bench: &Bench) -> Running<'_> {
    Box::pin(async move {
        let subjects = bench.slow_subjects().await;
        if subjects.is_empty() {
            let why = "no tool takes long enough to be in the way";
            return bench.tell(CHECK.case("all", CaseVerdict::CouldNotTell).detail(why));
        }
        for slow in subjects.iter() {
            look(bench, slow).await;
        }
    })
}

/// A fast request, and what it is called.
type Fast = (String, Rc<Prepared>);

async fn look(bench: &Bench, slow: &SlowSubject) {
    let session = match bench.session().await {
        Ok(session) => session,
        Err(error) => return bench.no_session(&CHECK, &error),
    };
    let fast = fast_requests(bench, &session, slow);
    let result = match compare(bench, &session, slow, &fast).await {
        Ok(waited) if waited.is_empty() => case(slow, CaseVerdict::Held),
        Ok(waited) => {
            case(slow, CaseVerdict::Broken).severity(Severity::Warning).detail(waited.join("; "))
        }
        Err(why) => {
            let could_not = case(slow, CaseVerdict::CouldNotTell).detail(why);
            bench.unless_dead(&session, could_not).await
        }
    };
    bench.tell(result.tool(&slow.tool.name));
}

fn case(slow: &SlowSubject, verdict: CaseVerdict) -> CaseResult {
    CHECK.case(format!("beside a call of {}", format_latency(slow.took)), verdict)
}

/// The fast requests that wait for the slow call, in words; or why that could not be seen.
async fn compare(
    bench: &Bench,
    session: &Session,
    slow: &SlowSubject,
    fast: &[Fast],
) -> Result<Vec<String>, String> {
    let mut alone = Vec::new();
    for (_, request) in fast {
        let mut times = Vec::new();
        for _ in 0..ALONE {
            times.push(session.call(request, bench.patient()).await.took());
        }
        alone.push(median(times));
    }
    let mut blocked: Vec<Option<Duration>> = vec![Some(Duration::MAX); fast.len()];
    for _ in 0..REPEATS {
        let beside = beside(bench, session, slow, fast).await?;
        for (at, took) in beside.iter().enumerate() {
            let waited = waits(alone[at], *took, slow.took);
            blocked[at] = blocked[at].filter(|_| waited).map(|least| least.min(*took));
        }
        if blocked.iter().all(Option::is_none) {
            break;
        }
    }
    let waited = fast.iter().zip(alone).zip(blocked).filter_map(|(((name, _), alone), beside)| {
        let (beside, alone) = (format_latency(beside?), format_latency(alone));
        Some(format!("`{name}` takes {beside} beside it, {alone} alone"))
    });
    Ok(waited.collect())
}

/// A control request, and a call to another tool where there is one.
fn fast_requests(bench: &Bench, session: &Session, slow: &SlowSubject) -> Vec<Fast> {
    let control = session.control_request();
    let mut fast = vec![(control.method().to_owned(), control)];
    let other = bench.fast_other_than(&slow.tool.name);
    if let Some((tool, good)) = other {
        fast.push((tool.name.clone(), prepared(session, tool, good)));
    }
    fast
}

/// How long the fast requests take while the slow call runs; or why nothing was seen of it. The end of a
/// session ends all calls at once, which looks fast.
async fn beside(
    bench: &Bench,
    session: &Session,
    slow: &SlowSubject,
    fast: &[Fast],
) -> Result<Vec<Duration>, String> {
    let request = prepared(session, &slow.tool, &slow.arguments);
    let slow_call = session.call(&request, bench.patient());
    let fast_calls = async {
        tokio::time::sleep(slow.took.mul_f64(SENT_AT)).await;
        let calls = fast.iter().map(|(_, request)| (session.clone(), request.clone())).collect();
        at_once(calls, bench.patient()).await
    };
    let (slow_reply, landed) = tokio::join!(slow_call, fast_calls);
    if slow_reply.failure().is_some() {
        return Err(format!("the slow call failed beside others: {}", slow_reply.message));
    }
    if !was_in_the_way(slow_reply.took(), slow.took) {
        let took = format_latency(slow_reply.took());
        return Err(format!("this time the slow call took only {took}"));
    }
    match landed.iter().zip(fast).find(|(landed, _)| landed.is_silent()) {
        Some((lost, (name, _))) => {
            Err(format!("`{name}` was not answered beside it: {}", lost.reply.message))
        }
        None => Ok(landed.iter().map(|Landed { reply, .. }| reply.took()).collect()),
    }
}

/// Whether a request that waited for the slow call would have waited long enough to be noticed.
fn was_in_the_way(took: Duration, usual: Duration) -> bool {
    took >= usual.mul_f64(SENT_AT + (1.0 - SENT_AT) * WAITED)
}

fn waits(alone: Duration, beside: Duration, slow: Duration) -> bool {
    let left = slow.mul_f64(1.0 - SENT_AT);
    beside >= left.mul_f64(WAITED) && beside >= alone * TIMES
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wait_is_told_from_a_busy_machine() {
        let ms = Duration::from_millis;
        assert!(waits(ms(5), ms(840), ms(1000)));
        assert!(!waits(ms(5), ms(200), ms(1000)), "slow, but not as slow as the call");
        assert!(!waits(ms(100), ms(800), ms(1000)), "always slow");
    }

    #[test]
    fn a_call_that_was_over_soon_was_in_nobodys_way() {
        let ms = Duration::from_millis;
        assert!(was_in_the_way(ms(900), ms(1000)));
        assert!(!was_in_the_way(ms(500), ms(1000)), "who waited for it waited 350 ms of 850");
    }
}
