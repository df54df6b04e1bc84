//! Starting a server, or connecting to one that runs.

use std::{
    cell::{Cell, RefCell},
    io,
    path::PathBuf,
    rc::Rc,
    time::Duration,
};

use mcp_loadtest_core::{
    hint::Hint,
    mcp::{Revision, lifecycle},
    outcome::ErrorCategory,
};
use thiserror::Error;
use tokio::time::{Instant, sleep};

use super::{
    Counters, Hello, Inner, ProtocolStrictness, Session,
    address::{Address, HTTP, WS},
    behind::Behind,
};
use crate::{
    clock::Clock,
    process::{Launch, Lease, ServerProcess, SpawnError},
    sink::Sink,
    slots::Slots,
    transport::{
        CaCertError, Link, MESSAGE_LIMIT, http::HttpLink, sse::SseLink, stdio::StdioLink,
        websocket::WsLink,
    },
};

/// How long a server that accepts connections but is not ready yet is left alone.
const NOT_READY_PAUSE: Duration = Duration::from_millis(50);

/// Whom to talk to.
#[derive(Debug, Clone)]
pub enum Target {
    /// A process that we start, over its pipes.
    Stdio(Launch),
    /// Streamable HTTP.
    Http(Address),
    /// HTTP+SSE of 2024-11-05.
    Sse(Address),
    /// WebSocket.
    WebSocket(Address),
}

/// Keeps a server that we start and reach by address running between sessions; see
/// [`Target::hold`].
#[must_use = "it lasts only as long as this is kept"]
pub struct Hold {
    lease: Option<Lease>,
}

impl Target {
    /// The address, unless it is pipes.
    fn address(&self) -> Option<&Address> {
        match self {
            Self::Stdio(_) => None,
            Self::Http(address) | Self::Sse(address) | Self::WebSocket(address) => Some(address),
        }
    }

    /// Starts a server that we start and reach by address, waits until it listens, and keeps it
    /// running for as long as the result is kept. Does nothing for any other.
    pub async fn hold(&self, options: &Options) -> Result<Hold, OpenError> {
        let lease = match self.address() {
            Some(address) => address.hold(options.startup_timeout).await?,
            None => None,
        };
        Ok(Hold { lease })
    }
}

/// How sessions are opened.
#[derive(Clone)]
pub struct Options {
    /// Which session of the run it is.
    pub index: u32,
    /// Which thread of the generator it lives in.
    pub worker: u16,
    /// Where its events go.
    pub sink: Rc<dyn Sink>,
    /// The clock of the run.
    pub clock: Clock,
    /// How long the start may take.
    pub startup_timeout: Duration,
    /// How long the end may take.
    pub shutdown_timeout: Duration,
    /// What to do when the server answers with another revision.
    pub strictness: ProtocolStrictness,
    /// The longest message that is taken.
    pub message_limit: usize,
    /// Where a server's stderr is kept.
    pub stderr_log: Option<PathBuf>,
    /// Where a server's stdout is kept.
    pub stdout_log: Option<PathBuf>,
    /// The shortest deadline that calls will have: it sets how often deadlines are looked at.
    pub shortest_deadline: Duration,
}

impl Options {
    /// Options with the usual limits.
    pub fn new(sink: Rc<dyn Sink>, clock: Clock) -> Self {
        Self {
            index: 0,
            worker: 0,
            sink,
            clock,
            startup_timeout: Duration::from_secs(30),
            shutdown_timeout: Duration::from_secs(5),
            strictness: ProtocolStrictness::default(),
            message_limit: MESSAGE_LIMIT,
            stderr_log: None,
            stdout_log: None,
            shortest_deadline: Duration::from_secs(5),
        }
    }
}

