//! Modern: `subscriptions/listen`, a request that is answered when nobody wants to listen any more.

use mcp_loadtest_core::mcp::{Era, method};
use serde_json::{Map, Value, json};
use tokio::sync::broadcast::error::RecvError;

use super::{Change, exchange::Exchange};
use crate::mcp::{refusal::Refusal, result::Outcome};

/// The kinds of news that can be wished for.
const KINDS: [&str; 4] =
    ["toolsListChanged", "promptsListChanged", "resourcesListChanged", "resourceSubscriptions"];

/// Tells the news until the call is cancelled.
pub(super) async fn listen(exchange: &Exchange) -> Outcome {
    let Some(wanted) = exchange.params()["notifications"].as_object() else {
        return Refusal::invalid_params("`notifications` is not an object").into();
    };
    let mut changes = exchange.server().changes();
    let id: Value = serde_json::from_slice(exchange.id()).unwrap_or(Value::Null);
    let meta = json!({ (method::META_SUBSCRIPTION): id });
    let honoured: Map<_, _> = wanted
        .iter()
        .filter(|(key, _)| KINDS.contains(&key.as_str()))
        .map(|(key, wish)| (key.clone(), wish.clone()))
        .collect();
    let acknowledged = json!({ "notifications": honoured, "_meta": meta });
    exchange.notify(method::LISTENING, &acknowledged).await;
    exchange.server().stream_opened(exchange.session(), exchange.outbox(), Era::Modern);
    loop {
        match changes.recv().await {
            Ok(change) if wants(wanted, &change) => {
                let (method, mut params) = change.notification();
                params["_meta"] = meta.clone();
                exchange.notify(method, &params).await;
            }
            // Whoever is too slow for the news hears the next.
            Ok(_) | Err(RecvError::Lagged(_)) => {}
            Err(RecvError::Closed) => std::future::pending().await,
        }
    }
}

fn wants(wanted: &Map<String, Value>, change: &Change) -> bool {
    let is_on = |key: &str| wanted.get(key).and_then(Value::as_bool).unwrap_or(false);
    match change {
        Change::Tools => is_on("toolsListChanged"),
        Change::Prompts => is_on("promptsListChanged"),
        Change::Resource(uri) => wanted
            .get("resourceSubscriptions")
            .and_then(Value::as_array)
            .is_some_and(|uris| uris.iter().any(|wish| wish == uri)),
    }
}
