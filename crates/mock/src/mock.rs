//! The mock before it serves: what it is told to be.

use std::{
    io::{self, Read, Write},
    net::SocketAddr,
};

use crate::{
    fault::Fault,
    mcp::handler::Handler,
    serve::{http::BoundMock, stdio},
};

/// An MCP server with one tool, `echo`, in both eras of MCP.
///
/// Every setting has a default, so `Mock::new()` is a healthy server.
#[derive(Debug, Clone, Default)]
pub struct Mock {
    fault: Fault,
}

impl Mock {
    /// A healthy server.
    pub fn new() -> Self {
        Self::default()
    }

    /// What is wrong with it.
    #[must_use]
    pub fn fault(mut self, fault: Fault) -> Self {
        self.fault = fault;
        self
    }

    /// Serves the standard streams of this process until their input ends.
    ///
    /// A wedged mock ignores the end of its input, as a deadlocked server would; it fails with
    /// [`io::ErrorKind::TimedOut`] when it was forgotten for ten minutes.
    pub async fn serve_stdio(self) -> io::Result<()> {
        self.serve_pipes(io::stdin(), io::stdout()).await
    }

    /// The same over any pair of streams, one message a line.
    ///
    /// A thread of its own reads and writes. If the future is dropped, the thread ends when its
    /// input does.
    pub async fn serve_pipes<R, W>(self, input: R, output: W) -> io::Result<()>
    where
        R: Read + Send + 'static,
        W: Write + Send + 'static,
    {
        stdio::serve(self.into_handler(), input, output).await
    }

    /// Listens for Streamable HTTP; port 0 is any free one. Only loopback addresses are allowed:
    /// whoever reaches the mock may call it.
    pub async fn bind(self, address: SocketAddr) -> io::Result<BoundMock> {
        BoundMock::new(self.into_handler(), address).await
    }

    fn into_handler(self) -> Handler {
        Handler::new(self.fault)
    }
}
