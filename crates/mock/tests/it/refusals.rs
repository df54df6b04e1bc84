//! What is not served over HTTP, byte by byte.

use mcp_loadtest_core::mcp::method;
use mcp_loadtest_mock::{Mock, RunningMock};
use serde_json::{Value, json};

use super::support::{Raw, connect, post, request, send, start};

async fn exchange(mock: &RunningMock, bytes: &[u8]) -> Raw {
    send(&mut connect(mock).await, bytes).await
}

fn modern(mut params: Value, version: &str) -> Value {
    params["_meta"] = json!({(method::META_VERSION): version, (method::META_CAPABILITIES): {}});
    params
}

const VERSION: &str = "MCP-Protocol-Version: 2026-07-28\r\n";
const CALL: &str = "Mcp-Method: tools/call\r\n";
const ECHO: &str = "Mcp-Name: echo\r\n";

/// A modern call with these headers.
fn call(lines: &[&str]) -> Vec<u8> {
    let params = modern(json!({"name": "echo"}), "2026-07-28");
    post(&lines.concat(), &request(method::TOOLS_CALL, params))
}

#[tokio::test]
async fn modern_requests_are_checked() {
    let mock = start("none").await;
    let bare = |params| request(method::TOOLS_LIST, params);
    let list = [VERSION, "Mcp-Method: tools/list\r\n"].concat();
    let future = "MCP-Protocol-Version: 2099-01-01\r\nMcp-Method: tools/list\r\n";
    let unknown = modern(json!({}), "2026-07-28");
    for (what, bytes, status, code) in [
        ("all is well", call(&[VERSION, CALL, ECHO]), 200, None),
        ("encoded name", call(&[VERSION, CALL, "Mcp-Name: =?base64?ZWNobw==?=\r\n"]), 200, None),
        ("a session is ignored", call(&[VERSION, CALL, ECHO, "Mcp-Session-Id: x\r\n"]), 200, None),
        ("no version header", call(&[CALL, ECHO]), 400, Some(-32020)),
        ("no method header", call(&[VERSION, ECHO]), 400, Some(-32020)),
        ("no name header", call(&[VERSION, CALL]), 400, Some(-32020)),
        ("other name", call(&[VERSION, CALL, "Mcp-Name: ohce\r\n"]), 400, Some(-32020)),
        ("two names", call(&[VERSION, CALL, ECHO, "Mcp-Name: ohce\r\n"]), 400, Some(-32600)),
        ("no meta", post(&list, &bare(json!({}))), 400, Some(-32602)),
        (
            "no capabilities",
            post(&list, &bare(json!({"_meta": {(method::META_VERSION): "2026-07-28"}}))),
            400,
            Some(-32602),
        ),
        (
            "unsupported version",
            post(future, &bare(modern(json!({}), "2099-01-01"))),
            400,
            Some(-32022),
        ),
        (
            "unknown method",
            post(&[VERSION, "Mcp-Method: x/y\r\n"].concat(), &request("x/y", unknown)),
            404,
            Some(-32601),
        ),
    ] {
        let reply = exchange(&mock, &bytes).await;
        assert_eq!((reply.status, reply.code()), (status, code), "{what}: {reply:?}");
        let knows_id = code != Some(-32600);
        assert_eq!(reply.body["id"] == 1, knows_id, "{what}: {reply:?}");
    }
}

#[tokio::test]
async fn legacy_requests_need_a_session() {
    let mock = start("none").await;
    let hello = exchange(&mock, &post("", &request(method::INITIALIZE, json!({})))).await;
    assert_eq!(
        (hello.status, &hello.body["result"]["protocolVersion"]),
        (200, &json!("2025-11-25"))
    );
    let id = hello.header("Mcp-Session-Id").expect("a session").to_owned();
    let own = format!("Mcp-Session-Id: {id}\r\n");
    let strange = "Mcp-Session-Id: strange\r\n".to_owned();
    let ping = request(method::PING, json!({}));
    let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let delete = |lines: &str| {
        format!("DELETE /mcp HTTP/1.1\r\nHost: localhost\r\n{lines}\r\n").into_bytes()
    };
    for (what, bytes, status) in [
        ("ping", post(&own, &ping), 200),
        ("ping without a session", post("", &ping), 400),
        ("ping in a strange session", post(&strange, &ping), 404),
        (
            "ping with its version",
            post(&format!("{own}MCP-Protocol-Version: 2025-11-25\r\n"), &ping),
            200,
        ),
        ("ping of no version", post(&format!("{own}MCP-Protocol-Version: 1\r\n"), &ping), 400),
        ("unknown method", post(&own, &request("no/such", json!({}))), 200),
        ("notification", post(&own, initialized), 202),
        ("notification without a session", post("", initialized), 400),
        ("end of no session", delete(""), 400),
        ("end of a strange session", delete(&strange), 404),
        ("end", delete(&own), 204),
        ("ping after the end", post(&own, &ping), 404),
    ] {
        let reply = exchange(&mock, &bytes).await;
        assert_eq!(reply.status, status, "{what}: {reply:?}");
    }
}

#[tokio::test]
async fn strangers_are_not_let_in() {
    let mock = start("none").await;
    let initialize = request(method::INITIALIZE, json!({}));
    for (lines, status) in [
        ("Origin: http://localhost:5173\r\n", 200),
        ("Origin: https://evil.example\r\n", 403),
        ("Origin: null\r\n", 403),
        ("Host: [::1]:99\r\n", 200),
        ("Host: evil.example\r\n", 403),
        ("Host: localhost.evil.example:80\r\n", 403),
    ] {
        let reply = exchange(&mock, &post(lines, &initialize)).await;
        assert_eq!(reply.status, status, "{lines}");
    }
    let nameless = exchange(&mock, b"POST /mcp HTTP/1.1\r\nContent-Length: 0\r\n\r\n").await;
    assert_eq!(nameless.status, 400);
}

#[tokio::test]
async fn other_methods_paths_and_bodies_are_refused() {
    let mock = start("none").await;
    let plain = |line: &str| format!("{line} HTTP/1.1\r\nHost: localhost\r\n\r\n").into_bytes();
    let gone =
        |line: &str| format!("{line} HTTP/1.1\r\nHost: localhost\r\n{VERSION}\r\n").into_bytes();
    for (what, bytes, status) in [
        ("GET", plain("GET /mcp"), 400),
        ("PUT", plain("PUT /mcp"), 405),
        ("modern GET", gone("GET /mcp"), 405),
        ("modern DELETE", gone("DELETE /mcp"), 405),
        ("other path", plain("GET /"), 404),
        ("no JSON", post("", "nonsense"), 400),
        ("batch", post("", "[]"), 400),
        ("nothing", post("", ""), 400),
        ("chunks", post("Transfer-Encoding: chunked\r\n", "0"), 411),
        ("no HTTP", b"nonsense\r\n\r\n".to_vec(), 400),
    ] {
        let reply = exchange(&mock, &bytes).await;
        assert_eq!(reply.status, status, "{what}: {reply:?}");
        assert_eq!(reply.header("Allow").is_some(), status == 405, "{what}");
    }
}

#[tokio::test]
async fn only_loopback_addresses_are_listened_on() {
    for address in ["0.0.0.0:0", "[::]:0", "192.0.2.1:0"] {
        let error = Mock::new().bind(address.parse().unwrap()).await.unwrap_err();
        assert!(error.to_string().contains("127.0.0.1:0"), "{error}");
    }
}
