//! A tool, a resource, a prompt: one request, and what is expected of its reply.

use std::{rc::Rc, time::Duration};

use mcp_loadtest_core::{
    event::Phase,
    mcp::method,
    outcome::{ErrorCategory, Outcome as CallOutcome},
    suite::{
        Outcome, TestKind, TestResult,
        expect::{Expect, Judge, Mismatch},
    },
};
use mcp_loadtest_wire::session::{Deadlines, How, Prepared, Reply, Session};
use serde_json::{Map, Value, json};

use crate::probe::last_words_of;

use super::{
    bad_input,
    choose::Case,
    desk::{Desk, Repeat},
    pool::{Lent, Pool},
};

/// How long a reply may take, unless something else is said.
pub(super) const DEFAULT_TIMEOUT: Duration = Duration::from_secs(30);

/// What is asked.
struct Question<'a> {
    server: &'a str,
    method: &'static str,
    /// The tool, the resource or the prompt.
    subject: &'a str,
    args: Option<&'a Map<String, Value>>,
    timeout: Duration,
    expect: &'a Expect,
}

fn question<'a>(desk: &'a Desk, case: Case) -> Question<'a> {
    let loaded = &desk.suites[case.suite];
    let time = |ms: Option<u64>| ms.map_or(DEFAULT_TIMEOUT, Duration::from_millis);
    match case.kind {
        TestKind::Resource => {
            let test = &loaded.suite.resources[case.index];
            Question {
                server: loaded.server_name(test.server.as_deref()),
                method: method::RESOURCES_READ,
                subject: &test.uri,
                args: None,
                timeout: time(test.timeout_ms),
                expect: &test.expect,
            }
        }
        TestKind::Prompt => {
            let test = &loaded.suite.prompts[case.index];
            Question {
                server: loaded.server_name(test.server.as_deref()),
                method: method::PROMPTS_GET,
                subject: &test.prompt,
                args: Some(&test.args),
                timeout: time(test.timeout_ms),
                expect: &test.expect,
            }
        }
        TestKind::Tool | TestKind::Agent | TestKind::Load => {
            let test = &loaded.suite.tools[case.index];
            Question {
                server: loaded.server_name(test.server.as_deref()),
                method: method::TOOLS_CALL,
                subject: &test.tool,
                args: Some(&test.args),
                timeout: time(test.timeout_ms),
                expect: &test.expect,
            }
        }
    }
}

/// Carries the test out.
pub(super) async fn carry_out(
    desk: &Desk,
    case: Case,
    repeat: Repeat,
    mut result: TestResult,
    pool: &mut Pool,
) -> TestResult {
    let question = question(desk, case);
    let (document, known) = match ask(desk, case, repeat, &question, pool).await {
        Ok(answered) => answered,
        Err(why) => {
            result.outcome = Outcome::Broken;
            result.reason = why;
            return result;
        }
    };
    let mut document = document;
    let loaded = &desk.suites[case.suite];
    let tool = (case.kind == TestKind::Tool).then(|| &loaded.suite.tools[case.index]);
    let bad = tool.filter(|test| test.negative_path.is_some() || test.fuzz.is_some());
    // Where good arguments are refused, a refusal of bad ones would mean nothing.
    let is_refused = document.get("error").is_some();
    if bad.is_some() && is_refused {
        let why = "bad input was not tried, because the call with good arguments failed";
        result.failures.push(Mismatch::new("args", why));
    }
    let bad = bad.filter(|_| !is_refused);
    if let Some(test) = bad {
        match bad_input::try_out(desk, test, &known).await {
            Ok(tried) => tried.write_to(&mut document, &mut result),
            Err(why) => {
                result.outcome = Outcome::Broken;
                result.reason = why;
                return result;
            }
        }
    }
    let name = result.name.clone();
    let mut snapshots = desk.snapshots.borrow_mut();
    let mut judge =
        Judge { test: &name, snapshots: &mut snapshots[case.suite], secrets: &desk.secrets };
    result.failures.extend(judge.judge(question.expect, &document));
    if let Some(test) = bad {
        result.failures.extend(bad_input::judge(test, &result.cases, &mut judge, &document));
    }
    result.failures.extend(unexpected(question.expect, &document));
    result.outcome = match result.failures.is_empty() {
        true => Outcome::Passed,
        false => Outcome::Failed,
    };
    result.document = (result.outcome == Outcome::Failed).then_some(document);
    result
}

type Answered = (Value, Rc<super::servers::Known>);

