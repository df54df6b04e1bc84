//! A client that tells how each reply ended.

use std::time::Duration;

use mcp_loadtest_mock::llm::RunningLlm;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

/// Far more than anything here takes.
pub(super) const LIMIT: Duration = Duration::from_secs(30);
/// After so many looks in a row without a byte a reply counts as silent. Looks are counted and not
/// time, because the server lives in this process: one that gets no CPU for a second has looked once.
const QUIET_LOOKS: u32 = 14;
/// How long one look waits for a byte.
const LOOK: Duration = Duration::from_millis(50);

/// How a reply ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Ended {
    /// As its head said.
    Whole,
    /// The connection was closed before.
    Early,
    /// The connection was reset.
    Reset,
    /// Nothing came any more, and the connection stayed open.
    Silent,
}

/// A reply, taken apart.
#[derive(Debug, Clone)]
pub(super) struct Got {
    pub(super) status: u16,
    pub(super) head: String,
    /// The body without chunk lines.
    pub(super) body: Vec<u8>,
    /// The chunks, one by one.
    pub(super) chunks: Vec<Vec<u8>>,
    pub(super) ended: Ended,
}

impl Got {
    pub(super) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(super) fn json(&self) -> Value {
        serde_json::from_slice(&self.body)
            .unwrap_or_else(|error| panic!("{error}: {}", self.text()))
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (own, value) = line.split_once(':')?;
            own.eq_ignore_ascii_case(name).then_some(value.trim())
        })
    }

    /// The data of each event.
    pub(super) fn events(&self) -> Vec<String> {
        let text = self.text();
        let text = text.trim_start_matches('\u{feff}');
        let lines = text.lines().filter_map(|line| line.strip_prefix("data:"));
        lines.map(|data| data.trim().to_owned()).collect()
    }
}

/// The four APIs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Api {
    Chat,
    Responses,
    Messages,
    Gemini,
}

pub(super) const APIS: [Api; 4] = [Api::Chat, Api::Responses, Api::Messages, Api::Gemini];

impl Api {
    pub(super) fn path(self, stream: bool) -> &'static str {
        match (self, stream) {
            (Self::Chat, _) => "/v1/chat/completions",
            (Self::Responses, _) => "/v1/responses",
            (Self::Messages, _) => "/v1/messages",
            (Self::Gemini, true) => "/v1/models/g:streamGenerateContent?alt=sse",
            (Self::Gemini, false) => "/v1/models/g:generateContent",
        }
    }

    pub(super) fn body(self, model: &str, user: &str, stream: bool) -> Value {
        match self {
            Self::Chat => {
                json!({ "model": model, "stream": stream, "messages": [{ "role": "user", "content": user }] })
            }
            Self::Responses => json!({ "model": model, "stream": stream, "input": user }),
            Self::Messages => {
                json!({ "model": model, "max_tokens": 99, "stream": stream, "messages": [{ "role": "user", "content": user }] })
            }
            Self::Gemini => {
                json!({ "contents": [{ "role": "user", "parts": [{ "text": user }] }] })
            }
        }
    }

    /// What a stream says: all deltas of texts and arguments together.
    pub(super) fn said(self, got: &Got) -> String {
        got.events()
            .iter()
            .filter_map(|data| self.delta(&serde_json::from_str(data).ok()?))
            .collect()
    }

    fn delta(self, event: &Value) -> Option<String> {
        let found = match self {
            Self::Chat => {
                let delta = &event["choices"][0]["delta"];
                let call = &delta["tool_calls"][0]["function"]["arguments"];
                delta["content"]
                    .as_str()
                    .or_else(|| call.as_str())
                    .or_else(|| delta["refusal"].as_str())
            }
            Self::Responses => event["delta"].as_str(),
            Self::Messages => {
                let delta = &event["delta"];
                delta["text"].as_str().or_else(|| delta["partial_json"].as_str())
            }
            Self::Gemini => {
                let part = &event["candidates"][0]["content"]["parts"][0];
                let args = &part["functionCall"]["args"];
                return part["text"]
                    .as_str()
                    .map(str::to_owned)
                    .or((!args.is_null()).then(|| args.to_string()));
            }
        };
        found.map(str::to_owned)
    }

    /// Whether a stream came to its end, by what the API says there.
    pub(super) fn is_terminated(self, got: &Got) -> bool {
        let text = got.text();
        match self {
            Self::Chat => text.contains("data: [DONE]"),
            Self::Responses => text.contains("response.completed"),
            Self::Messages => text.contains("message_stop"),
            Self::Gemini => text.contains("finishReason"),
        }
    }
}

pub(super) async fn start(fixtures: &str) -> RunningLlm {
    mcp_loadtest_mock::llm::MockLlm::start(fixtures).await.unwrap()
}

