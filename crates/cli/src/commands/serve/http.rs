//! Over Streamable HTTP, on this machine only.
//!
//! A page in a browser can reach whatever listens here. So the `Host` must be a name of this machine
//! (DNS rebinding), an `Origin` must be our own, and a body must be JSON, which no page may send
//! elsewhere unasked.

use std::{net::SocketAddr, sync::Arc};

use axum::{
    Router,
    extract::{Request, State},
    http::{Method, StatusCode},
    middleware::{Next, from_fn_with_state},
    response::{IntoResponse as _, Response},
    serve::ListenerExt as _,
};
use rmcp::transport::streamable_http_server::{
    StreamableHttpServerConfig, StreamableHttpService, session::local::LocalSessionManager,
};
use tokio::net::TcpListener;

use super::{
    handler::Handler,
    presence::{SESSION, Visitors, watch_sessions},
};
use crate::{env::Env, error::CliError, interrupt};

/// The largest request.
const MAX_BODY: usize = 1 << 20;
/// The most sessions of clients; idle ones end after some minutes.
const MAX_SESSIONS: usize = 100;

/// Refuses addresses that other machines reach.
pub(crate) fn check(address: SocketAddr) -> Result<(), CliError> {
    if address.ip().is_loopback() {
        return Ok(());
    }
    Err(CliError::usage(
        format!("{address} can be reached from other machines, and clients start servers here"),
        "listen on 127.0.0.1; let a proxy that knows its users stand before it",
    ))
}

/// Serves until a signal comes. The URL is printed before anything is served.
pub(crate) async fn serve(
    handler: Handler,
    address: SocketAddr,
    env: &mut Env,
) -> Result<(), CliError> {
    let failed = |source| CliError::Listen { address, source };
    let listener = TcpListener::bind(address).await.map_err(failed)?;
    let address = listener.local_addr().map_err(failed)?;
    let interrupted = interrupt::signal();
    env.out(&format!("{}\n", serde_json::json!({ "url": format!("http://{address}/mcp") })));
    // Events are small writes; they must not wait for each other's acknowledgement.
    let listener = listener.tap_io(|stream| _ = stream.set_nodelay(true));
    tokio::select! {
        served = axum::serve(listener, router(handler, address.port())) => Ok(served?),
        () = interrupted => Ok(()),
    }
}

fn router(handler: Handler, port: u16) -> Router {
    let own = ["localhost", "127.0.0.1", "[::1]"].map(|host| format!("http://{host}:{port}"));
    let config = StreamableHttpServerConfig::default()
        .with_allowed_hosts(["localhost", "127.0.0.1", "::1"])
        .with_allowed_origins(own)
        .with_max_request_body_bytes(MAX_BODY);
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(handler.clone()), sessions.clone(), config);
    Router::new()
        .route_service("/mcp", service)
        .layer(from_fn_with_state(Arc::new(Visitors::default()), watch_sessions))
        .layer(from_fn_with_state(sessions, limit_sessions))
}

/// Whoever brings no session may begin one: not when there are too many.
async fn limit_sessions(
    State(sessions): State<Arc<LocalSessionManager>>,
    request: Request,
    next: Next,
) -> Response {
    let may_begin = request.method() == Method::POST && !request.headers().contains_key(SESSION);
    if may_begin && sessions.sessions.read().await.len() >= MAX_SESSIONS {
        return (StatusCode::SERVICE_UNAVAILABLE, "too many sessions").into_response();
    }
    next.run(request).await
}
