//! What each request does.

use axum::{
    Json, Router,
    body::Bytes,
    extract::{Query, State},
    http::{StatusCode, header},
    response::IntoResponse,
    routing::{get, post},
};
use mcp_loadtest_core::{
    fault::{Fault, FaultConfig},
    hint::Hint,
};
use serde::Deserialize;
use serde_json::{Value, json};

use super::Controlled;
use crate::audit::{Filter, Row, Timestamp};

/// One answer has no more rows than this, unless more are asked for.
const USUAL_ROWS: usize = 100;

pub(super) fn router(controlled: Controlled) -> Router {
    Router::new()
        .route("/health", get(health))
        .route("/faults", get(faults).put(set_faults).delete(clear_faults))
        .route("/reset", post(reset))
        .route("/counters", get(counters))
        .route("/audit", get(audit))
        .route("/audit/export", get(export))
        .with_state(controlled)
}

/// What went wrong, for a machine and for people.
pub(crate) fn problem(status: StatusCode, why: impl Into<String>) -> impl IntoResponse {
    (status, Json(json!({ "error": why.into() })))
}

async fn health(State(at): State<Controlled>) -> impl IntoResponse {
    let since = at.desk.begun().elapsed().as_millis() as u64;
    Json(json!({ "status": "ok", "uptime_ms": since, "audit": at.audit.is_on() }))
}

fn listed(at: &Controlled) -> Json<Value> {
    let plan = at.desk.faults();
    let texts: Vec<_> = plan.faults().map(ToString::to_string).collect();
    Json(json!({ "faults": texts }))
}

async fn faults(State(at): State<Controlled>) -> impl IntoResponse {
    listed(&at)
}

/// A fault as flags write it, or as suites do.
#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Text(String),
    Object(Box<FaultConfig>),
}

impl Written {
    fn read(self) -> Result<Fault, String> {
        match self {
            Self::Object(config) => Fault::try_from(*config),
            Self::Text(text) => text.parse::<Fault>().map_err(|error| match error.hint() {
                Some(hint) => format!("{error}; {hint}"),
                None => error.to_string(),
            }),
        }
    }
}

async fn set_faults(State(at): State<Controlled>, body: Bytes) -> axum::response::Response {
    let bad = |why: String| problem(StatusCode::BAD_REQUEST, why).into_response();
    let written: Vec<Written> = match serde_json::from_slice(&body) {
        Ok(written) => written,
        Err(error) => {
            return bad(format!(
                "the body is no list of faults such as [\"hang@tool=x\"]: {error}"
            ));
        }
    };
    let mut faults = Vec::new();
    for fault in written {
        match fault.read() {
            Ok(fault) => faults.push(fault),
            Err(why) => return bad(why),
        }
    }
    for fault in &faults {
        if let Err(impossible) = fault.check(at.transport, None) {
            return bad(impossible.to_string());
        }
    }
    at.desk.set_faults(faults);
    listed(&at).into_response()
}

async fn clear_faults(State(at): State<Controlled>) -> impl IntoResponse {
    at.desk.set_faults(Vec::new());
    listed(&at)
}

async fn reset(State(at): State<Controlled>) -> impl IntoResponse {
    at.desk.reset();
    Json(json!(at.desk.counters()))
}

async fn counters(State(at): State<Controlled>) -> impl IntoResponse {
    Json(json!(at.desk.counters()))
}

/// The filters of the command `audit`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    from: Option<String>,
    to: Option<String>,
    tool: Option<String>,
    method: Option<String>,
    session: Option<String>,
    success: Option<bool>,
    category: Option<String>,
    q: Option<String>,
    after: Option<u64>,
    limit: Option<usize>,
}

async fn rows(at: &Controlled, wanted: Wanted, usual: Option<usize>) -> Result<Vec<Row>, String> {
    if !at.audit.is_on() {
        return Err("nothing is written down; start it with --audit".into());
    }
    let moment = |text: String| text.parse::<Timestamp>().map_err(|error| error.to_string());
    let filter = Filter {
        from: wanted.from.map(moment).transpose()?,
        to: wanted.to.map(moment).transpose()?,
        tool: wanted.tool,
        method: wanted.method,
        session: wanted.session,
        success: wanted.success,
        category: wanted.category,
        q: wanted.q,
        after: wanted.after,
        limit: wanted.limit.or(usual),
        ..Filter::default()
    };
    let audit = at.audit.clone();
    // Reading blocks until all that came before is written.
    let read = tokio::task::spawn_blocking(move || audit.query(&filter)).await;
    read.map_err(|error| error.to_string())?.map_err(|error| error.to_string())
}

async fn audit(
    State(at): State<Controlled>,
    Query(wanted): Query<Wanted>,
) -> axum::response::Response {
    match rows(&at, wanted, Some(USUAL_ROWS)).await {
        Ok(rows) => Json(json!({ "rows": rows })).into_response(),
        Err(why) => problem(StatusCode::BAD_REQUEST, why).into_response(),
    }
}

async fn export(
    State(at): State<Controlled>,
    Query(wanted): Query<Wanted>,
) -> axum::response::Response {
    match rows(&at, wanted, None).await {
        Ok(rows) => {
            let line = |row: &Row| serde_json::to_string(row).unwrap_or_default() + "\n";
            let text: String = rows.iter().map(line).collect();
            ([(header::CONTENT_TYPE, "application/x-ndjson")], text).into_response()
        }
        Err(why) => problem(StatusCode::BAD_REQUEST, why).into_response(),
    }
}
