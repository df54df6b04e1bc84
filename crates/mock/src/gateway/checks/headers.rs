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
    let address = with_headers(address);
    let session = bench.open_at(&Target::Http(address.clone())).await?;
    let (mark, marker) = (bench.upstream.mark(), bench.marker());
    let call = bench.prepare(&session, "echo", json!({ "message": marker }))?;
    let reply = session.call(&call, How::setup(bench.patience)).await;
    session.close().await;
    let rows = bench.upstream.calls_with(mark, "echo", &marker);
    let row = rows.last().ok_or_else(|| Untold(format!("the call got {}", told(&reply))))?;
    Ok(tell(&address.headers, row))
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

/// What became of a header of the client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Passed,
    Replaced,
    KeptBack,
}

fn fate(row: &Row, (name, value): &(String, String)) -> Fate {
    let mut arrived = row.headers.iter().filter(|(known, _)| known.eq_ignore_ascii_case(name));
    match arrived.next() {
        None => Fate::KeptBack,
        Some((_, arrived)) if arrived == value => Fate::Passed,
        Some(_) => Fate::Replaced,
    }
}

fn tell(sent: &[(String, String)], row: &Row) -> Finding {
    let with = |wanted: Fate| -> Vec<String> {
        let names = sent.iter().filter(|header| fate(row, header) == wanted);
        names.map(|(name, _)| name.clone()).collect()
    };
    let known = |name: &str| {
        let name = name.to_ascii_lowercase();
        name.starts_with("mcp-")
            || USUAL.contains(&&*name)
            || sent.iter().any(|(sent, _)| sent.eq_ignore_ascii_case(&name))
    };
    let added = row.headers.iter().map(|(name, _)| name).filter(|name| !known(name)).map(shown);
    let (passed, added): (_, Vec<_>) = (with(Fate::Passed), added.collect());
    let mut told =
        format!("passed on: {}; kept back: {}", list(&passed), list(&with(Fate::KeptBack)));
    let replaced = with(Fate::Replaced);
    if !replaced.is_empty() {
        told.push_str(&format!("; replaced: {}", list(&replaced)));
    }
    told.push_str(&format!("; added: {}", list(&added)));
    let finding = Finding::measured(told)
        .figure("passed", passed.len() as f64)
        .figure("replaced", replaced.len() as f64)
        .figure("added", added.len() as f64);
    if passed.iter().any(|name| name.eq_ignore_ascii_case("authorization")) {
        return finding.and(
            "the client's token reaches the server, which MCP forbids unless it was issued for the server",
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_of_the_gateway_is_not_that_of_the_client() {
        let sent = [("Authorization", "client"), ("X-A", "1"), ("X-B", "2")];
        let sent = sent.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let mut row = Row::default();
        for (name, value) in [("authorization", "gateway"), ("x-a", "1"), ("Via", "1.1 gw")] {
            row.headers.push(name, value);
        }
        let told = tell(&sent, &row).evidence;
        let all = "passed on: X-A; kept back: X-B; replaced: Authorization; added: Via";
        assert_eq!(told, [all]);
    }
}
