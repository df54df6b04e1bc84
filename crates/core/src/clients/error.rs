//! Why a server could not be taken from a client's file.

use thiserror::Error;

use super::resolve::input_variable;
use crate::hint::{Hint, nearest};

/// Why a server could not be taken from a client's file.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ClientConfigError {
    /// The file is neither JSON nor TOML, or the system does not give it.
    #[error("{file}: cannot be read: {message}")]
    Syntax {
        /// The file.
        file: String,
        /// What the reader said, with the line.
        message: String,
    },
    /// No server has this name.
    #[error("no MCP server is called `{name}`")]
    UnknownName {
        /// The name asked for.
        name: String,
        /// The names there are.
        known: Vec<String>,
    },
    /// Several different servers have this name.
    #[error("`{name}` is the name of different servers: {}", found.join(", "))]
    Ambiguous {
        /// The name asked for.
        name: String,
        /// Each as `file#name`.
        found: Vec<String>,
    },
    /// The entry is not what it should be.
    #[error("{file}: server `{server}`: {message}")]
    Entry {
        /// The file.
        file: String,
        /// The server's name.
        server: String,
        /// What is wrong.
        message: String,
        /// What to try.
        hint: Option<String>,
    },
    /// A variable has no value. It never becomes an empty text.
    #[error("{file}: server `{server}`: the variable `{variable}` is not set")]
    Variable {
        /// The file.
        file: String,
        /// The server's name.
        server: String,
        /// The variable, without dollar and braces.
        variable: String,
    },
    /// A value that the client would ask its user for.
    #[error(
        "{file}: server `{server}`: the input `{input}` has no value{}",
        in_brackets(description)
    )]
    Input {
        /// The file.
        file: String,
        /// The server's name.
        server: String,
        /// The id of the input.
        input: String,
        /// What the client would ask.
        description: Option<String>,
    },
    /// A file that the entry refers to could not be read.
    #[error("{file}: server `{server}`: cannot read `{path}`: {message}")]
    File {
        /// The file.
        file: String,
        /// The server's name.
        server: String,
        /// The other file.
        path: String,
        /// Why.
        message: String,
    },
    /// The server speaks a transport that this version does not.
    #[error(
        "{file}: server `{server}`: transport `{transport}` is not built yet; this version speaks stdio, http, sse, ws"
    )]
    NotBuilt {
        /// The file.
        file: String,
        /// The server's name.
        server: String,
        /// The transport.
        transport: String,
    },
}

fn in_brackets(description: &Option<String>) -> String {
    description.as_ref().map(|text| format!(" ({text})")).unwrap_or_default()
}

impl Hint for ClientConfigError {
    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Syntax { .. } | Self::File { .. } => return None,
            Self::UnknownName { name, known } => unknown_name(name, known),
            Self::Ambiguous { .. } => "say which file with `--mcp-config FILE`".into(),
            Self::Entry { hint, .. } => return hint.clone(),
            Self::Variable { variable, .. } => format!("set `{variable}` in the environment"),
            Self::Input { input, .. } => {
                format!("give it with `--input {input}=…` or set `{}`", input_variable(input))
            }
            Self::NotBuilt { .. } => "give an http address with `url`".into(),
        })
    }
}

fn unknown_name(name: &str, known: &[String]) -> String {
    let list = known.join(", ");
    match nearest(name, known.iter().map(String::as_str)) {
        Some(near) => format!("did you mean `{near}`? known: {list}"),
        None if known.is_empty() => "the files hold no servers".into(),
        None => format!("known: {list}"),
    }
}
