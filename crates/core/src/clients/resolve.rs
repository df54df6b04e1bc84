//! Fills in the variables of an entry and makes a server of it.

use std::{
    collections::BTreeMap,
    fmt,
    path::{MAIN_SEPARATOR, Path},
};

use super::{
    ClientConfigError, NamedServer,
    dotenv::dotenv,
    entry::{Entry, Way},
    variables::{Reference, expand},
};
use crate::{config::TransportName, server::Server};

/// What an entry may refer to. The caller supplies it: this crate sees neither files nor
/// environment.
pub struct Surroundings<'a> {
    /// Looks up an environment variable.
    pub vars: &'a dyn Fn(&str) -> Option<String>,
    /// The values that the client would ask its user for, by id.
    pub inputs: &'a BTreeMap<String, String>,
    /// The folder of the project: `${workspaceFolder}`, and where servers are started.
    pub workspace: Option<&'a Path>,
    /// The home directory: `${userHome}` and `~`.
    pub home: Option<&'a Path>,
    /// Reads a file that an entry refers to (`envFile`, `${file:…}`).
    pub read: &'a dyn Fn(&Path) -> Result<String, String>,
}

/// A server taken from a client's file, and what the caller should tell about it.
#[derive(Debug, Clone, PartialEq)]
pub struct Resolved {
    /// The server.
    pub server: Server,
    /// What is not as it is in the client.
    pub warnings: Vec<Warning>,
}

/// Something that is not as it is in the client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Warning {
    /// The client would not start this server.
    Disabled {
        /// Where the entry is.
        origin: String,
    },
    /// A setting of the entry has no effect here.
    NotApplied {
        /// Where the entry is.
        origin: String,
        /// The setting.
        key: String,
        /// Why.
        reason: &'static str,
    },
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Disabled { origin } => {
                write!(f, "{origin} is disabled in the client; using it all the same")
            }
            Self::NotApplied { origin, key, reason } => {
                write!(f, "{origin}: `{key}` has no effect here: {reason}")
            }
        }
    }
}

/// Keys that change what the client does and that we cannot follow.
const NOT_APPLIED: &[(&str, &str)] = &[
    ("headersHelper", "no helper is run; give the headers with `headers`"),
    ("oauth", "there is no login; give a token with `headers`"),
    ("sandboxEnabled", "the server is started without a sandbox"),
];

/// The environment variable that gives the value of an input.
pub fn input_variable(id: &str) -> String {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' };
    format!("MCP_LOADTEST_INPUT_{}", id.chars().map(letter).collect::<String>())
}

/// Makes a server of an entry.
pub fn resolve(
    server: &NamedServer,
    surroundings: &Surroundings<'_>,
) -> Result<Resolved, ClientConfigError> {
    let entry = Entry::read(server)?;
    let filler = Filler { server, around: surroundings };
    let mut resolved = match &entry.way {
        Way::Start { command, args } => filler.started(&entry, command, args)?,
        Way::Reach { url, transport } => filler.reached(&entry, url, *transport)?,
        Way::Other(transport) => {
            let (file, name) = (server.file.clone(), server.name.clone());
            return Err(ClientConfigError::NotBuilt {
                file,
                server: name,
                transport: (*transport).to_owned(),
            });
        }
    };
    resolved.protocol = entry.protocol;
    resolved.startup_timeout = entry.startup_timeout.unwrap_or(resolved.startup_timeout);
    Ok(Resolved { server: resolved, warnings: filler.warnings(&entry) })
}

struct Filler<'a> {
    server: &'a NamedServer,
    around: &'a Surroundings<'a>,
}

