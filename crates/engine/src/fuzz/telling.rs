//! What a hunt tells of its cases: in the trace, and of those that failed.

use std::time::Duration;

use mcp_loadtest_core::{
    display::visible,
    event::{Call, Event, Failure, Phase},
    fuzz::{Case, Class, FailedCase},
    outcome::ErrorCategory,
};
use mcp_loadtest_wire::sink::Sink as _;
use serde_json::json;

use super::lab::Trial;
use crate::context::Context;

/// The longest frame that the trace shows; of others it has the length and a checksum.
const SHOWN: usize = 1024;

/// What became of a case, and in what time.
type End = (Result<Class, (ErrorCategory, String)>, Duration);

/// The beginning of a case.
pub(super) fn begin(context: &Context, case: &Case) -> Call<'static> {
    let now = context.now();
    let call = Call {
        request_id: case.request_id,
        session: 0,
        worker: 0,
        phase: Phase::Load,
        method: case.payload.as_str().into(),
        tool: case.tool.clone().map(Into::into),
        segment: 0,
        intended: now,
        started: now,
    };
    let params = traced(case).to_string().into_bytes();
    context.recorder.emit(&Event::Request { call: call.clone(), params: params.into() });
    call
}

/// The end of a case, with its class or with why it has none.
pub(super) fn end(context: &Context, call: Call<'static>, case: &Case, (outcome, took): End) {
    let at = call.started + took;
    let event = match outcome {
        Ok(class) => {
            let result = json!({ "case": case.id, "class": class }).to_string().into_bytes();
            Event::Response { call, at, result: result.into() }
        }
        Err((category, message)) => {
            let message = format!("{}: {}", case.id, visible(&message, 200)).into();
            Event::Error { call, at, failure: Failure { category, message, code: None } }
        }
    };
    context.recorder.emit(&event);
}

/// What the trace says of a case: enough to tell whether two runs sent the same bytes.
fn traced(case: &Case) -> serde_json::Value {
    let bytes = case.bytes();
    let frame = std::str::from_utf8(&bytes).ok().filter(|_| bytes.len() <= SHOWN);
    json!({
        "case": case.id, "label": case.label, "bytes": bytes.len(), "writes": case.writes.len(),
        "checksum": format!("{:016x}", case.print()), "frame": frame,
    })
}

/// The end of a case of which nothing is known.
pub(super) fn cancelled(why: String) -> End {
    (Err((ErrorCategory::Cancelled, why)), Duration::ZERO)
}

/// What is told of a case that failed.
pub(super) fn failed(
    case: &Case,
    class: Class,
    seen: &str,
    repeats: bool,
    file: Option<String>,
) -> FailedCase {
    FailedCase {
        id: case.id.clone(),
        class,
        label: visible(&case.label, 200),
        seen: visible(seen, 300),
        repeats,
        file,
    }
}

/// In the words of all scenarios: whatever was answered was answered.
pub(super) fn outcome(trial: &Trial) -> Result<Class, (ErrorCategory, String)> {
    let category = match trial.class {
        Class::Clean | Class::Accepted | Class::Slow => return Ok(trial.class),
        Class::ProtocolViolation => ErrorCategory::Malformed,
        Class::Hang => ErrorCategory::Deadlock,
        Class::Crash => ErrorCategory::Crash,
    };
    Err((category, trial.seen.clone()))
}
