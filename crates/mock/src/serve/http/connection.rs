//! One connection: requests in, replies out, one after the other.
//!
//! A request that comes whole in one read, which is nearly every one, costs one read, one write and
//! no timer. What was sent ahead is answered in turn.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use mcp_loadtest_core::config::TransportName;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::{Instant, timeout, timeout_at},
};
use tokio_util::task::TaskTracker;

use super::{
    Hub, PATH,
    endpoint::{self, Verdict},
    guard,
    head::Head,
    listen,
    reply::{self, After},
    response::{Response, status},
    sse, ws,
};
use crate::{
    audit::Row,
    serve::MESSAGE_LIMIT,
    server::{batch::Gathered, caller::Caller, origin::Origin, pending::Pending, session::Session},
};

/// How long a request may take to arrive, once it has begun.
const READ_DEADLINE: Duration = Duration::from_secs(10);
/// How long what a refused client still sends is thrown away, so that it gets to read the refusal.
const LINGER: Duration = Duration::from_secs(2);
/// How much is asked of the socket at once, at least.
const READ_SIZE: usize = 4 << 10;
/// How much room a connection may keep.
const KEPT: usize = 64 << 10;

/// What is to be done with the bytes that have come in.
enum Step {
    /// Read until there are so many.
    Read { until: usize, give_leave: bool },
    /// The reply is written; so many bytes have been used.
    Replied { used: usize, keep_alive: bool, is_reply: bool, row: Option<Box<Row>> },
    /// The reply takes its time.
    Later { used: usize, keep_alive: bool, pending: Box<Pending>, session: Arc<Session> },
    /// The replies take their time.
    Batch { used: usize, keep_alive: bool, gathered: Box<Gathered>, session: Arc<Session> },
    /// The session wants to be listened to.
    Listen { used: usize, session: Arc<Session>, head: Vec<u8> },
    /// The older transport.
    Sse { used: usize },
    /// A message of the older transport.
    SsePost { used: usize, keep_alive: bool, head: Vec<u8>, body: Vec<u8> },
    /// HTTP is over.
    Upgrade { used: usize, head: Vec<u8>, accept: String },
}

/// Serves a connection until one side closes it.
pub(super) async fn serve(stream: TcpStream, from: SocketAddr, hub: &Arc<Hub>) {
    let mut connection = Connection::new(stream, from, hub.clone());
    loop {
        match connection.turn().await {
            Ok(After::Open) => {}
            Ok(After::Reset) => {
                // Without it the system would say goodbye in the usual way.
                let _ = connection.stream.set_zero_linger();
                return;
            }
            // Whatever went wrong with the socket, nobody is left to be told.
            Ok(After::Closed) | Err(_) => return,
        }
    }
}

pub(super) struct Connection {
    pub(super) stream: TcpStream,
    pub(super) from: Arc<Caller>,
    pub(super) hub: Arc<Hub>,
    pub(super) input: Vec<u8>,
    pub(super) output: Vec<u8>,
    /// When the request that is being read has begun.
    begun: Option<Instant>,
    /// Whether it has taken too long.
    late: bool,
}

impl Connection {
    fn new(stream: TcpStream, from: SocketAddr, hub: Arc<Hub>) -> Self {
        let from = Arc::new(Caller::new(from));
        Self { stream, from, hub, input: Vec::new(), output: Vec::new(), begun: None, late: false }
    }

    /// Reads some more, or answers one request.
    async fn turn(&mut self) -> io::Result<After> {
        match self.step() {
            Step::Read { until, give_leave } => self.read(until, give_leave).await,
            Step::Replied { used, keep_alive, is_reply, row } => {
                if let Some(row) = row {
                    // A log that cannot be written says so at the end, when everybody hears it.
                    let _ = self.hub.server.audit().record(row).await;
                }
                reply::send(&mut self.stream, &self.output).await?;
                if is_reply {
                    self.hub.server.has_replied();
                }
                self.close_turn(used, keep_alive).await
            }
            Step::Later { used, keep_alive, pending, session } => {
                self.use_up(used);
                self.later(keep_alive, *pending, session).await
            }
            Step::Batch { used, keep_alive, gathered, session } => {
                self.use_up(used);
                self.batch(keep_alive, *gathered, &session).await
            }
            Step::Listen { used, session, head } => {
                self.use_up(used);
                self.long_lived().track_future(listen::listen(self, &session, &head)).await
            }
            Step::Sse { used } => {
                self.use_up(used);
                self.long_lived().track_future(sse::stream(self)).await
            }
            Step::SsePost { used, keep_alive, head, body } => {
                self.use_up(used);
                let response = sse::post(&self.hub, &head, &body, &self.from).await;
                response.render(keep_alive, &mut self.output);
                self.accept(keep_alive).await
            }
            Step::Upgrade { used, head, accept } => {
                self.use_up(used);
                self.long_lived().track_future(ws::serve(self, &head, &accept)).await
            }
        }
    }

    /// Who waits, when the mock ends, for what outlives a request: it has rows to write.
    fn long_lived(&self) -> TaskTracker {
        self.hub.tasks.clone()
    }

