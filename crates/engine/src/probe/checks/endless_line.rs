//! A line that does not end, until it does.

use std::time::Duration;

use mcp_loadtest_core::{
    check::{CaseVerdict, Depth, Family},
    report::Severity,
};
use mcp_loadtest_wire::session::{Outgoing, Session, Target};
use tokio::time::Instant;

use super::{Check, Running};
use crate::probe::{asking::Pulse, bench::Bench};

pub(super) static CHECK: Check = Check {
    id: "endless_line",
    family: Family::Envelope,
    taxonomy: None,
    depth: Depth::Usual,
    about: "sends megabytes without a line end, then ends the line, and looks at the server's memory",
    meaning: "a client that never ends its line ends the server, or fills its memory for good",
    run,
};

/// What a server may hold on to afterwards, in copies of the line: text in a runtime is up to four
/// bytes a character, buffers double when they grow, and freed memory is not given back at once.
const COPIES: u64 = 24;

fn run(bench: &Bench) -> Running<'_> {
    Box::pin(async move {
        if !matches!(bench.target, Target::Stdio(_)) {
            return bench.skip(&CHECK, "only pipes have lines");
        }
        let session = match bench.session().await {
            Ok(session) => session,
            Err(error) => return bench.no_session(&CHECK, &error),
        };
        let megabytes: usize = if bench.settings.depth == Depth::Deep { 32 } else { 4 };
        let line = megabytes << 20;
        let before = resident(&session);
        session.send_raw(&Outgoing::Raw(vec![b'x'; line]));
        session.send_raw(&Outgoing::Raw(b"\n".to_vec()));
        let pulse = bench.pulse(&session).await;
        let kept = settled(&session, before, COPIES * line as u64).await;
        let case = format!("a line of {megabytes} MiB that is no message");
        let result = match (pulse, kept) {
            (Pulse::Gone(cause), _) => {
                CHECK.case(case, CaseVerdict::Crashed).detail(cause.message.to_string())
            }
            (Pulse::Silent, _) => {
                CHECK.case(case, CaseVerdict::Hung).detail("afterwards nothing is answered")
            }
            (Pulse::Alive, Some(kept)) if kept > COPIES * line as u64 => CHECK
                .case(case, CaseVerdict::Broken)
                .severity(Severity::Warning)
                .detail(format!("{} MiB of memory are kept afterwards", kept >> 20)),
            (Pulse::Alive, kept) => CHECK.case(case, CaseVerdict::Held).detail(match kept {
                Some(kept) => format!("{} MiB of memory are kept afterwards", kept >> 20),
                None => "the server's memory cannot be seen".to_owned(),
            }),
        };
        bench.tell(result);
    })
}

fn resident(session: &Session) -> Option<u64> {
    session.process().map(|tree| tree.rss_bytes)
}

/// How much more memory the server holds than before, once it has had the time to free some.
async fn settled(session: &Session, before: Option<u64>, allowed: u64) -> Option<u64> {
    let until = Instant::now() + Duration::from_secs(3);
    loop {
        let kept = resident(session)?.saturating_sub(before?);
        if kept <= allowed || Instant::now() >= until {
            return Some(kept);
        }
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}
