//! What models said, written down and said again. Only the model is recorded: faults, tools and gate
//! are the same as ever, so that a recorded run is judged like the first one.

use std::{
    collections::VecDeque,
    path::{Path, PathBuf},
};

use mcp_loadtest_core::{agent::Turn, secrets::Secrets};
use serde::{Deserialize, Serialize};

/// The version of the file.
const SCHEMA: &str = "mcp-loadtest/tape/v1";

/// What a model said in one run.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Tape {
    schema: String,
    turns: VecDeque<Turn>,
}

/// The file of one run of one test.
pub(super) fn file(dir: &Path, suite: &str, test: &str, number: u32) -> PathBuf {
    let letter = |c: char| if c.is_ascii_alphanumeric() { c.to_ascii_lowercase() } else { '-' };
    let slug = |text: &str| text.chars().map(letter).collect::<String>();
    let suite = Path::new(suite).file_stem().unwrap_or_default().to_string_lossy();
    dir.join(format!("{}.{}.{}.json", slug(&suite), slug(test), number + 1))
}

impl Tape {
    pub(super) fn of(turns: Vec<Turn>) -> Self {
        Self { schema: SCHEMA.into(), turns: turns.into() }
    }

    pub(super) fn read(file: &Path) -> Result<Self, String> {
        let shown = file.display();
        let text = std::fs::read_to_string(file).map_err(|error| format!("{shown}: {error}"))?;
        let tape: Self =
            serde_json::from_str(&text).map_err(|error| format!("{shown}: {error}"))?;
        match tape.schema.as_str() {
            SCHEMA => Ok(tape),
            other => Err(format!("{shown}: it is `{other}`, and should be `{SCHEMA}`")),
        }
    }

    pub(super) fn write(&self, file: &Path, secrets: &Secrets) -> Result<(), String> {
        let told = |error: std::io::Error| format!("{}: {error}", file.display());
        if let Some(dir) = file.parent() {
            std::fs::create_dir_all(dir).map_err(told)?;
        }
        let text = serde_json::to_string_pretty(self).unwrap_or_default() + "\n";
        std::fs::write(file, &*secrets.text(&text)).map_err(told)
    }

    /// What it said next.
    pub(super) fn next(&mut self) -> Result<Turn, String> {
        self.turns.pop_front().ok_or_else(|| {
            "the recorded model has no more to say: the run is not the one that was recorded".into()
        })
    }
}