pub(super) async fn connect(llm: &RunningLlm) -> TcpStream {
    TcpStream::connect(llm.url().strip_prefix("http://").unwrap()).await.unwrap()
}

/// The bytes of a request.
pub(super) fn written(verb: &str, target: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let lines: String =
        headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    let length = body.len();
    let mut bytes =
        format!("{verb} {target} HTTP/1.1\r\nhost: x\r\n{lines}content-length: {length}\r\n\r\n")
            .into_bytes();
    bytes.extend_from_slice(body);
    bytes
}

/// Asks on a connection of its own.
pub(super) async fn ask(llm: &RunningLlm, api: Api, model: &str, user: &str, stream: bool) -> Got {
    ask_with(llm, api, &api.body(model, user, stream), stream, &[]).await
}

pub(super) async fn ask_with(
    llm: &RunningLlm,
    api: Api,
    body: &Value,
    stream: bool,
    headers: &[(&str, &str)],
) -> Got {
    post(llm, api.path(stream), body, headers).await
}

pub(super) async fn post(
    llm: &RunningLlm,
    target: &str,
    body: &Value,
    headers: &[(&str, &str)],
) -> Got {
    let bytes = written("POST", target, headers, body.to_string().as_bytes());
    exchange(llm, &bytes).await
}

pub(super) async fn exchange(llm: &RunningLlm, bytes: &[u8]) -> Got {
    let mut stream = connect(llm).await;
    // Whoever is refused early may find the door shut while still sending.
    let _ = stream.write_all(bytes).await;
    timeout(LIMIT, receive(&mut stream)).await.expect("a reply, or silence")
}

/// Reads one reply to its end, whatever that is.
pub(super) async fn receive(stream: &mut TcpStream) -> Got {
    let mut bytes = Vec::new();
    let mut quiet = 0;
    loop {
        if let Some(got) = taken_apart(&bytes, None) {
            return got;
        }
        let ended = match timeout(LOOK, stream.read_buf(&mut bytes)).await {
            Ok(Ok(0)) => Ended::Early,
            Ok(Ok(_)) => {
                quiet = 0;
                continue;
            }
            Ok(Err(_)) => Ended::Reset,
            Err(_) => {
                quiet += 1;
                if quiet < QUIET_LOOKS {
                    continue;
                }
                Ended::Silent
            }
        };
        return taken_apart(&bytes, Some(ended)).unwrap();
    }
}

/// A reply, if it is whole, or if no more will come.
fn taken_apart(bytes: &[u8], ended: Option<Ended>) -> Option<Got> {
    let Some(split) = bytes.windows(4).position(|four| four == b"\r\n\r\n") else {
        return ended.map(|ended| Got {
            status: 0,
            head: String::new(),
            body: Vec::new(),
            chunks: Vec::new(),
            ended,
        });
    };
    let head = String::from_utf8_lossy(&bytes[..split]).into_owned();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let rest = &bytes[split + 4..];
    let mut got = Got { status, head, body: Vec::new(), chunks: Vec::new(), ended: Ended::Whole };
    let whole = if got.header("transfer-encoding").is_some() {
        let (chunks, whole) = chunks(rest);
        got.body = chunks.concat();
        got.chunks = chunks;
        whole
    } else {
        let length: usize = got.header("content-length").map_or(0, |text| text.parse().unwrap());
        got.body = rest[..length.min(rest.len())].to_vec();
        rest.len() >= length
    };
    match (whole, ended) {
        (true, _) => Some(got),
        (false, None) => None,
        (false, Some(ended)) => Some(Got { ended, ..got }),
    }
}

fn chunks(mut rest: &[u8]) -> (Vec<Vec<u8>>, bool) {
    let mut chunks = Vec::new();
    loop {
        let Some(line) = rest.windows(2).position(|two| two == b"\r\n") else {
            return (chunks, false);
        };
        let size = std::str::from_utf8(&rest[..line]).unwrap();
        let size = usize::from_str_radix(size, 16).unwrap();
        rest = &rest[line + 2..];
        if size == 0 {
            return (chunks, rest.starts_with(b"\r\n"));
        }
        if rest.len() < size + 2 {
            chunks.push(rest[..size.min(rest.len())].to_vec());
            return (chunks, false);
        }
        chunks.push(rest[..size].to_vec());
        rest = &rest[size + 2..];
    }
}

/// Asks anybody at an address.
pub(super) async fn exchange_at(authority: &str, verb: &str, target: &str, body: &str) -> Got {
    let mut stream = TcpStream::connect(authority).await.unwrap();
    let length = body.len();
    let bytes = format!(
        "{verb} {target} HTTP/1.1\r\nhost: {authority}\r\ncontent-length: {length}\r\n\r\n{body}"
    );
    stream.write_all(bytes.as_bytes()).await.unwrap();
    timeout(LIMIT, receive(&mut stream)).await.expect("a reply")
}
