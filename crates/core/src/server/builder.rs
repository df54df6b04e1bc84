//! Describes a [`Server`] in code. The marker types keep out what the transport does not have.

use std::{collections::BTreeMap, marker::PhantomData, net::IpAddr, path::PathBuf, time::Duration};

use super::{
    InheritEnv, MAX_MESSAGE, ProtocolChoice, SHUTDOWN_TIMEOUT, STARTUP_TIMEOUT, Server, Transport,
};
use crate::units::Size;

/// Marks the builder of a server that we start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Started {}

/// Marks the builder of a server that is reached by address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reached {}

/// Marks the builder of a server that we start and reach by address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StartedAndReached {}

/// Marks whatever we start.
pub trait IsStarted {}
impl IsStarted for Started {}
impl IsStarted for StartedAndReached {}

/// Marks whatever is reached by address.
pub trait IsReached {}
impl IsReached for Reached {}
impl IsReached for StartedAndReached {}

/// Describes a server step by step, in any order. A setter that makes no sense for the transport
/// does not compile. Wherever a [`Server`] is wanted the builder will do.
#[derive(Debug, Clone, PartialEq)]
#[must_use = "a builder does nothing by itself"]
pub struct ServerBuilder<How> {
    server: Server,
    how: PhantomData<How>,
}

impl Server {
    /// A server that we start and talk to over its standard input and output.
    ///
    /// ```
    /// # use mcp_loadtest_core::server::Server;
    /// let server = Server::stdio("python").args(["-m", "my_mcp"]).env("LOG_LEVEL", "warn").build();
    /// assert_eq!(server.to_string(), "python -m my_mcp");
    /// ```
    pub fn stdio(command: impl Into<String>) -> ServerBuilder<Started> {
        ServerBuilder::new(command.into(), Transport::Stdio)
    }

    /// A server that runs already and is reached over streamable HTTP.
    ///
    /// ```
    /// # use mcp_loadtest_core::server::Server;
    /// let server = Server::http("https://example.com/mcp").header("Authorization", "Bearer x").build();
    /// assert_eq!(server.transport.name(), "http");
    /// ```
    ///
    /// What only a started program has does not compile:
    ///
    /// ```compile_fail
    /// # use mcp_loadtest_core::server::Server;
    /// let server = Server::http("https://example.com/mcp").arg("--verbose");
    /// ```
    pub fn http(url: impl Into<String>) -> ServerBuilder<Reached> {
        let transport = Transport::Http { url: url.into(), headers: BTreeMap::new() };
        ServerBuilder::new(String::new(), transport)
    }

    /// A server that is reached over HTTP+SSE, the transport of 2024-11-05.
    ///
    /// ```
    /// # use mcp_loadtest_core::server::Server;
    /// let server = Server::sse("http://127.0.0.1:8000/sse").build();
    /// assert_eq!(server.transport.name(), "sse");
    /// ```
    pub fn sse(url: impl Into<String>) -> ServerBuilder<Reached> {
        let transport = Transport::Sse { url: url.into(), headers: BTreeMap::new() };
        ServerBuilder::new(String::new(), transport)
    }

    /// A server that is reached over a WebSocket.
    ///
    /// ```
    /// # use mcp_loadtest_core::server::Server;
    /// let server = Server::websocket("ws://127.0.0.1:8000/ws").build();
    /// assert_eq!(server.transport.name(), "ws");
    /// ```
    pub fn websocket(url: impl Into<String>) -> ServerBuilder<Reached> {
        let transport = Transport::WebSocket { url: url.into(), headers: BTreeMap::new() };
        ServerBuilder::new(String::new(), transport)
    }
}

impl<How> ServerBuilder<How> {
    fn new(command: String, transport: Transport) -> Self {
        let server = Server {
            command,
            args: Vec::new(),
            env: BTreeMap::new(),
            working_dir: None,
            transport,
            startup_timeout: STARTUP_TIMEOUT,
            shutdown_timeout: SHUTDOWN_TIMEOUT,
            max_message: MAX_MESSAGE,
            protocol: ProtocolChoice::Auto,
            inherit_env: InheritEnv::Safe,
            pid: None,
            ca_cert: None,
            addresses: Vec::new(),
        };
        Self { server, how: PhantomData }
    }

    /// How long to wait for the answer to `initialize`; 30 seconds unless set.
    pub fn startup_timeout(mut self, timeout: Duration) -> Self {
        self.server.startup_timeout = timeout;
        self
    }