    /// Decides what to do with the bytes that have come in; appends the reply if there is one.
    fn step(&mut self) -> Step {
        if self.late {
            let why = format!("the request took longer than {READ_DEADLINE:?}");
            return self.refuse(&Response::refuse(status::REQUEST_TIMEOUT, why));
        }
        let head = match Head::read(&self.input) {
            Ok(Some(head)) => head,
            Ok(None) => return Step::Read { until: self.input.len() + 1, give_leave: false },
            Err(refusal) => return self.refuse(&refusal),
        };
        let used = head.length + head.body_length;
        let Some(body) = self.input.get(head.length..used) else {
            let give_leave = head.wants_leave() && self.input.len() == head.length;
            return Step::Read { until: used, give_leave };
        };
        let keep_alive = head.keep_alive;
        match self.route(&head, body) {
            Route::Verdict(Verdict::Reply(response, row)) => {
                // A status that accepts a message is no reply.
                let is_reply = !response.body.is_empty();
                let is_answer = response.status == status::OK && is_reply;
                if self.hub.always_stream && is_answer {
                    response.render_as_event(keep_alive, &mut self.output);
                } else {
                    response.render(keep_alive, &mut self.output);
                }
                Step::Replied { used, keep_alive, is_reply, row }
            }
            Route::Verdict(Verdict::Later(pending, session)) => {
                Step::Later { used, keep_alive, pending, session }
            }
            Route::Verdict(Verdict::Batch(gathered, session)) => {
                Step::Batch { used, keep_alive, gathered, session }
            }
            Route::Verdict(Verdict::Listen(session)) => {
                Step::Listen { used, session, head: head.raw.to_vec() }
            }
            Route::Sse => Step::Sse { used },
            Route::SsePost => {
                Step::SsePost { used, keep_alive, head: head.raw.to_vec(), body: body.to_vec() }
            }
            Route::Upgrade(accept) => Step::Upgrade { used, head: head.raw.to_vec(), accept },
        }
    }

    fn route(&self, head: &Head<'_>, body: &[u8]) -> Route {
        let refuse = |refusal: Response| {
            let origin = endpoint::origin(head, &self.from);
            let row = endpoint::refused(&self.hub, &origin, &refusal, body.len());
            Route::Verdict(Verdict::Reply(refusal, row))
        };
        if let Err(refusal) = guard::check(head) {
            return refuse(refusal);
        }
        match (self.hub.transport, head.method, head.path) {
            (TransportName::Sse, "GET", sse::PATH) => Route::Sse,
            (TransportName::Sse, "POST", sse::POST_PATH) => Route::SsePost,
            (TransportName::Ws, "GET", ws::PATH) => match ws::accept(head) {
                Ok(accept) => Route::Upgrade(accept),
                Err(refusal) => refuse(refusal),
            },
            (TransportName::Http, _, PATH) => {
                Route::Verdict(endpoint::answer(&self.hub, head, body, &self.from))
            }
            (transport, ..) => refuse(super::elsewhere(transport)),
        }
    }

    /// After bytes that make no sense, no later ones can.
    fn refuse(&mut self, refusal: &Response) -> Step {
        let origin = Origin { caller: Some(&self.from), ..Origin::default() };
        let row = endpoint::refused(&self.hub, &origin, refusal, self.input.len());
        refusal.render(false, &mut self.output);
        Step::Replied { used: self.input.len(), keep_alive: false, is_reply: false, row }
    }

    /// Reads until there are so many bytes.
    async fn read(&mut self, until: usize, give_leave: bool) -> io::Result<After> {
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
                Ok(Ok(After::Open)) => {}
                Ok(other) => return other,
                Err(_) => {
                    self.late = true;
                    break;
                }
            }
        }
        Ok(After::Open)
    }

    pub(super) async fn read_some(&mut self) -> io::Result<After> {
        // Room grows with what has come, not with what was announced.
        self.input.reserve(READ_SIZE.max(self.input.len()).min(MESSAGE_LIMIT));
        match self.stream.read_buf(&mut self.input).await? {
            0 => Ok(After::Closed),
            _ => Ok(After::Open),
        }
    }

    fn use_up(&mut self, used: usize) {
        self.input.drain(..used);
        self.input.shrink_to(KEPT);
        self.begun = None;
    }

    /// Sends what was written, which is no reply.
    pub(super) async fn accept(&mut self, keep_alive: bool) -> io::Result<After> {
        reply::send(&mut self.stream, &self.output).await?;
        self.close_turn(0, keep_alive).await
    }

    /// All that was written has been sent.
    async fn close_turn(&mut self, used: usize, keep_alive: bool) -> io::Result<After> {
        self.output.clear();
        self.output.shrink_to(KEPT);
        self.use_up(used);
        if keep_alive {
            return Ok(After::Open);
        }
        self.linger().await?;
        Ok(After::Closed)
    }

    /// Closes our side and waits for the other: a socket that is closed with bytes unread takes the
    /// reply down with it.
    async fn linger(&mut self) -> io::Result<()> {
        self.stream.shutdown().await?;
        let mut left = MESSAGE_LIMIT;
        let drain = async {
            self.input.clear();
            while left > 0 && self.read_some().await? == After::Open {
                left = left.saturating_sub(self.input.len());
                self.input.clear();
            }
            Ok(())
        };
        timeout(LINGER, drain).await.unwrap_or(Ok(()))
    }
}

/// Who answers a request.
enum Route {
    Verdict(Verdict),
    Sse,
    SsePost,
    Upgrade(String),
}