/// Why there is no session.
#[derive(Debug, Error)]
pub enum OpenError {
    /// The process could not be started.
    #[error("the server could not be started: {0}")]
    Spawn(#[from] SpawnError),
    /// The URL cannot be used.
    #[error("`{url}` is not a usable URL: {why}")]
    Url {
        /// What was given.
        url: String,
        /// What is wrong with it.
        why: String,
    },
    /// The host could not be found or TLS could not be set up.
    #[error("cannot reach {host}: {source}")]
    Reach {
        /// Which host.
        host: String,
        /// Why.
        source: io::Error,
    },
    /// Nobody answers at the address.
    #[error("{0}")]
    Unreachable(String),
    /// The server that we started ended before it could be reached.
    #[error("the server ended with {exit} before it could be reached")]
    Ended {
        /// How it ended.
        exit: String,
        /// The end of its stderr.
        stderr: String,
    },
    /// The server that we started does not listen where it should.
    #[error("the server was started, but nothing listens at {host} after {patience:?}")]
    NotListening {
        /// Where it should.
        host: String,
        /// How long was waited.
        patience: Duration,
        /// The end of its stderr.
        stderr: String,
    },
    /// Somebody else listens where the server that we start should.
    #[error("something listens at {0} already, so the server cannot be started there")]
    Occupied(String),
    /// There is no process with the number that was given.
    #[error("there is no process {0}")]
    NoProcess(u32),
    /// The file with certificates cannot be used.
    #[error(transparent)]
    CaCert(#[from] CaCertError),
    /// The event stream or the socket could not be opened.
    #[error("the server did not open {what}: {message}")]
    Opening {
        /// Which.
        what: &'static str,
        /// The HTTP status, where that is the reason.
        code: Option<i64>,
        /// What it did instead.
        message: String,
    },
    /// The address speaks the older transport.
    #[error("`{0}` speaks HTTP+SSE of 2024-11-05, not Streamable HTTP")]
    IsSse(String),
    /// The handshake failed.
    #[error("the server did not answer `{method}`: {}", describe(*category, *code, message))]
    Handshake {
        /// The request that failed.
        method: &'static str,
        /// How.
        category: ErrorCategory,
        /// The JSON-RPC code or HTTP status.
        code: Option<i64>,
        /// What was said.
        message: String,
        /// The end of the server's stderr.
        stderr: String,
    },
    /// The server speaks another revision, and that was not allowed.
    #[error("protocol revision: {0}")]
    Revision(String),
}

fn describe(category: ErrorCategory, code: Option<i64>, message: &str) -> String {
    match (category, code) {
        (ErrorCategory::Timeout, _) => message.replace("call timeout", "start-up timeout"),
        (_, Some(code)) => format!("{message} ({code})"),
        (_, None) => message.to_owned(),
    }
}

impl Hint for OpenError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Spawn(error) => error.hint(),
            Self::Url { .. } => Some("write it like `http://127.0.0.1:3000/mcp`".into()),
            Self::Unreachable(_) | Self::Reach { .. } => Some("check that the server runs and that host and port are right".into()),
            Self::Ended { .. } => Some("run its command by hand and look at what it says".into()),
            Self::NotListening { .. } => Some("check that host and port are those that it listens on, or give it more time with `--startup-timeout`".into()),
            Self::Occupied(_) => Some("end the other one, or leave out the command to test that one".into()),
            Self::NoProcess(_) => Some("name the process that answers at the address, or leave out `--pid`".into()),
            Self::CaCert(error) => error.hint(),
            Self::IsSse(_) => Some("try `--transport sse`".into()),
            Self::Opening { code, what, .. } => opening_hint(*code, what),
            Self::Revision(_) => Some("leave out `--strict-protocol`, or name the server's revision with `--protocol`".into()),
            Self::Handshake { category: ErrorCategory::Timeout, .. } => {
                Some("give it more time with `--startup-timeout`, or look at its stderr with `--tee-stderr`".into())
            }
            Self::Handshake { code: Some(401 | 403), .. } => Some(WANTS_CREDENTIALS.into()),
            Self::Handshake { code: Some(300..=399), .. } => Some(IS_ELSEWHERE.into()),
            Self::Handshake { code: Some(404 | 405), .. } => Some(
                "check the path; if it is that of an event stream (often `/sse`), try `--transport sse`".into(),
            ),
            Self::Handshake { code: Some(400..=599), .. } => {
                Some("check the path: this does not look like an MCP endpoint".into())
            }
            Self::Handshake { code: Some(-32601 | -32602 | -32022), method, .. } => Some(format!(
                "the server does not know `{method}` in this revision; try `--protocol auto`"
            )),
            Self::Handshake { stderr, .. } if !stderr.trim().is_empty() => {
                Some("the end of its stderr is above; `--tee-stderr` shows all of it".into())
            }
            Self::Handshake { .. } => Some("run the server by hand and look at what it says".into()),
        }
    }
}

