//! Fixtures from files: read, and read again when they change.

use std::{
    fs,
    io::{self, Read as _},
    path::{Path, PathBuf},
    sync::Arc,
    time::{Duration, SystemTime},
};

use mcp_loadtest_core::{config::ConfigError, hint::Hint as _, llm::FixtureFile};
use mcp_loadtest_mock::llm::Desk;
use tokio::time::sleep;

use crate::error::CliError;

/// How often files are looked at.
const LOOK_EVERY: Duration = Duration::from_millis(250);
/// A file that holds more was not written by people.
const MOST_TEXT: u64 = 16 << 20;
/// The ends of names that are read in a folder.
const ENDS: [&str; 3] = ["yaml", "yml", "json"];

/// Reads a file, or all of a folder in the order of their names.
pub(super) fn read(path: &Path) -> Result<Vec<FixtureFile>, CliError> {
    list(path)?.iter().map(|path| read_one(path)).collect()
}

fn read_one(path: &Path) -> Result<FixtureFile, CliError> {
    let text = read_text(path).map_err(|source| cannot_read(path, source))?;
    Ok(FixtureFile::parse(&text, &path.display().to_string())?)
}

/// The text of a file, unless there is far too much of it.
fn read_text(path: &Path) -> io::Result<String> {
    let mut text = String::new();
    fs::File::open(path)?.take(MOST_TEXT + 1).read_to_string(&mut text)?;
    if text.len() as u64 > MOST_TEXT {
        return Err(io::Error::other(format!("it holds more than {} MiB", MOST_TEXT >> 20)));
    }
    Ok(text)
}

fn cannot_read(path: &Path, source: io::Error) -> CliError {
    CliError::Read { path: path.to_owned(), source }
}

/// The files that are meant.
fn list(path: &Path) -> Result<Vec<PathBuf>, CliError> {
    if !path.is_dir() {
        return Ok(vec![path.to_owned()]);
    }
    let mut files = Vec::new();
    for entry in fs::read_dir(path).map_err(|source| cannot_read(path, source))? {
        let file = entry.map_err(|source| cannot_read(path, source))?.path();
        let end = file.extension().and_then(|end| end.to_str());
        if end.is_some_and(|end| ENDS.contains(&end)) {
            files.push(file);
        }
    }
    files.sort();
    if files.is_empty() {
        let error = ConfigError::new("--fixtures", format!("{} holds no file", path.display()));
        return Err(error.with_hint("a folder is read for *.yml, *.yaml and *.json").into());
    }
    Ok(files)
}

/// What changes when a file does.
type Signs = Vec<(PathBuf, Option<SystemTime>, u64)>;

fn signs(path: &Path) -> Signs {
    let files = list(path).unwrap_or_default();
    let sign = |file: PathBuf| {
        let known = fs::metadata(&file).ok();
        let length = known.as_ref().map_or(0, fs::Metadata::len);
        (file, known.and_then(|known| known.modified().ok()), length)
    };
    files.into_iter().map(sign).collect()
}

/// Reads the files again whenever they change. What is wrong is told, and the old ones stay in force.
pub(super) async fn watch(path: PathBuf, desk: Arc<Desk>) {
    let mut known = signs(&path);
    loop {
        sleep(LOOK_EVERY).await;
        let now = signs(&path);
        if now == known {
            continue;
        }
        known = now;
        match read(&path) {
            Ok(files) => {
                desk.replace(files);
                desk.notice(format!("read again: {} fixtures are in force", desk.fixtures()));
            }
            Err(error) => {
                let hint = match &error {
                    CliError::Config(error) => error.hint(),
                    _ => None,
                };
                let hint = hint.map(|hint| format!(" ({hint})")).unwrap_or_default();
                desk.notice(format!("{error}{hint}; the old fixtures stay in force"));
            }
        }
    }
}
