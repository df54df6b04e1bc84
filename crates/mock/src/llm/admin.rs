//! Control of a mock of models while it runs.
//!
//! | request          | what it does                                                     |
//! |------------------|------------------------------------------------------------------|
//! | `GET /health`    | whether it is there, and since when                              |
//! | `GET /counters`  | requests, and fixtures in force                                  |
//! | `PUT /fixtures`  | puts other fixtures in force: a file as `--fixtures` reads it    |
//! | `POST /reset`    | begins anew: stories, counts of requests, the journal            |
//! | `GET /journal`   | what each client asked and got, as JSON lines                    |
//! | `GET /verdict`   | what clients did with the failures that they met                 |

use std::sync::Arc;

use axum::{
    Json, Router,
    extract::State,
    http::{StatusCode, header},
    response::{IntoResponse, Response},
    routing::{get, post, put},
};
use mcp_loadtest_core::{hint::Hint as _, llm::FixtureFile};
use serde_json::json;

use super::desk::Desk;
use crate::admin::{Routes, problem};

type At = State<Arc<Desk>>;

pub(super) fn routes(desk: Arc<Desk>) -> Routes {
    let router = Router::new()
        .route("/health", get(health))
        .route("/counters", get(counters))
        .route("/fixtures", put(set_fixtures))
        .route("/reset", post(reset))
        .route("/journal", get(journal))
        .route("/verdict", get(verdict))
        .with_state(desk);
    Routes(router)
}

async fn health(State(desk): At) -> impl IntoResponse {
    Json(json!({ "status": "ok", "uptime_ms": desk.elapsed().as_millis() as u64 }))
}

async fn counters(State(desk): At) -> impl IntoResponse {
    Json(json!({ "requests": desk.journal().count(), "fixtures": desk.fixtures() }))
}

async fn set_fixtures(state: At, body: String) -> Response {
    match FixtureFile::parse(&body, "the body") {
        Ok(file) => {
            state.0.replace(vec![file]);
            counters(state).await.into_response()
        }
        Err(error) => {
            let hint = error.hint().map(|hint| format!("; {hint}")).unwrap_or_default();
            problem(StatusCode::BAD_REQUEST, format!("{error}{hint}")).into_response()
        }
    }
}

async fn reset(state: At) -> impl IntoResponse {
    state.0.reset();
    counters(state).await
}

async fn journal(State(desk): At) -> impl IntoResponse {
    ([(header::CONTENT_TYPE, "application/x-ndjson")], desk.journal().lines())
}

async fn verdict(State(desk): At) -> impl IntoResponse {
    Json(desk.journal().judged())
}
