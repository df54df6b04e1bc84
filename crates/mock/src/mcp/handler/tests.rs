use mcp_loadtest_core::mcp::Revision;
use serde_json::{Value, json};

use super::*;
use crate::mcp::request::Incoming;

fn ask(handler: &Handler, method: &str, params: &Value) -> (Answer, Value) {
    let frame =
        json!({"jsonrpc": "2.0", "id": "a", "method": method, "params": params}).to_string();
    let Ok(Incoming::Request(request)) = Incoming::read(frame.as_bytes(), Era::Legacy) else {
        panic!("not a request: {frame}");
    };
    let mut out = Vec::new();
    let answer = handler.answer(&request, &mut out);
    let reply: Value =
        if out.is_empty() { Value::Null } else { serde_json::from_slice(&out).unwrap() };
    if answer != Answer::Wedged {
        assert_eq!((&reply["jsonrpc"], &reply["id"]), (&json!("2.0"), &json!("a")));
    }
    (answer, reply)
}

fn healthy() -> Handler {
    Handler::new(Fault::None)
}

fn modern(version: &str, mut params: Value) -> Value {
    params["_meta"] = json!({(method::META_VERSION): version, (method::META_CAPABILITIES): {}});
    params
}

/// Every method in every era: a result, or the code of its refusal.
#[test]
fn each_era_has_its_methods() {
    let not_found = Answer::Error(-32601);
    for (method, legacy, modern_answer) in [
        (method::INITIALIZE, Answer::Result, not_found),
        (method::PING, Answer::Result, not_found),
        (method::DISCOVER, Answer::Error(-32602), Answer::Result),
        (method::TOOLS_LIST, Answer::Result, Answer::Result),
        (method::TOOLS_CALL, Answer::Result, Answer::Result),
        ("no/such", not_found, not_found),
    ] {
        let params = json!({"name": "echo"});
        assert_eq!(ask(&healthy(), method, &params).0, legacy, "legacy {method}");
        let params = modern("2026-07-28", params);
        assert_eq!(ask(&healthy(), method, &params).0, modern_answer, "modern {method}");
    }
}

#[test]
fn modern_results_carry_what_the_era_asks_for() {
    for (method, cacheable) in
        [(method::DISCOVER, true), (method::TOOLS_LIST, true), (method::TOOLS_CALL, false)]
    {
        let (_, reply) = ask(&healthy(), method, &modern("2026-07-28", json!({"name": "echo"})));
        let result = &reply["result"];
        assert_eq!(result["resultType"], "complete", "{method}");
        assert!(result["_meta"][method::META_SERVER_INFO]["version"].is_string(), "{method}");
        assert_eq!(result["ttlMs"].is_u64(), cacheable, "{method}");
        assert_eq!(result["cacheScope"] == "public", cacheable, "{method}");
    }
}

#[test]
fn legacy_results_carry_nothing_of_the_modern_era() {
    let (_, reply) = ask(&healthy(), method::TOOLS_LIST, &json!({}));
    let members: Vec<_> = reply["result"].as_object().unwrap().keys().collect();
    assert_eq!(members, ["tools"]);
    let tool = &reply["result"]["tools"][0];
    assert_eq!(tool["inputSchema"]["type"], "object");
    assert_eq!(tool["annotations"]["readOnlyHint"], true);
}

#[test]
fn a_version_that_is_not_spoken_is_named() {
    let (answer, reply) = ask(&healthy(), method::TOOLS_LIST, &modern("2099-01-01", json!({})));
    assert_eq!(answer, Answer::Error(-32022));
    assert_eq!(reply["error"]["data"]["requested"], "2099-01-01");
    assert_eq!(reply["error"]["data"]["supported"], json!([Revision::NEWEST_MODERN]));
}

#[test]
fn a_call_gives_its_arguments_back() {
    let params = json!({"name": "echo", "arguments": {"text": "a\n\"b\"", "n": 1}});
    let (_, reply) = ask(&healthy(), method::TOOLS_CALL, &params);
    assert_eq!(reply["result"]["isError"], false);
    let text = reply["result"]["content"][0]["text"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Value>(text).unwrap(), params["arguments"]);
}

#[test]
fn calls_that_name_no_tool_are_refused() {
    for params in [
        json!({}),
        json!({"name": 7}),
        json!({"name": "nope"}),
        json!({"name": "echo", "arguments": [1]}),
        json!({"name": "echo", "arguments": null}),
    ] {
        assert_eq!(
            ask(&healthy(), method::TOOLS_CALL, &params).0,
            Answer::Error(-32602),
            "{params}"
        );
    }
}

#[test]
fn the_first_call_wedges_a_mock_that_was_told_to() {
    for call in [json!({"name": "echo"}), modern("2026-07-28", json!({"name": "echo"}))] {
        let handler = Handler::new(Fault::LazyInitDeadlock);
        assert_eq!(ask(&handler, method::INITIALIZE, &json!({})).0, Answer::Result);
        assert_eq!(ask(&handler, method::TOOLS_LIST, &json!({})).0, Answer::Result);
        assert!(!handler.is_wedged());
        assert_eq!(ask(&handler, method::TOOLS_CALL, &call), (Answer::Wedged, Value::Null));
        assert!(handler.is_wedged());
        assert_eq!(ask(&handler, method::PING, &json!({})), (Answer::Wedged, Value::Null));
    }
}

#[test]
fn a_call_that_is_not_served_does_not_wedge() {
    let handler = Handler::new(Fault::LazyInitDeadlock);
    let call = modern("2099-01-01", json!({"name": "echo"}));
    assert_eq!(ask(&handler, method::TOOLS_CALL, &call).0, Answer::Error(-32022));
    assert!(!handler.is_wedged());
}
