//! The stdio transport over pipes of our own.

use std::io::{self, BufRead as _, BufReader, PipeReader, PipeWriter, Read as _, Write as _};

use mcp_loadtest_core::mcp::method;
use mcp_loadtest_mock::{Mock, Served};
use serde_json::{Value, json};
use tokio::task::JoinHandle;

use super::support::request;

struct Piped {
    input: PipeWriter,
    output: BufReader<PipeReader>,
    serving: JoinHandle<io::Result<Served>>,
}

fn start(fault: &str) -> Piped {
    let (server_input, input) = io::pipe().unwrap();
    let (output, server_output) = io::pipe().unwrap();
    let serving = tokio::spawn(
        Mock::new().fault(fault.parse().unwrap()).serve_pipes(server_input, server_output),
    );
    Piped { input, output: BufReader::new(output), serving }
}

impl Piped {
    fn send(&mut self, method: &str, params: Value) {
        self.input.write_all(format!("{}\n", request(method, params)).as_bytes()).unwrap();
    }

    fn receive(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: {line:?}"))
    }
}

#[tokio::test]
async fn a_healthy_mock_answers_until_its_input_ends() {
    let mut mock = start("none");
    tokio::task::yield_now().await; // The pipes are served from a thread that now begins.
    mock.send(method::INITIALIZE, json!({"protocolVersion": "2025-06-18"}));
    assert_eq!(mock.receive()["result"]["protocolVersion"], "2025-06-18");
    mock.send(method::TOOLS_CALL, json!({"name": "echo", "arguments": {"text": "x"}}));
    assert_eq!(mock.receive()["result"]["content"][0]["text"], r#"{"text":"x"}"#);
    let meta = json!({(method::META_VERSION): "2026-07-28", (method::META_CAPABILITIES): {}});
    mock.send(method::DISCOVER, json!({"_meta": meta}));
    assert_eq!(mock.receive()["result"]["supportedVersions"], json!(["2026-07-28"]));
    let Piped { input, mut output, serving } = mock;
    drop(input);
    assert_eq!(serving.await.unwrap().unwrap(), Served::Gone);
    assert_eq!(output.read_to_string(&mut String::new()).unwrap(), 0);
}
