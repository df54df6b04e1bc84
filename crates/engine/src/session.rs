//! One session to hold in one's hand: begin it, list the tools, call them, end it. For tests that want to
//! look at single calls; load is made by a [`Run`](crate::Run).

use std::{cell::RefCell, collections::HashMap, rc::Rc, time::Duration};

use mcp_loadtest_core::{
    event::Phase,
    mcp::{Era, Tool},
    outcome::{ErrorCategory, Outcome},
    report::ServerInfo,
    server::Server,
    thresholds::Thresholds,
};
use mcp_loadtest_wire::session::{Deadlines, Hello, How, Reply, Session as WireSession};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use tokio::{
    sync::{mpsc, oneshot},
    task::JoinSet,
};

use crate::{
    conductor::{choose_revision, on_local_runtime, server_info},
    error::RunError,
    target::{Logs, TeeStderr, target, unrecorded},
};

/// What became of a call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Answer {
    /// Good, or which failure.
    pub outcome: Outcome,
    /// The JSON-RPC error code or HTTP status, where there is one.
    pub code: Option<i64>,
    /// What the server or the transport said; empty for a good answer.
    pub message: String,
    /// The `result` or `error`, where one came.
    pub body: Option<Value>,
    /// How long the call took.
    pub took: Duration,
}

impl From<Reply> for Answer {
    fn from(reply: Reply) -> Self {
        let (body, took) = (reply.json(), reply.took());
        Self { outcome: reply.outcome, code: reply.code, message: reply.message, body, took }
    }
}

/// What the session's thread is asked to do.
enum Ask {
    ListTools(oneshot::Sender<Result<Vec<Tool>, Answer>>),
    CallTool { tool: String, args: Value, deadlines: Deadlines, tell: oneshot::Sender<Answer> },
}

/// A session with a server, in a thread of its own. Any number of calls may be in flight. When it is
/// dropped, calls in flight are withdrawn and a server that it has started is ended.
///
/// ```no_run
/// # async fn example() -> Result<(), mcp_loadtest::RunError> {
/// use mcp_loadtest::{Outcome, Server, Session};
/// use serde_json::json;
///
/// let session = Session::spawn(Server::stdio("python").args(["-m", "my_mcp"])).await?;
/// let tools = session.list_tools().await.expect("a list");
/// let answer = session.call_tool(&tools[0].name, json!({})).await;
/// assert_eq!(answer.outcome, Outcome::Ok, "{}", answer.message);
/// session.shutdown().await;
/// # Ok(()) }
/// ```
#[derive(Debug)]
pub struct Session {
    asks: mpsc::UnboundedSender<Ask>,
    ended: oneshot::Receiver<()>,
    server_info: ServerInfo,
    deadlines: Deadlines,
}

impl Session {
    /// Starts or reaches the server and shakes hands with it.
    pub async fn spawn(server: impl Into<Server>) -> Result<Self, RunError> {
        let server = server.into();
        let (asks, asked) = mpsc::unbounded_channel();
        let (tell, told) = oneshot::channel();
        let (at_end, ended) = oneshot::channel();
        std::thread::Builder::new()
            .name("session".into())
            .spawn(move || {
                // Whoever no longer waits does not want to know why.
                let _ = on_local_runtime(serve(&server, tell, asked));
                let _ = at_end.send(());
            })
            .map_err(RunError::thread)?;
        let gone = |_| RunError::Internal("the session's thread did not begin".into());
        let server_info = told.await.map_err(gone)??;
        let Thresholds { hang_timeout, grace_period, .. } = Thresholds::default();
        let deadlines =
            Deadlines { hang: hang_timeout, grace: grace_period, timeout: Duration::MAX };
        Ok(Self { asks, ended, server_info, deadlines })
    }

    /// Sets for how long a call may be silent: after `hang_threshold` it hangs, and when the
    /// `grace_period` is over too it is given up as a deadlock.
    #[must_use]
    pub fn with_patience(mut self, hang_threshold: Duration, grace_period: Duration) -> Self {
        self.deadlines.hang = hang_threshold;
        self.deadlines.grace = grace_period;
        self
    }

    /// Who the server says it is.
    pub fn server_info(&self) -> &ServerInfo {
        &self.server_info
    }

    /// Lists the tools, all pages of them.
    pub async fn list_tools(&self) -> Result<Vec<Tool>, Answer> {
        let (tell, told) = oneshot::channel();
        let _ = self.asks.send(Ask::ListTools(tell));
        told.await.unwrap_or_else(|_| Err(Answer::never()))
    }

