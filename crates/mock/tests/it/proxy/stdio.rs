//! A server behind pipes that writes down what it hears, and never answers.

use std::{
    fs,
    io::{self, Write as _},
    path::Path,
};

use mcp_loadtest_mock::proxy::Proxy;
use mcp_loadtest_wire::process::Launch;
use serde_json::{Value, json};
use tokio::{task::yield_now, time::Instant};

use crate::{
    support::LIMIT,
    written::{memory, wait_for},
};

fn call(id: u64) -> Value {
    let params = json!({"name": "echo", "arguments": {}});
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params})
}

/// What the server has heard, once there is this in it.
async fn heard(file: &Path, wanted: &str) -> String {
    let begun = Instant::now();
    loop {
        let text = fs::read_to_string(file).unwrap_or_default();
        if text.contains(wanted) {
            return text;
        }
        assert!(begun.elapsed() < LIMIT, "no {wanted} in {text:?}");
        yield_now().await;
    }
}

/// It is not carried out, whatever it waited for, and the loading is left to the next one.
#[tokio::test]
async fn a_call_that_is_withdrawn_while_it_loads_never_reaches_the_server() {
    for fault in ["none", "slow:50"] {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("heard");
        let launch = Launch {
            args: vec!["-c".into(), "exec cat > \"$0\"".into(), file.display().to_string()],
            ..Launch::new("sh")
        };
        let audit = memory();
        let faults = [fault, "lazy-init-deadlock"].map(|fault| fault.parse().unwrap());
        let proxy = Proxy::new().faults(faults).audit(audit.clone());
        let (input, mut client) = io::pipe().unwrap();
        let task = tokio::spawn(async move { proxy.serve_pipes(&launch, input, io::sink()).await });
        let params = json!({"requestId": 5});
        let cancel =
            json!({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": params});
        write!(client, "{}\n{cancel}\n", call(5)).unwrap();
        let row = wait_for(&audit, |row| row.tool.is_some()).await;
        assert!(row.cancelled && !row.success, "{row:?}");
        writeln!(client, "{}", call(6)).unwrap();
        let text = heard(&file, "\"id\":6").await;
        assert!(!text.contains("\"id\":5"), "{fault}: {text}");
        drop(client);
        task.await.unwrap().unwrap();
    }
}
