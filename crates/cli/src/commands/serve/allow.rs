//! What a client may ask for: pure decisions, made before anything is started or looked up.
//!
//! A server is taken by a name that the operator allowed, by a URL whose host the operator allowed,
//! or, where the operator opted into that, by a command line. Anything else is refused.

use std::{collections::BTreeMap, net::IpAddr, str::FromStr, time::Duration};

use axum::http::Uri;
use mcp_loadtest_core::{
    config::TransportName, display::visible, hint::nearest, server::Server, units::format_duration,
};

use crate::error::CliError;

/// What the operator allowed.
#[derive(Debug, Clone, Default)]
pub(crate) struct Policy {
    /// Servers by name, as they were when we were started.
    pub(crate) servers: BTreeMap<String, Server>,
    /// Hosts that URLs may lead to.
    pub(crate) hosts: Vec<AllowedHost>,
    /// Whether a client may name any command at all.
    pub(crate) commands: bool,
    /// Whether tools may be called that may do more than read.
    pub(crate) destructive: bool,
    /// How much may be asked for.
    pub(crate) caps: Caps,
}

/// How much one call may ask for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Caps {
    pub(crate) concurrent: u32,
    pub(crate) duration: Duration,
}

impl Default for Caps {
    fn default() -> Self {
        Self { concurrent: 50, duration: Duration::from_secs(60) }
    }
}

impl Caps {
    /// Refuses more calls at once than are allowed, and none.
    pub(crate) fn concurrent(&self, asked: u32) -> Result<u32, CliError> {
        if (1..=self.concurrent).contains(&asked) {
            return Ok(asked);
        }
        Err(CliError::usage(
            format!("`concurrent` is {asked}, and may be 1 to {}", self.concurrent),
            "ask for fewer; the operator sets the limit with --max-concurrent",
        ))
    }

    /// Refuses a time that is longer than allowed, or none.
    pub(crate) fn seconds(&self, name: &str, asked: f64) -> Result<Duration, CliError> {
        let time = Duration::try_from_secs_f64(asked).ok();
        if let Some(time) = time.filter(|time| !time.is_zero() && *time <= self.duration) {
            return Ok(time);
        }
        Err(CliError::usage(
            format!(
                "`{name}` is {asked} s, and may be more than 0 and up to {}",
                format_duration(self.duration)
            ),
            "ask for less; the operator sets the limit with --max-duration",
        ))
    }
}

/// How a call names the server to test.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Who {
    pub(crate) server: Option<String>,
    pub(crate) url: Option<String>,
    pub(crate) server_command: Option<String>,
}

/// What may be tested.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Admitted {
    /// A server that needs no further look.
    Server(Box<Server>),
    /// A URL whose host is allowed by this rule; what the name stands for is not known yet.
    Url { url: String, host: String, port: u16, rule: AllowedHost },
}

/// A host that URLs may lead to.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct AllowedHost {
    /// A name or an address, in small letters.
    name: String,
    /// Any port, unless one was named.
    port: Option<u16>,
    /// Where it is, if the operator said so.
    pub(crate) at: Option<IpAddr>,
}

impl FromStr for AllowedHost {
    type Err = String;

    /// Reads `HOST`, `HOST:PORT` or either with `=ADDRESS`.
    fn from_str(text: &str) -> Result<Self, String> {
        let (host, at) = match text.split_once('=') {
            None => (text, None),
            Some((host, at)) => (
                host,
                Some(at.parse().map_err(|_| {
                    format!("`{at}` is not an address; write it like `staging.example=10.1.2.3`")
                })?),
            ),
        };
        if text.is_empty() || text.contains(['/', '@', '*', ' ']) {
            return Err("a host is meant, such as `api.example.com` or `127.0.0.1:3000`".into());
        }
        let bare = |host: &str| host.trim_start_matches('[').trim_end_matches(']').to_owned();
        let (name, port) = match host.rsplit_once(':') {
            // An IPv6 address has colons of its own.
            Some((name, port)) if !name.contains(':') || name.ends_with(']') => {
                let port = port.parse().map_err(|_| format!("`{port}` is not a port"))?;
                (bare(name), Some(port))
            }
            _ => (bare(host), None),
        };
        if name.is_empty() {
            return Err("a host is meant before the port".into());
        }
        Ok(Self { name: canonical(&name), port, at })
    }
}

impl AllowedHost {
    /// The address that was allowed as such, in whatever way it is written.
    pub(crate) fn literal(&self) -> Option<IpAddr> {
        self.name.parse().ok()
    }

    /// Whether this machine is meant by its usual name.
    pub(crate) fn is_localhost(&self) -> bool {
        self.name == "localhost"
    }

