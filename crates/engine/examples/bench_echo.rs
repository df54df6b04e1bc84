//! The servers of `make bench`: they do as little as an MCP server can, so that the generator shows.
//!
//! ```text
//! bench_echo http PORT [session]          one thread; port 0 takes a free one; prints {"url":...}
//! bench_echo stdio                        blocking; answers whole reads with one write
//! bench_echo pump N INFLIGHT PIECES -- COMMAND
//!                                         the limit for stdio: bytes out, line ends counted, no checks;
//!                                         what one read brought is answered in so many writes
//! ```
//!
//! With `session`, `initialize` gives a session id as most servers do; it is never asked for.

use std::{
    cell::RefCell,
    future::poll_fn,
    io::{self, BufRead as _, Error, Read as _, Write as _},
    net::Ipv4Addr,
    pin::Pin,
    process::Stdio,
    task::Poll,
};

use tokio::{
    io::{AsyncRead as _, AsyncWrite as _, AsyncWriteExt as _, ReadBuf},
    net::{TcpSocket, TcpStream},
    process::{ChildStdin, ChildStdout, Command},
    time::Instant,
};

/// How much is read at once.
const READ_SIZE: usize = 64 << 10;
/// Connections that may wait to be accepted: ten thousand come at once.
const BACKLOG: u32 = 16 << 10;

fn main() -> io::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match words.as_slice() {
        ["http", port] => on_one_thread(serve_http(number(port)?, "")),
        ["http", port, "session"] => {
            on_one_thread(serve_http(number(port)?, "Mcp-Session-Id: bench\r\n"))
        }
        ["stdio"] => serve_stdio(),
        ["pump", count, in_flight, pieces, "--", command @ ..] if !command.is_empty() => {
            let pieces = number::<usize>(pieces)?.max(1);
            on_one_thread(pump(number(count)?, number(in_flight)?, pieces, command))
        }
        _ => Err(Error::other(
            "use: bench_echo http PORT [session] | stdio | pump N INFLIGHT PIECES -- COMMAND",
        )),
    }
}

fn number<T: std::str::FromStr>(text: &str) -> io::Result<T> {
    text.parse().map_err(|_| Error::other(format!("`{text}` is not a number")))
}

fn on_one_thread(task: impl Future<Output = io::Result<()>>) -> io::Result<()> {
    tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(task)
}

// ---- What is answered ----

const BEFORE_ID: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":";
const CALL: &[u8] = b",\"method\":\"tools/call\"";
/// With it a reply to a call has about 200 bytes.
const CALL_RESULT: &str = r#","result":{"content":[{"type":"text","text":"the quick brown fox jumps over the lazy dog, and then it does so once more, for good measure"}],"isError":false}}"#;
const INITIALIZE_RESULT: &str = r#","result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"bench-echo","version":"1"}}}"#;
const LIST_RESULT: &str = r#","result":{"tools":[{"name":"echo","description":"Gives a fixed text.","inputSchema":{"type":"object","properties":{"text":{"type":"string"}}},"annotations":{"readOnlyHint":true}}]}}"#;
const PING_RESULT: &str = r#","result":{}}"#;
const UNKNOWN_METHOD: &str = r#","error":{"code":-32601,"message":"unknown method"}}"#;

/// The id of a request as written, and what follows it in the reply. Nothing for a notification.
fn answer(body: &[u8]) -> Option<(&[u8], &'static str)> {
    if let Some(rest) = body.strip_prefix(BEFORE_ID) {
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if rest[digits..].starts_with(CALL) {
            return Some((&rest[..digits], CALL_RESULT));
        }
    }
    let id = after(body, b"\"id\":")?;
    let end = id.iter().position(|byte| matches!(byte, b',' | b'}'))?;
    let method = after(body, b"\"method\":\"").unwrap_or_default();
    let known = [
        ("tools/call", CALL_RESULT),
        ("initialize", INITIALIZE_RESULT),
        ("tools/list", LIST_RESULT),
        ("ping", PING_RESULT),
    ];
    let found = known.iter().find(|(name, _)| method.starts_with(name.as_bytes()));
    Some((&id[..end], found.map_or(UNKNOWN_METHOD, |(_, rest)| rest)))
}

/// What follows the first `mark`; only used off the beaten track.
fn after<'a>(bytes: &'a [u8], mark: &[u8]) -> Option<&'a [u8]> {
    let at = bytes.windows(mark.len()).position(|window| window == mark)?;
    Some(&bytes[at + mark.len()..])
}

