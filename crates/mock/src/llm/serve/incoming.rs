//! Requests, read with limits on everything that a client decides.

use std::{borrow::Cow, io, mem::MaybeUninit, time::Duration};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpStream, tcp::ReadHalf},
    time::{Instant, timeout_at},
};

use crate::{
    llm::record::{KEYS, MOST_HEADERS},
    serve::http::guard::is_local_origin,
};

/// A head may not be longer.
const HEAD_LIMIT: usize = 64 << 10;
/// A body may not be longer.
const BODY_LIMIT: usize = 32 << 20;
/// How long a request may take to arrive, once it has begun.
const READ_DEADLINE: Duration = Duration::from_secs(30);
const READ_SIZE: usize = 8 << 10;
/// How much room a connection may keep.
const KEPT: usize = 64 << 10;

/// A request.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) verb: Cow<'static, str>,
    pub(super) path: String,
    pub(super) query: String,
    /// The first header that carries a key: by it clients are told apart.
    pub(super) key: Option<String>,
    pub(super) body: Vec<u8>,
    /// The head as it came.
    pub(super) head: Vec<u8>,
    pub(super) keep_alive: bool,
}

impl Asked {
    /// What stands for a request that could not be read.
    pub(super) fn unread(path: &str) -> Self {
        Self {
            verb: Cow::Borrowed(""),
            path: path.to_owned(),
            query: String::new(),
            key: None,
            body: Vec::new(),
            head: format!("POST {path} HTTP/1.1\r\n\r\n").into_bytes(),
            keep_alive: false,
        }
    }

    /// The path with its query.
    pub(super) fn target(&self) -> String {
        match self.query.as_str() {
            "" => self.path.clone(),
            query => format!("{}?{query}", self.path),
        }
    }
}

/// What came in place of a request.
#[derive(Debug)]
pub(super) enum Nothing {
    /// The end of the connection.
    Closed,
    /// Something that gets a refusal and then the end.
    Bad { status: u16, why: String, path: String },
}

impl Nothing {
    /// Says which path it was: errors have the form of its provider.
    fn about(self, path: &str) -> Self {
        match self {
            Self::Bad { status, why, .. } => Self::Bad { status, why, path: path.to_owned() },
            Self::Closed => Self::Closed,
        }
    }
}

impl From<io::Error> for Nothing {
    fn from(_: io::Error) -> Self {
        Self::Closed
    }
}

fn bad(status: u16, why: impl Into<String>) -> Nothing {
    Nothing::Bad { status, why: why.into(), path: String::new() }
}

/// What has come and is not used yet.
#[derive(Debug, Default)]
pub(super) struct Incoming {
    bytes: Vec<u8>,
}

/// What a head says of the body.
struct Body {
    kind: BodyKind,
    /// Whether the client waits until it is told to send it.
    is_announced: bool,
}

enum BodyKind {
    Length(usize),
    Chunks,
}

/// The few headers that say how a request is read. The others wait until somebody looks at them.
#[derive(Default)]
struct Notes<'h> {
    key: Option<&'h str>,
    connection: Option<&'h str>,
    expect: Option<&'h str>,
    length: Option<&'h str>,
    encoding: Option<&'h str>,
    origin: Option<&'h str>,
}

impl<'h> Notes<'h> {
    fn read(headers: &[httparse::Header<'h>]) -> Result<Self, Nothing> {
        let mut notes = Self::default();
        for line in headers {
            let is = |name: &str| line.name.eq_ignore_ascii_case(name);
            let place = if KEYS.iter().any(|name| is(name)) {
                &mut notes.key
            } else if is("connection") {
                &mut notes.connection
            } else if is("expect") {
                &mut notes.expect
            } else if is("content-length") {
                &mut notes.length
            } else if is("transfer-encoding") {
                &mut notes.encoding
            } else if is("origin") {
                &mut notes.origin
            } else {
                continue;
            };
            if place.is_some() && (is("content-length") || is("transfer-encoding")) {
                return Err(bad(400, format!("`{}` stands there twice", line.name)));
            }
            if place.is_none() {
                let value = std::str::from_utf8(line.value).unwrap_or_default();
                *place = Some(value.trim());
            }
        }
        // A web page must not reach us through the browser of the person who runs us.
        if notes.origin.is_some_and(|origin| !is_local_origin(origin)) {
            return Err(bad(403, "`Origin` is not this machine"));
        }
        Ok(notes)
    }

    fn body(&self) -> Result<Body, Nothing> {
        let is_announced =
            self.expect.is_some_and(|value| value.eq_ignore_ascii_case("100-continue"));
        let kind = match (self.encoding, self.length) {
            (Some(encoding), None) if encoding.eq_ignore_ascii_case("chunked") => BodyKind::Chunks,
            (Some(_), _) => {
                return Err(bad(400, "a transfer encoding that is not only `chunked`"));
            }
            (None, None) => BodyKind::Length(0),
            (None, Some(text)) => match text.parse() {
                Ok(length) if length <= BODY_LIMIT => BodyKind::Length(length),
                Ok(_) => return Err(too_large()),
                Err(_) => return Err(bad(400, "a content length that is no number")),
            },
        };
        Ok(Body { kind, is_announced })
    }
}

impl Incoming {
    /// The next request.
    pub(super) async fn next(&mut self, stream: &mut TcpStream) -> Result<Asked, Nothing> {
        if self.bytes.is_empty() && !self.more(stream).await? {
            return Err(Nothing::Closed);
        }
        let deadline = Instant::now() + READ_DEADLINE;
        let read = timeout_at(deadline, self.read(stream)).await;
        read.unwrap_or_else(|_| {
            Err(bad(408, format!("the request took longer than {READ_DEADLINE:?}")))
        })
    }

