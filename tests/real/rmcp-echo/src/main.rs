//! An echo server on the Rust SDK: stdio by default, streamable HTTP with `http PORT`.
//!
//! A peer that we did not write. It speaks both eras, as the SDK does by default.

use std::{env, error::Error};

use rmcp::{
    ServiceExt,
    handler::server::wrapper::Parameters,
    tool, tool_router,
    transport::{
        stdio,
        streamable_http_server::{StreamableHttpService, session::local::LocalSessionManager},
    },
};

#[derive(serde::Deserialize, schemars::JsonSchema)]
struct EchoArguments {
    text: String,
}

struct Echo;

#[tool_router(server_handler)]
impl Echo {
    #[tool(
        description = "Answers with the text it was given",
        annotations(read_only_hint = true)
    )]
    fn echo(&self, Parameters(EchoArguments { text }): Parameters<EchoArguments>) -> String {
        text
    }
}

#[tokio::main]
async fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = env::args().skip(1).collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => serve_stdio().await,
        ["http", port] => serve_http(port.parse()?).await,
        _ => Err("usage: rmcp-echo [http PORT]".into()),
    }
}

async fn serve_stdio() -> Result<(), Box<dyn Error>> {
    Echo.serve(stdio()).await?.waiting().await?;
    Ok(())
}

async fn serve_http(port: u16) -> Result<(), Box<dyn Error>> {
    use axum::serve::ListenerExt as _;

    let service: StreamableHttpService<Echo, LocalSessionManager> =
        StreamableHttpService::new(|| Ok(Echo), Default::default(), Default::default());
    // An event stream is several small writes; without TCP_NODELAY each reply waits 40 ms for an acknowledgement.
    let listener = tokio::net::TcpListener::bind(("127.0.0.1", port))
        .await?
        .tap_io(|stream| _ = stream.set_nodelay(true));
    axum::serve(listener, axum::Router::new().nest_service("/mcp", service)).await?;
    Ok(())
}
