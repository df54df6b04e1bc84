//! Stands in front of a real server and writes down what it answers, and when.

use std::{
    collections::BTreeMap,
    io::{self, Write as _},
    net::SocketAddr,
    path::PathBuf,
    sync::{Mutex, PoisonError},
};

use http::{HeaderName, HeaderValue, Method, Uri};
use hyper::body::Bytes;
use mcp_loadtest_core::llm::{
    Ending, Problem, RecordedChunk, RecordedRequest, RecordedResponse, Recording, secret,
};
use mcp_loadtest_wire::{
    disk::File,
    session::{Address, Origin},
};
use tokio::{io::AsyncWriteExt as _, time::Instant};

use super::{
    After, Connection,
    asking::{Asking, Sent},
    incoming::Asked,
    outgoing, refusal,
};
use crate::{
    llm::{LlmError, record::read_head},
    proxy::upstream::{Upstream, next_piece},
};

/// Headers of a request that belong to its connection, or that would make the answer unreadable.
const NOT_SENT_ON: [&str; 6] =
    ["host", "connection", "accept-encoding", "content-length", "transfer-encoding", "expect"];
/// Headers of an answer that are worth telling again, by their beginnings.
const KEPT: [&str; 9] = [
    "content-type",
    "retry-after",
    "x-should-retry",
    "x-ratelimit",
    "anthropic-ratelimit",
    "x-request-id",
    "request-id",
    "openai-",
    "anthropic-",
];

/// Writes down what a server answers.
#[derive(Debug)]
pub(crate) struct Recorder {
    upstream: Upstream,
    path: PathBuf,
    file: Mutex<File>,
}

impl Recorder {
    /// Finds the server, and makes the file at once, so that a wrong path is told before anything is
    /// asked.
    pub(crate) async fn new(url: &str, path: PathBuf) -> Result<Self, LlmError> {
        let origin = Origin::find(&Address::new(url)).await?;
        let mut file = File::create(&path)
            .map_err(|source| LlmError::Recording { path: path.clone(), source })?;
        file.write_all(b"recordings:\n")?;
        Ok(Self { upstream: Upstream::new(origin), path, file: Mutex::new(file) })
    }

    /// Whether the server behind is this one.
    pub(crate) fn is_loop(&self, ours: SocketAddr) -> bool {
        self.upstream.origin.addresses().contains(&ours)
    }

    /// Adds a recording, in one line: JSON is YAML. The file is whole after each, so that whoever stops
    /// us has what there was.
    fn add(&self, recording: &Recording) -> io::Result<()> {
        let mut line = b"- ".to_vec();
        serde_json::to_writer(&mut line, recording)?;
        line.push(b'\n');
        self.file.lock().unwrap_or_else(PoisonError::into_inner).write_all(&line)
    }

    fn head(&self, asked: &Asked, came: &[u8]) -> Result<http::request::Parts, String> {
        let prefix = self.upstream.origin.path().trim_end_matches('/');
        let target = format!("{prefix}{}", asked.target());
        let (mut head, ()) = http::Request::new(()).into_parts();
        head.method = Method::from_bytes(asked.verb.as_bytes()).map_err(|e| e.to_string())?;
        head.uri = target.parse::<Uri>().map_err(|error| error.to_string())?;
        let host = HeaderValue::from_str(self.upstream.origin.authority())
            .map_err(|error| error.to_string())?;
        head.headers.insert(http::header::HOST, host);
        let (_, headers) = read_head(came);
        let kept = headers.iter().filter(|(name, _)| !NOT_SENT_ON.contains(&name.as_str()));
        for (name, value) in kept {
            let name = HeaderName::from_bytes(name.as_bytes()).map_err(|e| e.to_string())?;
            let value = HeaderValue::from_str(value).map_err(|error| error.to_string())?;
            head.headers.append(name, value);
        }
        Ok(head)
    }
}

impl Connection {
    /// Sends a request on, and its answer back as it comes, and writes both down.
    pub(super) async fn record(
        &mut self,
        recorder: &Recorder,
        asked: Asked,
        asking: &mut Asking,
    ) -> io::Result<Sent> {
        let began = Instant::now();
        let request = RecordedRequest::new(&asked.verb, &asked.target(), &asking.body);
        asking.model = request.body["model"].as_str().unwrap_or_default().to_owned();
        asking.stream = request.body["stream"] == true;
        let provider = asking.provider;
        let answered = match recorder.head(&asked, &asking.head) {
            Ok(head) => recorder.upstream.send(&head, Bytes::from(asking.body.clone())).await,
            Err(why) => Err(io::Error::other(why)),
        };
        let answered = match answered {
            Ok(answered) => answered,
            Err(error) => {
                let why = format!("the server behind could not be asked: {error}");
                return self.refuse(provider, &Problem::new(502, why), asking).await;
            }
        };
        let (head, mut body) = answered.into_parts();
        asking.status = head.status.as_u16();
        let headers = kept(&head.headers);
        let mut bytes = self.recorded_head(&headers, asking);
        let mut response = RecordedResponse {
            status: head.status.as_u16(),
            headers,
            chunks: Vec::new(),
            broken: false,
        };
        let (mut last, mut sent) = (began, 0);
        self.stream.write_all(&bytes).await?;
        while let Some(piece) = next_piece(&mut body).await {
            let Ok(piece) = piece else {
                response.broken = true;
                break;
            };
            let now = Instant::now();
            let after_ms = (now - last).as_secs_f64() * 1e3;
            last = now;
            response.chunks.push(RecordedChunk::new(after_ms, &piece));
            bytes = format!("{:x}\r\n", piece.len()).into_bytes();
            bytes.extend_from_slice(&piece);
            bytes.extend_from_slice(b"\r\n");
            self.stream.write_all(&bytes).await?;
            sent += piece.len();
        }
        let is_broken = response.broken;
        if let Err(error) = recorder.add(&Recording { request, response }) {
            self.desk.notice(format!("cannot write {}: {error}", recorder.path.display()));
        }
        if is_broken {
            return Ok(Sent::new(sent, Ending::Broken, After::Closed));
        }
        self.stream.write_all(b"0\r\n\r\n").await?;
        let ending = if asking.status < 400 { Ending::Complete } else { Ending::Refused };
        Ok(Sent::new(sent, ending, outgoing::after(None, asking.keep_alive)))
    }

    fn recorded_head(&self, headers: &BTreeMap<String, String>, asking: &mut Asking) -> Vec<u8> {
        let content_type = headers.get("content-type").map_or("", String::as_str);
        let others: Vec<_> = headers
            .iter()
            .filter(|(name, _)| *name != "content-type")
            .map(|(name, value)| (name.clone(), value.clone()))
            .collect();
        refusal::note_advice(&others, asking);
        let status = asking.status;
        let mut head = outgoing::head(status, content_type, &others, asking.keep_alive, 0);
        head.extend_from_slice(b"transfer-encoding: chunked\r\n\r\n");
        head
    }
}

fn kept(headers: &http::HeaderMap) -> BTreeMap<String, String> {
    let worth =
        headers.iter().filter(|(name, _)| KEPT.iter().any(|own| name.as_str().starts_with(own)));
    worth
        .filter_map(|(name, value)| {
            Some((name.to_string(), secret::masked(value.to_str().ok()?).into_owned()))
        })
        .collect()
}
