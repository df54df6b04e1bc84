//! The server under test: how it is started or reached, and how long we wait for it.

mod builder;
mod choices;

use std::{
    collections::BTreeMap,
    fmt::{self, Write as _},
    net::IpAddr,
    path::PathBuf,
    time::Duration,
};

use serde::{Deserialize, Serialize};

use crate::{
    secrets::masked_arguments,
    units::{Size, as_text},
};

pub use builder::{IsReached, IsStarted, Reached, ServerBuilder, Started, StartedAndReached};
pub use choices::{InheritEnv, ProtocolChoice};

/// How long a server may take to answer `initialize`. Real servers that are fetched by `npx` or
/// `uvx` need 10 to 22 seconds on their first start.
pub const STARTUP_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a server may take to end by itself before it is killed.
pub const SHUTDOWN_TIMEOUT: Duration = Duration::from_secs(5);

/// So many processes may belong to one server, itself included; one that has more is ended.
pub const MOST_PROCESSES: usize = 512;

/// One MCP server. Made by [`Server::stdio`], [`Server::http`], [`Server::sse`] or
/// [`Server::websocket`], or read from a configuration.
///
/// | `command` | `transport` | what is meant                                               |
/// |-----------|-------------|-------------------------------------------------------------|
/// | set       | `Stdio`     | we start it and talk over its pipes                         |
/// | empty     | any other   | it runs already; `pid` may say which process it is          |
/// | set       | any other   | we start it, and talk to it at the address once it listens  |
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// The program to start; empty when the server runs already.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub command: String,
    /// The arguments of the program.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// Environment variables set for the program, on top of those it inherits.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// The directory the program is started in; ours when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub working_dir: Option<PathBuf>,
    /// How messages travel.
    pub transport: Transport,
    /// How long to wait for the answer to `initialize`.
    #[serde(with = "as_text", default = "startup_timeout")]
    pub startup_timeout: Duration,
    /// How long to wait for the program to end by itself before it is killed.
    #[serde(with = "as_text", default = "shutdown_timeout")]
    pub shutdown_timeout: Duration,
    /// The longest message that is taken from the server.
    #[serde(default = "max_message")]
    pub max_message: Size,
    /// Which revision of MCP to speak.
    #[serde(default)]
    pub protocol: ProtocolChoice,
    /// Which of our own environment variables the program sees.
    #[serde(default)]
    pub inherit_env: InheritEnv,
    /// The process that answers at the address: it is looked at, never signalled.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    /// A PEM file with further certificates to trust, besides those of the system.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca_cert: Option<PathBuf>,
    /// The addresses that the host of the URL stands for; the system is asked when there are none.
    /// Whoever has looked them up and found them harmless names them here, so that a second look-up
    /// cannot give others.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub addresses: Vec<IpAddr>,
}

impl Server {
    /// Whether we start it.
    pub fn is_started(&self) -> bool {
        self.transport == Transport::Stdio || !self.command.is_empty()
    }

    /// Whether it is known which process it is, so that its memory can be seen.
    pub fn has_known_process(&self) -> bool {
        self.is_started() || self.pid.is_some()
    }
}

fn startup_timeout() -> Duration {
    STARTUP_TIMEOUT
}

/// The longest message that is taken from a server, unless something else is said.
pub const MAX_MESSAGE: Size = Size(16 << 20);

fn max_message() -> Size {
    MAX_MESSAGE
}

fn shutdown_timeout() -> Duration {
    SHUTDOWN_TIMEOUT
}

/// How messages travel between us and the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case", deny_unknown_fields)]
pub enum Transport {
    /// One JSON message per line over the pipes of a child process.
    Stdio,
    /// Streamable HTTP.
    Http {
        /// The address of the MCP endpoint.
        url: String,
        /// Headers sent with every request.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        headers: BTreeMap<String, String>,
    },
    /// The HTTP+SSE transport of 2024-11-05: one event stream, and an address for what we say.
    Sse {
        /// The address of the event stream.
        url: String,
        /// Headers sent with every request.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        headers: BTreeMap<String, String>,
    },
    /// One JSON message per WebSocket text frame.
    #[serde(rename = "ws")]
    WebSocket {
        /// The address of the socket.
        url: String,
        /// Headers sent with the request that opens it.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        headers: BTreeMap<String, String>,
    },
}

