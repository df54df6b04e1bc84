//! OpenAI: moderations. Nothing is ever flagged: a test that needs a flag writes a `refusal`.

use mcp_loadtest_core::llm::Provider;
use serde_json::json;

use super::{Dialect, Kind, Route, bare};

const CATEGORIES: [&str; 5] = ["harassment", "hate", "self-harm", "sexual", "violence"];

pub(super) static DIALECT: Dialect = Dialect {
    provider: Provider::Openai,
    path: "/v1/moderations",
    verb: "POST",
    route: |path, _| (path == "/v1/moderations").then(Route::default),
    read: |_, body| Ok(bare(Provider::Openai, "", body)),
    kind: Kind::Plain(|request, _| {
        let inputs = request.body["input"].as_array().map_or(1, Vec::len);
        let flags: serde_json::Map<_, _> =
            CATEGORIES.iter().map(|name| ((*name).to_owned(), false.into())).collect();
        let scores: serde_json::Map<_, _> =
            CATEGORIES.iter().map(|name| ((*name).to_owned(), 0.0.into())).collect();
        let one = json!({ "flagged": false, "categories": flags, "category_scores": scores });
        json!({ "id": "modr-mcp-loadtest", "model": "mcp-loadtest", "results": vec![one; inputs] })
    }),
};
