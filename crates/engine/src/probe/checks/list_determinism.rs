//! The same list, asked for again: here, and by somebody new.

use std::collections::BTreeSet;

use mcp_loadtest_core::{
    check::{CaseResult, CaseVerdict, Depth, Family},
    mcp::{Era, method},
    report::Severity,
};
use mcp_loadtest_wire::session::Session;

use super::{Check, Running};
use crate::probe::bench::Bench;

pub(super) static CHECK: Check = Check {
    id: "list_determinism",
    family: Family::Pagination,
    taxonomy: None,
    depth: Depth::Usual,
    about: "lists the tools twice in one session and once in a new one",
    meaning: "tools come and go, or their order does: models choose differently and caches miss",
    run,
};

const ORDER: &str = "MCP 2026-07-28, tools/list: the order SHOULD be the same from call to call";
const CONNECTION: &str = "MCP 2026-07-28, tools/list: the list MUST NOT vary per connection or as \
                          a side effect of other requests";

fn run(bench: &Bench) -> Running<'_> {
    Box::pin(async move {
        if !bench.hello.has_tools() {
            return bench.skip(&CHECK, "the server offers no tools");
        }
        let session = match bench.session().await {
            Ok(session) => session,
            Err(error) => return bench.no_session(&CHECK, &error),
        };
        let Some(first) = names(bench, &session).await else {
            return bench.tell(bench.unless_dead(&session, could_not("tools/list")).await);
        };
        bench.tell(unique(&first));
        bench.tell(match names(bench, &session).await {
            Some(again) => compare(bench, "asked for again", &first, &again),
            None => bench.unless_dead(&session, could_not("asked for again")).await,
        });
        if bench.starts_slowly() {
            return;
        }
        bench.tell(match bench.fresh().await {
            Ok(other) => {
                let result = match names(bench, &other).await {
                    Some(theirs) => compare(bench, "in a new session", &first, &theirs),
                    None => bench.unless_dead(&other, could_not("in a new session")).await,
                };
                other.close().await;
                result
            }
            Err(error) => could_not("in a new session").detail(error.to_string()),
        });
    })
}

async fn names(bench: &Bench, session: &Session) -> Option<Vec<String>> {
    let listing = session.list_tools(bench.settings.hang_timeout).await.ok()?;
    let refused = listing.refused.into_iter().map(|(name, _)| name);
    Some(listing.tools.into_iter().map(|tool| tool.name).chain(refused).collect())
}

fn could_not(case: &str) -> CaseResult {
    CHECK.case(case, CaseVerdict::CouldNotTell).detail("tools/list was not answered")
}

fn unique(names: &[String]) -> CaseResult {
    let mut seen = BTreeSet::new();
    match names.iter().find(|name| !seen.insert(*name)) {
        None => CHECK.case("names of tools", CaseVerdict::Held),
        Some(twice) => CHECK
            .case("names of tools", CaseVerdict::Broken)
            .severity(Severity::Warning)
            .detail(format!("`{twice}` is listed twice"))
            .reference("MCP tools: names SHOULD be unique within a server"),
    }
}

fn compare(bench: &Bench, how: &str, first: &[String], other: &[String]) -> CaseResult {
    let case = |verdict| CHECK.case(format!("{} {how}", method::TOOLS_LIST), verdict);
    if first == other {
        return case(CaseVerdict::Held);
    }
    let sets: [BTreeSet<_>; 2] = [first.iter().collect(), other.iter().collect()];
    let vanished: Vec<_> = sets[0].difference(&sets[1]).map(|name| name.as_str()).collect();
    let came: Vec<_> = sets[1].difference(&sets[0]).map(|name| name.as_str()).collect();
    if vanished.is_empty() && came.is_empty() {
        return case(CaseVerdict::Broken)
            .severity(Severity::Warning)
            .reference(ORDER)
            .detail("the same tools in another order");
    }
    // Who says that its list may change may change it; older revisions leave it open.
    let tools = &bench.hello.capabilities["tools"];
    let may_change = tools["listChanged"] == true || bench.hello.era == Era::Legacy;
    let severity =
        if may_change || vanished.is_empty() { Severity::Warning } else { Severity::Critical };
    case(CaseVerdict::Broken).severity(severity).reference(CONNECTION).detail(format!(
        "gone: {}; new: {}",
        shown(&vanished),
        shown(&came)
    ))
}

fn shown(names: &[&str]) -> String {
    match names.split_first_chunk::<5>() {
        _ if names.is_empty() => "none".to_owned(),
        Some((some, rest)) if !rest.is_empty() => {
            format!("{} and {} more", some.join(", "), rest.len())
        }
        _ => names.join(", "),
    }
}