impl Transport {
    /// The word used in configurations and reports.
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Http { .. } => "http",
            Self::Sse { .. } => "sse",
            Self::WebSocket { .. } => "ws",
        }
    }

    /// The address, unless messages travel over pipes.
    pub fn url(&self) -> Option<&str> {
        match self {
            Self::Stdio => None,
            Self::Http { url, .. } | Self::Sse { url, .. } | Self::WebSocket { url, .. } => {
                Some(url)
            }
        }
    }

    /// The headers that go with requests; pipes have none.
    pub fn headers(&self) -> Option<&BTreeMap<String, String>> {
        match self {
            Self::Stdio => None,
            Self::Http { headers, .. }
            | Self::Sse { headers, .. }
            | Self::WebSocket { headers, .. } => Some(headers),
        }
    }

    /// The same, to be changed.
    pub fn headers_mut(&mut self) -> Option<&mut BTreeMap<String, String>> {
        match self {
            Self::Stdio => None,
            Self::Http { headers, .. }
            | Self::Sse { headers, .. }
            | Self::WebSocket { headers, .. } => Some(headers),
        }
    }

    /// Whether threads may share a session. Over Streamable HTTP each call has a connection of its
    /// own; pipes, event streams and sockets belong to one thread.
    pub const fn can_be_shared(&self) -> bool {
        matches!(self, Self::Http { .. })
    }
}

impl Server {
    /// The flags that name this server on a command line, without secrets: headers are left out.
    pub fn as_flags(&self) -> String {
        let started =
            self.is_started().then(|| format!("-s {}", shell_word(&self.shown_command())));
        let url = self.transport.url().map(|url| format!("--url {}", shell_word(&public_url(url))));
        started.into_iter().chain(url).collect::<Vec<_>>().join(" ")
    }

    fn shown_command(&self) -> String {
        let words = [self.command.clone()].into_iter().chain(masked_arguments(&self.args));
        words.map(|word| shell_word(&word)).collect::<Vec<_>>().join(" ")
    }
}

/// The command line or the address, without what may be secret: environment, headers, credentials,
/// query, and arguments that what stands before them gives away.
impl fmt::Display for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let url = self.transport.url().map(public_url);
        if self.is_started() {
            f.write_str(&self.shown_command())?;
        }
        match url {
            Some(url) if self.is_started() => write!(f, " at {url}"),
            Some(url) => f.write_str(&url),
            None => Ok(()),
        }
    }
}

/// A word as a shell reads it back.
pub fn shell_word(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./:=@,+%\\".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    let mut quoted = String::from("'");
    for c in word.chars() {
        let _ = if c == '\'' { quoted.write_str("'\\''") } else { quoted.write_char(c) };
    }
    quoted.push('\'');
    quoted
}

