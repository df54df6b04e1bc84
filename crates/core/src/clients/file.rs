//! From the text of a client's file to the list of its servers, not looked into yet: one bad entry
//! does not hide the others.

use std::{collections::BTreeMap, path::Path};

use serde_json::{Map, Value};

use super::{ANY_CLIENT, CLIENTS, Client, ClientConfigError};

/// A server in a client's file, before its variables are filled in.
#[derive(Debug, Clone, PartialEq)]
pub struct NamedServer {
    /// Its name there.
    pub name: String,
    /// The file it stands in.
    pub file: String,
    /// The client whose file that is.
    pub client: &'static Client,
    /// The project it is for, where a file holds the servers of several projects.
    pub project: Option<String>,
    /// The entry as it was written.
    pub entry: Map<String, Value>,
    /// What the client would ask its user for.
    pub inputs: BTreeMap<String, Input>,
}

impl NamedServer {
    /// `file#name`, which no other entry shares.
    pub fn origin(&self) -> String {
        match &self.project {
            Some(project) => format!("{}#{} (for {project})", self.file, self.name),
            None => format!("{}#{}", self.file, self.name),
        }
    }
}

/// A value that a client asks its user for.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Input {
    /// What it asks.
    pub description: Option<String>,
    /// What it offers.
    pub default: Option<String>,
}

/// The servers of a file. The format follows from the file's name, or else from its content. A file
/// without servers gives none.
pub fn parse(file: &Path, text: &str) -> Result<Vec<NamedServer>, ClientConfigError> {
    let document = read(file, text)?;
    let Some(client) = guess(file, &document) else { return Ok(Vec::new()) };
    let source =
        Source { file: file.display().to_string(), client, inputs: inputs(client, &document) };
    let mut found = source.servers(document.pointer(client.servers), None);
    // `~/.claude.json` also keeps the servers of each project that was ever opened.
    for (project, settings) in document["projects"].as_object().into_iter().flatten() {
        found.extend(source.servers(settings.pointer(client.servers), Some(project)));
    }
    Ok(found)
}

/// All are JSON with comments, except the one that is TOML.
fn read(file: &Path, text: &str) -> Result<Value, ClientConfigError> {
    let text = text.trim_start_matches('\u{feff}');
    let is_toml = file.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("toml"));
    let value = if is_toml {
        toml::from_str(text).map_err(|error| toml_trouble(&error, text))
    } else {
        jsonc_parser::parse_to_serde_value(text, &jsonc_parser::ParseOptions::default())
            .map_err(|error| error.to_string())
    };
    value.map_err(|message| ClientConfigError::Syntax {
        file: file.display().to_string(),
        message: message.trim().to_owned(),
    })
}

/// What is wrong and where, without the line itself: it may hold a secret.
fn toml_trouble(error: &toml::de::Error, text: &str) -> String {
    let before = error.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
    format!("{} on line {}", error.message(), before.matches('\n').count() + 1)
}

/// The client whose file this is: by its whole path, by a file name that only one client uses, or
/// by where its servers stand.
fn guess(file: &Path, document: &Value) -> Option<&'static Client> {
    let holds = |client: &&Client| document.pointer(client.servers).is_some();
    let by_path = CLIENTS.iter().find(|client| client.files().any(|known| file.ends_with(known)));
    let by_content = || {
        let distinct = CLIENTS.iter().filter(|client| client.servers != ANY_CLIENT.servers);
        distinct.chain([&ANY_CLIENT]).find(holds)
    };
    // A path that names a client is believed even when there are no servers, only projects.
    by_path.filter(holds).or_else(|| by_name(file).filter(holds)).or_else(by_content).or(by_path)
}

fn by_name(file: &Path) -> Option<&'static Client> {
    let name = file.file_name()?;
    let uses =
        |client: &&Client| client.files().any(|known| Path::new(known).file_name() == Some(name));
    let mut users = CLIENTS.iter().filter(uses);
    users.next().filter(|_| users.next().is_none())
}

fn inputs(client: &Client, document: &Value) -> BTreeMap<String, Input> {
    // The list stands beside the table of servers.
    let beside = client.servers.rsplit_once('/').map_or("", |(parent, _)| parent);
    let list = document.pointer(&format!("{beside}/inputs")).and_then(Value::as_array);
    let text = |input: &Value, key: &str| input[key].as_str().map(str::to_owned);
    let read = |input: &Value| {
        let known =
            Input { description: text(input, "description"), default: text(input, "default") };
        Some((text(input, "id")?, known))
    };
    list.into_iter().flatten().filter_map(read).collect()
}

struct Source {
    file: String,
    client: &'static Client,
    inputs: BTreeMap<String, Input>,
}

impl Source {
    fn servers(&self, table: Option<&Value>, project: Option<&str>) -> Vec<NamedServer> {
        let entries = table.and_then(Value::as_object).into_iter().flatten();
        let named = |(name, entry): (&String, &Value)| NamedServer {
            name: name.clone(),
            file: self.file.clone(),
            client: self.client,
            project: project.map(str::to_owned),
            // What is no table becomes an empty one, which is refused when it is asked for.
            entry: entry.as_object().cloned().unwrap_or_default(),
            inputs: self.inputs.clone(),
        };
        entries.map(named).collect()
    }
}
