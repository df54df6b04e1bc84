//! The client of the Rust SDK, in this process.

use std::sync::{Arc, Mutex};

use rmcp::{
    ClientHandler, Peer, RoleClient,
    model::{
        CallToolRequestParams, CallToolResult, JsonObject, ProgressNotificationParam,
        ProtocolVersion,
    },
    service::{
        ClientLifecycleMode, ClientServiceExt as _, NotificationContext, RunningService,
        ServiceError,
    },
    transport::{StreamableHttpClientTransport, TokioChildProcess},
};
use serde_json::{Value, json};
use tokio::process::Command;

use super::MESSAGE;

/// Remembers what it is told.
#[derive(Clone, Default)]
struct Listener(Arc<Mutex<Vec<Option<String>>>>);

impl ClientHandler for Listener {
    async fn on_progress(
        &self,
        told: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.0.lock().unwrap().push(told.message);
    }
}

/// Does what every client does, and reports it.
pub(super) fn visit(mode: Option<&str>, target: &[&str]) -> Value {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let listener = Listener::default();
        let client = connect(listener.clone(), mode.unwrap_or_default(), target).await;
        let report = report(client.peer(), &listener).await;
        client.cancel().await.unwrap();
        report
    })
}

async fn connect(
    listener: Listener,
    mode: &str,
    target: &[&str],
) -> RunningService<RoleClient, Listener> {
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    let lifecycle = match mode {
        "legacy" => ClientLifecycleMode::Initialize,
        "auto" => ClientLifecycleMode::Auto { preferred_versions, legacy_version: None },
        _ => ClientLifecycleMode::Discover { preferred_versions },
    };
    if target[0].starts_with("http") {
        let transport = StreamableHttpClientTransport::from_uri(target[0]);
        return listener.serve_with_lifecycle(transport, lifecycle).await.unwrap();
    }
    let mut command = Command::new(target[0]);
    command.args(&target[1..]);
    let transport = TokioChildProcess::new(command).unwrap();
    listener.serve_with_lifecycle(transport, lifecycle).await.unwrap()
}

async fn report(peer: &Peer<RoleClient>, listener: &Listener) -> Value {
    let tools = peer.list_all_tools().await.unwrap();
    let echoed = call(peer, "echo", json!({ "message": MESSAGE })).await.unwrap();
    let wrong = call(peer, "error", json!({ "message": "boom", "as_tool": true })).await.unwrap();
    let worked = call(peer, "progress", json!({ "steps": 3, "step_ms": 100 })).await.unwrap();
    let told = listener.0.lock().unwrap().clone();
    json!({
        "tools": tools.iter().take(3).map(|tool| &tool.name).collect::<Vec<_>>(),
        "echo": answer(&echoed),
        "protocol_error": fail(peer).await,
        "tool_error": [wrong.is_error, text(&wrong)],
        "progress": { "told": told, "sent": answer(&worked)["notified"] },
        "cancelled": cancel(peer).await,
    })
}

async fn call(
    peer: &Peer<RoleClient>,
    tool: &'static str,
    arguments: Value,
) -> Result<CallToolResult, ServiceError> {
    let arguments: JsonObject = serde_json::from_value(arguments).unwrap();
    peer.call_tool(CallToolRequestParams::new(tool).with_arguments(arguments)).await
}

fn text(result: &CallToolResult) -> &str {
    &result.content[0].as_text().unwrap().text
}

fn answer(result: &CallToolResult) -> Value {
    serde_json::from_str(text(result)).unwrap()
}

async fn fail(peer: &Peer<RoleClient>) -> Value {
    match call(peer, "error", json!({ "message": "boom", "code": -32050 })).await {
        Err(ServiceError::McpError(error)) => json!([error.code.0, error.message]),
        other => json!(format!("{other:?}")),
    }
}

async fn cancel(peer: &Peer<RoleClient>) -> bool {
    let slow = tokio::spawn({
        let peer = peer.clone();
        async move { call(&peer, "slow", json!({ "milliseconds": 60000 })).await }
    });
    // Whatever is answered now was sent later than the call.
    tokio::task::yield_now().await;
    for _ in 0..5 {
        call(peer, "echo", json!({})).await.unwrap();
    }
    slow.abort();
    let ended = slow.await;
    // Whoever closes now takes the news of it along.
    for _ in 0..5 {
        call(peer, "echo", json!({})).await.unwrap();
    }
    ended.is_err_and(|error| error.is_cancelled())
}
