//! Sleeps, then answers. A cancelled sleep ends at once, because a call that is cancelled is dropped.

use std::time::Duration;

use serde_json::json;
use tokio::time::{Instant, sleep};

use super::{read_only, whole};
use crate::{
    catalog::tool::{Tool, listing},
    mcp::result::CallResult,
};

const LONGEST: i64 = 60_000;

pub(super) fn tool() -> Tool {
    let properties = json!({
        "milliseconds": { "type": "integer", "description": "How long, up to 60000." },
    });
    let description = "Sleeps, then answers. Ends at once when the call is cancelled.";
    let mut listing = listing("slow", description, properties, &["milliseconds"]);
    listing.annotations = read_only();
    Tool::later(listing, |exchange| async move {
        let asked = whole(&exchange.arguments()["milliseconds"]).unwrap_or(0);
        let begun = Instant::now();
        sleep(Duration::from_millis(asked.clamp(0, LONGEST) as u64)).await;
        CallResult::value(&json!({ "slept_ms": begun.elapsed().as_millis() as u64 })).into()
    })
}
