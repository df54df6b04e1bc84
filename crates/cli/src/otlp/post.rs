//! One POST request over plain HTTP/1.1. A collector elsewhere is reached through one on this
//! machine, which is also what keeps its credentials.

use std::{fmt, str::FromStr, time::Duration};

use mcp_loadtest_core::display::visible_bytes;
use serde_json::Value;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    time::timeout,
};

const DEADLINE: Duration = Duration::from_secs(10);
/// An answer longer than this is not read to its end.
const LONGEST_ANSWER: u64 = 64 << 10;
/// Where collectors listen for OTLP over HTTP.
const USUAL_PORT: u16 = 4318;

/// Where a collector listens: `http://127.0.0.1:4318`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Endpoint {
    host: String,
    port: u16,
    /// What the paths of the protocol are appended to, without its last slash.
    base: String,
}

impl FromStr for Endpoint {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let rest = text.strip_prefix("http://").ok_or(
            "use `http://HOST:PORT`; a collector behind TLS is reached through a local one",
        )?;
        if rest.bytes().any(|byte| !byte.is_ascii_graphic() || matches!(byte, b'?' | b'#' | b'@')) {
            return Err("use `http://HOST:PORT`, without query and user name".into());
        }
        let (authority, base) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
        let (host, port) = match authority.rsplit_once(':') {
            Some((host, port)) if !port.ends_with(']') => {
                (host, port.parse().map_err(|_| format!("`{port}` is not a port"))?)
            }
            _ => (authority, USUAL_PORT),
        };
        if host.is_empty() {
            return Err("use `http://HOST:PORT`".into());
        }
        Ok(Self { host: host.to_owned(), port, base: base.trim_end_matches('/').to_owned() })
    }
}

impl fmt::Display for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "http://{}:{}{}", self.host, self.port, self.base)
    }
}

/// Sends a document. Anything but a full success is an error.
pub(super) async fn post(endpoint: &Endpoint, path: &str, document: &Value) -> Result<(), String> {
    let exchanged = timeout(DEADLINE, exchange(endpoint, path, document)).await;
    let answer = exchanged
        .map_err(|_| format!("no answer within {} s", DEADLINE.as_secs()))?
        .map_err(|error| error.to_string())?;
    check(&answer)
}

async fn exchange(endpoint: &Endpoint, path: &str, document: &Value) -> std::io::Result<Vec<u8>> {
    let Endpoint { host, port, base } = endpoint;
    let body = serde_json::to_vec(document)?;
    let head = format!(
        "POST {base}/{path} HTTP/1.1\r\nhost: {host}:{port}\r\ncontent-type: application/json\r\n\
         content-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    let name = host.trim_start_matches('[').trim_end_matches(']');
    let mut stream = TcpStream::connect((name, *port)).await?;
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(&body).await?;
    let mut answer = Vec::new();
    stream.take(LONGEST_ANSWER).read_to_end(&mut answer).await?;
    Ok(answer)
}

/// A collector may take a document and still refuse parts of it.
fn check(answer: &[u8]) -> Result<(), String> {
    let text = String::from_utf8_lossy(answer);
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let status = head.strip_prefix("HTTP/1.").and_then(|rest| rest.split(' ').nth(1));
    if !status.is_some_and(|status| status.len() == 3 && status.starts_with('2')) {
        return Err(format!("it answered `{}`", visible_bytes(answer, 200)));
    }
    let told: Value = serde_json::from_str(body).unwrap_or_default();
    let partial = &told["partialSuccess"];
    let refused = ["rejectedDataPoints", "rejectedSpans"].iter().any(|name| {
        let number = &partial[*name];
        !(number.is_null() || *number == 0 || *number == "0" || *number == "")
    });
    if refused {
        return Err(format!("it refused a part: {}", visible_bytes(body.as_bytes(), 200)));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endpoints_are_read_and_what_is_none_is_refused() {
        for (text, shown) in [
            ("http://127.0.0.1:4318", "http://127.0.0.1:4318"),
            ("http://localhost/", "http://localhost:4318"),
            ("http://[::1]:9/a/b/", "http://[::1]:9/a/b"),
            ("http://[::1]", "http://[::1]:4318"),
        ] {
            assert_eq!(text.parse::<Endpoint>().map(|at| at.to_string()), Ok(shown.to_owned()));
        }
        for text in [
            "https://a",
            "http://",
            "a:1",
            "http://a:b",
            "http://a b",
            "http://u@a",
            "http://a\r\n",
        ] {
            assert!(text.parse::<Endpoint>().is_err(), "{text}");
        }
    }

    #[test]
    fn only_a_full_success_is_one() {
        let ok = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n\r\n";
        assert_eq!(check(format!("{ok}{{}}").as_bytes()), Ok(()));
        assert_eq!(check(format!("{ok}{{\"partialSuccess\":{{}}}}").as_bytes()), Ok(()));
        let refused = format!("{ok}{{\"partialSuccess\":{{\"rejectedSpans\":\"3\"}}}}");
        assert!(check(refused.as_bytes()).unwrap_err().contains("refused a part"));
        for answer in
            ["", "HTTP/1.1 404 Not Found\r\n\r\n", "200 OK\r\n\r\n", "HTTP/1.1 20\r\n\r\n"]
        {
            assert!(check(answer.as_bytes()).is_err(), "{answer}");
        }
    }
}