fn append_reply(id: &[u8], rest: &str, out: &mut Vec<u8>) {
    out.extend_from_slice(BEFORE_ID);
    out.extend_from_slice(id);
    out.extend_from_slice(rest.as_bytes());
}

// ---- HTTP ----

thread_local! {
    /// One pair of buffers serves all connections; nothing stays in it across an await.
    static SCRATCH: RefCell<(Vec<u8>, Vec<u8>)> = RefCell::new((vec![0; READ_SIZE], Vec::new()));
}

async fn serve_http(port: u16, session_line: &'static str) -> io::Result<()> {
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind((Ipv4Addr::LOCALHOST, port).into())?;
    let listener = socket.listen(BACKLOG)?;
    writeln!(io::stdout(), "{{\"url\":\"http://{}/mcp\"}}", listener.local_addr()?)?;
    loop {
        let (stream, _) = listener.accept().await?;
        // A connection that fails ends alone.
        tokio::spawn(async move { serve_connection(stream, session_line).await });
    }
}

async fn serve_connection(mut stream: TcpStream, session_line: &str) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut partial = Vec::new();
    loop {
        let read = poll_fn(|cx| {
            SCRATCH.with_borrow_mut(|(scratch, out)| {
                let mut buf = ReadBuf::new(scratch);
                match Pin::new(&mut stream).poll_read(cx, &mut buf)? {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(()) if buf.filled().is_empty() => return Poll::Ready(Ok(None)),
                    Poll::Ready(()) => {}
                }
                out.clear();
                answer_all(buf.filled(), &mut partial, session_line, out);
                let sent = if out.is_empty() { Ok(0) } else { stream.try_write(out) };
                let sent = match sent {
                    Err(error) if error.kind() == io::ErrorKind::WouldBlock => 0,
                    other => other?,
                };
                Poll::Ready(Ok::<_, Error>(Some(out[sent..].to_vec())))
            })
        });
        match read.await? {
            None => return Ok(()),
            Some(unsent) if unsent.is_empty() => {}
            Some(unsent) => stream.write_all(&unsent).await?,
        }
    }
}

/// Answers the whole requests among these bytes; the rest waits in `partial`.
fn answer_all(bytes: &[u8], partial: &mut Vec<u8>, session_line: &str, out: &mut Vec<u8>) {
    if partial.is_empty() {
        let taken = answer_whole(bytes, session_line, out);
        partial.extend_from_slice(&bytes[taken..]);
    } else {
        partial.extend_from_slice(bytes);
        let taken = answer_whole(partial, session_line, out);
        partial.drain(..taken);
    }
}

fn answer_whole(bytes: &[u8], session_line: &str, out: &mut Vec<u8>) -> usize {
    let mut at = 0;
    while let Some((head, length)) = read_head(&bytes[at..]) {
        let end = at + head + length;
        if bytes.len() < end {
            break;
        }
        answer_request(&bytes[at..], &bytes[at + head..end], session_line, out);
        at = end;
    }
    at
}

/// The length of the head and of the body, once the head is complete.
fn read_head(bytes: &[u8]) -> Option<(usize, usize)> {
    let (mut at, mut length) = (0, 0);
    loop {
        let line_length = (&bytes[at..]).skip_until(b'\n').ok()?;
        let line = bytes[at..at + line_length].strip_suffix(b"\n")?.trim_ascii_end();
        at += line_length;
        if line.is_empty() {
            return Some((at, length));
        }
        const NAME: &[u8] = b"content-length:";
        if line.len() > NAME.len() && line[..NAME.len()].eq_ignore_ascii_case(NAME) {
            let digits = line[NAME.len()..].trim_ascii_start();
            length = digits
                .iter()
                .fold(0, |sum, digit| sum * 10 + usize::from(digit.wrapping_sub(b'0')));
        }
    }
}

