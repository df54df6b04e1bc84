//! What went wrong, where, and what to do next.

use std::{net::SocketAddr, path::PathBuf};

use anstyle::{AnsiColor, Style};
use mcp_loadtest::{RunError, SavedError};
use mcp_loadtest_core::{
    clients::ClientConfigError,
    config::ConfigError,
    display::{visible, visible_lines},
    exit::Exit,
    fault::Impossible,
    hint::Hint,
};
use mcp_loadtest_mock::{
    audit::{AuditIncomplete, StoreError},
    gateway::GatewayError,
    llm::LlmError,
};
use mcp_loadtest_wire::process::SpawnError;
use thiserror::Error;

use crate::env::Env;

/// Why a command could not be carried out.
#[derive(Debug, Error)]
pub(crate) enum CliError {
    /// The run could not be carried out.
    #[error("{0}")]
    Run(#[from] RunError),
    /// The configuration is wrong.
    #[error("{0}")]
    Config(#[from] ConfigError),
    /// A saved run cannot be read.
    #[error("{0}")]
    Saved(#[from] SavedError),
    /// A client's configuration is wrong.
    #[error("{0}")]
    Client(#[from] ClientConfigError),
    /// A file cannot be read.
    #[error("cannot read {path}: {source}")]
    Read {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// Flags that do not go together, or miss something.
    #[error("{message}")]
    Usage {
        /// What.
        message: String,
        /// What to do.
        hint: String,
    },
    /// One of several servers could not be tested.
    #[error("{label}: {source}")]
    Target {
        /// Which one.
        label: String,
        /// Why.
        source: Box<CliError>,
    },
    /// A file cannot be written.
    #[error("cannot write {path}: {source}")]
    Write {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The audit log cannot be opened or read.
    #[error("{0}")]
    Store(#[from] StoreError),
    /// The audit log lacks rows.
    #[error("{0}")]
    Audit(AuditIncomplete),
    /// A gateway could not be checked.
    #[error("{0}")]
    Gateway(Box<GatewayError>),
    /// A mock of models cannot do its work.
    #[error("{0}")]
    Llm(#[from] LlmError),
    /// Nobody can be heard there.
    #[error("cannot listen on {address}: {source}")]
    Listen {
        /// Where.
        address: SocketAddr,
        /// Why not.
        source: std::io::Error,
    },
    /// A program of the user's did not start.
    #[error("{0}")]
    App(#[from] SpawnError),
    /// A fault that can never happen.
    #[error("{0}")]
    Fault(#[from] Impossible),
    /// A second signal came before the report was written.
    #[error("interrupted again, before there was a report")]
    Interrupted,
    /// The terminal cannot be drawn on.
    #[error("the terminal cannot be taken: {0}")]
    Terminal(std::io::Error),
    /// Something of the system failed.
    #[error("{0}")]
    System(#[from] std::io::Error),
}

impl CliError {
    pub(crate) fn usage(message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Usage { message: message.into(), hint: hint.into() }
    }

    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::Run(error) => error.hint(),
            Self::Config(error) => error.hint(),
            Self::Saved(error) => error.hint(),
            Self::Client(error) => error.hint(),
            Self::Usage { hint, .. } => Some(hint.clone()),
            Self::Target { source, .. } => source.hint(),
            Self::Fault(error) => error.hint(),
            Self::Store(error) => error.hint(),
            Self::Llm(error) => error.hint(),
            Self::App(error) => error.hint(),
            Self::Listen { .. } => {
                Some("listen on another port, or on `127.0.0.1:0`, a free one".into())
            }
            Self::Gateway(error) => error.hint(),
            Self::Terminal(_) => Some("leave --tui out, or use --web 127.0.0.1:0".into()),
            Self::Read { .. } => Some("check that it is there, and that you may read it".into()),
            Self::Write { .. } => Some("choose another place, or make room there".into()),
            Self::System(_) => Some("`mcp-loadtest doctor` looks at the machine's limits".into()),
            Self::Audit(_) => Some("judge nothing by this log, and run again".into()),
            Self::Interrupted => Some(
                "after one Ctrl-C calls in flight have a moment to end, and the report is written"
                    .into(),
            ),
        }
    }

    /// How the command ends.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Audit(_) => Exit::Fail,
            Self::Run(RunError::Interrupted) | Self::Interrupted => Exit::Interrupted,
            Self::Target { source, .. } => source.exit(),
            _ => Exit::Usage,
        }
    }

    /// What the server said last, where that explains the error.
    fn server_said(&self) -> Option<&str> {
        match self {
            Self::Run(error) => error.open_error()?.stderr(),
            Self::Gateway(error) => error.stderr(),
            Self::Target { source, .. } => source.server_said(),
            _ => None,
        }
    }

    /// Prints the error for people.
    pub(crate) fn print(&self, env: &mut Env) {
        let red = Style::new().bold().fg_color(Some(AnsiColor::Red.into()));
        let cyan = Style::new().bold().fg_color(Some(AnsiColor::Cyan.into()));
        let mut text = format!("{red}error:{red:#} {}\n", visible(&self.to_string(), 2_000));
        text.push_str(&self.stderr_of_server().unwrap_or_default());
        if let Some(hint) = self.hint() {
            text.push_str(&format!("{cyan}hint:{cyan:#} {}\n", visible(&hint, 2_000)));
        }
        env.err(&text);
    }

    /// What the server said last, in lines that cannot be taken for ours.
    pub(crate) fn stderr_of_server(&self) -> Option<String> {
        let lines = visible_lines(self.server_said()?, 12, 160).into_iter();
        let lines = lines.map(|line| format!("  | {line}\n"));
        Some(format!("the end of the server's stderr:\n{}", lines.collect::<String>()))
    }
}
