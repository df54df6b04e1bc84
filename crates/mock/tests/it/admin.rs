//! The admin interface, as a test that switches faults uses it.

use mcp_loadtest_mock::{
    Mock,
    admin::{Access, Routes},
    audit::{Audit, Redaction},
};
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use super::support::{post, request};

/// A mock, its address, and the address of its admin interface.
async fn start(access: Access) -> (String, String) {
    let audit = Audit::open(&"memory".parse().unwrap(), Redaction::default()).unwrap();
    let any = "127.0.0.1:0".parse().unwrap();
    let bound = Mock::new().audit(audit).bind(any).await.unwrap();
    let admin = Routes::from(bound.controlled()).bind(any, access).await.unwrap();
    let authority = |url: String| url.split('/').nth(2).unwrap().to_owned();
    let addresses = (authority(bound.url()), authority(admin.url()));
    tokio::spawn(bound.serve());
    tokio::spawn(admin.serve());
    addresses
}

async fn exchange(address: &str, bytes: &[u8]) -> (u16, String) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    let mut text = String::new();
    stream.read_to_string(&mut text).await.unwrap();
    let status = text.split(' ').nth(1).unwrap().parse().unwrap();
    (status, text.split_once("\r\n\r\n").unwrap().1.to_owned())
}

async fn admin(address: &str, line: &str, headers: &str, body: &str) -> (u16, Value) {
    let length = body.len();
    let text = format!(
        "{line} HTTP/1.1\r\nHost: {address}\r\nConnection: close\r\n{headers}Content-Length: \
         {length}\r\n\r\n{body}"
    );
    let (status, body) = exchange(address, text.as_bytes()).await;
    (status, serde_json::from_str(&body).unwrap_or(Value::String(body)))
}

/// One modern call of `echo`.
async fn call(address: &str) -> Value {
    let meta = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    });
    let lines = "Connection: close\r\nMCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n\
                 Mcp-Name: echo\r\n";
    let body = request("tools/call", json!({"name": "echo", "_meta": meta}));
    let (_, body) = exchange(address, &post(lines, &body)).await;
    serde_json::from_str(&body).unwrap()
}

#[tokio::test]
async fn faults_are_switched_while_it_runs() {
    let (mock, control) = start(Access::default()).await;
    assert!(call(&mock).await["result"].is_object());
    let (status, told) = admin(&control, "PUT /faults", "", r#"["error:-32050@first=1"]"#).await;
    assert_eq!((status, told), (200, json!({"faults": ["error:-32050@first=1"]})));
    assert_eq!(call(&mock).await["error"]["code"], -32050);
    assert!(call(&mock).await["result"].is_object());
    // Counting anew, the next call is the first again.
    assert_eq!(admin(&control, "POST /reset", "", "").await.0, 200);
    assert_eq!(call(&mock).await["error"]["code"], -32050);
    let as_suites = r#"[{"name": "s", "target": {"tool": "echo"}, "kind": "tool_error"}]"#;
    assert_eq!(admin(&control, "PUT /faults", "", as_suites).await.0, 200);
    assert_eq!(call(&mock).await["result"]["isError"], true);
    assert_eq!(admin(&control, "DELETE /faults", "", "").await.1, json!({"faults": []}));
    assert_eq!(call(&mock).await["result"]["isError"], false);
    let (_, counters) = admin(&control, "GET /counters", "", "").await;
    assert_eq!((&counters["requests"], &counters["faulted"]), (&json!(3), &json!(2)));
}

#[tokio::test]
async fn the_log_is_read_while_it_is_written() {
    let (mock, control) = start(Access::default()).await;
    for _ in 0..3 {
        call(&mock).await;
    }
    let (status, told) = admin(&control, "GET /audit?tool=echo&success=true&limit=2", "", "").await;
    assert_eq!((status, told["rows"].as_array().map(Vec::len)), (200, Some(2)));
    let (_, lines) = admin(&control, "GET /audit/export", "", "").await;
    assert_eq!(lines.as_str().unwrap().lines().count(), 3);
    assert_eq!(admin(&control, "GET /audit?tol=echo", "", "").await.0, 400);
    assert_eq!(admin(&control, "GET /health", "", "").await.1["status"], "ok");
}

#[tokio::test]
async fn bad_faults_are_refused_and_the_old_ones_stay() {
    let (_, control) = start(Access::default()).await;
    admin(&control, "PUT /faults", "", r#"["hang@nth=9"]"#).await;
    for (body, word) in [
        (r#"["hag"]"#, "did you mean `hang`"),
        (r#"["noise"]"#, "not possible over http"),
        (r#"[{"kind": "slow", "failures": 1}]"#, "does not belong"),
        ("nonsense", "list of faults"),
    ] {
        let (status, told) = admin(&control, "PUT /faults", "", body).await;
        assert_eq!(status, 400, "{body}: {told}");
        assert!(told["error"].as_str().unwrap().contains(word), "{body}: {told}");
    }
    assert_eq!(admin(&control, "GET /faults", "", "").await.1["faults"], json!(["hang@nth=9"]));
}

#[tokio::test]
async fn strangers_are_kept_out() {
    let (_, control) = start(Access { token: Some("t0ken".into()), allow_remote: false }).await;
    assert_eq!(admin(&control, "GET /faults", "", "").await.0, 401);
    let token = "Authorization: Bearer t0ken\r\n";
    assert_eq!(admin(&control, "GET /faults", token, "").await.0, 200);
    let page = format!("{token}Origin: https://evil.example\r\n");
    assert_eq!(admin(&control, "DELETE /faults", &page, "").await.0, 403);
}
