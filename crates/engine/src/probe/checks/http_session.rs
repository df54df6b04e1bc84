//! The rules of legacy HTTP sessions: who has none, a made-up one or an ended one is told so.

use mcp_loadtest_core::{
    check::{CaseVerdict, Depth, Family},
    mcp::{Era, Revision, header},
    report::Severity,
};
use mcp_loadtest_wire::session::{Outgoing, RawHttp, Session, Target};

use super::{Check, Running};
use crate::probe::{
    asking::{Pulse, Sent},
    bench::Bench,
    frames::{GoodRequest, Taking, judge},
    seen::Seen,
};

pub(super) static CHECK: Check = Check {
    id: "http_session",
    family: Family::Lifecycle,
    taxonomy: None,
    depth: Depth::Usual,
    about: "sends requests without a session, with one that is made up or has ended, in a wrong \
            revision, and without accepting event streams",
    meaning: "a client whose session is gone is not told to begin anew, or is served without one",
    run,
};

const MISSING: &str = "MCP transports, session management: a request without a session id SHOULD \
                       be answered with 400";
const ENDED: &str = "MCP transports, session management: an unknown or ended session MUST be \
                     answered with 404";
const VERSION: &str = "MCP transports, protocol version header: an unsupported version MUST be \
                       answered with 400";
const ACCEPT: &str = "MCP transports: the client MUST accept both JSON and event streams";

/// What is asked for: these statuses, and what it is worth when others come.
struct Rule {
    case: &'static str,
    statuses: &'static [u16],
    reference: &'static str,
    /// When the request is carried out all the same, and when it is refused in another way.
    worth: (Severity, Severity),
}

fn run(bench: &Bench) -> Running<'_> {
    Box::pin(async move {
        if bench.hello.era == Era::Modern {
            return bench.skip(&CHECK, "this revision has no sessions");
        }
        if !matches!(bench.target, Target::Http(_)) {
            return bench.skip(&CHECK, "only Streamable HTTP has session ids");
        }
        let session = match bench.fresh().await {
            Ok(session) => session,
            Err(error) => return bench.no_session(&CHECK, &error),
        };
        if session.http_session_id().is_some() {
            with_sessions(bench, &session).await;
        } else {
            let none = CHECK.case("session ids", CaseVerdict::Skipped);
            bench.tell(none.detail("the server gives none"));
        }
        wrong_headers(bench, &session).await;
        if session.http_session_id().is_some() {
            ended(bench, &session).await;
        }
        session.close().await;
    })
}

async fn with_sessions(bench: &Bench, session: &Session) {
    let missing = Rule {
        case: "a request without a session id",
        statuses: &[400],
        reference: MISSING,
        worth: (Severity::Warning, Severity::Info),
    };
    try_header(bench, session, &missing, (header::SESSION_ID, None)).await;
    let unknown = Rule {
        case: "a request with a made-up session id",
        statuses: &[404],
        reference: ENDED,
        worth: (Severity::Warning, Severity::Warning),
    };
    let made_up = Some("mcp-loadtest-no-such-session");
    try_header(bench, session, &unknown, (header::SESSION_ID, made_up)).await;
}

async fn wrong_headers(bench: &Bench, session: &Session) {
    if session.revision() >= Revision::V2025_06_18 {
        let version = Rule {
            case: "a request of a revision that never was",
            statuses: &[400],
            reference: VERSION,
            worth: (Severity::Warning, Severity::Info),
        };
        try_header(bench, session, &version, (header::PROTOCOL_VERSION, Some("1900-01-01"))).await;
    }
    let accept = Rule {
        case: "a request that accepts only text/plain",
        statuses: &[400, 406],
        reference: ACCEPT,
        worth: (Severity::Info, Severity::Info),
    };
    try_header(bench, session, &accept, ("Accept", Some("text/plain"))).await;
}

async fn ended(bench: &Bench, session: &Session) {
    let delete = Outgoing::Http(RawHttp { verb: "DELETE", ..RawHttp::post(Vec::new()) });
    let patience = bench.settings.hang_timeout;
    let reply = session.exchange_raw(&delete, patience, |_| true).await;
    if !matches!(reply.status, Some(200..=299)) {
        let kept = CHECK.case("a request after DELETE", CaseVerdict::Skipped);
        return bench.tell(kept.detail("the server does not end sessions when told to"));
    }
    let rule = Rule {
        case: "a request after DELETE",
        statuses: &[404],
        reference: ENDED,
        worth: (Severity::Warning, Severity::Warning),
    };
    let good = GoodRequest::cheap(bench, session);
    let out = good.sending(good.bytes());
    // No control request: it would use the session that has just ended.
    let reply = session.exchange_raw(&out, patience, |_| true).await;
    let seen = Seen::of_raw(&reply, Some(good.id), patience);
    let sent = Sent { seen, pulse: Pulse::Alive, status: reply.status, frames: Vec::new() };
    tell(bench, &rule, &sent);
}

async fn try_header(
    bench: &Bench,
    session: &Session,
    rule: &Rule,
    (name, value): (&'static str, Option<&str>),
) {
    let good = GoodRequest::cheap(bench, session);
    let out = Outgoing::Http(RawHttp::post(good.bytes()).header(name, value));
    let sent = good.send(bench, session, &out).await;
    tell(bench, rule, &sent);
}

fn tell(bench: &Bench, rule: &Rule, sent: &Sent) {
    let result = judge(&CHECK, rule.case, Taking::IsWrong(rule.reference), sent);
    let is_alive = matches!(sent.pulse, Pulse::Alive) && !matches!(sent.seen, Seen::Gone(_));
    let as_asked = sent.status.is_some_and(|status| rule.statuses.contains(&status));
    let taken = matches!(sent.seen, Seen::Taken { .. });
    let result = match (is_alive, as_asked) {
        (true, false) => {
            let worth = if taken { rule.worth.0 } else { rule.worth.1 };
            let status = sent.status.map_or("no status".into(), |status| format!("HTTP {status}"));
            let detail = format!("{status}; {}", result.detail);
            let worst = result.severity.map_or(worth, |severity| match taken {
                true => worth,
                false => severity.max(worth),
            });
            result.severity(worst).reference(rule.reference).detail(detail)
        }
        _ => result,
    };
    bench.tell(result);
}
