//! The proxy over pipes: it starts the server, and is the server to its client.
//!
//! | file     | what it does                                                         |
//! |----------|----------------------------------------------------------------------|
//! | `relay`  | passes messages on in both directions, and treats calls              |
//! | `hear`   | what a client says that is no request                                |
//! | `batch`  | the same for arrays of messages                                      |
//! | `held`   | calls that have no reply yet                                         |
//! | `lines`  | cuts a stream into messages                                          |
//! | `outlet` | writes to the client: one message after the other, spoiled or not    |
//! | `thread` | blocking reads and writes, away from the runtime                     |
//!
//! Nothing is buffered that need not be: as long as nobody has to look at messages, bytes go on as
//! they come, half lines included.

mod batch;
mod hear;
mod held;
mod lines;
mod outlet;
mod relay;
mod thread;

use std::{
    io::{Read, Write},
    sync::Arc,
    time::Duration,
};

use mcp_loadtest_wire::process::{ExitInfo, Launch, Patience, ServerProcess};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    process::{ChildStdin, ChildStdout},
    sync::mpsc,
    time::timeout,
};

use self::{outlet::Outlet, relay::Relay};
use super::{ProxyError, judge::Judge};

/// How much is read from the server at once.
const READ_SIZE: usize = 64 << 10;
/// How many pieces may wait for the server to read them.
const QUEUE: usize = 16;
/// How long what a server that has ended wrote may take to arrive.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// How a proxy over pipes came to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProxyEnd {
    /// The client closed its side; the server was ended.
    Client,
    /// The server ended by itself.
    Server(ExitInfo),
    /// A fault cut the connection.
    Cut,
    /// A fault ended the process with this code.
    Crash(i32),
}

/// What is written to the server.
enum Input {
    Bytes(Vec<u8>),
    End,
}

/// Serves until one side ends.
pub(super) async fn serve<R, W>(
    judge: Judge,
    launch: &Launch,
    input: R,
    output: W,
) -> Result<ProxyEnd, ProxyError>
where
    R: Read + Send + 'static,
    W: Write + Send + 'static,
{
    let mut server = ServerProcess::spawn(launch)?;
    let stdin = server.take_stdin().expect("a server that was just started has its pipes");
    let stdout = server.take_stdout().expect("a server that was just started has its pipes");
    let (end, mut ended) = mpsc::channel(1);
    let outlet = Outlet::start(output, end.clone())?;
    let (inlet, queue) = mpsc::channel(QUEUE);
    let relay = Arc::new(Relay::new(judge, outlet.sender(), inlet, end));
    let feeding = tokio::spawn(feed(stdin, queue));
    let mut reading = tokio::spawn(from_server(relay.clone(), stdout));
    let mut client = tokio::spawn(from_client(relay.clone(), thread::reader(input)?));

    let finished = tokio::select! {
        _ = &mut client => ProxyEnd::Client,
        exit = server.wait() => ProxyEnd::Server(exit),
        Some(end) = ended.recv() => end,
    };
    // Closes the server's input, if it is still open; whatever it writes still goes to the client.
    relay.end_input().await;
    match finished {
        ProxyEnd::Client => {
            server.stop(Patience::default()).await;
        }
        ProxyEnd::Server(_) => {}
        // A cut is sudden: nothing more reaches the client, and nothing is asked of the server.
        ProxyEnd::Cut | ProxyEnd::Crash(_) => reading.abort(),
    }
    let _ = timeout(LAST_WORDS, &mut reading).await;
    relay.abandon().await;
    outlet.finish(LAST_WORDS).await;
    client.abort();
    feeding.abort();
    reading.abort();
    Ok(finished)
}

/// Writes to the server. One that does not read is as if it had ended.
async fn feed(mut stdin: ChildStdin, mut queue: mpsc::Receiver<Input>) {
    while let Some(Input::Bytes(bytes)) = queue.recv().await {
        if stdin.write_all(&bytes).await.is_err() {
            return;
        }
    }
}

async fn from_client(relay: Arc<Relay>, mut chunks: mpsc::Receiver<Vec<u8>>) {
    let mut lines = relay.lines();
    while let Some(chunk) = chunks.recv().await {
        for piece in lines.feed(chunk) {
            relay.from_client(piece).await;
        }
    }
    if let Some(rest) = lines.rest() {
        relay.from_client(rest).await;
    }
}

async fn from_server(relay: Arc<Relay>, mut stdout: ChildStdout) {
    let mut lines = relay.lines();
    loop {
        let mut chunk = Vec::with_capacity(READ_SIZE);
        match stdout.read_buf(&mut chunk).await {
            Ok(1..) => {}
            Ok(0) | Err(_) => break,
        }
        for piece in lines.feed(chunk) {
            relay.from_server(piece).await;
        }
    }
    if let Some(rest) = lines.rest() {
        relay.from_server(rest).await;
    }
}
