//! A request that was prepared once and is sent many times.

use std::{cell::Cell, rc::Rc, sync::Arc, time::Duration};

use mcp_loadtest_core::{
    arguments::{Echo, Nonce},
    jsonrpc::Template,
    mcp::{
        Lifecycle,
        header::{self, MarkedParameter},
        method,
    },
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

/// What the calls of a tool must keep to.
pub trait Contract: Send + Sync {
    /// What is wrong with these arguments, if anything.
    fn refuses_arguments(&self, arguments: &[u8]) -> Option<String>;
    /// What is wrong with this result, if anything.
    fn refuses_result(&self, result: &[u8]) -> Option<String>;
}

/// A request without its id, with the HTTP headers that belong to it.
#[derive(Debug)]
pub struct Prepared {
    pub(crate) template: Template,
    /// Header lines of the modern era, each with its line end.
    pub(crate) headers: Rc<str>,
    /// What a good reply must hold somewhere: it shows that the reply belongs to this request.
    pub(crate) expected: Option<(Nonce, Echo)>,
    /// Why it is not sent: its arguments break the contract.
    pub(crate) refused: Option<Rc<str>>,
    origin: Rc<Origin>,
}

/// What a request shares with those that were made from it.
struct Origin {
    tool: Option<String>,
    /// Header lines without those that repeat parameters.
    headers: Rc<str>,
    /// The parameters that are repeated in headers.
    marks: Vec<MarkedParameter>,
    /// When the youngest call that was answered well had begun.
    answered: Cell<Duration>,
    /// What arguments and results are held against.
    contract: Option<Arc<dyn Contract>>,
}

impl std::fmt::Debug for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Origin").field("tool", &self.tool).finish_non_exhaustive()
    }
}

impl Prepared {
    /// The method that it calls.
    pub fn method(&self) -> &str {
        self.template.method()
    }

    /// Its parameters as they are sent.
    pub fn params(&self) -> &[u8] {
        self.template.params()
    }

    /// The tool that it calls.
    pub fn tool(&self) -> Option<&str> {
        self.origin.tool.as_deref()
    }

    /// The request with this id, as it travels.
    pub fn frame(&self, id: u64) -> Vec<u8> {
        let mut frame = Vec::with_capacity(self.template.len(id));
        self.template.write(id, &mut frame);
        frame
    }

    /// The same tool call with other arguments: a JSON object in one line, spliced in as it is. A
    /// good reply must hold the nonce; without it the call fails.
    ///
    /// Costs two allocations, and reads the arguments only where the tool's schema marks some that
    /// HTTP repeats in headers. A request without `arguments` keeps its parameters.
    #[must_use]
    pub fn with_arguments(&self, arguments: &[u8], nonce: Option<(Nonce, Echo)>) -> Rc<Self> {
        let headers = if self.origin.marks.is_empty() {
            self.origin.headers.clone()
        } else {
            let arguments = serde_json::from_slice(arguments).unwrap_or(Value::Null);
            with_parameters(&self.origin.headers, &self.origin.marks, &arguments)
        };
        Rc::new(Self {
            template: self.template.exchanged(arguments),
            headers,
            expected: nonce,
            refused: self.refusal(arguments),
            origin: self.origin.clone(),
        })
    }

    /// The same tool call, held to a contract: arguments that break it are not sent.
    #[must_use]
    pub fn under(&self, contract: Arc<dyn Contract>, arguments: &Value) -> Rc<Self> {
        let origin = Rc::new(Origin {
            tool: self.origin.tool.clone(),
            headers: self.origin.headers.clone(),
            marks: self.origin.marks.clone(),
            answered: Cell::default(),
            contract: Some(contract),
        });
        let mut held = Self { origin, ..self.with_template(self.template.clone()) };
        held.refused = held.refusal(arguments.to_string().as_bytes());
        Rc::new(held)
    }

    fn refusal(&self, arguments: &[u8]) -> Option<Rc<str>> {
        let why = self.origin.contract.as_ref()?.refuses_arguments(arguments)?;
        Some(why.into())
    }

    /// What is wrong with a result, where it is held against anything.
    #[inline]
    pub(crate) fn breach(&self, result: &[u8]) -> Option<String> {
        self.origin.contract.as_ref()?.refuses_result(result)
    }

