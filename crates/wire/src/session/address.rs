//! A server that is reached by its address: whom to trust, whose process it is, how to get there.

use std::{
    io,
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use http::Uri;
use mcp_loadtest_core::server::public_url;
use rustls::pki_types::ServerName;
use tokio::{
    net::TcpStream,
    time::{Instant, sleep, timeout},
};

use super::{OpenError, behind::Behind};
use crate::{
    process::{Host, HostError, Lease, inspect},
    transport::{
        Trust,
        http::{HttpTarget, stream::Dial},
    },
};

/// How often a server that was just started is tried, at first and later.
const TRIES: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(10));
/// How long one try may take.
const TRY_LIMIT: Duration = Duration::from_secs(5);

/// Where a server is reached.
#[derive(Debug, Clone)]
pub struct Address {
    /// Its MCP endpoint.
    pub url: String,
    /// Sent with every request.
    pub headers: Vec<(String, String)>,
    /// Whom to trust, where the connection is encrypted.
    pub trust: Trust,
    /// Whose process answers there.
    pub owner: Owner,
    /// Where the host is, where somebody else has looked that up; else the system is asked.
    pub pinned: Vec<IpAddr>,
}

/// Whose process answers at an address.
#[derive(Debug, Clone, Default)]
pub enum Owner {
    /// Nobody said.
    #[default]
    Unknown,
    /// It runs, and this is its number: it is looked at and never signalled.
    Other(u32),
    /// We start it when it is needed, and end it.
    Ours(Host),
}

impl Address {
    /// An address of which nothing else is known.
    pub fn new(url: impl Into<String>) -> Self {
        let (headers, trust, owner) = (Vec::new(), Trust::default(), Owner::Unknown);
        Self { url: url.into(), headers, trust, owner, pinned: Vec::new() }
    }

    /// Reads the URL and finds the host. `schemes`: the plain one and the encrypted one.
    pub(crate) async fn find(
        &self,
        schemes: [&str; 2],
        limit: usize,
    ) -> Result<HttpTarget, OpenError> {
        let url = self.url.as_str();
        let bad = |why: &str| OpenError::Url { url: public_url(url), why: why.to_owned() };
        let uri: Uri =
            url.parse().map_err(|error: http::uri::InvalidUri| bad(&error.to_string()))?;
        let [plain, encrypted] = schemes;
        let secure = match uri.scheme_str() {
            Some(scheme) if scheme == plain => false,
            Some(scheme) if scheme == encrypted => true,
            _ => {
                return Err(bad(&format!("it must begin with `{plain}://` or `{encrypted}://`")));
            }
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
        let addresses = self.addresses(&bare, port).await.map_err(reach)?;
        let tls = if secure {
            let name = ServerName::try_from(bare)
                .map_err(|_| bad("its host cannot be a TLS server name"))?;
            Some((self.trust.config().map_err(reach)?, name))
        } else {
            None
        };
        let path = uri.path_and_query().map_or("/", |path| path.as_str()).to_owned();
        check_headers(&self.headers).map_err(|why| bad(&why))?;
        Ok(HttpTarget {
            dial: Dial { addresses, tls },
            host: authority,
            path,
            headers: self.headers.clone(),
            limit,
        })
    }

    async fn addresses(&self, host: &str, port: u16) -> io::Result<Vec<SocketAddr>> {
        if self.pinned.is_empty() {
            return Ok(tokio::net::lookup_host((host, port)).await?.collect());
        }
        Ok(self.pinned.iter().map(|ip| SocketAddr::new(*ip, port)).collect())
    }

    /// The process behind the address; one of ours is started if need be, and waited for.
    pub(super) async fn process(
        &self,
        target: &HttpTarget,
        patience: Duration,
    ) -> Result<Behind, OpenError> {
        Ok(match &self.owner {
            Owner::Unknown => Behind::Unknown,
            Owner::Other(pid) => match inspect(*pid) {
                Some(_) => Behind::Other(*pid),
                None => return Err(OpenError::NoProcess(*pid)),
            },
            Owner::Ours(host) => Behind::ours(up(host, target, patience).await?),
        })
    }

    /// Keeps a server of ours running for as long as the lease is held.
    pub(super) async fn hold(&self, patience: Duration) -> Result<Option<Lease>, OpenError> {
        let Owner::Ours(host) = &self.owner else { return Ok(None) };
        // Which of the schemes it is matters only to the session.
        let schemes = if self.url.starts_with("ws") { WS } else { HTTP };
        let target = self.find(schemes, 0).await?;
        up(host, &target, patience).await.map(Some)
    }
}

/// The schemes of HTTP.
pub(crate) const HTTP: [&str; 2] = ["http", "https"];
/// The schemes of WebSockets.
pub(super) const WS: [&str; 2] = ["ws", "wss"];

async fn up(host: &Host, target: &HttpTarget, patience: Duration) -> Result<Lease, OpenError> {
    let lease = host.lease(&target.dial.addresses).await.map_err(|error| match error {
        HostError::Spawn(error) => OpenError::Spawn(error),
        HostError::Occupied(address) => OpenError::Occupied(address.to_string()),
        HostError::Gone => OpenError::Unreachable("the server's keeper is gone".into()),
    })?;
    match until_it_listens(&lease, &target.dial.addresses, patience).await {
        Listens::Yes => Ok(lease),
        Listens::Ended => Err(OpenError::ended(&lease)),
        Listens::NotInTime => Err(OpenError::NotListening {
            host: target.host.clone(),
            patience,
            stderr: lease.running.stderr_tail(),
        }),
    }
}

enum Listens {
    Yes,
    Ended,
    NotInTime,
}

async fn until_it_listens(lease: &Lease, addresses: &[SocketAddr], patience: Duration) -> Listens {
    let began = Instant::now();
    let mut pause = TRIES.0;
    loop {
        if lease.running.ended().is_some() {
            return Listens::Ended;
        }
        if lease.running.listens() {
            return Listens::Yes;
        }
        if let Ok(Ok(_)) = timeout(TRY_LIMIT, TcpStream::connect(addresses)).await {
            lease.running.set_listens();
            return Listens::Yes;
        }
        if began.elapsed() >= patience {
            return Listens::NotInTime;
        }
        sleep(pause).await;
        pause = (pause * 2).min(TRIES.1);
    }
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
    "upgrade",
    "sec-websocket-key",
    "sec-websocket-version",
    "sec-websocket-protocol",
    "sec-websocket-extensions",
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