    /// Calls a tool and follows the call to its end. Dropping the future withdraws the call.
    pub async fn call_tool(&self, tool: impl Into<String>, args: Value) -> Answer {
        let (tell, told) = oneshot::channel();
        let _ = self.asks.send(Ask::CallTool {
            tool: tool.into(),
            args,
            deadlines: self.deadlines,
            tell,
        });
        told.await.unwrap_or_else(|_| Answer::never())
    }

    /// Ends the session, and with it a server that it has started; it is over when this returns.
    pub async fn shutdown(self) {
        drop(self.asks);
        let _ = self.ended.await;
    }
}

impl Answer {
    /// The session's thread is gone, which only a panic can bring about.
    fn never() -> Self {
        Self {
            outcome: Outcome::Failed(ErrorCategory::Cancelled),
            code: None,
            message: "the session's thread panicked".into(),
            body: None,
            took: Duration::ZERO,
        }
    }
}

/// Starts or reaches a server and begins a session with it that nobody records.
pub(crate) async fn open_alone(
    server: &Server,
    strict_protocol: bool,
    tee: TeeStderr,
) -> Result<(WireSession, Hello), RunError> {
    let target = target(server, tee, Logs::default())?;
    let options = unrecorded(server, strict_protocol);
    // Until the session has the server, this keeps it from being started twice.
    let held = target.hold(&options).await?;
    let revision = choose_revision(server, &target, &options).await?;
    let opened = WireSession::open(&target, &options, revision).await?;
    drop(held);
    Ok(opened)
}

/// Does what is asked until nobody can ask any more.
async fn serve(
    server: &Server,
    tell: oneshot::Sender<Result<ServerInfo, RunError>>,
    mut asked: mpsc::UnboundedReceiver<Ask>,
) {
    let mut tell = tell;
    let opened = tokio::select! {
        opened = open_alone(server, false, TeeStderr::Off) => opened,
        () = tell.closed() => return,
    };
    let (session, hello) = match opened {
        Ok(opened) => opened,
        Err(error) => return drop(tell.send(Err(error))),
    };
    let info = ServerInfo { tools: None, ..server_info(server, &hello, &Default::default()) };
    let _ = tell.send(Ok(info));
    let desk =
        Rc::new(Desk { session, hello, patience: server.startup_timeout, schemas: None.into() });
    let mut at_work = JoinSet::new();
    while let Some(ask) = asked.recv().await {
        while at_work.try_join_next().is_some() {}
        let desk = desk.clone();
        at_work.spawn_local(async move { desk.answer(ask).await });
    }
    at_work.shutdown().await;
    if let Ok(desk) = Rc::try_unwrap(desk) {
        desk.session.close().await;
    }
}

/// The session, and what is known of its tools.
struct Desk {
    session: WireSession,
    hello: Hello,
    patience: Duration,
    schemas: RefCell<Option<HashMap<String, Value>>>,
}

impl Desk {
    async fn answer(&self, ask: Ask) {
        match ask {
            Ask::ListTools(mut tell) => {
                let listed = tokio::select! {
                    listed = self.list_tools() => listed,
                    () = tell.closed() => return,
                };
                let _ = tell.send(listed);
            }
            Ask::CallTool { tool, args, deadlines, mut tell } => {
                let answer = tokio::select! {
                    answer = self.call_tool(&tool, &args, deadlines) => answer,
                    () = tell.closed() => return,
                };
                let _ = tell.send(answer);
            }
        }
    }

    async fn list_tools(&self) -> Result<Vec<Tool>, Answer> {
        let tools = self.session.list_tools(self.patience).await?.tools;
        let schemas = tools.iter().map(|tool| (tool.name.clone(), tool.input_schema.clone()));
        self.schemas.replace(Some(schemas.collect()));
        Ok(tools)
    }

    async fn call_tool(&self, tool: &str, args: &Value, deadlines: Deadlines) -> Answer {
        // Schemas of the modern era may mark parameters that HTTP repeats in headers.
        if self.hello.era == Era::Modern && self.schemas.borrow().is_none() {
            let _ = self.list_tools().await;
        }
        let schema = self.schemas.borrow().as_ref().and_then(|known| known.get(tool).cloned());
        let request = self.session.prepare_tool_call(tool, args, &schema.unwrap_or_default());
        let how = How { keep_body: true, ..How::new(Phase::Load, deadlines) };
        self.session.call(&request, how).await.into()
    }
}