    async fn read(&mut self, stream: &mut TcpStream) -> Result<Asked, Nothing> {
        let (mut asked, body) = loop {
            if let Some(found) = self.head()? {
                break found;
            }
            if !self.more(stream).await? {
                return Err(Nothing::Closed);
            }
        };
        self.bytes.drain(..asked.head.len());
        if body.is_announced && self.bytes.is_empty() {
            stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
        }
        let read = match body.kind {
            BodyKind::Length(length) => self.counted(stream, length).await,
            BodyKind::Chunks => self.chunks(stream).await,
        };
        asked.body = read.map_err(|nothing| nothing.about(&asked.path))?;
        self.bytes.shrink_to(KEPT);
        Ok(asked)
    }

    /// Reads the head, if it is all there.
    fn head(&self) -> Result<Option<(Asked, Body)>, Nothing> {
        let mut headers = [MaybeUninit::uninit(); MOST_HEADERS];
        let mut request = httparse::Request::new(&mut []);
        let length = match request.parse_with_uninit_headers(&self.bytes, &mut headers) {
            Ok(httparse::Status::Complete(length)) if length <= HEAD_LIMIT => length,
            Ok(httparse::Status::Partial) if self.bytes.len() <= HEAD_LIMIT => return Ok(None),
            Ok(_) | Err(httparse::Error::TooManyHeaders) => {
                return Err(bad(431, "the head is too long").about(self.likely_path()));
            }
            Err(error) => return Err(bad(400, format!("not an HTTP request: {error}"))),
        };
        let target = request.path.unwrap_or_default();
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let notes = Notes::read(request.headers).map_err(|nothing| nothing.about(path))?;
        let body = notes.body().map_err(|nothing| nothing.about(path))?;
        let asked = Asked {
            verb: match request.method.unwrap_or_default() {
                "POST" => Cow::Borrowed("POST"),
                other => Cow::Owned(other.to_owned()),
            },
            path: path.to_owned(),
            query: query.to_owned(),
            key: notes.key.map(str::to_owned),
            body: Vec::new(),
            head: self.bytes[..length].to_vec(),
            keep_alive: request.version == Some(1)
                && !notes.connection.is_some_and(|value| value.eq_ignore_ascii_case("close")),
        };
        Ok(Some((asked, body)))
    }

    /// The path in the first line of a head that cannot be read whole.
    fn likely_path(&self) -> &str {
        let line = self.bytes.split(|byte| *byte == b'\r').next().unwrap_or_default();
        let line = std::str::from_utf8(line).unwrap_or_default();
        line.split(' ').nth(1).unwrap_or_default()
    }

    async fn counted(&mut self, stream: &mut TcpStream, length: usize) -> Result<Vec<u8>, Nothing> {
        while self.bytes.len() < length {
            if !self.more(stream).await? {
                return Err(Nothing::Closed);
            }
        }
        Ok(self.bytes.drain(..length).collect())
    }

    async fn chunks(&mut self, stream: &mut TcpStream) -> Result<Vec<u8>, Nothing> {
        let mut body = Vec::new();
        loop {
            let (line, size) = loop {
                match httparse::parse_chunk_size(&self.bytes) {
                    Ok(httparse::Status::Complete(found)) => break found,
                    Ok(httparse::Status::Partial) if self.bytes.len() < READ_SIZE => {}
                    _ => return Err(bad(400, "a chunk without a size")),
                }
                if !self.more(stream).await? {
                    return Err(Nothing::Closed);
                }
            };
            let size = usize::try_from(size).unwrap_or(usize::MAX);
            if size > BODY_LIMIT - body.len() {
                return Err(too_large());
            }
            self.bytes.drain(..line);
            let chunk = self.counted(stream, size + 2).await?;
            if size == 0 {
                return Ok(body);
            }
            body.extend_from_slice(&chunk[..size]);
        }
    }

    /// Reads some more. `false`: there is no more. Room grows with what has come, not with what was
    /// announced.
    pub(super) async fn more(&mut self, stream: &mut TcpStream) -> io::Result<bool> {
        self.bytes.reserve(READ_SIZE);
        Ok(stream.read_buf(&mut self.bytes).await? > 0)
    }

    /// Throws away what comes. `false`: nothing comes any more.
    pub(super) async fn skip(&mut self, stream: &mut TcpStream) -> bool {
        self.bytes.clear();
        self.more(stream).await.unwrap_or(false)
    }

    /// What a client sends ahead while it waits is kept for its turn, up to a limit. Ten thousand that
    /// only listen take no room to read into.
    pub(super) async fn hung_up(&mut self, reader: &ReadHalf<'_>) {
        if self.bytes.is_empty() {
            self.bytes = Vec::new();
        }
        while self.bytes.len() < HEAD_LIMIT {
            let Ok(()) = reader.readable().await else { return };
            self.bytes.reserve(READ_SIZE);
            match reader.try_read_buf(&mut self.bytes) {
                Ok(0) => return,
                Err(error) if error.kind() != io::ErrorKind::WouldBlock => return,
                Ok(_) | Err(_) => {}
            }
        }
        std::future::pending().await
    }
}

fn too_large() -> Nothing {
    bad(413, format!("the body is longer than {} MiB", BODY_LIMIT >> 20))
}
