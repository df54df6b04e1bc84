//! The modern headers repeat what the body says, so that proxies need not read it. A server that
//! reads the body must refuse a request whose headers say something else.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use mcp_loadtest_core::mcp::method;

use super::head::{Head, Line};
use crate::mcp::{
    refusal::{Refusal, code},
    request::Request,
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
    let why = match head.get(line) {
        None => "is missing",
        Some(value) if decode(value).as_deref() == Some(expected) => return Ok(()),
        Some(_) => "does not say what the body says",
    };
    Err(Refusal::new(code::HEADER_MISMATCH, format!("the header `{}` {why}", line.name())))
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
}
