//! HTTP+SSE: a stream for everything that the server says, and a POST for everything that the client
//! does.

use std::{collections::HashMap, net::SocketAddr};

use serde_json::Value;

use super::{Frame, Got, bytes::Exchange};

pub(super) struct Client {
    address: SocketAddr,
    path: String,
    stream: Exchange,
    /// What was not accepted, by the id of the message.
    refused: HashMap<u64, Frame>,
}

impl Client {
    pub(super) async fn open(address: SocketAddr) -> Self {
        let request = b"GET /sse HTTP/1.1\r\nHost: localhost\r\n\r\n";
        let mut stream = Exchange::begin(address, request).await;
        let Got::Frame(hello) = stream.next().await else { panic!("no endpoint was told") };
        let path = String::from_utf8(hello.bytes).unwrap();
        Self { address, path, stream, refused: HashMap::new() }
    }

    pub(super) async fn send(&mut self, id: u64, message: &Value) {
        let body = message.to_string();
        let (path, length) = (&self.path, body.len());
        let request = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {length}\r\n\r\n{body}"
        );
        match Exchange::begin(self.address, request.as_bytes()).await.next().await {
            Got::Frame(frame) if frame.status == Some(202) => {}
            Got::Frame(frame) => {
                self.refused.insert(id, frame);
            }
            other => panic!("no status: {other:?}"),
        }
    }

    pub(super) async fn next(&mut self, id: u64) -> Got {
        match self.refused.remove(&id) {
            Some(frame) => Got::Frame(frame),
            None => self.stream.next().await,
        }
    }
}
