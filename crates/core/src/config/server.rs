//! `[server]`: the server under test, described in full or by its name in a client's file.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{DurationText, error::ConfigError};
use crate::{
    server::{InheritEnv, ProtocolChoice, Reached, Server, ServerBuilder, Transport},
    units::{Size, as_text_option},
};

/// The server under test: `command` to start one, `url` to reach one, both to start one and reach
/// it there, or `name` to take one from the file of an MCP client.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ServerConfig {
    /// The program to start.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The arguments of the program.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub args: Vec<String>,
    /// The directory the program is started in. Default: the current one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub working_dir: Option<PathBuf>,
    /// Whether the program sees all environment variables, secrets included, or only those that MCP
    /// clients pass on (PATH, HOME and the like). Default: false.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<bool>")]
    pub inherit_env: Option<InheritEnv>,
    /// The address of the server. With `command`, where it listens once it is started.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The name of a server in the configuration file of an MCP client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The client's file to look in. Default: the files that clients are known to use.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mcp_config: Option<PathBuf>,
    /// How messages travel. Default: `stdio` with `command` alone, `http` with `url`, `ws` with a
    /// `url` that begins with `ws://` or `wss://`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transport: Option<TransportName>,
    /// The revision of MCP to speak. Default: `auto`, found out from the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<ProtocolChoice>,
    /// How long to wait for the answer to `initialize`. Default: `30s`.
    #[serde(with = "as_text_option", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<DurationText>")]
    pub startup_timeout: Option<Duration>,
    /// How long the server may take to end by itself before it is killed. Default: `5s`.
    #[serde(with = "as_text_option", skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<DurationText>")]
    pub shutdown_timeout: Option<Duration>,
    /// The longest message that is taken from the server. Default: `16MiB`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_message: Option<Size>,
    /// Environment variables set for the program.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub env: BTreeMap<String, String>,
    /// Headers sent with every request to `url`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub headers: BTreeMap<String, String>,
    /// The process that answers at `url`: its memory and processor time are looked at. It is never
    /// signalled.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub pid: Option<u32>,
    /// A PEM file with certificates to trust besides those of the system.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ca_cert: Option<PathBuf>,
}

/// A transport.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TransportName {
    /// Over the pipes of a program that we start.
    Stdio,
    /// Streamable HTTP.
    Http,
    /// HTTP+SSE of 2024-11-05.
    Sse,
    /// WebSocket.
    Ws,
}

impl TransportName {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Stdio, Self::Http, Self::Sse, Self::Ws];

    /// The word used in configurations and reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Http => "http",
            Self::Sse => "sse",
            Self::Ws => "ws",
        }
    }

    /// What an address speaks of which nothing else is said.
    pub fn of_url(url: &str) -> Self {
        let scheme = url.split_once("://").map_or("", |(scheme, _)| scheme);
        let is = |word: &str| scheme.eq_ignore_ascii_case(word);
        if is("ws") || is("wss") { Self::Ws } else { Self::Http }
    }
}

/// Where the server's description is.
#[derive(Debug, Clone, PartialEq)]
pub enum ServerSource {
    /// In the configuration itself.
    Here(Box<Server>),
    /// In a client's file, which somebody else must read; see [`crate::clients`]. What the
    /// configuration adds is laid over it by [`ServerConfig::lay_over`].
    Client {
        /// The file to look in, or all files that clients are known to use.
        file: Option<PathBuf>,
        /// The server's name there.
        name: String,
    },
}

impl ServerConfig {
    /// The server, or where to find it.
    pub fn source(&self) -> Result<ServerSource, ConfigError> {
        let server = match (&self.command, &self.url, &self.name) {
            (Some(command), None, None) => Server::stdio(command).args(self.args.clone()).build(),
            (None, Some(url), None) => self.reached(url)?.build(),
            (Some(command), Some(url), None) => {
                self.reached(url)?.started_by(command).args(self.args.clone()).build()
            }
            (None, None, Some(name)) => return self.client(name),
            (None, None, None) => return Err(self.nothing()),
            _ => {
                let twice = "a server that is taken by `name` has neither `command` nor `url`";
                return Err(ConfigError::new("server.name", twice));
            }
        };
        if self.mcp_config.is_some() {
            let alone = "belongs to a server that is taken by `name`";
            return Err(ConfigError::new("server.mcp_config", alone));
        }
        self.lay_over(server).map(|server| ServerSource::Here(Box::new(server)))
    }

    fn reached(&self, url: &str) -> Result<ServerBuilder<Reached>, ConfigError> {
        match self.transport.unwrap_or_else(|| TransportName::of_url(url)) {
            TransportName::Http => Ok(Server::http(url)),
            TransportName::Sse => Ok(Server::sse(url)),
            TransportName::Ws => Ok(Server::websocket(url)),
            TransportName::Stdio if self.command.is_some() => {
                Err(ConfigError::new("server.transport", "`stdio` needs no `url`"))
            }
            TransportName::Stdio => {
                Err(ConfigError::new("server.transport", "`stdio` needs a `command`"))
            }
        }
    }

