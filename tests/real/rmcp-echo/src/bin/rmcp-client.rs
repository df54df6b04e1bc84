//! The client of the Rust SDK against an MCP server: `rmcp-client MODE URL`, or
//! `rmcp-client MODE COMMAND WORD...`.
//!
//! Prints one JSON report; crates/cli/tests/it/clients/mod.rs says what must be in it.

use std::{
    env,
    error::Error,
    io::{Read as _, stdin},
    sync::{Arc, Mutex},
};

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

/// Remembers what it is told.
#[derive(Clone, Default)]
struct Listener(Arc<Mutex<Vec<Option<String>>>>);

impl ClientHandler for Listener {
    async fn on_progress(
        &self,
        told: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.0.lock().expect("nobody panics").push(told.message);
    }
}

type Client = RunningService<RoleClient, Listener>;
type Failure = Box<dyn Error + Send + Sync>;

async fn connect(listener: Listener, mode: &str, target: &[String]) -> Result<Client, Failure> {
    let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
    let lifecycle = match mode {
        "legacy" => ClientLifecycleMode::Initialize,
        "auto" => ClientLifecycleMode::Auto { preferred_versions, legacy_version: None },
        _ => ClientLifecycleMode::Discover { preferred_versions },
    };
    if target[0].starts_with("http") {
        let transport = StreamableHttpClientTransport::from_uri(target[0].as_str());
        return Ok(listener.serve_with_lifecycle(transport, lifecycle).await?);
    }
    let mut command = Command::new(&target[0]);
    command.args(&target[1..]);
    let transport = TokioChildProcess::new(command)?;
    Ok(listener.serve_with_lifecycle(transport, lifecycle).await?)
}

async fn call(
    peer: &Peer<RoleClient>,
    tool: &'static str,
    arguments: Value,
) -> Result<CallToolResult, ServiceError> {
    let arguments: JsonObject = serde_json::from_value(arguments).expect("an object");
    peer.call_tool(CallToolRequestParams::new(tool).with_arguments(arguments)).await
}

fn text(result: &CallToolResult) -> String {
    result.content[0].as_text().expect("a text").text.clone()
}

async fn fail(peer: &Peer<RoleClient>) -> Value {
    match call(peer, "error", json!({"message": "boom", "code": -32050})).await {
        Err(ServiceError::McpError(error)) => json!([error.code.0, error.message]),
        other => json!(format!("{other:?}")),
    }
}

async fn cancel(peer: &Peer<RoleClient>) -> Result<bool, Failure> {
    let slow = tokio::spawn({
        let peer = peer.clone();
        async move { call(&peer, "slow", json!({"milliseconds": 60000})).await }
    });
    // Whatever is answered now was sent later than the call.
    tokio::task::yield_now().await;
    for _ in 0..5 {
        call(peer, "echo", json!({})).await?;
    }
    slow.abort();
    let ended = slow.await;
    // Whoever closes now takes the news of it along.
    for _ in 0..5 {
        call(peer, "echo", json!({})).await?;
    }
    Ok(ended.is_err_and(|error| error.is_cancelled()))
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Failure> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let [mode, target @ ..] = &arguments[..] else {
        return Err("usage: rmcp-client MODE URL".into());
    };
    let listener = Listener::default();
    let client = connect(listener.clone(), mode, target).await?;
    let mut message = String::new();
    stdin().read_to_string(&mut message)?;
    let message: Value = serde_json::from_str(&message)?;

    let peer = client.peer();
    let tools = peer.list_all_tools().await?;
    let echoed: Value =
        serde_json::from_str(&text(&call(peer, "echo", json!({"message": message})).await?))?;
    let wrong = call(peer, "error", json!({"message": "boom", "as_tool": true})).await?;
    let worked = call(peer, "progress", json!({"steps": 3, "step_ms": 100})).await?;
    let told = listener.0.lock().expect("nobody panics").clone();
    let worked: Value = serde_json::from_str(&text(&worked))?;
    let report = json!({
        "tools": tools.iter().take(3).map(|tool| &tool.name).collect::<Vec<_>>(),
        "echo": echoed,
        "protocol_error": fail(peer).await,
        "tool_error": [wrong.is_error, text(&wrong)],
        "progress": { "told": told, "sent": worked["notified"] },
        "cancelled": cancel(peer).await?,
    });
    println!("{report}");
    client.cancel().await?;
    Ok(())
}
