//! The directory of a run: made before the server starts, complete when the run ends.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use mcp_loadtest_core::{
    config::{Config, Format},
    report::{RENDERERS, Renderer, Report, summary},
    secrets::{MASK, Secrets, masked_arguments, masked_text, masked_url, names_a_secret},
};
use mcp_loadtest_wire::disk;

use crate::{error::RunError, wall_clock::Identity};

/// The files of a run directory.
pub(crate) mod file {
    pub(crate) const CONFIG: &str = "config.toml";
    pub(crate) const STDOUT: &str = "server.stdout.log";
    pub(crate) const STDERR: &str = "server.stderr.log";
    pub(crate) const TRACE: &str = "trace.jsonl";
    pub(crate) const METRICS: &str = "metrics.json";
    pub(crate) const SUMMARY: &str = "summary.json";
    pub(crate) const COMPARISON: &str = "comparison.json";
    pub(crate) const REPORT: &str = "report.md";
    pub(crate) const PAGE: &str = "report.html";
    pub(crate) const RUNNING: &str = ".running";
}

/// A run directory.
#[derive(Debug)]
pub(crate) struct RunDir {
    path: PathBuf,
    secrets: Secrets,
    _running: Running,
}

/// A locked file that says that the run goes on. The system gives the lock back however we end, so
/// a file without a lock is what a killed run leaves behind.
#[derive(Debug)]
struct Running {
    path: PathBuf,
    file: Option<disk::File>,
}

impl Running {
    fn begin(dir: &Path) -> io::Result<Self> {
        let path = dir.join(file::RUNNING);
        let mut file = disk::File::create(&path)?;
        // Some network file systems have no locks: there nobody can tell, and nobody is called dead.
        let _ = file.as_file().try_lock();
        Ok(Self { path, file: Some(file) })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        drop(self.file.take());
        let _ = fs::remove_file(&self.path);
    }
}

/// Whether somebody still works on the run in this directory; nothing where it cannot be told.
pub(crate) fn is_running(dir: &Path) -> Option<bool> {
    match fs::File::open(dir.join(file::RUNNING)).ok()?.try_lock() {
        Ok(()) => Some(false),
        Err(fs::TryLockError::WouldBlock) => Some(true),
        Err(fs::TryLockError::Error(_)) => None,
    }
}

impl RunDir {
    /// Makes `<parent>/<time>-<id>/` with the configuration and empty logs.
    pub(crate) fn create(
        parent: &Path,
        identity: &Identity,
        config: &Config,
        secrets: &Secrets,
    ) -> Result<Self, RunError> {
        let path = parent.join(name(identity, ""));
        let failed = |source: io::Error| RunError::Output { path: path.clone(), source };
        disk::create_dir_all(parent).map_err(failed)?;
        disk::create_dir(&path).map_err(failed)?;
        // Half a directory is of no use to anybody.
        Self::fill(&path, config, secrets).inspect_err(|_| drop(fs::remove_dir_all(&path)))
    }

    fn fill(path: &Path, config: &Config, secrets: &Secrets) -> Result<Self, RunError> {
        let running = Running::begin(path)
            .map_err(|source| RunError::Output { path: path.join(file::RUNNING), source })?;
        let dir = Self { path: path.to_owned(), secrets: secrets.clone(), _running: running };
        dir.write(file::CONFIG, masked(config).to_toml()?)?;
        dir.write(file::STDOUT, "")?;
        dir.write(file::STDERR, "")?;
        Ok(dir)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Takes the directory back: no server ran, so there is nothing to keep.
    pub(crate) fn remove(&self) {
        let _ = fs::remove_dir_all(&self.path);
    }

    pub(crate) fn file(&self, name: &str) -> PathBuf {
        self.path.join(name)
    }

    fn write(&self, name: &str, text: impl AsRef<[u8]>) -> Result<(), RunError> {
        write_whole(&self.path, name, self.secrets.bytes(text.as_ref()))
    }

    /// Writes what the report says, in the forms that were asked for. A file that cannot be written
    /// keeps no other one from being there; the first of them is told.
    pub(crate) fn write_report(&self, report: &Report, formats: &[Format]) -> Result<(), RunError> {
        let written = write_forms(&self.path, report, formats);
        // Gates read the summary, so it is written whatever the formats are.
        written.and(self.write_summary(report))
    }

    fn write_summary(&self, report: &Report) -> Result<(), RunError> {
        write_summary(&self.path, report)
    }
}

fn write_summary(dir: &Path, report: &Report) -> Result<(), RunError> {
    let summary = summary::summary(report, Some(dir));
    let text = serde_json::to_string_pretty(&summary)
        .map_err(|error| RunError::Internal(error.to_string()))?;
    write_whole(dir, file::SUMMARY, text + "\n")
}

/// Writes the files of a run again, of which more is known than when it ended.
pub fn write_again(report: &Report, formats: &[Format]) -> Result<(), RunError> {
    let Some(dir) = &report.run_dir else { return Ok(()) };
    write_forms(dir, report, formats).and(write_summary(dir, report))
}

/// Writes a report in the forms that were asked for. A file that cannot be written keeps no other one from
/// being there; the first of them is told.
pub(crate) fn write_forms(dir: &Path, report: &Report, formats: &[Format]) -> Result<(), RunError> {
    let mut written = Ok(());
    for entry in RENDERERS {
        let Some(name) = entry.file else { continue };
        if formats.contains(&entry.format) {
            written = written.and(write_form(dir, name, entry.renderer, report));
        }
    }
    written
}

fn write_form(
    dir: &Path,
    name: &str,
    form: &dyn Renderer,
    report: &Report,
) -> Result<(), RunError> {
    let mut text = Vec::new();
    let rendered = form.render(report, &mut text);
    rendered.map_err(|source| RunError::Output { path: dir.join(name), source })?;
    write_whole(dir, name, text)
}

/// Whoever is killed while writing leaves the file out, not half of it.
pub(crate) fn write_whole(dir: &Path, name: &str, text: impl AsRef<[u8]>) -> Result<(), RunError> {
    let path = dir.join(name);
    let unfinished = dir.join(format!(".{name}.unfinished"));
    let written = disk::write(&unfinished, text).and_then(|()| disk::rename(&unfinished, &path));
    written.map_err(|source| {
        // Half a file helps nobody, and on a full disk its room does.
        let _ = fs::remove_file(&unfinished);
        RunError::Output { path, source }
    })
}

/// The configuration without what may be secret.
fn masked(config: &Config) -> Config {
    let mut config = config.clone();
    for value in config.server.headers.values_mut() {
        *value = MASK.into();
    }
    if let Some(url) = &mut config.server.url {
        *url = masked_url(url);
    }
    config.server.args = masked_arguments(&config.server.args);
    for (key, value) in &mut config.server.env {
        *value = if names_a_secret(key) { MASK.into() } else { masked_text(value) };
    }
    config
}

/// `2026-05-10T14-30-00-9XY7K2` : sorts by time, tells runs of the same second apart.
pub(crate) fn name(identity: &Identity, word: &str) -> String {
    let time = mcp_loadtest_core::units::format_utc(identity.started_at).replace(':', "-");
    let tail = identity.run_id.len().saturating_sub(6);
    format!("{}{word}-{}", time.trim_end_matches('Z'), &identity.run_id[tail..])
}
