//! Headers of the client that reach the server, and those that the gateway adds.

use mcp_loadtest_wire::session::{Address, How, Target};
use serde_json::json;

use crate::{
    audit::Row,
    gateway::{
        bench::{Bench, shown, told},
        check::{Check, Finding, Untold},
    },
};

pub(super) const ENTRY: Check = Check {
    id: "headers",
    about: "Which headers of the client reach the server, and which ones the gateway adds.",
    advice: "Decide which headers pass; a trace needs `traceparent`, and a token that was issued for \
             the gateway must not reach the server.",
    run: |bench| Box::pin(run(bench)),
};

/// What clients send, besides what MCP asks for.
const SENT: &[(&str, &str)] = &[
    ("X-Request-Id", "mcp-loadtest-request"),
    ("traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"),
    ("Authorization", "Bearer mcp-loadtest-not-a-secret"),
    ("X-Mcp-Loadtest", "custom"),
];

/// What every exchange has, whoever makes it.
const USUAL: &[&str] = &[
    "accept",
    "accept-encoding",
    "accept-language",
    "connection",
    "content-length",
    "content-type",
    "host",
    "sec-fetch-mode",
    "transfer-encoding",
    "user-agent",
];

async fn run(bench: &Bench) -> Result<Finding, Untold> {
    let Target::Http(address) = &bench.target else {
        return Ok(Finding::not_applicable("over pipes a client has no headers"));
    };
    let session = bench.open_at(&Target::Http(with_headers(address))).await?;
    let (mark, marker) = (bench.upstream.mark(), bench.marker());
    let call = bench.prepare(&session, "echo", json!({ "message": marker }))?;
    let reply = session.call(&call, How::setup(bench.patience)).await;
    session.close().await;
    let rows = bench.upstream.calls_with(mark, "echo", &marker);
    let row = rows.last().ok_or_else(|| Untold(format!("the call got {}", told(&reply))))?;
    Ok(tell(row))
}

/// A header that the user has set stays as it is.
fn with_headers(address: &Address) -> Address {
    let mut address = address.clone();
    for (name, value) in SENT {
        if !address.headers.iter().any(|(known, _)| known.eq_ignore_ascii_case(name)) {
            address.headers.push(((*name).into(), (*value).into()));
        }
    }
    address
}

fn tell(row: &Row) -> Finding {
    let has = |wanted: &str| row.headers.iter().any(|(name, _)| name.eq_ignore_ascii_case(wanted));
    let (passed, kept_back): (Vec<&str>, Vec<&str>) =
        SENT.iter().map(|(name, _)| *name).partition(|name| has(name));
    let known = |name: &str| {
        let name = name.to_ascii_lowercase();
        name.starts_with("mcp-")
            || USUAL.contains(&&*name)
            || SENT.iter().any(|(sent, _)| sent.eq_ignore_ascii_case(&name))
    };
    let added = row.headers.iter().map(|(name, _)| name).filter(|name| !known(name)).map(shown);
    let added: Vec<_> = added.collect();
    let finding = Finding::measured(format!(
        "passed on: {}; kept back: {}; added: {}",
        list(&passed),
        list(&kept_back),
        list(&added)
    ))
    .figure("passed", passed.len() as f64)
    .figure("added", added.len() as f64);
    if has("Authorization") {
        return finding.and(
            "the server gets an Authorization header: see that it is not the client's token, unless \
             that was issued for the server",
        );
    }
    finding
}

fn list(names: &[impl AsRef<str>]) -> String {
    match names {
        [] => "none".into(),
        names => names.iter().map(AsRef::as_ref).collect::<Vec<_>>().join(", "),
    }
}
