//! The beginning of a session and nothing more: does the server start, answer, and list its tools?

use std::time::Duration;

use mcp_loadtest_core::{report::ServerInfo, server::Server};
use serde::{Deserialize, Serialize};
use tokio::sync::oneshot;

use crate::{
    conductor::{on_local_runtime, server_info},
    error::RunError,
    session::open_alone,
    stop::Stop,
    target::TeeStderr,
};

/// How a server took a greeting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Greeting {
    /// Who it is, as far as it told.
    pub server: ServerInfo,
    /// How long the handshake took.
    pub took: Duration,
    /// What is wrong with its list of tools.
    pub problem: Option<String>,
}

/// Starts or reaches a server, begins a session, asks for its tools and leaves. No tool is called.
pub async fn greet(
    server: Server,
    strict_protocol: bool,
    tee_stderr: bool,
    stop: Stop,
) -> Result<Greeting, RunError> {
    let (tell, told) = oneshot::channel();
    std::thread::Builder::new()
        .name("greeting".into())
        .spawn(move || {
            let greeted = on_local_runtime(async {
                tokio::select! {
                    greeted = greet_here(&server, strict_protocol, tee_stderr) => greeted,
                    () = stop.stopped() => Err(RunError::Interrupted),
                }
            });
            let _ = tell.send(greeted.and_then(|greeted| greeted));
        })
        .map_err(RunError::thread)?;
    told.await.map_err(|_| RunError::Internal("the greeting's thread panicked".into()))?
}

async fn greet_here(server: &Server, strict: bool, tee: bool) -> Result<Greeting, RunError> {
    let tee = if tee { TeeStderr::On } else { TeeStderr::Off };
    let (session, hello) = open_alone(server, strict, tee).await?;
    let listed = session.list_tools(server.startup_timeout).await;
    session.close().await;
    let listing = listed.map_err(|reply| RunError::ToolsList(reply.message))?;
    Ok(Greeting {
        server: server_info(server, &hello, &listing),
        took: hello.took,
        problem: listing.problem,
    })
}
