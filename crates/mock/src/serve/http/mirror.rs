//! The modern headers repeat what the body says, so that proxies need not read it. A server that
//! reads the body must refuse a request whose headers say something else.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use mcp_loadtest_core::mcp::{
    header::{MarkedParameter, parameter_headers},
    method,
};

use super::head::{Head, Line};
use crate::{
    mcp::{
        refusal::{Refusal, code},
        request::Request,
    },
    server::origin::Origin,
};

/// Compares the headers of a modern request with its body.
pub(super) fn check(head: &Head<'_>, version: &str, request: &Request<'_>) -> Result<(), Refusal> {
    compare(head, Line::ProtocolVersion, version)?;
    compare(head, Line::Method, &request.method)?;
    let subject = match &*request.method {
        method::TOOLS_CALL | method::PROMPTS_GET => &request.params.name,
        method::RESOURCES_READ => &request.params.uri,
        _ => &None,
    };
    match subject {
        Some(name) => compare(head, Line::Name, name),
        None => Ok(()),
    }
}

fn compare(head: &Head<'_>, line: Line, expected: &str) -> Result<(), Refusal> {
    same(line.name(), head.get(line), Some(expected))
}

/// Compares the headers that a tool's schema asks for with the arguments of a call. An argument that
/// is absent or null has none.
pub(super) fn check_marked(
    origin: &Origin<'_>,
    marked: &[MarkedParameter],
    request: &Request<'_>,
) -> Result<(), Refusal> {
    if marked.is_empty() {
        return Ok(());
    }
    let facts = origin.keep();
    let arguments = request.params.to_value()["arguments"].take();
    for parameter in marked {
        let told = parameter_headers(std::slice::from_ref(parameter), &arguments).pop();
        let expected = told.as_ref().and_then(|(_, value)| decode(value));
        same(&parameter.header, facts.header(&parameter.header), expected.as_deref())?;
    }
    Ok(())
}

/// Whether a header stands for what the body says, if it says anything.
fn same(name: &str, value: Option<&str>, expected: Option<&str>) -> Result<(), Refusal> {
    let why = match (value, expected) {
        (None, None) => return Ok(()),
        (None, Some(_)) => "is missing",
        (Some(value), Some(expected)) if decode(value).as_deref() == Some(expected) => {
            return Ok(());
        }
        (Some(_), _) => "does not say what the body says",
    };
    Err(Refusal::new(code::HEADER_MISMATCH, format!("the header `{name}` {why}")))
}

/// What a header value stands for; `None` for an encoding that is broken.
fn decode(value: &str) -> Option<String> {
    match value.strip_prefix("=?base64?").and_then(|rest| rest.strip_suffix("?=")) {
        None => Some(value.to_owned()),
        Some(encoded) => String::from_utf8(STANDARD.decode(encoded).ok()?).ok(),
    }
}

#[cfg(test)]
mod tests {
    use mcp_loadtest_core::mcp::{Era, header};

    use super::*;
    use crate::mcp::request::Incoming;

    const CALL: &[u8] =
        br#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"caf\u00e9"}}"#;

    fn checked(lines: &str) -> Result<(), Refusal> {
        let text = format!("POST /mcp HTTP/1.1\r\n{lines}\r\n");
        let head = Head::read(text.as_bytes()).unwrap().unwrap();
        let Ok(Incoming::Request(request)) = Incoming::read(CALL, Era::Modern) else { panic!() };
        check(&head, "2026-07-28", &request)
    }

    #[test]
    fn headers_must_say_what_the_body_says() {
        let lines = [
            ("MCP-Protocol-Version: 2026-07-28\r\n", "MCP-Protocol-Version: 2025-11-25\r\n"),
            ("Mcp-Method: tools/call\r\n", "Mcp-Method: Tools/call\r\n"),
            ("Mcp-Name: =?base64?Y2Fmw6k=?=\r\n", "Mcp-Name: =?base64?Y2Fmw6?=\r\n"),
        ];
        let good = lines.map(|(line, _)| line).concat();
        assert_eq!(checked(&good), Ok(()));
        for (line, other) in lines {
            assert_eq!(
                checked(&good.replace(line, "")).unwrap_err().code,
                -32020,
                "without {line}"
            );
            assert_eq!(checked(&good.replace(line, other)).unwrap_err().code, -32020, "{other}");
        }
    }

    #[test]
    fn what_the_client_encodes_is_decoded() {
        for value in ["echo", "caf\u{e9}", " x", "=?base64?eA==?="] {
            assert_eq!(decode(&header::encode_value(value)).as_deref(), Some(value));
        }
        assert_eq!(decode("=?base64?!?="), None);
    }

    fn checked_arguments(lines: &str, arguments: &str) -> Result<(), Refusal> {
        let schema = serde_json::json!({"properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "count": {"type": "integer", "x-mcp-header": "Count"},
        }});
        let head = format!("POST /mcp HTTP/1.1\r\n{lines}\r\n");
        let origin = Origin { head: head.as_bytes(), ..Origin::default() };
        let call = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"t","arguments":{arguments}}}}}"#
        );
        let Ok(Incoming::Request(request)) = Incoming::read(call.as_bytes(), Era::Modern) else {
            panic!()
        };
        check_marked(&origin, &header::marked_parameters(&schema).unwrap(), &request)
    }

    #[test]
    fn marked_arguments_are_repeated_in_headers() {
        let (region, count) =
            ("mcp-param-region: =?base64?WsO8cmljaA==?=\r\n", "Mcp-Param-Count: 3\r\n");
        let both = [region, count].concat();
        let arguments = r#"{"region":"Zürich","count":3}"#;
        assert_eq!(checked_arguments(&both, arguments), Ok(()));
        assert_eq!(checked_arguments("", r#"{"region":null}"#), Ok(()));
        for (lines, arguments) in [
            (region, arguments),
            (count, arguments),
            (&both, r#"{"region":"Zürich","count":4}"#),
            (&both, r#"{"region":"Zürich"}"#),
            ("Mcp-Param-Region: =?base64?SGVsbG8?=\r\n", r#"{"region":"Hello"}"#),
        ] {
            let refusal = checked_arguments(lines, arguments).unwrap_err();
            assert_eq!(refusal.code, -32020, "{lines} {arguments}");
        }
    }
}
