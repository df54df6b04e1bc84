//! Starting a server, or connecting to one that runs.

use std::{
    cell::{Cell, RefCell},
    rc::Rc,
    time::Duration,
};

use mcp_loadtest_core::{
    mcp::{Revision, lifecycle},
    server::public_url,
};
use tokio::time::{Instant, sleep};

use super::{
    Counters, Hello, Inner, OpenError, Options, Session, Target,
    address::{Address, HTTP, WS},
    behind::Behind,
    losing::Losing,
};
use crate::{
    process::{Launch, ServerProcess},
    slots::Slots,
    transport::{Link, http::HttpLink, sse::SseLink, stdio::StdioLink, websocket::WsLink},
};

/// How long a server that accepts connections but is not ready yet is left alone.
const NOT_READY_PAUSE: Duration = Duration::from_millis(50);

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
            ) if http.is_sse(&self.inner).await => OpenError::IsSse(public_url(&address.url)),
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
                url: target.address().map_or_else(|| "stdio".into(), |one| public_url(&one.url)),
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
            losing: Losing::default(),
            watch: RefCell::default(),
            tap: RefCell::default(),
            questions: options.questions,
            shutdown_timeout: options.shutdown_timeout,
        });
        tokio::task::spawn_local(super::sweep(Rc::downgrade(&inner), options.shortest_deadline));
        inner.note_cleared();
        Self { inner }
    }
}
