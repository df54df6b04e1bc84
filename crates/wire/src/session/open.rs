//! Starting a server, or connecting to one that runs.

use std::{
    cell::{Cell, RefCell},
    io,
    path::PathBuf,
    rc::Rc,
    time::Duration,
};

use http::Uri;
use mcp_loadtest_core::{
    hint::Hint,
    mcp::{Revision, lifecycle},
    outcome::ErrorCategory,
};
use rustls::pki_types::ServerName;
use thiserror::Error;

use super::{Counters, Hello, Inner, ProtocolStrictness, Session};
use crate::{
    clock::Clock,
    process::{Launch, ServerProcess, SpawnError},
    sink::Sink,
    slots::Slots,
    transport::{
        Link, MESSAGE_LIMIT,
        http::{HttpLink, HttpTarget, stream},
        stdio::StdioLink,
    },
};

/// Whom to talk to.
#[derive(Debug, Clone)]
pub enum Target {
    /// A process that we start.
    Stdio(Launch),
    /// A server that runs.
    Http {
        /// Its MCP endpoint.
        url: String,
        /// Sent with every request.
        headers: Vec<(String, String)>,
    },
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
            Self::Revision(_) => Some("leave out `--strict-protocol`, or name the server's revision with `--protocol`".into()),
            Self::Handshake { category: ErrorCategory::Timeout, .. } => {
                Some("give it more time with `--startup-timeout`, or look at its stderr with `--tee-stderr`".into())
            }
            Self::Handshake { code: Some(401 | 403), .. } => {
                Some("the server wants credentials: pass them with `--header 'Authorization: Bearer …'`".into())
            }
            Self::Handshake { code: Some(300..=399), .. } => {
                Some("if you trust it, use the address that it names".into())
            }
            Self::Handshake { code: Some(404 | 405), .. } => Some(
                "check the path; an address that ends in `/sse` speaks HTTP+SSE of 2024-11-05, which is not built yet".into(),
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

impl Session {
    /// Starts or reaches the server and begins the session.
    pub async fn open(
        target: &Target,
        options: &Options,
        revision: Revision,
    ) -> Result<(Self, Hello), OpenError> {
        let session = Self::connect(target, options, revision).await?;
        match session.begin(options.startup_timeout, options.strictness).await {
            Ok(hello) => Ok((session, hello)),
            Err(error) => {
                session.discard().await;
                Err(error)
            }
        }
    }

    /// The session's HTTP id, for threads that share it.
    pub fn http_session_id(&self) -> Option<String> {
        match &self.inner.link {
            Link::Http(http) => http.session_id(),
            Link::Stdio(_) => None,
        }
    }

    /// Joins an HTTP session that another thread has opened.
    pub async fn join(
        target: &Target,
        options: &Options,
        revision: Revision,
        session_id: Option<String>,
    ) -> Result<Self, OpenError> {
        let Target::Http { url, headers } = target else {
            return Err(OpenError::Url {
                url: "stdio".into(),
                why: "pipes cannot be shared between threads".into(),
            });
        };
        let http = HttpLink::new(
            Rc::new(http_target(url, headers, options.message_limit).await?),
            session_id,
        );
        let session = Self::assemble(Link::Http(http), options, revision);
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
            Target::Http { url, headers } => {
                let target = http_target(url, headers, options.message_limit).await?;
                let session = Self::assemble(
                    Link::Http(HttpLink::new(Rc::new(target), None)),
                    options,
                    revision,
                );
                if let Link::Http(http) = &session.inner.link {
                    http.refresh_head(&session.inner);
                }
                Ok(session)
            }
        }
    }

    fn spawn(launch: &Launch, options: &Options, revision: Revision) -> Result<Self, OpenError> {
        let mut launch = launch.clone();
        launch.stderr_log.clone_from(&options.stderr_log);
        let process = ServerProcess::spawn(&launch)?;
        let (link, pipes) = StdioLink::new(process, options.stdout_log.as_deref())
            .expect("a process that was just started still has its pipes");
        let session = Self::assemble(Link::Stdio(Box::new(link)), options, revision);
        if let Link::Stdio(stdio) = &session.inner.link {
            stdio.start(&session.inner, pipes, options.message_limit);
        }
        Ok(session)
    }

    fn assemble(link: Link, options: &Options, revision: Revision) -> Self {
        let inner = Rc::new_cyclic(|me| Inner {
            me: me.clone(),
            index: options.index,
            worker: options.worker,
            lifecycle: Cell::new(lifecycle(revision)),
            slots: RefCell::new(Slots::new(options.worker)),
            link,
            sink: options.sink.clone(),
            clock: options.clock,
            counters: Counters::default(),
            broken: RefCell::default(),
            watch: RefCell::default(),
            shutdown_timeout: options.shutdown_timeout,
        });
        tokio::task::spawn_local(super::sweep(Rc::downgrade(&inner), options.shortest_deadline));
        Self { inner }
    }
}

/// Reads the URL and finds the host.
async fn http_target(
    url: &str,
    headers: &[(String, String)],
    limit: usize,
) -> Result<HttpTarget, OpenError> {
    let bad = |why: &str| OpenError::Url { url: url.to_owned(), why: why.to_owned() };
    let uri: Uri = url.parse().map_err(|error: http::uri::InvalidUri| bad(&error.to_string()))?;
    let secure = match uri.scheme_str() {
        Some("http") => false,
        Some("https") => true,
        _ => return Err(bad("it must begin with `http://` or `https://`")),
    };
    let host = uri.host().ok_or_else(|| bad("it has no host"))?.to_owned();
    let authority = uri.authority().map(ToString::to_string).unwrap_or_default();
    if authority.contains('@') {
        let hidden = authority.rsplit('@').next().unwrap_or_default();
        return Err(OpenError::Url {
            url: format!("//…@{hidden}"),
            why: "credentials do not belong into an address; pass them with `--header`".into(),
        });
    }
    if authority.len() > host.len() && uri.port_u16().is_none() {
        return Err(bad("its port is not a number from 0 to 65535"));
    }
    let bare = host.trim_start_matches('[').trim_end_matches(']').to_owned();
    let port = uri.port_u16().unwrap_or(if secure { 443 } else { 80 });
    let reach = |source: io::Error| OpenError::Reach { host: format!("{host}:{port}"), source };
    let addresses: Vec<_> =
        tokio::net::lookup_host((bare.as_str(), port)).await.map_err(reach)?.collect();
    let tls = if secure {
        let name =
            ServerName::try_from(bare).map_err(|_| bad("its host cannot be a TLS server name"))?;
        Some((stream::tls_config().map_err(reach)?, name))
    } else {
        None
    };
    let path = uri.path_and_query().map_or("/", |path| path.as_str()).to_owned();
    check_headers(headers).map_err(|why| bad(&why))?;
    Ok(HttpTarget {
        dial: stream::Dial { addresses, tls },
        host: authority,
        path,
        headers: headers.to_vec(),
        limit,
    })
}

/// What the exchange itself needs; a second one would make the request unclear.
const OURS: &[&str] = &[
    "host",
    "content-length",
    "transfer-encoding",
    "connection",
    "content-type",
    "accept",
    "accept-encoding",
];

/// A header that would end the head, or forge a second one, is refused.
fn check_headers(headers: &[(String, String)]) -> Result<(), String> {
    for (name, value) in headers {
        if OURS.iter().any(|ours| name.eq_ignore_ascii_case(ours)) {
            return Err(format!("header `{name}` is ours to set"));
        }
        http::HeaderName::try_from(name.as_str())
            .map_err(|_| format!("`{name}` is not a header name"))?;
        http::HeaderValue::try_from(value.as_str())
            .map_err(|_| format!("the value of header `{name}` is not allowed"))?;
    }
    Ok(())
}
