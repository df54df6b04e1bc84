//! A request that was prepared once and is sent many times.

use std::{cell::Cell, time::Duration};

use mcp_loadtest_core::{
    jsonrpc::Template,
    mcp::{Lifecycle, header, method},
};
use serde_json::{Value, json};

/// What we tell servers about ourselves.
pub(crate) fn client_info() -> Value {
    json!({ "name": "mcp-loadtest", "version": env!("CARGO_PKG_VERSION") })
}

/// What we offer: enough to be asked for input, which is then answered with plain values.
pub(crate) fn client_capabilities() -> Value {
    json!({ "roots": {}, "sampling": {}, "elicitation": {} })
}

/// A request without its id, with the HTTP headers that belong to it.
#[derive(Debug)]
pub struct Prepared {
    pub(crate) template: Template,
    pub(crate) tool: Option<String>,
    /// Header lines of the modern era, each with its line end.
    pub(crate) headers: String,
    /// When the youngest call that was answered well had begun.
    answered: Cell<Duration>,
}

impl Prepared {
    /// The method that it calls.
    pub fn method(&self) -> &str {
        self.template.method()
    }

    /// A call of it that began then was answered well.
    pub(crate) fn saw_answer(&self, started: Duration) {
        self.answered.set(self.answered.get().max(started));
    }

    /// Whether a call of it that began after `started` was answered well.
    pub(crate) fn answered_since(&self, started: Duration) -> bool {
        self.answered.get() > started
    }

    /// The same request with other parameters.
    pub(crate) fn with_template(&self, template: Template) -> Self {
        Self {
            template,
            tool: self.tool.clone(),
            headers: self.headers.clone(),
            answered: Cell::default(),
        }
    }

    /// The tool that it calls.
    pub fn tool(&self) -> Option<&str> {
        self.tool.as_deref()
    }
}

/// Prepares a request as the revision wants it.
pub(crate) fn prepare(
    lifecycle: &Lifecycle,
    method: &str,
    mut params: Value,
    parameter_headers: &[(String, String)],
) -> Prepared {
    let tool = (method == method::TOOLS_CALL)
        .then(|| params["name"].as_str().map(str::to_owned))
        .flatten();
    let mut headers = String::new();
    if lifecycle.meta_in_every_request {
        add_meta(&mut params, lifecycle);
        headers = modern_headers(lifecycle, method, &params, parameter_headers);
    }
    Prepared { template: Template::new(method, &params), tool, headers, answered: Cell::default() }
}

/// Keys that the caller set stay as they are: that is how probes send wrong ones.
fn add_meta(params: &mut Value, lifecycle: &Lifecycle) {
    let Some(object) = params.as_object_mut() else { return };
    let meta = object.entry("_meta").or_insert_with(|| json!({}));
    let Some(meta) = meta.as_object_mut() else { return };
    let own = [
        (method::META_VERSION, json!(lifecycle.revision)),
        (method::META_CLIENT_INFO, client_info()),
        (method::META_CAPABILITIES, client_capabilities()),
    ];
    for (key, value) in own {
        meta.entry(key).or_insert(value);
    }
}

fn modern_headers(
    lifecycle: &Lifecycle,
    method: &str,
    params: &Value,
    parameters: &[(String, String)],
) -> String {
    let mut lines = format!(
        "{}: {}\r\n{}: {}\r\n",
        header::PROTOCOL_VERSION,
        lifecycle.revision,
        header::METHOD,
        header::encode_value(method)
    );
    let name = ["name", "uri", "taskId"].iter().find_map(|key| params.get(key)?.as_str());
    let is_named = matches!(method, method::TOOLS_CALL | "prompts/get" | "resources/read")
        || method.starts_with("tasks/");
    if let Some(name) = name.filter(|_| is_named) {
        lines.push_str(&format!("{}: {}\r\n", header::NAME, header::encode_value(name)));
    }
    for (name, value) in parameters {
        lines.push_str(&format!("{name}: {value}\r\n"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcp_loadtest_core::mcp::{Revision, lifecycle};

    #[test]
    fn a_legacy_request_carries_nothing_extra() {
        let call =
            prepare(&lifecycle(Revision::V2025_11_25), "tools/call", json!({"name": "t"}), &[]);
        assert_eq!(call.template.params(), br#"{"name":"t"}"#);
        assert_eq!(call.headers, "");
        assert_eq!(call.tool(), Some("t"));
    }

    #[test]
    fn a_modern_request_says_who_asks_in_which_revision() {
        let call = prepare(
            &lifecycle(Revision::V2026_07_28),
            "tools/call",
            json!({"name": "t\u{e9}"}),
            &[],
        );
        let params: Value = serde_json::from_slice(call.template.params()).unwrap();
        assert_eq!(params["_meta"][method::META_VERSION], "2026-07-28");
        assert_eq!(
            call.headers,
            "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: =?base64?dMOp?=\r\n"
        );
    }
}
