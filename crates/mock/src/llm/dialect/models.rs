//! OpenAI: the list of models: those that fixtures name, and one that is always there.

use mcp_loadtest_core::llm::Provider;
use serde_json::json;

use super::{CREATED, Dialect, Kind, Route, bare};

pub(super) static DIALECT: Dialect = Dialect {
    provider: Provider::Openai,
    path: "/v1/models",
    verb: "GET",
    route: |path, _| (path == "/v1/models").then(Route::default),
    read: |_, body| Ok(bare(Provider::Openai, "", body)),
    kind: Kind::Plain(|_, models| {
        let ids = models.iter().map(String::as_str).chain(["mcp-loadtest"]);
        let data: Vec<_> = ids
            .map(|id| {
                json!({ "id": id, "object": "model", "created": CREATED, "owned_by": "mcp-loadtest" })
            })
            .collect();
        json!({ "object": "list", "data": data })
    }),
};
