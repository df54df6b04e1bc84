//! Lists that do not end.

use std::collections::HashSet;

use mcp_loadtest_core::{
    check::{CaseResult, CaseVerdict, Depth, Family},
    report::Severity,
};
use mcp_loadtest_wire::session::Session;
use serde_json::{Value, json};

use super::{Check, Running};
use crate::probe::{bench::Bench, lists::List, seen::Seen};

pub(super) static CHECK: Check = Check {
    id: "endless_cursor",
    family: Family::Pagination,
    taxonomy: None,
    depth: Depth::Quick,
    about: "follows the cursors of each list to its end",
    meaning: "clients ask for page after page and never begin to work",
    run,
};

/// So many pages in a row that bring nothing new make a list endless.
const PAGES_OF_NOTHING: usize = 50;
/// Further than this nobody looks.
const MOST_PAGES: usize = 500;

fn run(bench: &Bench) -> Running<'_> {
    Box::pin(async move {
        let lists: Vec<_> = bench.lists().collect();
        if lists.is_empty() {
            return bench.skip(&CHECK, "the server lists nothing");
        }
        for list in lists {
            match bench.session().await {
                Ok(session) => {
                    let result = follow(bench, &session, list).await;
                    bench.tell(bench.unless_held(&session, result).await);
                }
                Err(error) => return bench.no_session(&CHECK, &error),
            }
        }
    })
}

async fn follow(bench: &Bench, session: &Session, list: List) -> CaseResult {
    let case = |verdict| CHECK.case(list.method, verdict);
    let mut cursors = HashSet::new();
    let mut names = HashSet::new();
    let mut params = json!({});
    let mut nothing_new = 0;
    for page_number in 1..=MOST_PAGES {
        let page = match bench.fetch(session, list.method, params).await {
            Seen::Taken { result, .. } => result,
            other if page_number == 1 => {
                return case(CaseVerdict::CouldNotTell).detail(other.words());
            }
            // The server gave the cursor itself.
            other => {
                let detail = format!("page {page_number}: {}", other.words());
                return case(CaseVerdict::Broken).severity(Severity::Warning).detail(detail);
            }
        };
        let known = names.len();
        names.extend(list.names(&page));
        nothing_new = if names.len() > known { 0 } else { nothing_new + 1 };
        let Some(next) = page.get("nextCursor").and_then(Value::as_str) else {
            return case(CaseVerdict::Held).detail(format!("{page_number} pages"));
        };
        if !cursors.insert(next.to_owned()) {
            let detail = format!("page {page_number} gives a cursor that was given before");
            return case(CaseVerdict::Broken).detail(detail);
        }
        if nothing_new > PAGES_OF_NOTHING {
            let detail = format!("the last {nothing_new} of {page_number} pages bring nothing new");
            return case(CaseVerdict::Broken).detail(detail);
        }
        params = json!({ "cursor": next });
    }
    case(CaseVerdict::Broken)
        .severity(Severity::Warning)
        .detail(format!("the list goes on after {MOST_PAGES} pages"))
}
