//! OpenAI: the list of models, and one of them: those that fixtures name, and one that is always there.

use mcp_loadtest_core::llm::Provider;
use serde_json::{Value, json};

use super::{CREATED, Dialect, Kind, Route, bare};

pub(super) static DIALECT: Dialect = Dialect {
    provider: Provider::Openai,
    path: "/v1/models",
    verb: "GET",
    route: |path, _| (path == "/v1/models").then(Route::default),
    read: |_, body| Ok(bare(Provider::Openai, "", body)),
    kind: Kind::Plain(|_, models| {
        let ids = models.iter().map(String::as_str).chain(["mcp-loadtest"]);
        json!({ "object": "list", "data": ids.map(model).collect::<Vec<_>>() })
    }),
};

/// Any model may be asked for: which of them are answered is up to the fixtures.
pub(super) static ONE: Dialect = Dialect {
    provider: Provider::Openai,
    path: "/v1/models/MODEL",
    verb: "GET",
    route: |path, _| {
        let name = path.strip_prefix("/v1/models/").filter(|name| !name.contains([':', '/']))?;
        Some(Route { model: Some(name.to_owned()), ..Route::default() })
    },
    read: |route, body| Ok(bare(Provider::Openai, route.model.as_deref().unwrap_or(""), body)),
    kind: Kind::Plain(|request, _| model(&request.model)),
};

fn model(id: &str) -> Value {
    json!({ "id": id, "object": "model", "created": CREATED, "owned_by": "mcp-loadtest" })
}
