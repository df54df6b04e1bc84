//! Requests that were sent before the input ended: are they still answered?

use std::collections::HashSet;

use mcp_loadtest_core::{
    check::{CaseVerdict, Depth, Family},
    jsonrpc::{self, Id, Message},
    report::Severity,
};
use mcp_loadtest_wire::session::{Outgoing, Target};

use super::{Check, Running};
use crate::probe::{bench::Bench, frames::GoodRequest};

pub(super) static CHECK: Check = Check {
    id: "replies_lost_at_end",
    family: Family::Resources,
    taxonomy: None,
    depth: Depth::Usual,
    about: "sends requests, ends the input, and counts the answers",
    meaning: "a script that pipes requests into the server loses answers without an error",
    run,
};

const REQUESTS: usize = 30;

fn run(bench: &Bench) -> Running<'_> {
    Box::pin(async move {
        if !matches!(bench.target, Target::Stdio(_)) {
            return bench.skip(&CHECK, "only pipes end in this way");
        }
        let session = match bench.fresh().await {
            Ok(session) => session,
            Err(error) => return bench.no_session(&CHECK, &error),
        };
        let tap = session.tap();
        let mut open = HashSet::new();
        for _ in 0..REQUESTS {
            let good = GoodRequest::cheap(bench, &session);
            session.send_raw(&Outgoing::Frame(good.bytes()));
            open.insert(good.id);
        }
        session.cut().await;
        while let Some(heard) = tap.pop() {
            if let Some(Message::Response { id: Id::Number(id), .. }) =
                jsonrpc::read(&heard.frame).message
            {
                open.remove(&id);
            }
        }
        let case = |verdict| CHECK.case(format!("{REQUESTS} requests, then the end"), verdict);
        // Nothing says that a server must: it is told to end.
        bench.tell(match open.len() {
            0 => case(CaseVerdict::Held),
            lost => case(CaseVerdict::Broken)
                .severity(Severity::Info)
                .detail(format!("{lost} of {REQUESTS} were never answered")),
        });
    })
}
