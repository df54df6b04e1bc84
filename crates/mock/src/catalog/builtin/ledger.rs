//! A side effect that can be counted: proof of retries that did their work twice.

use std::{
    collections::BTreeMap,
    sync::{Mutex, PoisonError},
};

use serde_json::json;

use super::whole;
use crate::{
    catalog::tool::{Call, Tool, listing},
    mcp::{
        refusal::Refusal,
        result::{CallResult, Outcome},
    },
};

/// A client that invents keys must not fill the memory.
const MOST_KEYS: usize = 1_000_000;

pub(super) fn tool() -> Tool {
    let properties = json!({
        "action": {
            "type": "string",
            "enum": ["add", "read", "reset"],
            "description": "add (default): one more effect; read: how many; reset: forget all.",
        },
        "key": { "type": "string", "description": "The idempotency key of the effect." },
        "amount": { "type": "integer", "description": "What is added [default: 1]." },
        "once": {
            "type": "boolean",
            "description": "true: a key that was seen before has no further effect, as on a server \
                            that honours idempotency keys.",
        },
    });
    let description = "Counts side effects by idempotency key. `applied` above 1 is an effect that \
                       happened more than once.";
    let mut listing = listing("ledger", description, properties, &[]);
    listing.annotations = Some(json!({ "readOnlyHint": false, "destructiveHint": false }));
    let ledger = Ledger::default();
    Tool::now(listing, move |call| ledger.act(call))
}

#[derive(Debug, Default)]
struct Ledger {
    entries: Mutex<BTreeMap<String, Entry>>,
}

#[derive(Debug, Default, Clone, Copy)]
struct Entry {
    /// How often it was asked for.
    received: u64,
    /// How often it took effect.
    applied: u64,
    total: i64,
}

impl Ledger {
    fn act(&self, call: &Call<'_>) -> Outcome {
        let key = call.arguments["key"].as_str();
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        match (call.arguments["action"].as_str(), key) {
            (Some("reset"), _) => {
                entries.clear();
                CallResult::value(&json!({ "keys": 0 })).into()
            }
            (Some("read"), None) => {
                let twice = entries.values().filter(|entry| entry.applied > 1).count();
                let total: i64 = entries.values().map(|entry| entry.total).sum();
                let told = json!({ "keys": entries.len(), "duplicated": twice, "total": total });
                CallResult::value(&told).into()
            }
            (Some("read"), Some(key)) => told(key, entries.get(key).copied().unwrap_or_default()),
            (_, None) => Refusal::invalid_params("`key` is missing").into(),
            (_, Some(key)) if entries.len() >= MOST_KEYS && !entries.contains_key(key) => {
                CallResult::error("the ledger is full; reset it").into()
            }
            (_, Some(key)) => {
                let entry = entries.entry(key.to_owned()).or_default();
                entry.received += 1;
                if entry.applied == 0 || call.arguments["once"] != true {
                    entry.applied += 1;
                    let amount = whole(&call.arguments["amount"]).unwrap_or(1);
                    entry.total = entry.total.saturating_add(amount);
                }
                told(key, *entry)
            }
        }
    }
}

fn told(key: &str, Entry { received, applied, total }: Entry) -> Outcome {
    let told = json!({ "applied": applied, "key": key, "received": received, "total": total });
    CallResult::value(&told).into()
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::{
        super::tests::{call, result},
        *,
    };

    fn told(tool: &Tool, arguments: Value) -> Value {
        let structured = result(call(tool, arguments)).structured.unwrap();
        serde_json::from_str(structured.get()).unwrap()
    }

    #[test]
    fn what_happened_twice_is_seen() {
        let tool = tool();
        for _ in 0..2 {
            told(&tool, json!({"key": "a", "amount": 5}));
            told(&tool, json!({"key": "b", "amount": 5, "once": true}));
        }
        let entry = |key: &str| told(&tool, json!({"action": "read", "key": key}));
        assert_eq!(entry("a"), json!({"key": "a", "received": 2, "applied": 2, "total": 10}));
        assert_eq!(entry("b"), json!({"key": "b", "received": 2, "applied": 1, "total": 5}));
        let all = told(&tool, json!({"action": "read"}));
        assert_eq!(all, json!({"keys": 2, "duplicated": 1, "total": 15}));
        told(&tool, json!({"action": "reset"}));
        assert_eq!(told(&tool, json!({"action": "read"}))["keys"], 0);
        assert!(matches!(call(&tool, json!({})), Outcome::Refused(..)));
    }
}
