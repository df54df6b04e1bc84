//! A client that hides nothing: what it sees is what was on the wire, over every transport and in
//! both eras.
//!
//! | file    | what it does                                                    |
//! |---------|-----------------------------------------------------------------|
//! | `got`   | what a client sees next                                         |
//! | `stdio` | a pair of pipes, and a mock with a thread of its own            |
//! | `http`  | Streamable HTTP, a connection for each request                  |
//! | `bytes` | a socket whose reads are counted, and HTTP replies taken apart  |
//! | `sse`   | HTTP+SSE                                                        |
//! | `ws`    | WebSocket                                                       |

mod bytes;
mod got;
mod http;
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
use tokio::{sync::oneshot, task::JoinHandle, time::timeout};

pub(crate) use self::got::{Frame, Got};
use super::support::LIMIT;

/// A mock, and one client of it.
pub(crate) struct Peer {
    pub(crate) transport: TransportName,
    pub(crate) era: Era,
    line: Line,
    serving: Serving,
    last_id: u64,
}

/// How the client reaches the mock.
enum Line {
    Stdio(stdio::Pipes),
    Http(http::Client),
    Sse(sse::Client),
    Ws(ws::Client),
}

/// The mock; over sockets it has to be told when to end.
struct Serving {
    stop: Option<oneshot::Sender<()>>,
    task: JoinHandle<Served>,
}

impl Peer {
    /// Starts the mock and, in the legacy era, shakes hands.
    pub(crate) async fn start(mock: Mock, transport: TransportName, era: Era) -> Self {
        let (line, serving) = match transport {
            TransportName::Stdio => {
                let (pipes, task) = stdio::start(mock);
                (Line::Stdio(pipes), Serving { stop: None, task })
            }
            _ => {
                let (address, serving) = listen(mock, transport).await;
                (Line::open(transport, era, address).await, serving)
            }
        };
        let mut peer = Self { transport, era, line, serving, last_id: 0 };
        if era == Era::Legacy {
            peer.shake_hands().await;
        }
        peer
    }

    /// Makes a session; over HTTP it takes the place of the former.
    pub(crate) async fn shake_hands(&mut self) {
        let params = json!({
            "protocolVersion": Revision::NEWEST_LEGACY.as_str(),
            "capabilities": {},
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
        match &mut self.line {
            Line::Stdio(pipes) => pipes.send(&message),
            Line::Http(client) => client.post(id, &message).await,
            Line::Sse(client) => client.send(id, &message).await,
            Line::Ws(client) => client.send(&message).await,
        }
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
        match &mut self.line {
            Line::Stdio(pipes) => pipes.send(message),
            Line::Http(client) => client.tell(id, message).await,
            Line::Sse(client) => client.send(id, message).await,
            Line::Ws(client) => client.send(message).await,
        }
    }

    /// What comes next, for the request with this id or, on a line that all share, for anybody.
    pub(crate) async fn next(&mut self, id: u64) -> Got {
        let got = timeout(LIMIT, self.next_at_all(id)).await;
        got.unwrap_or_else(|_| panic!("nothing came for {id} within {LIMIT:?}"))
    }

    async fn next_at_all(&mut self, id: u64) -> Got {
        match &mut self.line {
            Line::Stdio(pipes) => pipes.next().await,
            Line::Http(client) => client.next(id).await,
            Line::Sse(client) => client.next(id).await,
            Line::Ws(client) => client.next().await,
        }
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
            let early = timeout(share, self.next_at_all(*id)).await;
            assert!(early.is_err(), "{early:?}");
        }
        for id in ids {
            let reply = self.frame(*id).await.json();
            assert_eq!(reply["error"]["code"], HANG_CODE, "{reply}");
        }
    }

    /// The client has nothing more to say.
    pub(crate) fn close(&mut self) {
        match &mut self.line {
            Line::Stdio(pipes) => pipes.close(),
            Line::Http(client) => client.hang_up_all(),
            Line::Sse(_) | Line::Ws(_) => {}
        }
    }

    /// Waits until the mock ends by itself.
    pub(crate) async fn served(self) -> Served {
        // The client must not go first.
        let Self { line, serving, .. } = self;
        let served = timeout(LIMIT, serving.task).await.expect("it ends").expect("no panic");
        drop(line);
        served
    }

    /// Ends the client and the mock.
    pub(crate) async fn end(self) -> Served {
        let Self { line, serving, .. } = self;
        drop(line);
        let Serving { stop, task } = serving;
        // A mock that has already ended needs no telling.
        let _ = stop.map(|stop| stop.send(()));
        timeout(LIMIT, task).await.expect("it ends").expect("no panic")
    }
}

impl Line {
    async fn open(transport: TransportName, era: Era, address: SocketAddr) -> Self {
        match transport {
            TransportName::Sse => Self::Sse(sse::Client::open(address).await),
            TransportName::Ws => Self::Ws(ws::Client::open(address).await),
            _ => Self::Http(http::Client::new(address, era)),
        }
    }
}

async fn listen(mock: Mock, transport: TransportName) -> (SocketAddr, Serving) {
    let bound = mock.bind_as(transport, "127.0.0.1:0".parse().unwrap()).await.unwrap();
    let address = bound.url().split('/').nth(2).unwrap().parse().unwrap();
    let (stop, stopped) = oneshot::channel();
    let stopped = async move {
        // Whoever forgets to stop it wants it to go on.
        if stopped.await.is_err() {
            std::future::pending::<()>().await;
        }
    };
    let task = tokio::spawn(async { bound.serve_until(stopped).await.unwrap() });
    (address, Serving { stop: Some(stop), task })
}

/// The text of a tool result.
pub(crate) fn text_of(reply: &Value) -> &str {
    let text = reply["result"]["content"][0]["text"].as_str();
    text.unwrap_or_else(|| panic!("no text: {reply}"))
}