fn answer_request(request: &[u8], body: &[u8], session_line: &str, out: &mut Vec<u8>) {
    if !request.starts_with(b"POST ") {
        let status = if request.starts_with(b"DELETE ") {
            "204 No Content"
        } else {
            "405 Method Not Allowed"
        };
        let length = if request.starts_with(b"DELETE ") { "" } else { "Content-Length: 0\r\n" };
        out.extend_from_slice(format!("HTTP/1.1 {status}\r\n{length}\r\n").as_bytes());
        return;
    }
    let Some((id, rest)) = answer(body) else {
        out.extend_from_slice(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n");
        return;
    };
    out.extend_from_slice(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n");
    if rest == INITIALIZE_RESULT {
        out.extend_from_slice(session_line.as_bytes());
    }
    let length = BEFORE_ID.len() + id.len() + rest.len();
    // Writing to memory cannot fail.
    let _ = write!(out, "Content-Length: {length}\r\n\r\n");
    append_reply(id, rest, out);
}

// ---- stdio ----

fn serve_stdio() -> io::Result<()> {
    let (mut input, mut output) = (io::stdin().lock(), io::stdout().lock());
    let (mut bytes, mut filled, mut out) = (vec![0; READ_SIZE], 0, Vec::new());
    loop {
        let read = input.read(&mut bytes[filled..])?;
        if read == 0 {
            return Ok(());
        }
        filled += read;
        let taken = answer_lines(&bytes[..filled], &mut out);
        output.write_all(&out)?;
        output.flush()?;
        out.clear();
        bytes.copy_within(taken..filled, 0);
        filled -= taken;
        if filled == bytes.len() {
            bytes.resize(bytes.len() * 2, 0);
        }
    }
}

fn answer_lines(bytes: &[u8], out: &mut Vec<u8>) -> usize {
    let mut at = 0;
    while let Ok(length @ 1..) = (&bytes[at..]).skip_until(b'\n')
        && let Some(line) = bytes[at..at + length].strip_suffix(b"\n")
    {
        if let Some((id, rest)) = answer(line) {
            append_reply(id, rest, out);
            out.push(b'\n');
        }
        at += length;
    }
    at
}

// ---- The limit ----

/// What the pump sends; the generator's own request is as long.
const REQUEST: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":1000000,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\",\"arguments\":{}}}\n";

/// The bytes on their way in both directions.
struct Pump {
    stdin: ChildStdin,
    stdout: ChildStdout,
    requests: Vec<u8>,
    unsent: usize,
    pieces: usize,
    buffer: Vec<u8>,
}

async fn pump(count: u64, in_flight: usize, pieces: usize, command: &[&str]) -> io::Result<()> {
    let mut child = Command::new(command[0])
        .args(&command[1..])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let pipes = child.stdin.take().zip(child.stdout.take());
    let (stdin, stdout) = pipes.ok_or_else(|| Error::other("the pipes are missing"))?;
    let requests = REQUEST.repeat(in_flight);
    let unsent = requests.len();
    let mut pump = Pump { stdin, stdout, requests, unsent, pieces, buffer: vec![0; READ_SIZE] };
    let started = Instant::now();
    let mut answered = 0;
    while answered < count {
        answered += pump.turn().await?;
    }
    let seconds = started.elapsed().as_secs_f64();
    drop(pump);
    child.wait().await?;
    writeln!(io::stdout(), "{{\"requests\":{answered},\"seconds\":{seconds}}}")
}

impl Pump {
    /// Sends what is due, takes what has come, and says how many replies that were.
    async fn turn(&mut self) -> io::Result<u64> {
        poll_fn(|cx| {
            let piece = self.unsent.div_ceil(self.pieces);
            while self.unsent > 0 {
                let from = self.requests.len() - self.unsent;
                let to = self.requests.len().min(from + piece);
                match Pin::new(&mut self.stdin).poll_write(cx, &self.requests[from..to])? {
                    Poll::Ready(sent) => self.unsent -= sent,
                    Poll::Pending => break,
                }
            }
            let mut buf = ReadBuf::new(&mut self.buffer);
            if Pin::new(&mut self.stdout).poll_read(cx, &mut buf)?.is_pending() {
                return Poll::Pending;
            }
            let replies = count_lines(buf.filled());
            if buf.filled().is_empty() {
                return Poll::Ready(Err(Error::other("the server closed its output")));
            }
            // Requests are all alike: more of them is a longer way to the end of the buffer.
            self.unsent += replies as usize * REQUEST.len();
            Poll::Ready(Ok(replies))
        })
        .await
    }
}

fn count_lines(bytes: &[u8]) -> u64 {
    // In pieces whose count fits a byte: the compiler makes vector code of it.
    let piece = |piece: &[u8]| piece.iter().map(|byte| u8::from(*byte == b'\n')).sum::<u8>();
    bytes.chunks(255).map(|bytes| u64::from(piece(bytes))).sum()
}