    fn covers(&self, host: &str, port: u16) -> bool {
        self.name == host && self.port.is_none_or(|own| own == port)
    }
}

impl std::fmt::Display for AllowedHost {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.name)?;
        self.port.map_or(Ok(()), |port| write!(f, ":{port}"))
    }
}

/// A host as it is compared: small letters, no dot at the end, addresses in their one form.
fn canonical(host: &str) -> String {
    let host = host.trim_end_matches('.').to_ascii_lowercase();
    host.parse::<IpAddr>().map_or(host, |address| address.to_string())
}

impl Policy {
    /// Finds what a call may test, or says why it may not.
    pub(crate) fn admit(&self, who: &Who) -> Result<Admitted, CliError> {
        match (&who.server, &who.url, &who.server_command) {
            (Some(name), None, None) => self.named(name),
            (None, Some(url), None) => self.url(url),
            (None, None, Some(line)) => self.command(line),
            (None, None, None) => self.only_one(),
            _ => Err(CliError::usage(
                "`server`, `url` and `server_command` name one server each",
                "give one of them",
            )),
        }
    }

    fn named(&self, name: &str) -> Result<Admitted, CliError> {
        if let Some(server) = self.servers.get(name) {
            return Ok(Admitted::Server(Box::new(server.clone())));
        }
        let hint = match nearest(name, self.servers.keys().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => self.allowed(),
        };
        Err(CliError::usage(format!("`{}` is no server that is allowed", visible(name, 80)), hint))
    }

    fn only_one(&self) -> Result<Admitted, CliError> {
        match self.servers.values().next() {
            Some(server) if self.servers.len() == 1 => {
                Ok(Admitted::Server(Box::new(server.clone())))
            }
            _ => Err(CliError::usage("no server is named", self.allowed())),
        }
    }

    fn command(&self, line: &str) -> Result<Admitted, CliError> {
        if !self.commands {
            return Err(CliError::usage(
                "`server_command` is not allowed: nothing was started",
                format!("{}; the operator allows commands with --allow-command", self.allowed()),
            ));
        }
        let words = shlex::split(line).unwrap_or_default();
        let Some((program, args)) = words.split_first() else {
            return Err(CliError::usage(
                "`server_command` is not a command line",
                "write it as in a shell, with every quote closed: `python -m my_mcp`",
            ));
        };
        Ok(Admitted::Server(Box::new(Server::stdio(program).args(args.to_vec()).build())))
    }

    fn url(&self, url: &str) -> Result<Admitted, CliError> {
        let refused = |why: &str| {
            let shown = visible(url, 200);
            CliError::usage(format!("`{shown}` is not allowed: {why}"), self.allowed())
        };
        let uri: Uri = url.parse().map_err(|_| refused("it is not a URL"))?;
        let secure = match uri.scheme_str() {
            Some("http" | "ws") => false,
            Some("https" | "wss") => true,
            _ => return Err(refused("only http, https, ws and wss are")),
        };
        let authority = uri.authority().map(|authority| authority.as_str()).unwrap_or_default();
        if authority.contains('@') {
            return Err(refused("credentials do not belong into a URL"));
        }
        let host = uri.host().unwrap_or_default();
        let host = canonical(host.trim_start_matches('[').trim_end_matches(']'));
        let port = uri.port_u16().unwrap_or(if secure { 443 } else { 80 });
        match self.hosts.iter().find(|rule| rule.covers(&host, port)) {
            Some(rule) => Ok(Admitted::Url { url: url.to_owned(), host, port, rule: rule.clone() }),
            None if self.hosts.is_empty() => Err(refused("no host is")),
            None => Err(refused("its host and port are not among those that are")),
        }
    }

    /// What is allowed, in words.
    pub(crate) fn allowed(&self) -> String {
        let list = |names: Vec<String>| names.join(", ");
        let mut told = Vec::new();
        if !self.servers.is_empty() {
            told.push(format!("servers: {}", list(self.servers.keys().cloned().collect())));
        }
        if !self.hosts.is_empty() {
            let hosts = self.hosts.iter().map(ToString::to_string).collect();
            told.push(format!("hosts of URLs: {}", list(hosts)));
        }
        if self.commands {
            told.push("any command in `server_command`".into());
        }
        if told.is_empty() {
            return "nothing is allowed; the operator does that with --allow-server, --allow-host or \
                    --allow-command"
                .into();
        }
        format!("allowed: {}", told.join("; "))
    }
}

/// The server at a URL, at these addresses and no others.
pub(crate) fn pinned(url: &str, addresses: Vec<IpAddr>) -> Server {
    let server = match TransportName::of_url(url) {
        TransportName::Ws => Server::websocket(url),
        _ => Server::http(url),
    };
    server.addresses(addresses).build()
}

#[cfg(test)]
mod tests;
