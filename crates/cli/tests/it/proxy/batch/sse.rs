//! Batches over HTTP+SSE, where replies come on another connection.

use std::{
    io::{BufRead as _, BufReader, Lines, Write as _},
    net::TcpStream,
};

use serde_json::{Value, json};

use super::{
    super::{
        call,
        http::{parts, receive, send, status},
        log::logged,
    },
    SUBJECTS, Subject, cancel, initialize,
    rows::{kinds, read},
    three,
};
use crate::process::Listening;

struct Client {
    lines: Lines<BufReader<TcpStream>>,
    post: String,
}

impl Client {
    fn open(url: &str) -> Self {
        let (authority, path) = parts(url);
        let mut stream = TcpStream::connect(authority).unwrap();
        let head = format!("GET {path} HTTP/1.1\r\nHost: {authority}\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        let mut client = Self { lines: BufReader::new(stream).lines(), post: String::new() };
        client.post = format!("http://{authority}{}", client.data());
        client.say(&initialize("2025-03-26"));
        assert_eq!(client.message()["id"], 1);
        client
    }

    fn say(&self, message: &Value) -> u16 {
        status(&receive(send(&self.post, "", &message.to_string())).unwrap().0)
    }

    /// The data of the next event. Chunk sizes stand between events and are no data.
    fn data(&mut self) -> String {
        let mut lines = self.lines.by_ref().map(Result::unwrap);
        lines.find_map(|line| line.strip_prefix("data: ").map(str::to_owned)).unwrap()
    }

    fn message(&mut self) -> Value {
        serde_json::from_str(&self.data()).unwrap()
    }

    /// The ids of so many replies, whether they come in arrays or not.
    fn ids(&mut self, count: usize) -> Vec<u64> {
        let mut ids = Vec::new();
        while ids.len() < count {
            match self.message() {
                Value::Array(replies) => {
                    ids.extend(replies.iter().map(|reply| reply["id"].as_u64().unwrap()));
                }
                reply => ids.push(reply["id"].as_u64().unwrap()),
            }
        }
        ids.sort_unstable();
        ids
    }
}

#[test]
fn replies_to_a_batch_come_on_the_stream() {
    for subject in SUBJECTS {
        let (dir, store) = logged();
        let args = ["--transport", "sse", "--audit", &store];
        let faults =
            ["--fault", "error@nth=2", "--fault", "hang@nth=4", "--fault", "http:503@nth=7"];
        let args = [&args[..], &faults].concat();
        let mut behind = None;
        let front = match subject {
            Subject::Mock => Listening::start(&[&["mock"], &*args].concat()),
            Subject::Proxy => {
                let mock = behind.insert(Listening::start(&["mock", "--transport", "sse"]));
                Listening::start(&[&["proxy", "--upstream", &mock.url], &*args].concat())
            }
        };
        let mut client = Client::open(&front.url);
        assert_eq!(client.say(&three(2)), 202);
        assert_eq!(client.ids(3), [2, 3, 4], "{subject:?}");
        assert_eq!(client.say(&three(5)), 202);
        assert_eq!(client.ids(2), [6, 7], "{subject:?}");
        assert_eq!(client.say(&json!([cancel(5)])), 202);
        assert_eq!(client.say(&json!([call(8)])), 503, "{subject:?}");
        drop(client);
        front.stop();
        let rows = read(&dir.path().join("log.jsonl"));
        let rows: Vec<_> = rows.into_iter().filter(|row| row["kind"] != "stream").collect();
        let batch = ["request", "notification", "request", "request"];
        let expected = [&batch[..], &batch, &["cancellation", "request"]].concat();
        assert_eq!(kinds(&rows), expected, "{subject:?}");
        let failed = rows.iter().filter(|row| row["success"] == false);
        let failed: Vec<_> = failed.map(|row| row["rpc_id"].as_str().unwrap()).collect();
        assert_eq!(failed, ["3", "5", "8"], "{subject:?}");
    }
}
