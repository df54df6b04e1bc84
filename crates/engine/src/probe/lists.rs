//! What a server lists: which lists it has, and how one is fetched.

use mcp_loadtest_core::mcp::method;
use mcp_loadtest_wire::session::Session;
use serde_json::{Value, json};

use super::{bench::Bench, seen::Seen};

/// One kind of thing that servers list.
#[derive(Debug, Clone, Copy)]
pub(crate) struct List {
    pub(crate) method: &'static str,
    /// Where the entries stand in the result.
    pub(crate) entries: &'static str,
    /// What tells one entry from another.
    pub(crate) key: &'static str,
    /// Offered by whoever has this capability.
    capability: &'static str,
}

const LISTS: [List; 4] = [
    List { method: method::TOOLS_LIST, entries: "tools", key: "name", capability: "tools" },
    List { method: method::PROMPTS_LIST, entries: "prompts", key: "name", capability: "prompts" },
    List {
        method: method::RESOURCES_LIST,
        entries: "resources",
        key: "uri",
        capability: "resources",
    },
    TEMPLATES,
];

pub(crate) const TEMPLATES: List = List {
    method: method::TEMPLATES_LIST,
    entries: "resourceTemplates",
    key: "uriTemplate",
    capability: "resources",
};

impl List {
    /// The entries of a page.
    pub(crate) fn entries(self, page: &Value) -> &[Value] {
        page.get(self.entries).and_then(Value::as_array).map_or(&[], Vec::as_slice)
    }

    /// The names of the entries of a page.
    pub(crate) fn names(self, page: &Value) -> Vec<String> {
        let names = self.entries(page).iter().filter_map(|entry| entry.get(self.key)?.as_str());
        names.map(str::to_owned).collect()
    }
}

impl Bench {
    /// The lists that the server offers.
    pub(crate) fn lists(&self) -> impl Iterator<Item = List> {
        LISTS.into_iter().filter(|list| self.offers(list.capability))
    }

    /// Whether the server says that it has such a thing.
    pub(crate) fn offers(&self, capability: &str) -> bool {
        self.hello.capabilities.get(capability).is_some_and(|value| !value.is_null())
    }

    /// Sends a request and waits for what becomes of it.
    pub(crate) async fn fetch(&self, session: &Session, method: &str, params: Value) -> Seen {
        let reply = session.call(&session.prepare(method, params), self.how()).await;
        Seen::of_reply(&reply, session.broken())
    }

    /// The first page of a list.
    pub(crate) async fn first_page(&self, session: &Session, list: List) -> Seen {
        self.fetch(session, list.method, json!({})).await
    }
}
