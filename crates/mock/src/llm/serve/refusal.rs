//! Errors in each provider's form, and what they tell a client about trying again.

use mcp_loadtest_core::llm::{ErrorReply, Problem, Provider};

use super::{
    asking::Asking,
    outgoing::{self, Whole},
};
use crate::llm::dialect;

/// How long a client is told to wait where nothing else is said: short, because tests wait for it.
const RETRY_AFTER_MS: u64 = 100;

/// An error, as it is sent. What it tells about trying again goes into the journal.
pub(super) fn refusal(provider: Provider, problem: &Problem, asking: &mut Asking) -> Whole {
    let mut problem = problem.clone();
    if problem.status == 429 && problem.retry_after_ms.is_none() {
        problem.retry_after_ms = Some(RETRY_AFTER_MS);
    }
    let (mut headers, body) = dialect::problem(provider, &problem, asking.number);
    for (name, value) in &problem.headers {
        headers.retain(|(own, _)| !own.eq_ignore_ascii_case(name));
        headers.push((name.clone(), value.clone()));
    }
    asking.status = problem.status;
    note_advice(&headers, asking);
    // Google tells it in the body.
    if provider == Provider::Gemini && asking.retry_after_ms.is_none() {
        asking.retry_after_ms = problem.retry_after_ms;
    }
    Whole::json(problem.status, headers, body.to_string().into_bytes())
}

/// Notes what the headers of an answer say about another try, for the journal.
pub(super) fn note_advice(headers: &[(String, String)], asking: &mut Asking) {
    asking.should_retry = header(headers, "x-should-retry").map(|value| value == "true");
    asking.retry_after_ms = told_to_wait(headers);
}

fn header<'h>(headers: &'h [(String, String)], name: &str) -> Option<&'h str> {
    let mut headers = headers.iter();
    headers.find(|(own, _)| own.eq_ignore_ascii_case(name)).map(|(_, value)| value.trim())
}

/// How long the headers ask a client to wait: the finer unit goes first, as clients read it.
fn told_to_wait(headers: &[(String, String)]) -> Option<u64> {
    let number = |name| header(headers, name)?.parse::<f64>().ok();
    let ms = number("retry-after-ms").or_else(|| Some(number("retry-after")? * 1e3))?;
    (ms >= 0.0).then_some(ms as u64)
}

/// The error that a fixture asks for.
pub(super) fn problem_of(error: &ErrorReply) -> Problem {
    Problem {
        status: error.status,
        message: error.message.clone().unwrap_or_else(|| outgoing::reason(error.status).into()),
        kind: error.kind.clone(),
        code: error.code.clone(),
        retry_after_ms: error.retry_after_ms,
        headers: error.headers.clone().into_iter().collect(),
    }
}
