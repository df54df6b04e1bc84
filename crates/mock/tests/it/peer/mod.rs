//! A client that hides nothing: what it sees is what was on the wire, over every transport and in
//! both eras.
//!
//! | file    | what it does                                                    |
//! |---------|-----------------------------------------------------------------|
//! | `got`   | what a client sees next                                         |
//! | `line`  | how a client reaches the mock, whichever transport it is        |
//! | `stdio` | a pair of pipes, and a mock with a thread of its own            |
//! | `http`  | Streamable HTTP, a connection for each request                  |
//! | `bytes` | a socket whose reads are counted, and HTTP replies taken apart  |
//! | `sse`   | HTTP+SSE                                                        |
//! | `ws`    | WebSocket                                                       |

mod bytes;
mod got;
mod http;
mod line;
mod sse;
mod stdio;
mod ws;

use std::net::SocketAddr;

use mcp_loadtest_core::{
    config::TransportName,
    fault::{HANG_CODE, HANG_LIMIT},
    mcp::{Era, Revision, method},
};
use mcp_loadtest_mock::{Mock, Served};
use serde_json::{Value, json};
use tokio::time::timeout;

pub(crate) use self::got::{Frame, Got};
use self::line::{Line, Serving};
use super::support::LIMIT;

/// A mock, and one client of it.
pub(crate) struct Peer {
    pub(crate) transport: TransportName,
    pub(crate) era: Era,
    line: Line,
    /// `None` for a guest at somebody else's mock.
    serving: Option<Serving>,
    last_id: u64,
}

impl Peer {
    /// Starts the mock and, in the legacy era, shakes hands.
    pub(crate) async fn start(mock: Mock, transport: TransportName, era: Era) -> Self {
        let (line, serving) = Line::to(mock, transport, era).await;
        Self::open(transport, era, line, Some(serving)).await
    }

    async fn open(
        transport: TransportName,
        era: Era,
        line: Line,
        serving: Option<Serving>,
    ) -> Self {
        let mut peer = Self { transport, era, line, serving, last_id: 0 };
        if era == Era::Legacy {
            peer.shake_hands().await;
        }
        peer
    }

    /// A client of whatever listens there.
    pub(crate) async fn visit(transport: TransportName, era: Era, address: SocketAddr) -> Self {
        let line = Line::open(transport, era, address).await;
        Self::open(transport, era, line, None).await
    }

    /// Another client of the same mock, which must be reached over HTTP.
    pub(crate) async fn join(&self) -> Self {
        let Line::Http(client) = &self.line else { panic!("only HTTP has many clients") };
        Self::visit(self.transport, self.era, client.address).await
    }

    /// Makes a session; over HTTP it takes the place of the former.
    pub(crate) async fn shake_hands(&mut self) {
        let params = json!({
            "protocolVersion": Revision::NEWEST_LEGACY.as_str(),
            "capabilities": { "sampling": {} },
            "clientInfo": { "name": "peer", "version": "0" },
        });
        if let Line::Http(client) = &mut self.line {
            client.session = None;
        }
        let id = self.send(method::INITIALIZE, params).await;
        let frame = self.frame(id).await;
        assert_eq!(frame.json()["result"]["protocolVersion"], Revision::NEWEST_LEGACY.as_str());
        if let Line::Http(client) = &mut self.line {
            client.session = frame.header("mcp-session-id").map(str::to_owned);
        }
        self.notify(method::INITIALIZED, json!({})).await;
    }

    fn next_id(&mut self) -> u64 {
        self.last_id += 1;
        self.last_id
    }

    /// Sends a request and waits for nothing; its id.
    pub(crate) async fn send(&mut self, method: &str, mut params: Value) -> u64 {
        if self.era == Era::Modern {
            let version = Revision::NEWEST_MODERN.as_str();
            params["_meta"][method::META_VERSION] = version.into();
            params["_meta"][method::META_CAPABILITIES] = json!({});
        }
        let id = self.next_id();
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.line.ask(id, &message).await;
        id
    }

    pub(crate) async fn call(&mut self, tool: &str, arguments: Value) -> u64 {
        self.send(method::TOOLS_CALL, json!({"name": tool, "arguments": arguments})).await
    }

    pub(crate) async fn notify(&mut self, method: &str, params: Value) {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        self.tell(&message).await;
    }

    /// Sends a message that wants no reply.
    pub(crate) async fn tell(&mut self, message: &Value) {
        let id = self.next_id();
        self.line.tell(id, message).await;
    }

