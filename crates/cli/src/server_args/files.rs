//! The servers in the files of MCP clients, and the files of them that cannot be read.

use std::{
    io::ErrorKind,
    path::{Path, PathBuf},
};

use mcp_loadtest_core::{
    clients::{self, ClientConfigError, NamedServer},
    display::visible,
};

use crate::{env::Env, error::CliError};

/// What the files of clients hold, in the order of the search.
#[derive(Default)]
pub(crate) struct Known {
    pub(crate) servers: Vec<NamedServer>,
    /// The first file that cannot be read, and how many servers the files before it hold.
    broken: Option<(usize, ClientConfigError)>,
}

impl Known {
    /// The server of this name. A file that cannot be read may hold it, too: where that one would have
    /// come first, or nobody else has it, another server must not be tested in its place.
    pub(crate) fn find(&mut self, name: &str, here: &Path) -> Result<&NamedServer, CliError> {
        let found = clients::find(&self.servers, name, Some(here));
        let place = match &found {
            Ok(hit) => self.servers.iter().position(|server| std::ptr::eq(server, *hit)),
            Err(ClientConfigError::UnknownName { .. }) => Some(self.servers.len()),
            Err(_) => None,
        };
        match self.broken.take_if(|(before, _)| Some(*before) <= place) {
            Some((_, error)) => Err(error.into()),
            None => Ok(found?),
        }
    }

    fn read(&mut self, path: &Path, env: &mut Env) {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            // Most of the usual places do not exist.
            Err(error)
                if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) =>
            {
                return;
            }
            Err(error) => {
                let (file, message) = (path.display().to_string(), error.to_string());
                return self.pass_over(ClientConfigError::Syntax { file, message }, env);
            }
        };
        match clients::parse(path, &text) {
            Ok(found) => self.servers.extend(found),
            Err(error) => self.pass_over(error, env),
        }
    }

    fn pass_over(&mut self, error: ClientConfigError, env: &mut Env) {
        env.err(&format!("warning: {}\n", visible(&error.to_string(), 300)));
        self.broken.get_or_insert((self.servers.len(), error));
    }
}

/// All servers of one file, or of all files in the usual places. The file of another client does not
/// keep anybody from those that can be read; it is told.
pub(crate) fn known_servers(file: Option<&Path>, env: &mut Env) -> Result<Known, CliError> {
    let mut known = Known::default();
    if let Some(file) = file {
        let path = env.cwd.join(file);
        let text = std::fs::read_to_string(&path)
            .map_err(|source| CliError::Read { path: path.clone(), source })?;
        known.servers = clients::parse(&path, &text)?;
        return Ok(known);
    }
    for path in client_files(env) {
        known.read(&path, env);
    }
    Ok(known)
}

/// The usual places of client files: from the working directory up to the root of the repository,
/// then the home directory. Most of them will not exist.
pub(crate) fn client_files(env: &Env) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folder = Some(env.cwd.as_path());
    while let Some(here) = folder {
        files.extend(clients::well_known(Some(here), None));
        // Beyond the repository's root the files belong to somebody else.
        folder = if here.join(".git").exists() { None } else { here.parent() };
    }
    files.extend(clients::well_known(None, env.home().as_deref()));
    files
}
