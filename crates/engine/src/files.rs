//! The files that arguments come from, read once before anything is started.

use std::{
    collections::BTreeMap,
    fs,
    path::{Path, PathBuf},
};

use mcp_loadtest_core::{
    arguments::{FileKind, MOST_TEXT, Rows},
    scenario::Scenario,
};

use crate::error::RunError;

/// Rows by the file that they stand in.
#[derive(Debug, Clone, Default)]
pub(crate) struct Files(BTreeMap<PathBuf, Rows>);

impl Files {
    /// Reads all files that a scenario names.
    pub(crate) fn read(scenario: &Scenario) -> Result<Self, RunError> {
        let recipes = scenario.tool_calls.iter().filter_map(|call| call.source.as_ref());
        let mut files = BTreeMap::new();
        for path in recipes.filter_map(|recipe| recipe.file()) {
            if !files.contains_key(path) {
                files.insert(path.to_owned(), rows(path)?);
            }
        }
        Ok(Self(files))
    }

    /// The rows of a file.
    pub(crate) fn get(&self, path: &Path) -> Option<&Rows> {
        self.0.get(path)
    }
}

fn rows(path: &Path) -> Result<Rows, RunError> {
    let unreadable = |source| RunError::ArgumentsFile {
        path: path.to_owned(),
        why: format!("{source}"),
        hint: None,
    };
    let size = fs::metadata(path).map_err(unreadable)?.len();
    if size > MOST_TEXT as u64 {
        let why = format!("holds {size} bytes; at most {MOST_TEXT} are taken");
        return Err(RunError::ArgumentsFile { path: path.to_owned(), why, hint: None });
    }
    let text = fs::read_to_string(path).map_err(unreadable)?;
    let kind = FileKind::of(path).unwrap_or(FileKind::Jsonl);
    Rows::read(kind, &text).map_err(|error| RunError::ArgumentsFile {
        path: path.to_owned(),
        why: error.to_string(),
        hint: error.hint,
    })
}
