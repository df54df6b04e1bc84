//! A socket whose reads are counted, and HTTP replies taken apart.

use std::{io, net::SocketAddr};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};

use super::{Frame, Got};

/// How much is asked of a socket at once, at least.
const READ_SIZE: usize = 64 << 10;

/// One connection and what was read of its reply.
pub(super) struct Exchange {
    stream: TcpStream,
    buffer: Vec<u8>,
    pieces: usize,
    head: Option<Head>,
    /// What the chunks said that was no whole event yet.
    events: Vec<u8>,
    is_done: bool,
}

struct Head {
    status: u16,
    text: String,
    /// `None` for a stream of events.
    length: Option<usize>,
    is_chunked: bool,
}

impl Exchange {
    pub(super) async fn begin(address: SocketAddr, request: &[u8]) -> Self {
        let mut stream = TcpStream::connect(address).await.unwrap();
        stream.write_all(request).await.unwrap();
        Self {
            stream,
            buffer: Vec::new(),
            pieces: 0,
            head: None,
            events: Vec::new(),
            is_done: false,
        }
    }

    /// The next message of the reply.
    pub(super) async fn next(&mut self) -> Got {
        match self.try_next().await {
            Ok(Some(frame)) => Got::Frame(frame),
            Ok(None) => Got::Done,
            Err(error) if error.kind() == io::ErrorKind::ConnectionReset => Got::Reset,
            Err(_) => self.closed(),
        }
    }

    fn closed(&mut self) -> Got {
        let announced = self.head.as_ref().and_then(|head| head.length);
        let unread = if self.events.is_empty() { &mut self.buffer } else { &mut self.events };
        Got::Closed { part: std::mem::take(unread), announced }
    }

    async fn try_next(&mut self) -> io::Result<Option<Frame>> {
        if self.is_done {
            return Ok(None);
        }
        self.read_head().await?;
        let head = self.head.as_ref().expect("it was read");
        match (head.length, head.is_chunked) {
            (Some(length), _) => self.read_body(length).await.map(Some),
            (None, is_chunked) => self.read_event(is_chunked).await,
        }
    }

    async fn read_head(&mut self) -> io::Result<()> {
        while self.head.is_none() {
            let end = self.buffer.windows(4).position(|four| four == b"\r\n\r\n");
            let Some(end) = end else {
                self.read_more().await?;
                continue;
            };
            let text = String::from_utf8(self.buffer.drain(..end + 4).collect()).unwrap();
            self.head = Some(Head::read(text));
        }
        Ok(())
    }

    async fn read_body(&mut self, length: usize) -> io::Result<Frame> {
        while self.buffer.len() < length {
            self.read_more().await?;
        }
        self.is_done = true;
        let bytes = self.buffer.drain(..length).collect();
        assert_eq!(self.buffer, b"", "what follows would be read as the next reply");
        Ok(self.framed(bytes))
    }

    async fn read_event(&mut self, is_chunked: bool) -> io::Result<Option<Frame>> {
        loop {
            while let Some(end) = self.events.windows(2).position(|two| two == b"\n\n") {
                let event: Vec<u8> = self.events.drain(..end + 2).collect();
                let event = String::from_utf8(event).unwrap();
                let data = event.lines().find_map(|line| line.strip_prefix("data: "));
                if let Some(data) = data {
                    let bytes = data.as_bytes().to_vec();
                    return Ok(Some(self.framed(bytes)));
                }
            }
            if !is_chunked {
                self.events.append(&mut self.buffer);
            } else if let Some(chunk) = take_chunk(&mut self.buffer) {
                if chunk.is_empty() {
                    self.is_done = true;
                    return Ok(None);
                }
                self.events.extend(chunk);
                continue;
            }
            if !self.events.windows(2).any(|two| two == b"\n\n") {
                self.read_more().await?;
            }
        }
    }

    fn framed(&mut self, bytes: Vec<u8>) -> Frame {
        let head = self.head.as_ref().expect("it was read");
        let pieces = std::mem::take(&mut self.pieces);
        Frame { bytes, pieces, status: Some(head.status), head: head.text.clone() }
    }

    async fn read_more(&mut self) -> io::Result<()> {
        self.pieces += 1;
        self.buffer.reserve(READ_SIZE);
        match self.stream.read_buf(&mut self.buffer).await? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }
}

impl Head {
    fn read(text: String) -> Self {
        let is = |wanted: &str| text.lines().any(|line| line.eq_ignore_ascii_case(wanted));
        let length = text.lines().find_map(|line| {
            line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok()
        });
        let is_stream = is("Content-Type: text/event-stream");
        Self {
            status: text.split(' ').nth(1).unwrap().parse().unwrap(),
            length: if is_stream { None } else { Some(length.unwrap_or(0)) },
            is_chunked: is("Transfer-Encoding: chunked"),
            text,
        }
    }
}

/// A whole chunk; the last one is empty.
fn take_chunk(buffer: &mut Vec<u8>) -> Option<Vec<u8>> {
    let line = buffer.windows(2).position(|two| two == b"\r\n")?;
    let length = usize::from_str_radix(std::str::from_utf8(&buffer[..line]).unwrap(), 16).unwrap();
    let (begin, end) = (line + 2, line + 2 + length);
    if buffer.len() < end + 2 {
        return None;
    }
    let chunk = buffer[begin..end].to_vec();
    buffer.drain(..end + 2);
    Some(chunk)
}
