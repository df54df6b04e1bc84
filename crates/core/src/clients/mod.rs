//! Servers by name, from the configuration files that people already have for their MCP clients.
//!
//! [`parse`] lists the servers of a file, [`find`] picks one, [`resolve`] fills in variables and
//! makes a [`Server`](crate::server::Server) of it. Files are read by the caller, never written.
//!
//! To add a client: one line in [`CLIENTS`]. What its entries hold beyond the usual keys is read in
//! `entry.rs`; a new way to write variables is a [`Form`] in `variables.rs`.

mod dotenv;
mod entry;
mod error;
mod file;
mod find;
mod resolve;
mod variables;

pub use error::ClientConfigError;
pub use file::{Input, NamedServer, parse};
pub use find::find;
pub use resolve::{Resolved, Surroundings, Warning, input_variable, resolve};
pub use variables::Form;
pub(crate) use variables::expand_braced;

use std::path::{Path, PathBuf};

use entry::UrlMeaning;
use variables::{ANY, BARE, BRACED, EDITOR, NONE, VSCODE, WINDSURF};

/// An MCP client whose files we can read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Client {
    /// The word for it in our own output.
    pub name: &'static str,
    /// Its files inside a project, most specific first.
    pub project: &'static [&'static str],
    /// Its files inside the home directory, on all systems.
    pub home: &'static [&'static str],
    /// Where its servers stand in the document, as a JSON pointer.
    pub servers: &'static str,
    /// The ways in which it writes variables.
    pub variables: &'static [Form],
    /// What `url` means in an entry that does not say its type.
    url: UrlMeaning,
}

/// One line per format. The order is the order of the search, and of the guess by content.
pub const CLIENTS: &[Client] = &[
    client("claude_code", &[".mcp.json"], &[".claude.json"], "/mcpServers", BRACED),
    client("claude_desktop", &[], DESKTOP, "/mcpServers", NONE),
    client("vscode", &[".vscode/mcp.json"], VSCODE_USER, "/servers", VSCODE),
    client("devcontainer", DEVCONTAINER, &[], "/customizations/vscode/mcp/servers", VSCODE),
    client("copilot", &[], &[".copilot/mcp-config.json"], "/mcpServers", BRACED),
    client("cursor", &[".cursor/mcp.json"], &[".cursor/mcp.json"], "/mcpServers", EDITOR),
    client("windsurf", &[], &[".codeium/windsurf/mcp_config.json"], "/mcpServers", WINDSURF),
    Client { url: UrlMeaning::Sse, ..client("gemini", GEMINI, GEMINI, "/mcpServers", BARE) },
    client("codex", CODEX, CODEX, "/mcp_servers", NONE),
    client(
        "zed",
        &[".zed/settings.json"],
        &[".config/zed/settings.json"],
        "/context_servers",
        NONE,
    ),
    client("cline", &[], CLINE, "/mcpServers", NONE),
    client("inspector", &[], &[".mcp-inspector/mcp.json"], "/mcpServers", NONE),
];

/// What a file is taken for whose name says nothing but which has `mcpServers`.
const ANY_CLIENT: Client = client("mcp", &[], &[], "/mcpServers", ANY);

const DESKTOP: &[&str] = &[
    "Library/Application Support/Claude/claude_desktop_config.json",
    "AppData/Roaming/Claude/claude_desktop_config.json",
    ".config/Claude/claude_desktop_config.json",
];
const VSCODE_USER: &[&str] = &[
    "Library/Application Support/Code/User/mcp.json",
    "AppData/Roaming/Code/User/mcp.json",
    ".config/Code/User/mcp.json",
];
const DEVCONTAINER: &[&str] = &[".devcontainer/devcontainer.json", ".devcontainer.json"];
const GEMINI: &[&str] = &[".gemini/settings.json"];
const CODEX: &[&str] = &[".codex/config.toml"];
const CLINE: &[&str] = &[
    "Library/Application Support/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
    "AppData/Roaming/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
    ".config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
];

const fn client(
    name: &'static str,
    project: &'static [&'static str],
    home: &'static [&'static str],
    servers: &'static str,
    variables: &'static [Form],
) -> Client {
    Client { name, project, home, servers, variables, url: UrlMeaning::Http }
}

impl Client {
    fn files(&self) -> impl Iterator<Item = &'static str> {
        self.project.iter().chain(self.home).copied()
    }
}

/// The files to look in, in the order of the search: those of the project, then those of the home
/// directory. Most of them will not exist. To search from a working directory upwards, ask for each
/// folder in turn with no home, and for the home last; where to stop is for the caller to see, who
/// can tell where the repository ends.
pub fn well_known(workspace: Option<&Path>, home: Option<&Path>) -> Vec<PathBuf> {
    let under = |root: Option<&Path>, files: fn(&Client) -> &'static [&'static str]| {
        let root = root.map(Path::to_path_buf);
        let paths = CLIENTS.iter().flat_map(files);
        paths.filter_map(move |path| Some(root.as_ref()?.join(path)))
    };
    let project = under(workspace, |client| client.project);
    let mut found: Vec<PathBuf> = Vec::new();
    for path in project.chain(under(home, |client| client.home)) {
        if !found.contains(&path) {
            found.push(path);
        }
    }
    found
}

#[cfg(test)]
mod tests;
