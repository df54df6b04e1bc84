//! Batches to a server that we did not write.

use std::{
    net::TcpStream,
    path::PathBuf,
    process::{Child, Command, Stdio},
    thread,
};

use super::{
    super::{
        http::{Proxy, header, messages, status},
        log::{logged, rows},
    },
    IN_THE_ARRAY, Subject, check_array,
    http::{open, replies},
    ids, three,
};
use crate::gateway::free_port;

/// An echo server on the TypeScript SDK, which ends with this value.
struct Echo {
    child: Child,
    url: String,
}

impl Drop for Echo {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn echo(mode: &str) -> Echo {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../tests/env/testenv.py");
    let told = Command::new("python3").args([script, "path", "ts-sdk-1.32.2"]).output().unwrap();
    let problem = String::from_utf8_lossy(&told.stderr);
    assert!(told.status.success(), "no server to test with: {problem}");
    let dir = PathBuf::from(String::from_utf8_lossy(&told.stdout).trim());
    let port = free_port();
    let authority = format!("127.0.0.1:{port}");
    let child = Command::new("node")
        .arg(dir.join("v1_http.mjs"))
        .args([port.as_str(), mode])
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    while TcpStream::connect(&authority).is_err() {
        thread::yield_now();
    }
    Echo { child, url: format!("http://{authority}/mcp") }
}

#[test]
fn batches_to_the_typescript_sdk() {
    for mode in ["json", "sse"] {
        let server = echo(mode);
        let (dir, store) = logged();
        let proxy = Proxy::start(&server.url, &["--audit", &store]);
        let (direct, through) = (open(&server.url), open(&proxy.url));
        let (direct, through) = (direct.ask(&three(2)).unwrap(), through.ask(&three(2)).unwrap());
        assert_eq!((through.1, status(&through.0)), (direct.1, status(&direct.0)), "{mode}");
        assert_eq!(header(&through.0, "content-type"), header(&direct.0, "content-type"));
        let rows = rows(proxy, &dir.path().join("log.jsonl"));
        let calls: Vec<_> = rows.iter().filter(|row| row["tool"] == "echo").collect();
        assert_eq!(calls.len(), 3, "{mode}");
        assert!(calls.iter().all(|row| row["success"] == true && row["http_status"] == 200));
        for case in IN_THE_ARRAY {
            let proxy = Proxy::start(&server.url, &["--fault", case.0]);
            let (_, body) = open(&proxy.url).ask(&three(2)).unwrap();
            assert_eq!(messages(&body).len() == 1, mode == "json", "{mode} {case:?}");
            check_array(&replies(&body), case, Subject::Proxy);
        }
        let proxy = Proxy::start(&server.url, &["--fault", "wrong-id@nth=2"]);
        let found = ids(&replies(&open(&proxy.url).ask(&three(2)).unwrap().1));
        assert!(found.len() == 3 && found[2] > 4, "{mode}: {found:?}");
    }
}
