//! Gives the headers back that reached the server; what is secret only by name.

use std::collections::BTreeMap;

use mcp_loadtest_core::secrets::MASK;
use serde_json::{Value, json};

use super::read_only;
use crate::{
    audit::Redaction,
    catalog::tool::{Tool, listing},
    mcp::result::CallResult,
    server::origin::Facts,
};

pub(super) fn tool() -> Tool {
    let description =
        "Gives the HTTP headers back that reached the server. Values of secret ones are masked.";
    let mut listing = listing("headers", description, json!({}), &[]);
    listing.annotations = read_only();
    Tool::later(listing, |exchange| async move {
        let server = exchange.server();
        CallResult::value(&told(exchange.facts(), server.redaction())).into()
    })
}

fn told(facts: &Facts, redaction: &Redaction) -> Value {
    let mut headers: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for (name, value) in &facts.headers {
        let told = if redaction.is_secret(name) { MASK } else { value };
        headers.entry(canonical(name)).or_default().push(told.to_owned());
    }
    json!({ "count": headers.len(), "headers": headers })
}

/// As people write it: `Mcp-Session-Id`.
fn canonical(name: &str) -> String {
    let word = |word: &str| {
        let (first, rest) = word.split_at(word.len().min(1));
        first.to_ascii_uppercase() + &rest.to_ascii_lowercase()
    };
    name.split('-').map(word).collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_are_masked_and_repeated_headers_kept() {
        let headers = [("x-a", "1"), ("X-A", "2"), ("AUTHORIZATION", "Bearer top")];
        let headers = headers.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
        let facts = Facts { headers };
        let told = told(&facts, &Redaction::default());
        assert_eq!(told["headers"]["X-A"], json!(["1", "2"]));
        assert_eq!(told["headers"]["Authorization"], json!(["***"]));
        assert_eq!(told["count"], 2);
    }
}