/// An address without what may be secret: credentials and query.
pub fn public_url(url: &str) -> String {
    let (address, query) = match url.find(['?', '#']) {
        Some(at) => (&url[..at], "?…"),
        None => (url, ""),
    };
    let Some((scheme, rest)) = address.split_once("://") else {
        return format!("{address}{query}");
    };
    let host_ends = rest.find('/').unwrap_or(rest.len());
    let host_begins = rest[..host_ends].rfind('@').map_or(0, |at| at + 1);
    format!("{scheme}://{}{query}", &rest[host_begins..])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mcp::revision::Revision;
    use serde_json::json;

    #[test]
    fn transports_have_their_words_and_addresses_keep_their_secrets() {
        let all = [
            Server::stdio("x").build(),
            Server::http("http://h").build(),
            Server::sse("http://h").build(),
            Server::websocket("ws://h").build(),
        ];
        let names = all.each_ref().map(|server| server.transport.name());
        assert_eq!(names, ["stdio", "http", "sse", "ws"]);
        let shared = all.each_ref().map(|server| server.transport.can_be_shared());
        assert_eq!(shared, [false, true, false, false]);
        for (url, public) in [
            ("http://h/a", "http://h/a"),
            ("http://u:p@h/a@b?key=1", "http://h/a@b?…"),
            ("http://h#x", "http://h?…"),
            ("h/a?b", "h/a?…"),
        ] {
            assert_eq!(public_url(url), public);
        }
    }

    #[test]
    fn a_server_reads_back_from_json() {
        let server = Server::http("https://h/mcp")
            .header("X", "1")
            .protocol(Revision::V2025_06_18)
            .shutdown_timeout(Duration::from_millis(1500))
            .build();
        let json = serde_json::to_value(&server).unwrap();
        assert_eq!(json["protocol"], "2025-06-18");
        assert_eq!(
            json["transport"],
            json!({"type": "http", "url": "https://h/mcp", "headers": {"X": "1"}})
        );
        assert_eq!(serde_json::from_value::<Server>(json).unwrap(), server);
        let server = Server::websocket("ws://h").header("X", "1").pid(7).ca_cert("ca.pem").build();
        let json = serde_json::to_value(&server).unwrap();
        assert_eq!(json["transport"]["type"], "ws");
        assert_eq!(serde_json::from_value::<Server>(json).unwrap(), server);
        let short: Server =
            serde_json::from_value(json!({"command": "x", "transport": {"type": "stdio"}}))
                .unwrap();
        assert_eq!(short, Server::stdio("x").build());
    }

    #[test]
    fn what_is_shown_holds_no_credentials() {
        let server =
            Server::http("https://me:secret@h:8080/mcp?key=secret").header("A", "secret").build();
        assert_eq!(server.to_string(), "https://h:8080/mcp?…");
        let server = Server::sse("http://h/sse?key=secret").started_by("x").arg("-y").build();
        assert_eq!(server.to_string(), "x -y at http://h/sse?…");
        let server = Server::stdio("my server").args(["", "it's", "-x"]).env("T", "secret").build();
        assert_eq!(server.to_string(), r"'my server' '' 'it'\''s' -x");
        let server = Server::stdio("x").args(["--token", "secret", "--port=1"]).build();
        assert_eq!(server.to_string(), "x --token '***' --port=1");
        assert_eq!(server.as_flags(), r"-s 'x --token '\''***'\'' --port=1'");
    }

    #[test]
    fn what_is_started_or_numbered_is_a_known_process() {
        for (name, server, is_started, is_known) in [
            ("pipes", Server::stdio("x").build(), true, true),
            ("an address", Server::http("http://h").build(), false, false),
            ("a number", Server::http("http://h").pid(1).build(), false, true),
            ("both", Server::http("http://h").started_by("x").build(), true, true),
        ] {
            assert_eq!(server.is_started(), is_started, "{name}");
            assert_eq!(server.has_known_process(), is_known, "{name}");
        }
        assert_eq!(MAX_MESSAGE, Size(16 * 1024 * 1024));
    }

    #[test]
    fn all_but_pipes_have_an_address_and_headers() {
        let pipes = Server::stdio("x").build().transport;
        assert_eq!((pipes.url(), pipes.headers(), pipes.clone().headers_mut()), (None, None, None));
        for server in [Server::http("a"), Server::sse("a"), Server::websocket("a")] {
            let mut transport = server.header("X", "1").build().transport;
            assert_eq!(transport.url(), Some("a"));
            let mut headers = BTreeMap::from([("X".to_owned(), "1".to_owned())]);
            assert_eq!(transport.headers(), Some(&headers));
            assert_eq!(transport.headers_mut(), Some(&mut headers));
        }
    }

    #[test]
    fn flags_name_the_command_the_address_or_both() {
        for (server, flags) in [
            (Server::http("http://u:p@h/a b?k=1").build(), "--url 'http://h/a b?…'"),
            (Server::http("http://h").header("A", "secret").build(), "--url http://h"),
            (Server::sse("http://h").started_by("x").build(), "-s x --url http://h"),
        ] {
            assert_eq!(server.as_flags(), flags);
        }
    }
}
