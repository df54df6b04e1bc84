//! Whether results have the form that the negotiated revision asks for.
//!
//! The rules stand in tables: a `Form` is an object, a `Member` one of its members. A member
//! that a revision does not know yet is not looked at: newer servers may say more.

use serde_json::Value;

use crate::mcp::{Revision, method};

/// Where the forms are written.
pub const REFERENCE: &str = "MCP, schema of the negotiated revision";

/// So many problems of one result are told.
const MOST_PROBLEMS: usize = 8;

/// So many entries of one list are looked at.
const MOST_ENTRIES: usize = 1_000;

#[derive(Clone, Copy)]
enum Kind {
    Text,
    Flag,
    Object,
    /// A whole number, not below zero.
    Count,
    Word(&'static [&'static str]),
    Is(&'static Form),
    ListOf(&'static Form),
    Texts,
    Content,
    Contents,
    /// An object before 2026-07-28, anything since.
    Structured,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Need {
    Must,
    May,
}

struct Member {
    name: &'static str,
    kind: Kind,
    need: Need,
    since: Revision,
}

/// An object of the protocol.
struct Form {
    members: &'static [Member],
    /// One of these must be there, where any are named.
    either: &'static [&'static str],
}

const fn must(name: &'static str, kind: Kind) -> Member {
    Member { name, kind, need: Need::Must, since: Revision::V2024_11_05 }
}

const fn may(name: &'static str, kind: Kind) -> Member {
    Member { name, kind, need: Need::May, since: Revision::V2024_11_05 }
}

const fn since(since: Revision, member: Member) -> Member {
    Member { since, ..member }
}

const fn form(members: &'static [Member]) -> Form {
    Form { members, either: &[] }
}

use Kind::{Content, Contents, Count, Flag, Is, ListOf, Object, Structured, Text, Texts, Word};
use Revision::{V2025_03_26, V2025_06_18, V2026_07_28};

const RESULT_TYPE: Member = since(V2026_07_28, must("resultType", Text));
const TTL: Member = since(V2026_07_28, must("ttlMs", Count));
const SCOPE: Member = since(V2026_07_28, must("cacheScope", Word(&["public", "private"])));
const CURSOR: Member = may("nextCursor", Text);

static INFO: Form = form(&[must("name", Text), must("version", Text)]);
static HINTS: Form = form(&[
    may("title", Text),
    may("readOnlyHint", Flag),
    may("destructiveHint", Flag),
    may("idempotentHint", Flag),
    may("openWorldHint", Flag),
]);
static SCHEMA: Form = form(&[must("type", Word(&["object"]))]);
static TOOL: Form = form(&[
    must("name", Text),
    may("description", Text),
    must("inputSchema", Is(&SCHEMA)),
    since(V2025_06_18, may("outputSchema", Object)),
    since(V2025_03_26, may("annotations", Is(&HINTS))),
]);
static ARGUMENT: Form =
    form(&[must("name", Text), may("description", Text), may("required", Flag)]);
static PROMPT: Form =
    form(&[must("name", Text), may("description", Text), may("arguments", ListOf(&ARGUMENT))]);
static RESOURCE: Form = form(&[must("uri", Text), must("name", Text), may("mimeType", Text)]);
static TEMPLATE: Form =
    form(&[must("uriTemplate", Text), must("name", Text), may("mimeType", Text)]);
static RESOURCE_CONTENTS: Form = Form {
    members: &[must("uri", Text), may("mimeType", Text), may("text", Text), may("blob", Text)],
    either: &["text", "blob"],
};
static MESSAGE: Form =
    form(&[must("role", Word(&["user", "assistant"])), must("content", Content)]);

/// What a content block holds besides its type, and since when it exists.
static CONTENT: [(&str, Revision, Form); 5] = [
    ("text", Revision::V2024_11_05, form(&[must("text", Text)])),
    ("image", Revision::V2024_11_05, form(&[must("data", Text), must("mimeType", Text)])),
    ("audio", V2025_03_26, form(&[must("data", Text), must("mimeType", Text)])),
    ("resource", Revision::V2024_11_05, form(&[must("resource", Is(&RESOURCE_CONTENTS))])),
    ("resource_link", V2025_06_18, form(&[must("uri", Text), must("name", Text)])),
];

/// The form of each result.
static RESULTS: [(&str, Form); 9] = [
    (
        method::INITIALIZE,
        form(&[
            must("protocolVersion", Text),
            must("capabilities", Object),
            must("serverInfo", Is(&INFO)),
            may("instructions", Text),
        ]),
    ),
    (
        method::DISCOVER,
        form(&[
            must("supportedVersions", Texts),
            must("capabilities", Object),
            may("instructions", Text),
            RESULT_TYPE,
            TTL,
            SCOPE,
        ]),
    ),
    (method::TOOLS_LIST, form(&[must("tools", ListOf(&TOOL)), CURSOR, RESULT_TYPE, TTL, SCOPE])),
    (
        method::TOOLS_CALL,
        form(&[
            must("content", Contents),
            may("isError", Flag),
            since(V2025_06_18, may("structuredContent", Structured)),
            RESULT_TYPE,
        ]),
    ),
    (
        method::PROMPTS_LIST,
        form(&[must("prompts", ListOf(&PROMPT)), CURSOR, RESULT_TYPE, TTL, SCOPE]),
    ),
    (method::PROMPTS_GET, form(&[must("messages", ListOf(&MESSAGE)), RESULT_TYPE])),
    (
        method::RESOURCES_LIST,
        form(&[must("resources", ListOf(&RESOURCE)), CURSOR, RESULT_TYPE, TTL, SCOPE]),
    ),
    (
        method::TEMPLATES_LIST,
        form(&[must("resourceTemplates", ListOf(&TEMPLATE)), CURSOR, RESULT_TYPE, TTL, SCOPE]),
    ),
    (
        method::RESOURCES_READ,
        form(&[must("contents", ListOf(&RESOURCE_CONTENTS)), RESULT_TYPE, TTL, SCOPE]),
    ),
];

/// What is wrong with the result of this method; nothing for methods without a form.
pub fn result(method: &str, revision: Revision, result: &Value) -> Vec<String> {
    let mut look = Look { revision, problems: Vec::new() };
    if let Some((_, form)) = RESULTS.iter().find(|(name, _)| *name == method) {
        look.form(form, result, "");
    }
    look.problems
}

/// A walk over a result.
struct Look {
    revision: Revision,
    problems: Vec<String>,
}

impl Look {
    fn wrong(&mut self, at: &str, what: &str) {
        if self.problems.len() < MOST_PROBLEMS {
            let at = if at.is_empty() { "the result" } else { at };
            self.problems.push(format!("{at} {what}"));
        }
    }

    fn form(&mut self, form: &Form, value: &Value, at: &str) {
        let Some(members) = value.as_object() else { return self.wrong(at, "is no object") };
        let revision = self.revision;
        for member in form.members.iter().filter(|member| member.since <= revision) {
            let path = joined(at, member.name);
            match members.get(member.name) {
                Some(value) => self.kind(member.kind, value, &path),
                None if member.need == Need::Must => self.wrong(&path, "is missing"),
                None => {}
            }
        }
        if !form.either.is_empty() && !form.either.iter().any(|name| members.contains_key(*name)) {
            self.wrong(at, &format!("has none of {}", form.either.join(", ")));
        }
    }

    fn kind(&mut self, kind: Kind, value: &Value, at: &str) {
        match kind {
            Text => self.demand(value.is_string(), at, "is no string"),
            Flag => self.demand(value.is_boolean(), at, "is no boolean"),
            Object => self.demand(value.is_object(), at, "is no object"),
            Count => self.demand(value.is_u64(), at, "is no whole number from 0"),
            Word(words) => {
                let is_one = value.as_str().is_some_and(|word| words.contains(&word));
                self.demand(is_one, at, &format!("is not {}", words.join(" or ")));
            }
            Structured => {
                let anything = self.revision >= V2026_07_28;
                self.demand(anything || value.is_object(), at, "is no object");
            }
            Is(form) => self.form(form, value, at),
            ListOf(form) => self.list(value, at, |look, entry, at| look.form(form, entry, at)),
            Texts => self.list(value, at, |look, entry, at| look.kind(Text, entry, at)),
            Contents => self.list(value, at, |look, entry, at| look.content(entry, at)),
            Content => self.content(value, at),
        }
    }

    fn demand(&mut self, holds: bool, at: &str, otherwise: &str) {
        if !holds {
            self.wrong(at, otherwise);
        }
    }

    fn list(&mut self, value: &Value, at: &str, each: impl Fn(&mut Self, &Value, &str)) {
        let Some(entries) = value.as_array() else { return self.wrong(at, "is no list") };
        for (index, entry) in entries.iter().take(MOST_ENTRIES).enumerate() {
            each(self, entry, &format!("{at}[{index}]"));
        }
    }

    fn content(&mut self, block: &Value, at: &str) {
        let Some(kind) = block.get("type").and_then(Value::as_str) else {
            return self.wrong(at, "has no type");
        };
        match CONTENT.iter().find(|(name, since, _)| *name == kind && *since <= self.revision) {
            Some((_, _, form)) => self.form(form, block, at),
            None => {
                let kind = crate::display::visible(kind, 40);
                self.wrong(at, &format!("is of type `{kind}`, which {} lacks", self.revision));
            }
        }
    }
}

fn joined(at: &str, name: &str) -> String {
    if at.is_empty() { name.to_owned() } else { format!("{at}.{name}") }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const OLD: Revision = Revision::V2024_11_05;
    const LEGACY: Revision = Revision::V2025_11_25;
    const MODERN: Revision = V2026_07_28;

    fn call(revision: Revision, value: Value) -> Vec<String> {
        result(method::TOOLS_CALL, revision, &value)
    }

    #[test]
    fn good_results_have_nothing_wrong() {
        let text = json!({ "type": "text", "text": "" });
        let linked = json!({ "type": "resource_link", "uri": "a:b", "name": "b" });
        let held = json!({ "type": "resource", "resource": { "uri": "a:b", "blob": "" } });
        let content = json!([text, linked, held]);
        assert_eq!(call(LEGACY, json!({ "content": content, "isError": false })), [""; 0]);
        assert_eq!(
            call(
                MODERN,
                json!({ "content": [], "resultType": "complete", "structuredContent": 1 })
            ),
            [""; 0]
        );
        let tools = json!({ "tools": [{ "name": "a", "inputSchema": { "type": "object" } }] });
        assert_eq!(result(method::TOOLS_LIST, OLD, &tools), [""; 0]);
        assert_eq!(result("mcp-loadtest/none", OLD, &Value::Null), [""; 0]);
    }

    #[test]
    fn what_is_wrong_is_named() {
        let cases = [
            (LEGACY, json!({}), "content is missing"),
            (LEGACY, json!([]), "the result is no object"),
            (LEGACY, json!({ "content": "text" }), "content is no list"),
            (LEGACY, json!({ "content": [{ "text": "a" }] }), "content[0] has no type"),
            (LEGACY, json!({ "content": [{ "type": "text" }] }), "content[0].text is missing"),
            (LEGACY, json!({ "content": [], "isError": "no" }), "isError is no boolean"),
            (
                LEGACY,
                json!({ "content": [], "structuredContent": 1 }),
                "structuredContent is no object",
            ),
            (
                OLD,
                json!({ "content": [{ "type": "audio", "data": "", "mimeType": "" }] }),
                "content[0] is of type `audio`, which 2024-11-05 lacks",
            ),
            (
                LEGACY,
                json!({ "content": [{ "type": "resource", "resource": { "uri": "a:b" } }] }),
                "content[0].resource has none of text, blob",
            ),
            (MODERN, json!({ "content": [] }), "resultType is missing"),
        ];
        for (revision, value, wrong) in cases {
            assert_eq!(call(revision, value.clone()), [wrong], "{value}");
        }
    }

    #[test]
    fn modern_lists_say_how_long_they_hold() {
        let list =
            json!({ "tools": [], "resultType": "complete", "ttlMs": -1, "cacheScope": "all" });
        let wrong = ["ttlMs is no whole number from 0", "cacheScope is not public or private"];
        assert_eq!(result(method::TOOLS_LIST, MODERN, &list), wrong);
        assert_eq!(result(method::TOOLS_LIST, LEGACY, &list), [""; 0]);
    }

    #[test]
    fn a_long_list_of_problems_is_cut() {
        let list = json!({ "tools": vec![json!(1); 100] });
        assert_eq!(result(method::TOOLS_LIST, LEGACY, &list).len(), MOST_PROBLEMS);
    }
}