const WANTS_CREDENTIALS: &str =
    "the server wants credentials: pass them with `--header 'Authorization: Bearer …'`";
const IS_ELSEWHERE: &str = "if you trust it, use the address that it names";

fn opening_hint(code: Option<i64>, what: &str) -> Option<String> {
    Some(match code {
        Some(401 | 403) => WANTS_CREDENTIALS.into(),
        Some(300..=399) => IS_ELSEWHERE.into(),
        _ => format!("check the path and the transport: {what} is what `--transport` asked for"),
    })
}

impl OpenError {
    /// A server of ours that ended before it could be reached.
    pub(super) fn ended(lease: &Lease) -> Self {
        let ended = lease.running.ended();
        let stderr = ended.as_ref().map(|ended| ended.stderr.clone()).unwrap_or_default();
        let exit = ended.map_or_else(String::new, |ended| ended.exit.to_string());
        Self::Ended { exit, stderr }
    }

    /// The end of the server's stderr, where that may explain the error.
    pub fn stderr(&self) -> Option<&str> {
        match self {
            Self::Handshake { stderr, .. }
            | Self::Ended { stderr, .. }
            | Self::NotListening { stderr, .. } => {
                Some(stderr.as_str()).filter(|stderr| !stderr.trim().is_empty())
            }
            _ => None,
        }
    }

    /// Whether a server that was just started may answer better in a moment.
    fn may_pass(&self) -> bool {
        match self {
            Self::Unreachable(_) | Self::Reach { .. } => true,
            Self::Handshake { code, .. } | Self::Opening { code, .. } => {
                matches!(code, Some(502..=504))
            }
            _ => false,
        }
    }
}

impl Session {
    /// Starts or reaches the server and begins the session.
    pub async fn open(
        target: &Target,
        options: &Options,
        revision: Revision,
    ) -> Result<(Self, Hello), OpenError> {
        let held = target.hold(options).await?.lease;
        let began = Instant::now();
        loop {
            let opened = Self::open_once(target, options, revision).await;
            // A server that we have just started may accept connections before it is ready.
            let (Some(held), Err(error)) = (&held, &opened) else { return opened };
            if !error.may_pass() {
                return opened;
            }
            if held.running.ended().is_some() {
                return Err(OpenError::ended(held));
            }
            if began.elapsed() >= options.startup_timeout {
                return opened;
            }
            sleep(NOT_READY_PAUSE).await;
        }
    }

    async fn open_once(
        target: &Target,
        options: &Options,
        revision: Revision,
    ) -> Result<(Self, Hello), OpenError> {
        let session = Self::connect(target, options, revision).await?;
        match session.begin(options.startup_timeout, options.strictness).await {
            Ok(hello) => Ok((session, hello)),
            Err(error) => {
                let error = session.older_transport(target, error).await;
                session.discard().await;
                Err(error)
            }
        }
    }

    /// As the specification advises: whoever refuses a POST may offer an event stream in its place.
    async fn older_transport(&self, target: &Target, error: OpenError) -> OpenError {
        match (&self.inner.link, target, &error) {
            (
                Link::Http(http),
                Target::Http(address),
                OpenError::Handshake { code: Some(400 | 404 | 405), .. },
            ) if http.is_sse(&self.inner).await => OpenError::IsSse(address.url.clone()),
            _ => error,
        }
    }

    /// The session's HTTP id, for threads that share it.
    pub fn http_session_id(&self) -> Option<String> {
        match &self.inner.link {
            Link::Http(http) => http.session_id(),
            Link::Stdio(_) | Link::Sse(_) | Link::WebSocket(_) => None,
        }
    }

