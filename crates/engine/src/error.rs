//! Why a run could not be carried out. Everything that the server does *during* a run is a finding
//! of the report and not an error.

use std::{
    io,
    path::{Path, PathBuf},
};

use mcp_loadtest_core::{
    arguments::SourceError, config::ConfigError, hint::Hint, outcome::ErrorCategory, report::Report,
};
use mcp_loadtest_wire::session::OpenError;
use serde::{Serialize, Serializer, ser::SerializeStruct as _};
use thiserror::Error;

/// Why there is no report.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum RunError {
    /// The server could not be started or reached.
    #[error("{error}")]
    ServerStart {
        /// Why.
        error: OpenError,
        /// Where all that the server said on stderr was kept.
        log: Option<PathBuf>,
    },
    /// The server ended before a session began.
    #[error("{error}")]
    ServerExit {
        /// How it ended.
        error: OpenError,
        /// Where all that the server said on stderr was kept.
        log: Option<PathBuf>,
    },
    /// The server was reached and did not begin a session.
    #[error("{error}")]
    Handshake {
        /// What it did instead.
        error: OpenError,
        /// Where all that the server said on stderr was kept.
        log: Option<PathBuf>,
    },
    /// The server began a session but did not list its tools.
    #[error("the server did not answer `tools/list`: {0}")]
    ToolsList(String),
    /// A tool that was asked for is not there.
    #[error("the server has no tool `{name}`")]
    UnknownTool {
        /// What was asked for.
        name: String,
        /// What is there.
        known: Vec<String>,
    },
    /// A limit is set on a tool that the run does not call.
    #[error("`[[thresholds.tool]]`: this run does not call a tool `{name}`")]
    LimitOnUncalledTool {
        /// The tool of the limit.
        name: String,
        /// What is called.
        known: Vec<String>,
    },
    /// There is nothing to call.
    #[error("{}", if *.listed == 0 { "the server offers no tools" } else { "no tool was named, and the server has none that surely only reads" })]
    NoTool {
        /// How many tools it lists.
        listed: usize,
    },
    /// A tool that may do more than read, in a run that may not.
    #[error("`{name}` is not called: {why}")]
    MayDoMore {
        /// The tool.
        name: String,
        /// How we know.
        why: String,
    },
    /// A pattern wants a tool that changes something, and none was named.
    #[error("no tool that changes something was named, and none is called unasked")]
    NoWritingTool,
    /// A scenario needs something that the server does not have.
    #[error("{0}")]
    Unfit(String),
    /// A file that arguments come from cannot be used.
    #[error("{}: {why}", path.display())]
    ArgumentsFile {
        /// Which file.
        path: PathBuf,
        /// Why.
        why: String,
        /// What to do about it.
        hint: Option<String>,
    },
    /// What arguments are made from does not fit the tool.
    #[error("{0}")]
    ArgumentSource(#[from] SourceError),
    /// No arguments could be made up for a tool.
    #[error("no arguments could be made up for `{tool}`: {why}")]
    Arguments {
        /// The tool.
        tool: String,
        /// Why.
        why: String,
    },
    /// A strict run cannot hold a tool's calls against its schemas.
    #[error("the schemas of `{tool}` cannot be used: {why}")]
    Schema {
        /// The tool.
        tool: String,
        /// Why.
        why: String,
    },
    /// Stopped before the first call.
    #[error("interrupted before the first call")]
    Interrupted,
    /// The configuration cannot be run.
    #[error("{0}")]
    Config(#[from] ConfigError),
    /// A file of the run directory could not be written.
    #[error("cannot write {path}: {source}")]
    Output {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The run was carried out, but not all of its files could be written.
    #[error("{why}")]
    Unwritten {
        /// What was measured.
        report: Box<Report>,
        /// The first file that is missing, and why.
        why: Box<RunError>,
    },
    /// The run's own thread could not be started or ended abnormally.
    #[error("internal: {0}")]
    Internal(String),
}

impl RunError {
    /// The system would not start a thread.
    pub(crate) fn thread(error: io::Error) -> Self {
        Self::Internal(format!("a thread does not start: {error}"))
    }

    /// A report that tells a secret and could not be masked is not shown.
    pub(crate) fn unmasked(error: serde_json::Error) -> Self {
        Self::Internal(format!("the report tells a secret that could not be masked: {error}"))
    }

    /// Why there is no session, where that is the reason.
    pub fn open_error(&self) -> Option<&OpenError> {
        match self {
            Self::ServerStart { error, .. }
            | Self::ServerExit { error, .. }
            | Self::Handshake { error, .. } => Some(error),
            _ => None,
        }
    }

    /// Whether nothing happened that anybody could want to look at.
    pub(crate) fn leaves_nothing(&self) -> bool {
        if let Some(error) = self.open_error() {
            return !matches!(
                error,
                OpenError::Handshake { .. }
                    | OpenError::Revision(_)
                    | OpenError::Ended { .. }
                    | OpenError::NotListening { .. }
            );
        }
        matches!(
            self,
            Self::UnknownTool { .. }
                | Self::NoTool { .. }
                | Self::LimitOnUncalledTool { .. }
                | Self::MayDoMore { .. }
                | Self::Arguments { .. }
                | Self::Schema { .. }
                | Self::Config(_)
                | Self::NoWritingTool
                | Self::Unfit(_)
                | Self::ArgumentsFile { .. }
                | Self::ArgumentSource(_)
        )
    }

    /// The same, with the file that holds what the server said, if it said anything.
    pub(crate) fn with_log(mut self, file: PathBuf) -> Self {
        if let Self::ServerStart { log, .. }
        | Self::ServerExit { log, .. }
        | Self::Handshake { log, .. } = &mut self
        {
            *log = Some(file).filter(|file| file.metadata().is_ok_and(|file| file.len() > 0));
        }
        self
    }
}

/// What happened and what to do about it, as `error` and `hint`.
impl Serialize for RunError {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let mut told = to.serialize_struct("RunError", 2)?;
        told.serialize_field("error", &self.to_string())?;
        told.serialize_field("hint", &self.hint())?;
        told.end()
    }
}

impl From<OpenError> for RunError {
    fn from(error: OpenError) -> Self {
        let log = None;
        match error {
            OpenError::Ended { .. }
            | OpenError::Handshake { category: ErrorCategory::Crash, .. } => {
                Self::ServerExit { error, log }
            }
            OpenError::Handshake { .. }
            | OpenError::Revision(_)
            | OpenError::Opening { .. }
            | OpenError::IsSse(_) => Self::Handshake { error, log },
            OpenError::Spawn(_)
            | OpenError::Url { .. }
            | OpenError::Reach { .. }
            | OpenError::Unreachable(_)
            | OpenError::NotListening { .. }
            | OpenError::Occupied(_)
            | OpenError::NoProcess(_)
            | OpenError::CaCert(_) => Self::ServerStart { error, log },
        }
    }
}

impl Hint for RunError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::ServerStart { error, log }
            | Self::ServerExit { error, log }
            | Self::Handshake { error, log } => no_session_hint(error, log.as_deref()),
            Self::ToolsList(_) => Some("look at the server's stderr with `--tee-stderr`".into()),
            Self::UnknownTool { name, known } | Self::LimitOnUncalledTool { name, known } => {
                let names = known.iter().map(String::as_str);
                Some(match mcp_loadtest_core::hint::nearest(name, names) {
                    Some(near) => format!("did you mean `{near}`?"),
                    None => format!("it has {}", known.join(", ")),
                })
            }
            Self::NoTool { listed: 0 } => {
                Some("is it the right server? `mcp-loadtest probe` shows all that it offers".into())
            }
            Self::Interrupted => {
                Some("the server was not called; start again when you like".into())
            }
            Self::NoTool { .. } => Some("name one with `--tool`".into()),
            Self::NoWritingTool => {
                Some("name it with `--tool`, or name both, the reading one first".into())
            }
            Self::Unfit(_) => {
                Some("`mcp-loadtest run --explain` with the same flags says what is needed".into())
            }
            Self::MayDoMore { .. } => Some("name a tool that only reads with `--tool`".into()),
            Self::ArgumentsFile { hint, .. } => hint.clone(),
            Self::ArgumentSource(error) => error.hint(),
            Self::Arguments { .. } => Some("give them with `--args '{…}'`".into()),
            Self::Schema { .. } => Some("run without `--strict`, or mend the schema".into()),
            Self::Config(error) => error.hint(),
            Self::Unwritten { why, .. } => why.hint(),
            Self::Output { .. } => Some("choose another directory with `--output-dir`".into()),
            Self::Internal(_) => Some(
                "it is ours, not the server's: `mcp-loadtest doctor` looks at the machine's limits"
                    .into(),
            ),
        }
    }
}

fn no_session_hint(error: &OpenError, log: Option<&Path>) -> Option<String> {
    let Some(log) = log else { return error.hint() };
    let first = error.hint().map(|hint| format!("{hint}; ")).unwrap_or_default();
    Some(format!("{first}its stderr is in {}", log.display()))
}
