//! Tells how far it is, step by step, to a client that wants to know.

use std::time::Duration;

use serde_json::json;
use tokio::time::sleep;

use super::{read_only, whole};
use crate::{
    catalog::tool::{Tool, listing},
    mcp::result::CallResult,
};

pub(super) fn tool() -> Tool {
    let properties = json!({
        "steps": { "type": "integer", "description": "How many, up to 100; 0 means 5." },
        "step_ms": { "type": "integer", "description": "How long each, up to 5000; 0 means 200." },
    });
    let description = "Works in steps and sends a progress notification after each, if the call \
                       carries a progress token.";
    let mut listing = listing("progress", description, properties, &[]);
    listing.annotations = read_only();
    Tool::later(listing, |exchange| async move {
        let steps = or_default(&exchange.arguments()["steps"], 5, 100);
        let step_ms = or_default(&exchange.arguments()["step_ms"], 200, 5_000);
        let mut notified = 0;
        for step in 1..=steps {
            sleep(Duration::from_millis(step_ms)).await;
            let message = format!("step {step}/{steps}");
            if exchange.progress(step as f64, steps as f64, Some(&message)).await {
                notified += 1;
            }
        }
        CallResult::value(&json!({ "done": true, "notified": notified, "steps": steps })).into()
    })
}

/// A number that was left out, or is none, means the default.
fn or_default(value: &serde_json::Value, default: u64, most: u64) -> u64 {
    match whole(value) {
        Some(number) if number > 0 => (number as u64).min(most),
        _ => default,
    }
}
