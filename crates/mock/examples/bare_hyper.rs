//! The least that an HTTP server on hyper can do: read a body, send a fixed reply. What the mock's
//! speed is held against. Prints `{"url": …}` and serves until it is killed.

use std::{convert::Infallible, io, io::Write as _};

use http_body_util::{BodyExt as _, Full};
use hyper::{
    Request, Response,
    body::{Bytes, Incoming},
    server::conn::http1,
    service::service_fn,
};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

const REPLY: &[u8] = br#"{"jsonrpc":"2.0","id":1000000,"result":{"content":[{"type":"text","text":"{}"}],"structuredContent":{},"isError":false,"resultType":"complete","_meta":{"io.modelcontextprotocol/serverInfo":{"name":"mcp-loadtest-mock","version":"0.1.0"}}}}"#;

async fn answer(request: Request<Incoming>) -> Result<Response<Full<Bytes>>, Infallible> {
    // A client that goes away while it sends hears nothing anyway.
    let _ = request.into_body().collect().await;
    let mut response = Response::new(Full::new(Bytes::from_static(REPLY)));
    response
        .headers_mut()
        .insert("content-type", hyper::header::HeaderValue::from_static("application/json"));
    Ok(response)
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> io::Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    writeln!(io::stdout(), "{{\"url\": \"http://{}/mcp\"}}", listener.local_addr()?)?;
    loop {
        let (stream, _) = listener.accept().await?;
        stream.set_nodelay(true)?;
        tokio::spawn(async move {
            let connection = http1::Builder::new();
            // The end of a connection is no news.
            let _ = connection.serve_connection(TokioIo::new(stream), service_fn(answer)).await;
        });
    }
}
