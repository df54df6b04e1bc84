//! The handshake at the wrong time, twice, and in a revision that never was. One process goes
//! through all of it, unless it dies on the way: servers may take seconds to start.

use mcp_loadtest_core::{
    check::{CaseResult, CaseVerdict, Depth, Family, shape},
    mcp::{Era, Revision, method},
    report::Severity,
};
use mcp_loadtest_wire::session::{OpenError, Session, Target};
use serde_json::{Value, json};

use super::{Check, Running};
use crate::probe::{asking::Pulse, bench::Bench, seen::Seen};

pub(super) static CHECK: Check = Check {
    id: "handshake",
    family: Family::Lifecycle,
    taxonomy: None,
    depth: Depth::Usual,
    about: "calls before `initialize`, asks for a revision that never was, and initializes twice",
    meaning: "a client that starts in an unusual way ends the server, or is never served",
    run,
};

const NEVER: &str = "1900-01-01";
const NEGOTIATION: &str = "MCP lifecycle, version negotiation: the server MUST respond with a \
                           version that it supports";

fn run(bench: &Bench) -> Running<'_> {
    Box::pin(async move {
        if bench.hello.era == Era::Modern {
            return bench.skip(&CHECK, "this revision has no handshake");
        }
        if bench.starts_slowly() {
            return bench.skip(&CHECK, "the server takes long to start; use --deep");
        }
        // A server that is dead already does not die of this.
        if let Err(error) = bench.session().await {
            return bench.no_session(&CHECK, &error);
        }
        if let Err(error) = go_through(bench).await {
            bench.no_session(&CHECK, &error);
        }
    })
}

async fn go_through(bench: &Bench) -> Result<(), OpenError> {
    let session = bench.silent().await?;
    early_request(bench, &session).await;
    let session = match bench.target {
        Target::Stdio(_) => alive_or_new(bench, session).await?,
        // Over HTTP even a refusal may have given us a session id, which is good for nothing.
        _ => {
            session.close().await;
            bench.silent().await?
        }
    };
    unknown_revision(bench, &session).await;
    let session = alive_or_new(bench, session).await?;
    second_initialize(bench, &session).await;
    session.close().await;
    Ok(())
}

async fn alive_or_new(bench: &Bench, session: Session) -> Result<Session, OpenError> {
    if !session.is_broken() {
        return Ok(session);
    }
    session.close().await;
    bench.silent().await
}

/// Any answer is fine, and none is too; whether the server lived through it shows at `initialize`.
async fn early_request(bench: &Bench, session: &Session) {
    let request = session.prepare(method::TOOLS_LIST, json!({}));
    let newest = Revision::NEWEST_LEGACY.as_str();
    let (seen, hello) = bench.ask_before_initialize(session, &request, newest).await;
    let case = |verdict| CHECK.case("tools/list before initialize", verdict);
    let result = match (&seen, &hello) {
        (_, Seen::Gone(_)) => case(CaseVerdict::Crashed),
        (_, Seen::Silent { .. }) => case(CaseVerdict::Hung),
        (Seen::Garbled { .. }, _) => {
            case(CaseVerdict::Broken).severity(Severity::Warning).detail(seen.words())
        }
        (Seen::Taken { .. }, _) => case(CaseVerdict::Held)
            .severity(Severity::Info)
            .detail("answered before anything was negotiated"),
        (_, Seen::Taken { .. }) => case(CaseVerdict::Held).detail(seen.words()),
        (_, refused) => case(CaseVerdict::Broken)
            .severity(Severity::Warning)
            .detail(format!("the `initialize` behind it: {}", refused.words())),
    };
    bench.tell(with_cause(result, &hello));
}

fn with_cause(result: CaseResult, hello: &Seen) -> CaseResult {
    match hello {
        Seen::Gone(_) | Seen::Silent { .. } => {
            result.detail(format!("the `initialize` behind it: {}", hello.words()))
        }
        _ => result,
    }
}

async fn unknown_revision(bench: &Bench, session: &Session) {
    let hello = bench.initialize(session, NEVER).await;
    if let Seen::Taken { .. } = hello {
        // Some servers hear nothing before they were told this.
        session.notify(method::INITIALIZED, Value::Null).await;
    }
    let pulse = bench.pulse(session).await;
    let case = |verdict| CHECK.case("initialize with a revision that never was", verdict);
    let result = match (&hello, &pulse) {
        (Seen::Gone(_), _) | (_, Pulse::Gone(_)) => case(CaseVerdict::Crashed),
        (Seen::Silent { .. }, _) | (_, Pulse::Silent) => case(CaseVerdict::Hung),
        (Seen::Taken { result, .. }, _) => match result["protocolVersion"].as_str() {
            Some(NEVER) => {
                case(CaseVerdict::Accepted).severity(Severity::Warning).reference(NEGOTIATION)
            }
            Some(_) => case(CaseVerdict::Rejected),
            None => case(CaseVerdict::Broken).severity(Severity::Warning).reference(NEGOTIATION),
        },
        (Seen::Refused { .. } | Seen::Status { .. } | Seen::ToolError { .. }, _) => {
            case(CaseVerdict::Rejected)
        }
        (Seen::Garbled { .. }, _) => case(CaseVerdict::Broken).severity(Severity::Warning),
    };
    bench.tell(result.detail(hello.words()));
}

async fn second_initialize(bench: &Bench, session: &Session) {
    let hello = bench.initialize(session, Revision::NEWEST_LEGACY.as_str()).await;
    if let Seen::Taken { result, .. } = &hello {
        session.notify(method::INITIALIZED, Value::Null).await;
        tell_shape(bench, result);
    }
    let pulse = bench.pulse(session).await;
    let case = |verdict| CHECK.case("initialize once more", verdict).detail(hello.words());
    bench.tell(match (&hello, pulse) {
        (Seen::Gone(_), _) | (_, Pulse::Gone(_)) => case(CaseVerdict::Crashed),
        (Seen::Silent { .. }, _) | (_, Pulse::Silent) => case(CaseVerdict::Hung),
        (Seen::Taken { .. }, _) => case(CaseVerdict::Held),
        (Seen::Garbled { .. }, _) => case(CaseVerdict::Broken).severity(Severity::Warning),
        _ => case(CaseVerdict::Rejected),
    });
}

fn tell_shape(bench: &Bench, result: &Value) {
    let said = result["protocolVersion"].as_str().unwrap_or_default();
    let revision = said.parse().unwrap_or(Revision::NEWEST_LEGACY);
    let wrong = shape::result(method::INITIALIZE, revision, result);
    let case = |verdict| CHECK.case("the form of the answer to initialize", verdict);
    bench.tell(match wrong.first() {
        None => case(CaseVerdict::Held),
        Some(_) => case(CaseVerdict::Broken)
            .severity(Severity::Warning)
            .detail(wrong.join("; "))
            .reference(shape::REFERENCE),
    });
}