    /// What comes next, for the request with this id or, on a line that all share, for anybody.
    pub(crate) async fn next(&mut self, id: u64) -> Got {
        let got = timeout(LIMIT, self.line.next(id)).await;
        got.unwrap_or_else(|_| panic!("nothing came for {id} within {LIMIT:?}"))
    }

    /// The next message, which must be whole.
    pub(crate) async fn frame(&mut self, id: u64) -> Frame {
        match self.next(id).await {
            Got::Frame(frame) => frame,
            other => panic!("no message: {other:?}"),
        }
    }

    /// The reply to a request; whatever comes before it is skipped.
    pub(crate) async fn reply(&mut self, id: u64) -> Value {
        loop {
            let message = self.frame(id).await.json();
            if message["id"] == id && message.get("method").is_none() {
                return message;
            }
        }
    }

    /// Sends a request and waits for its reply.
    pub(crate) async fn ask(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params).await;
        self.reply(id).await
    }

    /// Calls `echo`, which must work.
    pub(crate) async fn echo(&mut self) {
        let id = self.call("echo", json!({"message": "well"})).await;
        assert_eq!(text_of(&self.reply(id).await), r#"{"message":"well"}"#);
    }

    /// Shows that the server is there, by the methods that say so in this era.
    pub(crate) async fn is_alive(&mut self) {
        let sign = if self.era == Era::Legacy { method::PING } else { method::DISCOVER };
        assert!(self.ask(sign, json!({})).await["result"].is_object());
        assert!(self.ask(method::TOOLS_LIST, json!({})).await["result"]["tools"].is_array());
    }

    /// Opens what notifications arrive on that belong to no request; the id to ask for them with.
    pub(crate) async fn listen(&mut self) -> u64 {
        if self.era == Era::Modern {
            let wanted = json!({"notifications": {"toolsListChanged": true}});
            let id = self.send(method::LISTEN, wanted).await;
            assert_eq!(self.frame(id).await.json()["method"], method::LISTENING);
            return id;
        }
        let id = self.next_id();
        if let Line::Http(client) = &mut self.line {
            client.get(id).await;
        }
        id
    }

    /// Whether all that the server says comes over one line.
    pub(crate) fn shares_line(&self) -> bool {
        self.transport != TransportName::Http
    }

    /// Shows that these requests are not answered: by the clock where it can be stopped, until the
    /// hang itself ends, and otherwise by everything that was ever sent. Ends the client.
    pub(crate) async fn hears_nothing_of(mut self, ids: &[u64]) {
        if self.transport == TransportName::Stdio {
            self.close();
            while let Got::Frame(frame) = self.next(0).await {
                let id = frame.json()["id"].as_u64();
                assert!(id.is_none_or(|id| !ids.contains(&id)), "{frame:?}");
            }
            return;
        }
        // Each has its share of the time in which all of them are silent.
        let share = (HANG_LIMIT - LIMIT / 2) / ids.len() as u32;
        for id in ids {
            let early = timeout(share, self.line.next(*id)).await;
            assert!(early.is_err(), "{early:?}");
        }
        for id in ids {
            let reply = self.frame(*id).await.json();
            assert_eq!(reply["error"]["code"], HANG_CODE, "{reply}");
        }
    }

    /// Over pipes: the client has nothing more to say.
    pub(crate) fn close(&mut self) {
        if let Line::Stdio(pipes) = &mut self.line {
            pipes.close();
        }
    }

    /// What only HTTP can do.
    pub(crate) fn http(&mut self) -> &mut http::Client {
        match &mut self.line {
            Line::Http(client) => client,
            _ => panic!("only over HTTP"),
        }
    }

    /// Waits until the mock ends by itself.
    pub(crate) async fn served(self) -> Served {
        // The client must not go first.
        let Self { line, serving, .. } = self;
        let task = serving.expect("the mock is ours").task;
        let served = timeout(LIMIT, task).await.expect("it ends").expect("no panic");
        drop(line);
        served
    }

    /// Ends the mock as its user does, while the client still listens. Pipes end with their client.
    pub(crate) async fn stop(mut self) -> Served {
        if self.transport == TransportName::Stdio {
            self.close();
            return self.served().await;
        }
        self.interrupt().await
    }

    /// Ends the mock as a signal does: the client has closed nothing.
    pub(crate) async fn interrupt(mut self) -> Served {
        let stop = self.serving.as_mut().expect("the mock is ours").stop.take();
        // A mock that has already ended needs no telling.
        let _ = stop.map(|stop| stop.send(()));
        self.served().await
    }
}

/// The text of a tool result.
pub(crate) fn text_of(reply: &Value) -> &str {
    let text = reply["result"]["content"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("no text: {reply}"))
}
