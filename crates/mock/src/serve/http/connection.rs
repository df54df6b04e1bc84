//! One connection: requests in, replies out, one after the other.
//!
//! A request that comes whole in one read, which is nearly every one, costs one read, one write and
//! no timer. What was sent ahead is answered in turn.

use std::{io, time::Duration};

use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::{Instant, timeout, timeout_at},
};

use super::{
    endpoint::{Endpoint, Verdict},
    head::Head,
    response::{Response, status},
};
use crate::serve::{MESSAGE_LIMIT, stay_wedged};

/// How long a request may take to arrive, once it has begun.
const READ_DEADLINE: Duration = Duration::from_secs(10);
/// How long a client may take to read a reply.
const WRITE_DEADLINE: Duration = Duration::from_secs(60);
/// How long what a refused client still sends is thrown away, so that it gets to read the refusal.
const LINGER: Duration = Duration::from_secs(2);
/// How much is asked of the socket at once, at least.
const READ_SIZE: usize = 4 << 10;
/// How much room a connection may keep.
const KEPT: usize = 64 << 10;

/// Why a connection ended.
#[derive(Debug)]
pub(super) enum Ended {
    /// One of the two closed it.
    Closed,
    /// The mock was wedged for so long that it gives up.
    Forgotten(io::Error),
}

/// What is to be done with the bytes that have come in.
enum Step {
    /// Read until there are so many.
    Read { until: usize, give_leave: bool },
    /// The reply is written; so many bytes have been used.
    Replied { used: usize, keep_alive: bool },
    /// Nothing, ever.
    Wedged,
}

/// Serves a connection until one side closes it.
pub(super) async fn serve(stream: TcpStream, endpoint: &Endpoint) -> Ended {
    let mut connection = Connection::new(stream);
    loop {
        let more = match connection.step(endpoint) {
            Step::Read { until, give_leave } => connection.read(until, give_leave).await,
            Step::Replied { used, keep_alive } => connection.reply(used, keep_alive).await,
            Step::Wedged => return Ended::Forgotten(stay_wedged().await),
        };
        match more {
            Ok(true) => {}
            // Whatever went wrong with the socket, nobody is left to be told.
            Ok(false) | Err(_) => return Ended::Closed,
        }
    }
}

/// Decides what to do with the bytes that have come in; appends the reply if there is one.
fn step(input: &[u8], endpoint: &Endpoint, output: &mut Vec<u8>) -> Step {
    let head = match Head::read(input) {
        Ok(Some(head)) => head,
        Ok(None) => return Step::Read { until: input.len() + 1, give_leave: false },
        Err(refusal) => return refuse(&refusal, input, output),
    };
    let length = head.length + head.body_length;
    let Some(body) = input.get(head.length..length) else {
        let give_leave = head.wants_leave() && input.len() == head.length;
        return Step::Read { until: length, give_leave };
    };
    match endpoint.answer(&head, body) {
        Verdict::Reply(response) => {
            response.render(head.keep_alive, output);
            Step::Replied { used: length, keep_alive: head.keep_alive }
        }
        Verdict::Wedged => Step::Wedged,
    }
}

/// After bytes that make no sense, no later ones can.
fn refuse(refusal: &Response, input: &[u8], output: &mut Vec<u8>) -> Step {
    refusal.render(false, output);
    Step::Replied { used: input.len(), keep_alive: false }
}

struct Connection {
    stream: TcpStream,
    input: Vec<u8>,
    output: Vec<u8>,
    /// When the request that is being read has begun.
    begun: Option<Instant>,
    /// Whether it has taken too long.
    late: bool,
}

impl Connection {
    fn new(stream: TcpStream) -> Self {
        Self { stream, input: Vec::new(), output: Vec::new(), begun: None, late: false }
    }

    fn step(&mut self, endpoint: &Endpoint) -> Step {
        if endpoint.is_wedged() {
            return Step::Wedged;
        }
        if self.late {
            let why = format!("the request took longer than {READ_DEADLINE:?}");
            let refusal = Response::refuse(status::REQUEST_TIMEOUT, why);
            return refuse(&refusal, &self.input, &mut self.output);
        }
        step(&self.input, endpoint, &mut self.output)
    }

    /// Reads until there are so many bytes; `false` if the connection is over.
    async fn read(&mut self, until: usize, give_leave: bool) -> io::Result<bool> {
        if self.input.is_empty() {
            // Between two requests a client may take its time.
            return self.read_some().await;
        }
        let deadline = *self.begun.get_or_insert_with(Instant::now) + READ_DEADLINE;
        if give_leave {
            self.stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await?;
        }
        while self.input.len() < until {
            match timeout_at(deadline, self.read_some()).await {
                Ok(Ok(true)) => {}
                Ok(other) => return other,
                Err(_) => {
                    self.late = true;
                    break;
                }
            }
        }
        Ok(true)
    }

    async fn read_some(&mut self) -> io::Result<bool> {
        // Room grows with what has come, not with what was announced.
        self.input.reserve(READ_SIZE.max(self.input.len()).min(MESSAGE_LIMIT));
        Ok(self.stream.read_buf(&mut self.input).await? > 0)
    }

    /// Sends what was written; `false` if the connection is over.
    async fn reply(&mut self, used: usize, keep_alive: bool) -> io::Result<bool> {
        let sent = self.stream.try_write(&self.output).unwrap_or(0);
        if sent < self.output.len() {
            timeout(WRITE_DEADLINE, self.stream.write_all(&self.output[sent..])).await??;
        }
        self.output.clear();
        self.output.shrink_to(KEPT);
        self.input.drain(..used);
        self.input.shrink_to(KEPT);
        self.begun = None;
        if !keep_alive {
            self.linger().await?;
        }
        Ok(keep_alive)
    }

    /// Closes our side and waits for the other: a socket that is closed with bytes unread takes the
    /// reply down with it.
    async fn linger(&mut self) -> io::Result<()> {
        self.stream.shutdown().await?;
        let mut left = MESSAGE_LIMIT;
        let drain = async {
            self.input.clear();
            while left > 0 && self.read_some().await? {
                left = left.saturating_sub(self.input.len());
                self.input.clear();
            }
            Ok(())
        };
        timeout(LINGER, drain).await.unwrap_or(Ok(()))
    }
}