    /// A call of it that began then was answered well.
    pub(crate) fn saw_answer(&self, started: Duration) {
        let answered = &self.origin.answered;
        answered.set(answered.get().max(started));
    }

    /// Whether a call of it that began after `started` was answered well.
    pub(crate) fn answered_since(&self, started: Duration) -> bool {
        self.origin.answered.get() > started
    }

    /// The same request with other parameters.
    pub(crate) fn with_template(&self, template: Template) -> Self {
        Self {
            template,
            headers: self.headers.clone(),
            expected: self.expected,
            refused: self.refused.clone(),
            origin: self.origin.clone(),
        }
    }
}

/// Prepares a request as the revision wants it. HTTP repeats the marked arguments in headers.
pub(crate) fn prepare(
    lifecycle: &Lifecycle,
    method: &str,
    mut params: Value,
    marks: &[MarkedParameter],
) -> Prepared {
    let tool = (method == method::TOOLS_CALL)
        .then(|| params["name"].as_str().map(str::to_owned))
        .flatten();
    let mut common = Rc::from("");
    let mut marks = marks;
    if lifecycle.meta_in_every_request {
        add_meta(&mut params, lifecycle);
        common = modern_headers(lifecycle, method, &params).into();
    } else {
        marks = &[];
    }
    let headers = with_parameters(&common, marks, &params[ARGUMENTS]);
    Prepared {
        template: Template::with_open(method, &params, ARGUMENTS),
        headers,
        expected: None,
        refused: None,
        origin: Rc::new(Origin {
            tool,
            headers: common,
            marks: marks.to_vec(),
            answered: Cell::default(),
            contract: None,
        }),
    }
}

/// The member of a tool call's parameters that differs from call to call.
const ARGUMENTS: &str = "arguments";

/// Adds the header lines that repeat marked arguments.
fn with_parameters(lines: &Rc<str>, marks: &[MarkedParameter], arguments: &Value) -> Rc<str> {
    let parameters = header::parameter_headers(marks, arguments);
    if parameters.is_empty() {
        return lines.clone();
    }
    let added = parameters.iter().map(|(name, value)| format!("{name}: {value}\r\n"));
    [lines.to_string()].into_iter().chain(added).collect::<String>().into()
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

fn modern_headers(lifecycle: &Lifecycle, method: &str, params: &Value) -> String {
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
        assert_eq!(&*call.headers, "");
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
            &*call.headers,
            "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: =?base64?dMOp?=\r\n"
        );
    }

    fn marked(revision: Revision) -> Prepared {
        let schema =
            json!({"properties": {"region": {"type": "string", "x-mcp-header": "Region"}}});
        let params = json!({"name": "t", "arguments": {"region": "eu"}});
        let marks = header::marked_parameters(&schema).unwrap();
        prepare(&lifecycle(revision), "tools/call", params, &marks)
    }

    #[test]
    fn other_arguments_keep_everything_else() {
        let base = marked(Revision::V2026_07_28);
        assert!(base.headers.ends_with("Mcp-Name: t\r\nMcp-Param-Region: eu\r\n"));
        let next = base.with_arguments(br#"{"region":"Z\u00fcrich","n":1}"#, None);
        let params: Value = serde_json::from_slice(next.template.params()).unwrap();
        assert_eq!(params["arguments"], json!({"region": "Z\u{fc}rich", "n": 1}));
        assert_eq!((&params["name"], next.tool()), (&json!("t"), Some("t")));
        assert_eq!(params["_meta"][method::META_VERSION], "2026-07-28");
        assert!(
            next.headers.ends_with("Mcp-Name: t\r\nMcp-Param-Region: =?base64?WsO8cmljaA==?=\r\n")
        );
        let none = next.with_arguments(b"{}", None);
        assert!(none.headers.ends_with("Mcp-Name: t\r\n"), "{}", none.headers);
        let legacy = marked(Revision::V2025_11_25);
        assert_eq!(&*legacy.with_arguments(br#"{"region":"eu"}"#, None).headers, "");
    }

    #[test]
    fn calls_with_other_arguments_are_answered_together() {
        let base = marked(Revision::V2025_11_25);
        let (one, two) = (base.with_arguments(b"{}", None), base.with_arguments(b"{}", None));
        one.saw_answer(Duration::from_secs(2));
        assert!(two.answered_since(Duration::from_secs(1)));
    }
}
