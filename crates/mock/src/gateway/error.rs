//! Why a gateway could not be checked at all.

use std::io;

use mcp_loadtest_core::hint::Hint;
use mcp_loadtest_wire::session::OpenError;
use thiserror::Error;

/// Why a gateway could not be checked at all.
#[derive(Debug, Error)]
pub enum GatewayError {
    /// The server behind it could not be started.
    #[error("the server behind the gateway cannot listen on port {port}: {source}")]
    Upstream {
        /// Where.
        port: u16,
        /// Why.
        source: io::Error,
    },
    /// What starts the gateway, or keeps it, failed.
    #[error("{0}")]
    System(#[from] io::Error),
    /// The gateway could not be started or reached.
    #[error("the gateway: {0}")]
    Open(#[from] OpenError),
    /// Not even a plain call passes.
    #[error("not even a plain `echo` passes the gateway: {why}")]
    Control {
        /// What happened instead.
        why: String,
        /// The end of its stderr.
        stderr: String,
    },
}

impl GatewayError {
    /// The end of the gateway's stderr, where that may explain the error.
    pub fn stderr(&self) -> Option<&str> {
        match self {
            Self::Open(error) => error.stderr(),
            Self::Control { stderr, .. } => {
                Some(stderr).filter(|text| !text.trim().is_empty()).map(String::as_str)
            }
            Self::Upstream { .. } | Self::System(_) => None,
        }
    }
}

impl Hint for GatewayError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::Upstream { port, .. } => Some(format!(
                "end what listens on port {port}, or name another with `--upstream-port` and tell the gateway"
            )),
            Self::System(_) => None,
            Self::Open(error) => error.hint(),
            Self::Control { .. } => Some(
                "tell the gateway where its server is: `{upstream}` in its arguments, the variable \
                 MCP_LOADTEST_UPSTREAM, or http://127.0.0.1:PORT/mcp with `--upstream-port PORT`"
                    .into(),
            ),
        }
    }
}
