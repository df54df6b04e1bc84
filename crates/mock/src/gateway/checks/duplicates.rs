//! A reply that gets lost: is the effect had once, or does the gateway try again what was done?

use mcp_loadtest_wire::session::Session;
use serde_json::{Value, json};

use crate::gateway::{
    bench::{Bench, told},
    check::{Check, Finding, Untold},
};

pub(super) const ENTRY: Check = Check {
    id: "duplicates",
    about: "A call whose reply gets lost takes effect once, not twice.",
    advice: "Do not repeat `tools/call` unless the server refused it: a connection that breaks says \
             nothing about whether the tool ran. Only a tool with `idempotentHint` may be repeated.",
    run: |bench| Box::pin(run(bench)),
};

/// The connection ends in the middle of the reply.
const FAULT: &str = "truncate:20@tool=ledger,nth=1";

async fn run(bench: &Bench) -> Result<Finding, Untold> {
    bench.names.find("ledger")?;
    bench.session().await?;
    bench.upstream.set_fault(Some(FAULT));
    let key = bench.marker();
    let called = bench.call("ledger", json!({ "key": key })).await;
    bench.upstream.set_fault(None);
    let direct = bench.direct().await?;
    let applied = applied(bench, &direct, &key).await;
    direct.close().await;
    bench.renew().await;
    let got = format!("the client got {}", told(&called?));
    let finding = match applied {
        Some(0) | None => return Err(Untold(format!("the call never took effect; {got}"))),
        Some(1) => Finding::kept("the reply was lost, and the call took effect once").and(got),
        Some(times) => {
            Finding::broken(format!("the reply was lost, and the call took effect {times} times"))
                .and(got)
        }
    };
    Ok(finding.figure("applied", applied.unwrap_or_default() as f64))
}

async fn applied(bench: &Bench, direct: &Session, key: &str) -> Option<u64> {
    let arguments = json!({ "action": "read", "key": key });
    let reply = bench.call_direct(direct, "ledger", arguments).await;
    let text = reply.json()?["content"][0]["text"].as_str()?.to_owned();
    serde_json::from_str::<Value>(&text).ok()?["applied"].as_u64()
}
