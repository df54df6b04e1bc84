//! Picks one server by name from what several files hold.

use std::path::Path;

use super::{ClientConfigError, NamedServer};

/// The server of this name. `servers` are those of all files, in the order of the search. Where two
/// files disagree about a name, neither is taken: the caller must say which file is meant. Servers
/// that a file keeps for another project than `workspace` do not count, and those it keeps for this
/// project win over the others of the same file, as they do in the client.
pub fn find<'a>(
    servers: &'a [NamedServer],
    name: &str,
    workspace: Option<&Path>,
) -> Result<&'a NamedServer, ClientConfigError> {
    let here = |server: &&NamedServer| match &server.project {
        Some(project) => workspace == Some(Path::new(project)),
        None => true,
    };
    let usable = || servers.iter().filter(here);
    let mut hits: Vec<&NamedServer> = usable().filter(|server| server.name == name).collect();
    let all = hits.clone();
    hits.retain(|hit| {
        hit.project.is_some()
            || !all.iter().any(|other| other.project.is_some() && other.file == hit.file)
    });
    let Some((first, rest)) = hits.split_first() else {
        let mut known: Vec<String> = usable().map(|server| server.name.clone()).collect();
        known.sort();
        known.dedup();
        return Err(ClientConfigError::UnknownName { name: name.to_owned(), known });
    };
    if rest.iter().any(|other| other.entry != first.entry) {
        let found = hits.iter().map(|hit| hit.origin()).collect();
        return Err(ClientConfigError::Ambiguous { name: name.to_owned(), found });
    }
    Ok(first)
}