/// Asks, and gives the document that expectations look at.
async fn ask(
    desk: &Desk,
    case: Case,
    repeat: Repeat,
    question: &Question<'_>,
    pool: &mut Pool,
) -> Result<Answered, String> {
    let isolation = desk.isolation(case);
    let lent = pool.lend(case.suite, question.server, isolation).await?;
    let (mut reply, mut lent) = send(question, lent).await?;
    // A server that was not new may have died of the test before: a new one shows whose fault it is.
    if is_gone(&reply) && lent.may_have_been_left_dead() {
        let fresh = pool.fresh(case.suite, question.server, isolation).await?;
        let (second, fresh) = send(question, fresh).await?;
        let before = lent.before.filter(|_| !is_gone(&second));
        pool.end_left(Lent { before, ..lent }).await;
        (reply, lent) = (second, fresh);
    }
    lent.answered.set(is_answer(&reply));
    let document = document(&reply, &lent.session);
    let known = lent.known.clone();
    pool.back(case.suite, question.server, lent, repeat, isolation).await;
    Ok((document, known))
}

async fn send(question: &Question<'_>, lent: Lent) -> Result<(Reply, Lent), String> {
    let prepared = prepare(question, &lent).await?;
    let deadlines =
        Deadlines { hang: Duration::MAX, grace: Duration::MAX, timeout: question.timeout };
    let how = How { keep_body: true, ..How::new(Phase::Load, deadlines) };
    // When the time is over the wire gives the call up and tells the server.
    Ok((lent.session.call(&prepared, how).await, lent))
}

async fn prepare(question: &Question<'_>, lent: &Lent) -> Result<Rc<Prepared>, String> {
    let session = &lent.session;
    let args = || Value::Object(question.args.cloned().unwrap_or_default());
    Ok(match question.method {
        method::TOOLS_CALL => {
            let schema = lent.known.schema(session, question.subject, question.timeout).await;
            session.prepare_tool_call(question.subject, &args(), &schema)
        }
        method::PROMPTS_GET => {
            let params = json!({ "name": question.subject, "arguments": args() });
            session.prepare(question.method, params)
        }
        _ => session.prepare(question.method, json!({ "uri": question.subject })),
    })
}

pub(super) fn is_gone(reply: &Reply) -> bool {
    matches!(reply.outcome, CallOutcome::Failed(ErrorCategory::Crash | ErrorCategory::Disconnected))
}

/// Whether the server has said something, be it that it will not.
pub(super) fn is_answer(reply: &Reply) -> bool {
    use ErrorCategory::{ProtocolError, ServerError, ToolError};
    matches!(
        reply.outcome,
        CallOutcome::Ok | CallOutcome::Failed(ToolError | ServerError | ProtocolError)
    )
}

/// The document that expectations look at.
pub(super) fn document(reply: &Reply, session: &Session) -> Value {
    let took = (reply.took().as_secs_f64() * 1e6).round() / 1e3;
    let mut document = json!({ "duration_ms": took });
    match reply.outcome {
        CallOutcome::Ok | CallOutcome::Failed(ErrorCategory::ToolError) => {
            document["result"] = reply.json().unwrap_or_default();
        }
        CallOutcome::Failed(category) => {
            let body = reply.json().filter(Value::is_object);
            let mut error = body.unwrap_or_else(|| json!({ "message": reply.message }));
            if let (Some(code), None) = (reply.code, error.get("code")) {
                error["code"] = code.into();
            }
            error["category"] = category.name().into();
            if is_gone(reply) {
                error["message"] = format!("{}{}", reply.message, last_words_of(session)).into();
            }
            document["error"] = error;
        }
    }
    document
}

/// A failure that nothing in the test speaks of fails it.
fn unexpected(expect: &Expect, document: &Value) -> Option<Mismatch> {
    if let Some(error) = document.get("error") {
        if expect.looks_at("error") {
            return None;
        }
        let text = |key: &str| {
            error
                .get(key)
                .map(|value| value.as_str().map_or_else(|| value.to_string(), str::to_owned))
        };
        let code = text("code").map_or_else(String::new, |code| format!(" {code}"));
        let why = format!(
            "{}{code}: {}",
            text("category").unwrap_or_default(),
            text("message").unwrap_or_default()
        );
        return Some(Mismatch::new("error", why));
    }
    let is_error = document.pointer("/result/isError").and_then(Value::as_bool) == Some(true);
    // A tool that says so has a result and no error: that there is none says nothing about it.
    (is_error && !expect.looks_at("result")).then(|| {
        let said = mcp_loadtest_core::agent::client::result_text(&document["result"]);
        let said = mcp_loadtest_core::display::visible(&said, 300);
        Mismatch::new("result.isError", format!("the tool failed: {said}"))
    })
}
