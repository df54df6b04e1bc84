//! A suite with its file, ready to be carried out.

use std::{collections::BTreeMap, path::PathBuf};

use mcp_loadtest_core::{
    config::{ConfigError, KeyPath},
    server::Server,
    suite::{Suite, TestKind, expect::Store},
    yaml,
};

/// A suite with its file.
#[derive(Debug, Clone)]
pub struct LoadedSuite {
    pub(super) file: String,
    pub(super) dir: PathBuf,
    pub(super) text: String,
    pub(super) suite: Suite,
    /// The servers that are no mocks.
    pub(super) servers: BTreeMap<String, Server>,
    pub(super) snapshots: Store,
}

impl LoadedSuite {
    /// Reads a suite. `file` is what reports call it, `dir` where it is, `vars` knows the
    /// environment, and `snapshots` are the values that were seen before.
    pub fn parse(
        text: String,
        file: &str,
        dir: impl Into<PathBuf>,
        vars: &dyn Fn(&str) -> Option<String>,
        snapshots: Store,
    ) -> Result<Self, ConfigError> {
        let suite = Suite::parse(&text, file, vars)?;
        Self::of(suite, text, file, dir.into(), vars, snapshots)
    }

    /// The same for a suite that a program has made: no text in it stands for a variable.
    pub fn parse_as_it_is(
        text: String,
        file: &str,
        dir: impl Into<PathBuf>,
    ) -> Result<Self, ConfigError> {
        let suite = Suite::parse_as_it_is(&text, file)?;
        Self::of(suite, text, file, dir.into(), &|_| None, Store::default())
    }

    fn of(
        suite: Suite,
        text: String,
        file: &str,
        dir: PathBuf,
        vars: &dyn Fn(&str) -> Option<String>,
        snapshots: Store,
    ) -> Result<Self, ConfigError> {
        let mut servers = BTreeMap::new();
        for (name, entry) in &suite.servers.0 {
            if let Some(server) = entry.to_server(&dir, vars)? {
                servers.insert(name.clone(), server);
            }
        }
        Ok(Self { file: file.to_owned(), dir, text, suite, servers, snapshots })
    }

    /// What it holds.
    pub fn suite(&self) -> &Suite {
        &self.suite
    }

    /// The server that a test names, or the only one.
    pub(super) fn server_name<'a>(&'a self, named: Option<&'a str>) -> &'a str {
        let only = || self.suite.servers.0.keys().next().map_or("", String::as_str);
        named.unwrap_or_else(only)
    }

    /// A problem with a setting, at its place in the file.
    pub(super) fn in_file(&self, error: ConfigError) -> ConfigError {
        yaml::in_text(error, &self.text, &self.file)
    }

    /// The line that a test begins on. It costs a walk through the file.
    pub(super) fn line(&self, kind: TestKind, index: usize) -> Option<u32> {
        let key = KeyPath::from(kind.section()).index(index).key("name");
        self.in_file(ConfigError::new(key, "")).line
    }
}
