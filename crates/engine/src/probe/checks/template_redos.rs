//! URIs that keep a careless matcher of URI templates busy for years.
//!
//! A variable that may stand for many values (`{/id*}`) is often matched with a pattern in which the
//! same text can be cut in exponentially many ways; a URI of repeated separators that fails at its
//! very end makes the matcher try them all, and whoever shares the thread waits.

use std::time::Duration;

use mcp_loadtest_core::{
    check::{CaseResult, CaseVerdict, Depth, Family},
    mcp::method,
    report::Severity,
};
use mcp_loadtest_wire::session::Session;
use serde_json::json;

use super::{Check, Running};
use crate::probe::{asking::Pulse, bench::Bench, lists::TEMPLATES, seen::Seen};

pub(super) static CHECK: Check = Check {
    id: "template_redos",
    family: Family::Content,
    taxonomy: None,
    depth: Depth::Quick,
    about: "reads URIs of repeated separators that match a resource template almost",
    meaning: "one short request keeps the server busy for years, and nobody else is served",
    run,
};

/// Templates beyond this are not tried.
const MOST_TEMPLATES: usize = 8;
/// How often a separator is repeated: two to this power is more than any machine can try.
const REPEATED: usize = 64;
/// What a plain URI never takes.
const SUSPICIOUS: Duration = Duration::from_secs(1);
/// And so many times what the plain one took.
const RATIO: f64 = 20.0;

fn run(bench: &Bench) -> Running<'_> {
    Box::pin(async move {
        if !bench.offers("resources") {
            return bench.skip(&CHECK, "the server offers no resources");
        }
        let session = match bench.session().await {
            Ok(session) => session,
            Err(error) => return bench.no_session(&CHECK, &error),
        };
        let Seen::Taken { result, .. } = bench.first_page(&session, TEMPLATES).await else {
            return bench.skip(&CHECK, "the server lists no resource templates");
        };
        let templates = TEMPLATES.names(&result);
        let many: Vec<_> = templates.iter().filter(|template| takes_many(template)).collect();
        if many.is_empty() {
            return bench.skip(&CHECK, "no resource template has a variable of many values");
        }
        for template in many.into_iter().take(MOST_TEMPLATES) {
            try_template(bench, template).await;
        }
    })
}

/// Whether an expression may stand for a list or a path.
fn takes_many(template: &str) -> bool {
    expressions(template).any(|inner| {
        inner.ends_with('*') || inner.contains("*,") || inner.starts_with(['+', '#', '/'])
    })
}

fn expressions(template: &str) -> impl Iterator<Item = &str> {
    template.split('{').skip(1).filter_map(|rest| rest.split('}').next())
}

/// The template with `text` for each expression, behind what its operator writes first.
fn filled(template: &str, text: &str) -> String {
    let mut uri = String::new();
    for (index, part) in template.split('{').enumerate() {
        match part.split_once('}') {
            Some((inner, literal)) if index > 0 => {
                uri.push_str(&lead(inner));
                uri.push_str(text);
                uri.push_str(literal);
            }
            _ if index > 0 => {
                uri.push('{');
                uri.push_str(part);
            }
            _ => uri.push_str(part),
        }
    }
    uri
}

fn lead(inner: &str) -> String {
    let name = inner.trim_start_matches(['+', '#', '/', '.', ';', '?', '&']);
    let name = name.split([',', '*', ':']).next().unwrap_or_default();
    match inner.chars().next() {
        Some(operator @ ('/' | '.' | '#')) => operator.to_string(),
        Some(operator @ ('?' | '&' | ';')) => format!("{operator}{name}="),
        _ => String::new(),
    }
}

async fn try_template(bench: &Bench, template: &str) {
    let plain = match bench.session().await {
        Ok(session) => read(bench, &session, &filled(template, "a")).await,
        Err(error) => return bench.no_session(&CHECK, &error),
    };
    if matches!(plain.1, Pulse::Gone(_) | Pulse::Silent) {
        let case = format!("`{template}` filled with a plain text");
        bench.tell(judge(&case, &plain, plain.2));
    }
    let plain = plain.2;
    let texts = [
        ("commas", format!("{}/", ",".repeat(REPEATED))),
        ("slashes", format!("{}\n", "/a".repeat(REPEATED))),
        ("ampersands", format!("{}\n", "a&".repeat(REPEATED))),
    ];
    for (what, text) in texts {
        let session = match bench.session().await {
            Ok(session) => session,
            Err(error) => return bench.no_session(&CHECK, &error),
        };
        let uri = filled(template, &text);
        let case = format!("`{template}` filled with {what}");
        let read = read(bench, &session, &uri).await;
        let result = judge(&case, &read, plain);
        bench.tell(result.sent(uri.as_bytes()).took(read.2));
    }
}

/// What became of it, whether others are served, and how long it took until that was known.
async fn read(bench: &Bench, session: &Session, uri: &str) -> (Seen, Pulse, Duration) {
    let request = session.prepare(method::RESOURCES_READ, json!({ "uri": uri }));
    let began = tokio::time::Instant::now();
    let (seen, pulse) = bench.ask(session, &request).await;
    (seen, pulse, began.elapsed())
}

fn judge(case: &str, (seen, pulse, took): &(Seen, Pulse, Duration), plain: Duration) -> CaseResult {
    let case = |verdict| CHECK.case(case, verdict);
    let slow = *took > SUSPICIOUS && took.as_secs_f64() > RATIO * plain.as_secs_f64();
    match (seen, pulse) {
        (Seen::Gone(_), _) | (_, Pulse::Gone(_)) => case(CaseVerdict::Crashed).detail(seen.words()),
        (_, Pulse::Silent) => {
            case(CaseVerdict::Hung).detail("meanwhile nothing else is answered either")
        }
        _ if slow => case(CaseVerdict::Broken).severity(Severity::Warning).detail(format!(
            "took {:.1} s, a plain URI {:.3} s",
            took.as_secs_f64(),
            plain.as_secs_f64()
        )),
        (Seen::Garbled { .. }, _) => {
            case(CaseVerdict::Broken).severity(Severity::Warning).detail(seen.words())
        }
        // Nor did the plain one get an answer sooner.
        (Seen::Silent { .. }, _) => case(CaseVerdict::CouldNotTell).detail(seen.words()),
        _ => case(CaseVerdict::Held).detail(seen.words()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_that_take_many_values_are_known() {
        for template in ["x:/{/id*}", "file:///{+path}", "db://{?q*}", "x://{a*,b}"] {
            assert!(takes_many(template), "{template}");
        }
        for template in ["x://{id}", "x://a/b", "x://{", "x://{?q}"] {
            assert!(!takes_many(template), "{template}");
        }
    }

    #[test]
    fn expressions_are_filled_as_their_operators_say() {
        assert_eq!(filled("x:/{/id*}", ",,/"), "x://,,/");
        assert_eq!(filled("file:///{+path}?a", "b"), "file:///b?a");
        assert_eq!(filled("db://t{?q*,r}", "b"), "db://t?q=b");
        assert_eq!(filled("x://{", "b"), "x://{");
    }
}
