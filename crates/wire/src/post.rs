//! One request with a JSON body, and its answer: how the API of a model is asked.
//!
//! The connections, certificates and limits are those of the transports, so that a model is reached
//! in the same way as a server.

use std::time::Duration;

use mcp_loadtest_core::display::visible_bytes;
use serde_json::Value;
use thiserror::Error;
use tokio::{io::AsyncWriteExt as _, time::timeout};

use crate::{
    session::{Address, HTTP, OpenError},
    transport::http::{HttpTarget, Trouble, slow::begin},
};

/// The longest answer that is taken.
const LONGEST_ANSWER: usize = 16 << 20;

/// Why there is no answer.
#[derive(Debug, Error)]
pub enum PostError {
    /// The address cannot be used or found.
    #[error("{0}")]
    Address(#[from] OpenError),
    /// Nobody answered in time.
    #[error("no answer within {:.1} s", .0.as_secs_f64())]
    TimedOut(Duration),
    /// The connection could not be made, or broke.
    #[error("{0}")]
    Broken(String),
    /// The answer is not a good one.
    #[error("HTTP {status}: {said}")]
    Refused {
        /// The status.
        status: u16,
        /// The beginning of what was said.
        said: String,
    },
    /// The answer is not JSON.
    #[error("the answer is no JSON: {0}")]
    NotJson(String),
}

/// Asks, and gives the answer if it is a good one.
pub async fn post_json(
    address: &Address,
    body: &Value,
    patience: Duration,
) -> Result<Value, PostError> {
    let exchange = async {
        let target = address.find(HTTP, LONGEST_ANSWER).await?;
        let broken = |trouble: Trouble| PostError::Broken(trouble.into_break().message.to_string());
        exchange(&target, body).await.map_err(broken)
    };
    let (status, answer) =
        timeout(patience, exchange).await.map_err(|_| PostError::TimedOut(patience))??;
    let said = || visible_bytes(&answer, 300);
    if !(200..300).contains(&status) {
        return Err(PostError::Refused { status, said: said() });
    }
    serde_json::from_slice(&answer).map_err(|_| PostError::NotJson(said()))
}

async fn exchange(target: &HttpTarget, body: &Value) -> Result<(u16, Vec<u8>), Trouble> {
    let body = body.to_string();
    let mut head = format!("POST {} HTTP/1.1\r\nHost: {}\r\n", target.path, target.host);
    for (name, value) in &target.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    head.push_str(&format!(
        "Content-Type: application/json\r\nAccept: application/json\r\nConnection: close\r\n\
         Content-Length: {}\r\n\r\n",
        body.len()
    ));
    let mut stream =
        target.dial.connect().await.map_err(|error| Trouble::connecting(&target.host, error))?;
    stream.write_all(head.as_bytes()).await.map_err(Trouble::sending)?;
    stream.write_all(body.as_bytes()).await.map_err(Trouble::sending)?;
    stream.flush().await.map_err(Trouble::sending)?;
    let mut incoming = begin(stream, Vec::new()).await?;
    let mut answer = Vec::new();
    loop {
        incoming.take_body(&mut answer)?;
        if answer.len() > target.limit {
            return Err(Trouble::malformed("the answer is longer than allowed"));
        }
        if !incoming.more().await? {
            return Ok((incoming.head.status, answer));
        }
    }
}
