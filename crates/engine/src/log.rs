//! A run, told to whoever listens with `tracing`: what happens to it as `info`, what hangs and what is not
//! sent as `warn`, calls that fail as `debug`. Calls that go well are not told one by one; the trace has
//! them. Texts of the server are safe to show, and hold no secret that it was given.

use std::{borrow::Cow, time::Duration};

use mcp_loadtest_core::{
    display::visible,
    event::{Call, Event},
    secrets::Secrets,
};
use tracing::{debug, info, warn};

/// By which listeners choose.
const TARGET: &str = "mcp_loadtest";
/// The longest text that is told.
const LONGEST: usize = 2_000;

/// Tells an event, unless it is one of those that come by the thousand.
#[inline]
pub(crate) fn tell(event: &Event<'_>, secrets: &Secrets) {
    if !matches!(event, Event::Request { .. } | Event::Response { .. }) {
        tell_rare(event, secrets);
    }
}

fn tell_rare(event: &Event<'_>, secrets: &Secrets) {
    let safe = |text: &str| visible(&secrets.text(text), LONGEST);
    let tool = |call: &Call<'_>| safe(call.tool.as_deref().unwrap_or(&call.method));
    let secs = Duration::as_secs_f64;
    match event {
        Event::Request { .. } | Event::Response { .. } => {}
        Event::Process(_) | Event::Generator(_) => {}
        Event::Error { call, at, failure } => debug!(
            target: TARGET, at = secs(at), request_id = call.request_id, session = call.session,
            tool = tool(call), category = failure.category.name(), code = failure.code,
            said = safe(&failure.message), "a call failed"
        ),
        Event::Hang { call, at } => warn!(
            target: TARGET, at = secs(at), request_id = call.request_id, session = call.session,
            tool = tool(call), "a call hangs"
        ),
        Event::Deadlock { call, at, diagnosis, evidence } => warn!(
            target: TARGET, at = secs(at), request_id = call.request_id, session = call.session,
            tool = tool(call), ?diagnosis, evidence = safe(evidence), "a call never came back"
        ),
        Event::Dropped { at, count, .. } => warn!(
            target: TARGET, at = secs(at), count, "calls that were due were not sent"
        ),
        Event::Scenario { at, name, detail, took } => info!(
            target: TARGET, at = secs(at), name = &**name, detail = safe(detail),
            took = took.as_ref().map(secs), "{}", Cow::as_ref(name)
        ),
    }
}