impl Filler<'_> {
    fn started(
        &self,
        entry: &Entry,
        command: &str,
        args: &[String],
    ) -> Result<Server, ClientConfigError> {
        let mut server = Server::stdio(self.fill(command)?).build();
        server.args = args.iter().map(|arg| self.fill(arg)).collect::<Result<_, _>>()?;
        let folder = entry.cwd.as_ref().map(|cwd| self.fill(cwd)).transpose()?;
        server.working_dir = match (folder, self.around.workspace) {
            // Joining keeps an absolute path as it is.
            (Some(folder), Some(workspace)) => Some(workspace.join(folder)),
            (Some(folder), None) => Some(folder.into()),
            (None, workspace) => workspace.map(Path::to_path_buf),
        };
        server.env = self.env(entry)?;
        Ok(server)
    }

    fn reached(
        &self,
        entry: &Entry,
        url: &str,
        transport: TransportName,
    ) -> Result<Server, ClientConfigError> {
        let url = self.fill(url)?;
        let mut server = match transport {
            TransportName::Sse => Server::sse(url),
            TransportName::Ws => Server::websocket(url),
            TransportName::Http | TransportName::Stdio => Server::http(url),
        };
        for (name, value) in &entry.headers {
            server = server.header(name, self.fill(value)?);
        }
        for (name, variable, before) in &entry.env_headers {
            server = server.header(name, format!("{before}{}", self.variable(variable)?));
        }
        Ok(server.build())
    }

    /// Later sources win: the client's own variable, those passed on, the file, the table.
    fn env(&self, entry: &Entry) -> Result<BTreeMap<String, String>, ClientConfigError> {
        let mut env = BTreeMap::new();
        if let Some(workspace) =
            self.around.workspace.filter(|_| self.server.client.name == "claude_code")
        {
            env.insert(PROJECT_DIR.to_owned(), workspace.display().to_string());
        }
        let passed = entry.env_passed.iter();
        env.extend(passed.filter_map(|name| Some((name.clone(), (self.around.vars)(name)?))));
        if let Some(path) = &entry.env_file {
            env.extend(dotenv(&self.file(&self.fill(path)?)?));
        }
        for (name, value) in &entry.env {
            match value {
                Some(value) => env.insert(name.clone(), self.fill(value)?),
                None => env.remove(name),
            };
        }
        Ok(env)
    }

    fn fill(&self, text: &str) -> Result<String, ClientConfigError> {
        expand(text, self.server.client.variables, |reference| self.value(reference))
    }

    fn value(&self, reference: Reference<'_>) -> Result<String, ClientConfigError> {
        match reference {
            Reference::Env { name, default: None } => self.variable(name),
            Reference::Env { name, default: Some(default) } => {
                let set = self.variable(name).ok().filter(|value| !value.is_empty());
                Ok(set.unwrap_or_else(|| default.to_owned()))
            }
            Reference::Folder(name) => self.folder(name).ok_or_else(|| self.unset(name)),
            Reference::Input(id) => self.input(id),
            Reference::File(path) => Ok(self.file(path)?.trim_end().to_owned()),
            Reference::Foreign(name) => Err(self.unset(name)),
        }
    }

    fn variable(&self, name: &str) -> Result<String, ClientConfigError> {
        let own = (name == PROJECT_DIR).then(|| self.folder("workspaceFolder")).flatten();
        (self.around.vars)(name).or(own).ok_or_else(|| self.unset(name))
    }

    fn unset(&self, name: &str) -> ClientConfigError {
        let (file, server) = (self.server.file.clone(), self.server.name.clone());
        ClientConfigError::Variable { file, server, variable: name.to_owned() }
    }

    fn folder(&self, name: &str) -> Option<String> {
        let workspace = self.around.workspace;
        match name {
            "workspaceFolder" => workspace.map(|path| path.display().to_string()),
            "workspaceFolderBasename" => Some(workspace?.file_name()?.to_str()?.to_owned()),
            "userHome" => self.around.home.map(|path| path.display().to_string()),
            _ => Some(MAIN_SEPARATOR.to_string()),
        }
    }

    fn input(&self, id: &str) -> Result<String, ClientConfigError> {
        let known = self.server.inputs.get(id).cloned().unwrap_or_default();
        let given = self.around.inputs.get(id).cloned();
        given.or_else(|| (self.around.vars)(&input_variable(id))).or(known.default).ok_or_else(
            || ClientConfigError::Input {
                file: self.server.file.clone(),
                server: self.server.name.clone(),
                input: id.to_owned(),
                description: known.description,
            },
        )
    }

    /// Reads a file; a relative path counts from the project, `~` from the home directory.
    fn file(&self, path: &str) -> Result<String, ClientConfigError> {
        let full = match (path.strip_prefix("~/"), self.around.home, self.around.workspace) {
            (Some(rest), Some(home), _) => home.join(rest),
            (_, _, Some(workspace)) => workspace.join(path),
            _ => path.into(),
        };
        (self.around.read)(&full).map_err(|message| ClientConfigError::File {
            file: self.server.file.clone(),
            server: self.server.name.clone(),
            path: full.display().to_string(),
            message,
        })
    }

    fn warnings(&self, entry: &Entry) -> Vec<Warning> {
        let origin = self.server.origin();
        let not_applied =
            |key: String, reason| Warning::NotApplied { origin: origin.clone(), key, reason };
        let disabled = entry.disabled.then(|| Warning::Disabled { origin: origin.clone() });
        let present = |(key, _): &&(&str, &str)| {
            self.server.entry.get(*key).is_some_and(|value| !value.is_null() && *value != false)
        };
        let ignored = NOT_APPLIED
            .iter()
            .filter(present)
            .map(|(key, reason)| not_applied((*key).to_owned(), reason));
        let removed = entry
            .env
            .iter()
            .filter(|(name, value)| value.is_none() && (self.around.vars)(name).is_some());
        let removed = removed.map(|(name, _)| {
            not_applied(format!("env.{name}"), "an inherited variable is not removed")
        });
        disabled.into_iter().chain(ignored).chain(removed).collect()
    }
}

/// What Claude Code tells the servers that it starts.
const PROJECT_DIR: &str = "CLAUDE_PROJECT_DIR";