    /// How long to wait for the server to end by itself; 5 seconds unless set.
    pub fn shutdown_timeout(mut self, timeout: Duration) -> Self {
        self.server.shutdown_timeout = timeout;
        self
    }

    /// Sets the longest message that is taken from the server.
    pub fn max_message(mut self, size: Size) -> Self {
        self.server.max_message = size;
        self
    }

    /// Which revision of MCP to speak; found out from the server unless set.
    pub fn protocol(mut self, choice: impl Into<ProtocolChoice>) -> Self {
        self.server.protocol = choice.into();
        self
    }

    /// The finished description.
    #[must_use]
    pub fn build(self) -> Server {
        self.server
    }
}

impl<How: IsStarted> ServerBuilder<How> {
    /// Adds one argument.
    pub fn arg(mut self, arg: impl Into<String>) -> Self {
        self.server.args.push(arg.into());
        self
    }

    /// Adds several arguments.
    pub fn args<A: Into<String>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.server.args.extend(args.into_iter().map(Into::into));
        self
    }

    /// Sets an environment variable of the program.
    pub fn env(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        self.server.env.insert(name.into(), value.into());
        self
    }

    /// Starts the program in this directory.
    pub fn working_dir(mut self, dir: impl Into<PathBuf>) -> Self {
        self.server.working_dir = Some(dir.into());
        self
    }

    /// Which of our own environment variables the program sees; the safe ones unless set.
    pub fn inherit_env(mut self, inherit: InheritEnv) -> Self {
        self.server.inherit_env = inherit;
        self
    }
}

impl<How: IsReached> ServerBuilder<How> {
    /// Sends a header with every request; over a WebSocket, with the one that opens it.
    pub fn header(mut self, name: impl Into<String>, value: impl Into<String>) -> Self {
        if let Some(headers) = self.server.transport.headers_mut() {
            headers.insert(name.into(), value.into());
        }
        self
    }

    /// Trusts the certificates of a PEM file, besides those of the system.
    pub fn ca_cert(mut self, file: impl Into<PathBuf>) -> Self {
        self.server.ca_cert = Some(file.into());
        self
    }

    /// Connects to these addresses, whatever the host of the URL is said to stand for now.
    pub fn addresses(mut self, addresses: impl IntoIterator<Item = IpAddr>) -> Self {
        self.server.addresses = addresses.into_iter().collect();
        self
    }
}

impl ServerBuilder<Reached> {
    /// Starts the server with this command, and reaches it once it listens.
    ///
    /// ```
    /// # use mcp_loadtest_core::server::Server;
    /// let server = Server::http("http://127.0.0.1:8000/mcp").started_by("python").arg("server.py");
    /// assert_eq!(server.build().to_string(), "python server.py at http://127.0.0.1:8000/mcp");
    /// ```
    pub fn started_by(self, command: impl Into<String>) -> ServerBuilder<StartedAndReached> {
        let server = Server { command: command.into(), ..self.server };
        ServerBuilder { server, how: PhantomData }
    }

    /// Says which process the server is: its memory and processor time are looked at. It is never
    /// signalled.
    pub fn pid(mut self, pid: u32) -> Self {
        self.server.pid = Some(pid);
        self
    }
}

impl<How> From<ServerBuilder<How>> for Server {
    fn from(builder: ServerBuilder<How>) -> Self {
        builder.server
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_of_the_setters_does_not_matter() {
        let one = Server::stdio("python").arg("-m").args(["x"]).env("K", "V").working_dir("/w");
        let other = Server::stdio("python").working_dir("/w").env("K", "V").args(["-m", "x"]);
        assert_eq!(one, other);
        assert_eq!(Server::from(one).startup_timeout, Duration::from_secs(30));
    }

    #[test]
    fn what_is_set_is_there() {
        let server = Server::stdio("x")
            .max_message("2MB".parse().unwrap())
            .inherit_env(InheritEnv::All)
            .startup_timeout(Duration::from_secs(3))
            .shutdown_timeout(Duration::from_secs(4))
            .build();
        assert_eq!(server.max_message, "2MB".parse().unwrap());
        assert_eq!(server.inherit_env, InheritEnv::All);
        assert_eq!(server.startup_timeout, Duration::from_secs(3));
        assert_eq!(server.shutdown_timeout, Duration::from_secs(4));
        let address: IpAddr = "127.0.0.1".parse().unwrap();
        assert_eq!(Server::http("http://h").addresses([address]).build().addresses, [address]);
    }
}