    /// Joins an HTTP session that another thread has opened.
    pub async fn join(
        target: &Target,
        options: &Options,
        revision: Revision,
        session_id: Option<String>,
    ) -> Result<Self, OpenError> {
        let Target::Http(address) = target else {
            return Err(OpenError::Url {
                url: target.address().map_or("stdio", |address| &address.url).to_owned(),
                why: "only sessions over Streamable HTTP can be shared between threads".into(),
            });
        };
        let session = Self::reach_http(address, options, revision, session_id).await?;
        session.agree_http();
        Ok(session)
    }

    fn agree_http(&self) {
        if let Link::Http(http) = &self.inner.link {
            http.agree(&self.inner);
        }
    }

    /// The transport, without a word spoken.
    pub(super) async fn connect(
        target: &Target,
        options: &Options,
        revision: Revision,
    ) -> Result<Self, OpenError> {
        match target {
            Target::Stdio(launch) => Self::spawn(launch, options, revision),
            Target::Http(address) => Self::reach_http(address, options, revision, None).await,
            Target::Sse(address) => Self::reach_sse(address, options, revision).await,
            Target::WebSocket(address) => Self::reach_ws(address, options, revision).await,
        }
    }

    async fn reach_http(
        address: &Address,
        options: &Options,
        revision: Revision,
        session_id: Option<String>,
    ) -> Result<Self, OpenError> {
        let target = address.find(HTTP, options.message_limit).await?;
        let behind = address.process(&target, options.startup_timeout).await?;
        let link = Link::Http(HttpLink::new(Rc::new(target), session_id));
        let session = Self::assemble(link, behind, options, revision);
        if let Link::Http(http) = &session.inner.link {
            http.refresh_head(&session.inner);
        }
        Ok(session)
    }

    async fn reach_sse(
        address: &Address,
        options: &Options,
        revision: Revision,
    ) -> Result<Self, OpenError> {
        let target = address.find(HTTP, options.message_limit).await?;
        let behind = address.process(&target, options.startup_timeout).await?;
        let link = Link::Sse(Box::new(SseLink::new(Rc::new(target))));
        let session = Self::assemble(link, behind, options, revision);
        if let Link::Sse(sse) = &session.inner.link {
            sse.start(&session.inner, options.startup_timeout).await?;
        }
        Ok(session)
    }

    async fn reach_ws(
        address: &Address,
        options: &Options,
        revision: Revision,
    ) -> Result<Self, OpenError> {
        let target = address.find(WS, options.message_limit).await?;
        let behind = address.process(&target, options.startup_timeout).await?;
        let socket = WsLink::connect(&target, options.startup_timeout).await?;
        let session = Self::assemble(Link::WebSocket(WsLink::default()), behind, options, revision);
        if let Link::WebSocket(ws) = &session.inner.link {
            ws.start(&session.inner, socket, options.message_limit);
        }
        Ok(session)
    }

    fn spawn(launch: &Launch, options: &Options, revision: Revision) -> Result<Self, OpenError> {
        let mut launch = launch.clone();
        launch.stderr_log.clone_from(&options.stderr_log);
        let process = ServerProcess::spawn(&launch)?;
        let (link, pipes) = StdioLink::new(process, options.stdout_log.as_deref())
            .expect("a process that was just started still has its pipes");
        let link = Link::Stdio(Box::new(link));
        let session = Self::assemble(link, Behind::Unknown, options, revision);
        if let Link::Stdio(stdio) = &session.inner.link {
            stdio.start(&session.inner, pipes, options.message_limit);
        }
        Ok(session)
    }

    fn assemble(link: Link, behind: Behind, options: &Options, revision: Revision) -> Self {
        let inner = Rc::new_cyclic(|me| Inner {
            me: me.clone(),
            index: options.index,
            worker: options.worker,
            lifecycle: Cell::new(lifecycle(revision)),
            slots: RefCell::new(Slots::new(options.worker)),
            link,
            behind,
            sink: options.sink.clone(),
            clock: options.clock,
            counters: Counters::default(),
            broken: RefCell::default(),
            watch: RefCell::default(),
            shutdown_timeout: options.shutdown_timeout,
        });
        tokio::task::spawn_local(super::sweep(Rc::downgrade(&inner), options.shortest_deadline));
        inner.note_cleared();
        Self { inner }
    }
}
