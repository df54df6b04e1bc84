use super::*;

const META: &str = r#""io.modelcontextprotocol/protocolVersion":"2026-07-28""#;

fn request(text: &str, outer: Era) -> Request<'_> {
    match Incoming::read(text.as_bytes(), outer) {
        Ok(Incoming::Request(request)) => request,
        other => panic!("{text}: {other:?}"),
    }
}

fn code(text: &str) -> i64 {
    Incoming::read(text.as_bytes(), Era::Legacy).unwrap_err().refusal.code
}

#[test]
fn a_request_claims_the_era_of_its_meta() {
    let call = |meta: &str| {
        format!(r#"{{"jsonrpc":"2.0","id":1,"method":"x","params":{{"_meta":{meta}}}}}"#)
    };
    let plain = call(r#"{"progressToken":1}"#);
    assert_eq!(request(&plain, Era::Legacy).claim, Claim::Legacy);
    let missing = |key| Claim::Incomplete { missing: key };
    assert_eq!(request(&plain, Era::Modern).claim, missing(method::META_VERSION));
    let no_capabilities = call(&format!("{{{META}}}"));
    assert_eq!(request(&no_capabilities, Era::Legacy).claim, missing(method::META_CAPABILITIES));
    let whole = call(&format!(r#"{{{META},"io.modelcontextprotocol/clientCapabilities":{{}}}}"#));
    let modern = Claim::Modern { version: "2026-07-28".into() };
    assert_eq!(request(&whole, Era::Legacy).claim, modern);
    assert_eq!(request(&whole.replace('/', r"\/"), Era::Legacy).claim, modern);
}

#[test]
fn discover_is_modern_whatever_it_carries() {
    let bare = r#"{"jsonrpc":"2.0","id":1,"method":"server\/discover"}"#;
    let claim = request(bare, Era::Legacy).claim;
    assert_eq!(claim, Claim::Incomplete { missing: method::META_VERSION });
}

#[test]
fn what_is_no_request_is_refused_by_its_kind() {
    assert_eq!(code("nonsense"), -32700);
    assert_eq!(code(r#"{"jsonrpc":"2.0","id":1,"meth"#), -32700);
    assert_eq!(code("[]"), -32600);
    assert_eq!(code("7"), -32600);
    assert_eq!(code(r#"{"id":1,"method":"ping"}"#), -32600);
    for id in ["null", "1.5", "{}", "true", "1e3"] {
        assert_eq!(
            code(&format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#)),
            -32600,
            "{id}"
        );
    }
    for params in ["[]", "7", "null"] {
        let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"ping","params":{params}}}"#);
        assert_eq!(code(&text), -32602, "{params}");
    }
}

#[test]
fn what_wants_no_reply_is_told_apart() {
    let text = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let notification =
        Incoming::Notification { method: "notifications/initialized".into(), params: None };
    assert_eq!(Incoming::read(text.as_bytes(), Era::Legacy), Ok(notification));
    let text = br#"{"jsonrpc":"2.0","id":1,"result":{}}"#;
    assert_eq!(Incoming::read(text, Era::Legacy), Ok(Incoming::Response(text)));
}