    fn client(&self, name: &str) -> Result<ServerSource, ConfigError> {
        let there = |key| {
            ConfigError::new(key, "stands in the client's file when a server is taken by `name`")
        };
        if !self.args.is_empty() {
            return Err(there("server.args"));
        }
        Ok(ServerSource::Client { file: self.mcp_config.clone(), name: name.to_owned() })
    }

    fn nothing(&self) -> ConfigError {
        if self.mcp_config.is_some() {
            let error =
                ConfigError::new("server.mcp_config", "says where to look but not for what");
            return error.with_hint("add the `name` of a server in that file");
        }
        let error = ConfigError::new("server", "no server to test");
        error.with_hint("name one with `-s COMMAND`, `--url URL` or `--name NAME` of a client's file; in a configuration `command`, `url` or `name`")
    }

    /// Adds to a server what else this section says. What the server's transport has no use for is
    /// refused, not ignored.
    pub fn lay_over(&self, mut server: Server) -> Result<Server, ConfigError> {
        self.refuse_foreign_keys(&server)?;
        // Some clients find out by themselves what an address speaks; their files do not say.
        if let (Some(_), Some(url)) = (self.transport, server.transport.url()) {
            let headers = server.transport.headers().cloned().unwrap_or_default();
            server.transport = self.reached(url)?.build().transport;
            server.transport.headers_mut().into_iter().for_each(|own| own.extend(headers.clone()));
        }
        server.env.extend(self.env.clone());
        server.working_dir = self.working_dir.clone().or(server.working_dir);
        server.inherit_env = self.inherit_env.unwrap_or(server.inherit_env);
        server.startup_timeout = self.startup_timeout.unwrap_or(server.startup_timeout);
        server.shutdown_timeout = self.shutdown_timeout.unwrap_or(server.shutdown_timeout);
        server.max_message = self.max_message.unwrap_or(server.max_message);
        server.protocol = self.protocol.unwrap_or(server.protocol);
        server.pid = self.pid.or(server.pid);
        server.ca_cert = self.ca_cert.clone().or(server.ca_cert);
        if let Some(headers) = server.transport.headers_mut() {
            headers.extend(self.headers.clone());
        }
        Ok(server)
    }

    fn refuse_foreign_keys(&self, server: &Server) -> Result<(), ConfigError> {
        let (stdio, started) = (server.transport == Transport::Stdio, server.is_started());
        let needs_url = match self.transport {
            Some(TransportName::Http) => Some("`http` needs a `url`"),
            Some(TransportName::Sse) => Some("`sse` needs a `url`"),
            Some(TransportName::Ws) => Some("`ws` needs a `url`"),
            Some(TransportName::Stdio) | None => None,
        };
        let refused = [
            ("server.transport", needs_url.is_some() && stdio, needs_url.unwrap_or_default()),
            ("server.headers", !self.headers.is_empty() && stdio, "pipes carry no headers"),
            ("server.ca_cert", self.ca_cert.is_some() && stdio, "pipes are not encrypted"),
            ("server.pid", self.pid.is_some() && started, "a server that is started is known"),
            ("server.args", !self.args.is_empty() && !started, NOT_STARTED),
            ("server.env", !self.env.is_empty() && !started, NOT_STARTED),
            ("server.working_dir", self.working_dir.is_some() && !started, NOT_STARTED),
            ("server.inherit_env", self.inherit_env.is_some() && !started, NOT_STARTED),
        ];
        match refused.into_iter().find(|(_, wrong, _)| *wrong) {
            Some((key, _, reason)) => Err(ConfigError::new(key, reason)),
            None => Ok(()),
        }
    }
}

const NOT_STARTED: &str = "belongs to a server that is started with `command`";

/// The section that describes the server again, so that a run made in code can be saved.
impl From<&Server> for ServerConfig {
    fn from(server: &Server) -> Self {
        let started = server.is_started();
        Self {
            command: started.then(|| server.command.clone()),
            args: server.args.clone(),
            env: server.env.clone(),
            working_dir: server.working_dir.clone(),
            url: server.transport.url().map(str::to_owned),
            headers: server.transport.headers().cloned().unwrap_or_default(),
            transport: match server.transport {
                // What these are follows from `command` and `url`.
                Transport::Stdio | Transport::Http { .. } => None,
                Transport::Sse { .. } => Some(TransportName::Sse),
                Transport::WebSocket { .. } => Some(TransportName::Ws),
            },
            protocol: Some(server.protocol),
            inherit_env: started.then_some(server.inherit_env),
            startup_timeout: Some(server.startup_timeout),
            shutdown_timeout: Some(server.shutdown_timeout),
            max_message: Some(server.max_message),
            pid: server.pid,
            ca_cert: server.ca_cert.clone(),
            name: None,
            mcp_config: None,
        }
    }
}
