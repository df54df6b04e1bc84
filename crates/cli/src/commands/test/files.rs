//! The files of suites, and of what they have seen before.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use mcp_loadtest::LoadedSuite;
use mcp_loadtest_core::{
    suite::{
        Suite,
        expect::{Snapshots, Store},
    },
    tools_file::ToolsFile,
};

use crate::{env::Env, error::CliError};

/// A suite and its file.
pub(super) struct Loaded {
    pub(super) suite: LoadedSuite,
    path: PathBuf,
}

/// What is appended to the name of a suite's file for its snapshots.
const SNAPSHOTS: &str = ".snap.json";

/// Reads all suites; directories are searched.
pub(super) fn load(written: &[PathBuf], update: bool, env: &Env) -> Result<Vec<Loaded>, CliError> {
    let mut files = Vec::new();
    for path in written {
        let full = env.path(path);
        if full.is_dir() {
            let before = files.len();
            search(&full, path, &mut files)?;
            if files.len() == before {
                return Err(CliError::usage(
                    format!("there is no suite in {}", path.display()),
                    "suites are .yml, .yaml or .json files with `tools:`, `agents:` and the like",
                ));
            }
        } else {
            files.push((full, path.clone()));
        }
    }
    files.into_iter().map(|(path, shown)| load_file(path, &shown, update, env)).collect()
}

/// The suites of a directory and of those in it, in the order of their names.
fn search(dir: &Path, shown: &Path, files: &mut Vec<(PathBuf, PathBuf)>) -> Result<(), CliError> {
    let told = |source: io::Error| CliError::Read { path: dir.to_owned(), source };
    let mut entries: Vec<_> = fs::read_dir(dir)
        .and_then(|entries| entries.map(|entry| Ok(entry?.file_name())).collect())
        .map_err(told)?;
    entries.sort();
    for name in entries {
        let (path, shown) = (dir.join(&name), shown.join(&name));
        let is_hidden = name.to_string_lossy().starts_with('.');
        if path.is_dir() && !is_hidden {
            search(&path, &shown, files)?;
        } else if is_suite(&path) && !is_tools_file(&path) {
            files.push((path, shown));
        }
    }
    Ok(())
}

/// Whether a file is a suite, by its name and content.
pub(super) fn is_suite(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let is_named = ["yml", "yaml", "json"].iter().any(|end| name.ends_with(&format!(".{end}")));
    if !is_named || name.ends_with(SNAPSHOTS) {
        return false;
    }
    fs::read_to_string(path).is_ok_and(|text| Suite::is_suite(&text))
}

/// Whether a file is one of `mock --tools-from`, which has keys of a suite and often lies beside one.
fn is_tools_file(path: &Path) -> bool {
    fs::read_to_string(path).is_ok_and(|text| ToolsFile::parse(&text, "").is_ok())
}

fn load_file(path: PathBuf, shown: &Path, update: bool, env: &Env) -> Result<Loaded, CliError> {
    let text = fs::read_to_string(&path)
        .map_err(|source| CliError::Read { path: path.clone(), source })?;
    let seen = read_snapshots(&path)?;
    let store = if update { Store::Update(seen) } else { Store::Compare(seen) };
    let dir = path.parent().unwrap_or(&env.cwd).to_owned();
    let file = shown.display().to_string();
    let suite = LoadedSuite::parse(text, &file, dir, &*env.var, store)?;
    Ok(Loaded { suite, path })
}

fn snapshot_file(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(SNAPSHOTS);
    path.with_file_name(name)
}

fn read_snapshots(path: &Path) -> Result<Snapshots, CliError> {
    let path = snapshot_file(path);
    match fs::read_to_string(&path) {
        Ok(text) => Ok(Store::parse(&text, &path.display().to_string())?),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(Snapshots::new()),
        Err(source) => Err(CliError::Read { path, source }),
    }
}

/// Writes what was seen beside each suite that keeps snapshots.
pub(super) fn write_snapshots(
    loaded: &[Loaded],
    snapshots: &[Store],
    env: &mut Env,
) -> Result<(), CliError> {
    for (loaded, store) in loaded.iter().zip(snapshots) {
        let (Store::Update(values) | Store::Compare(values)) = store;
        if values.is_empty() {
            continue;
        }
        let path = snapshot_file(&loaded.path);
        fs::write(&path, store.text())
            .map_err(|source| CliError::Write { path: path.clone(), source })?;
        env.err(&format!("note: {} values written to {}\n", values.len(), path.display()));
    }
    Ok(())
}
