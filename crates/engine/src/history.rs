//! The runs that a directory holds: which there are, and which of them a new one is compared with.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use mcp_loadtest_core::{
    compare::{Comparison, ComparisonVerdict, json, why_not},
    config::{Baseline, Format},
    exit::Exit,
    report::{Report, summary::Summary},
};
use serde::{Deserialize, Serialize};

use crate::{
    error::RunError,
    run_dir::{self, file},
    saved::{SavedError, SavedRun},
};

/// A directory of runs.
#[derive(Debug, Clone)]
pub struct History {
    dir: PathBuf,
}

/// A finished run of a [`History`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PastRun {
    /// Its directory.
    pub dir: PathBuf,
    /// What came out of it.
    pub summary: Summary,
}

impl History {
    /// The runs in `dir`, which need not exist.
    pub fn of(dir: impl Into<PathBuf>) -> Self {
        Self { dir: dir.into() }
    }

    /// The directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The finished runs, the latest first. What is no run, or has not ended, is left out.
    pub fn runs(&self) -> Result<Vec<PastRun>, SavedError> {
        let mut runs: Vec<_> = self.folders()?.into_iter().filter_map(past_run).collect();
        // Runs of the same second are told apart by their ULIDs, which also sort by time.
        let key = |run: &PastRun| (run.summary.started_at.clone(), run.summary.run_id.clone());
        runs.sort_by_cached_key(|run| std::cmp::Reverse(key(run)));
        Ok(runs)
    }

    /// All that lies in the directory.
    pub(crate) fn folders(&self) -> Result<Vec<PathBuf>, SavedError> {
        let read = |source| SavedError::Read { path: self.dir.clone(), source };
        let entries = match fs::read_dir(&self.dir) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(read(error)),
        };
        entries.map(|entry| Ok(entry.map_err(read)?.path())).collect()
    }

    /// The directory of one run, by its name or by its path. Whatever lies outside of this directory
    /// is refused, links followed: for names that somebody else gives.
    pub fn dir_of(&self, run: &Path) -> Result<PathBuf, SavedError> {
        let path = self.dir.join(run);
        let unknown = |_| SavedError::NotARun { path: path.clone() };
        let (root, found) = (self.dir.canonicalize(), path.canonicalize());
        let (root, found) = (root.map_err(unknown)?, found.map_err(unknown)?);
        if found == root || !found.starts_with(&root) || !found.is_dir() {
            return Err(SavedError::NotARun { path });
        }
        Ok(found)
    }

    /// The run that `current` is to be compared with, or nothing when there is none yet.
    ///
    /// `last` is the last run of the same server and scenario that passed, did not itself regress,
    /// and can be compared with this one: a run with other settings is another history.
    pub fn baseline(
        &self,
        which: &Baseline,
        current: &Report,
    ) -> Result<Option<Report>, SavedError> {
        let earlier = |run: &PastRun| run.summary.run_id != current.run_id;
        match which {
            Baseline::At(path) => SavedRun::read(path).map(Some),
            Baseline::Tag(tag) => {
                let tagged = |run: &PastRun| run.summary.tags.contains(tag);
                let found = self.runs()?.into_iter().find(|run| earlier(run) && tagged(run));
                found.map(|run| SavedRun::read(&run.dir)).transpose()
            }
            Baseline::Last => {
                let same = |run: &PastRun| {
                    run.summary.server == current.server_info.target
                        && run.summary.scenario == current.scenario_kind.name()
                };
                let runs = self.runs()?.into_iter();
                let fit = runs.filter(|run| earlier(run) && same(run) && run.held());
                Ok(fit.filter_map(|run| SavedRun::read(&run.dir).ok()).find(|base| {
                    why_not(base, current).iter().all(|reason| is_of_current(&reason.id, current))
                }))
            }
        }
    }
}

/// What is wrong with the current run alone is no reason to look for another base.
fn is_of_current(reason: &str, current: &Report) -> bool {
    let own = !current.passed() || current.interrupted || current.validity.client_bound;
    own && ["interrupted", "client_bound", "invalid", "nothing_measured"].contains(&reason)
}

impl PastRun {
    /// Whether it passed, and is known to be no worse than what it was compared with itself: one that
    /// was let through undecided would make a slow change the new measure.
    fn held(&self) -> bool {
        use ComparisonVerdict::{Regression, Undecided};
        let may_be_worse = |verdict| matches!(verdict, Regression | Undecided);
        let worse = self.summary.baseline.as_ref().is_some_and(|base| may_be_worse(base.verdict));
        self.summary.passed && !worse
    }
}

fn past_run(dir: PathBuf) -> Option<PastRun> {
    let text = fs::read_to_string(dir.join(file::SUMMARY)).ok()?;
    Some(PastRun { summary: serde_json::from_str(&text).ok()?, dir })
}

/// Writes `comparison.json` into the directory of a run, and its verdict into `summary.json` and into
/// what else tells of the run in words. A run without a directory has none of these.
pub fn write_comparison(
    report: &Report,
    formats: &[Format],
    comparison: &Comparison,
    exit: Exit,
) -> Result<(), RunError> {
    let Some(dir) = &report.run_dir else { return Ok(()) };
    write(dir, comparison)?;
    run_dir::write_forms(dir, report, formats)?;
    let path = dir.join(file::SUMMARY);
    let failed = |source| RunError::Output { path: path.clone(), source };
    let text = fs::read_to_string(&path).map_err(failed)?;
    let mut summary: Summary =
        serde_json::from_str(&text).map_err(|error| failed(io::Error::other(error)))?;
    summary.compared(comparison, exit);
    let text = serde_json::to_string_pretty(&summary)
        .map_err(|error| RunError::Internal(error.to_string()))?;
    run_dir::write_whole(dir, file::SUMMARY, text + "\n")
}

/// Writes `comparison.json`.
pub(crate) fn write(dir: &Path, comparison: &Comparison) -> Result<(), RunError> {
    let mut text = Vec::new();
    json::render(comparison, &mut text)
        .map_err(|source| RunError::Output { path: dir.join(file::COMPARISON), source })?;
    run_dir::write_whole(dir, file::COMPARISON, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_run_is_found_below_its_root_alone() {
        let parent = tempfile::tempdir().unwrap();
        let (root, outside) = (parent.path().join("runs"), parent.path().join("outside"));
        fs::create_dir_all(root.join("a-run")).unwrap();
        fs::create_dir_all(&outside).unwrap();
        std::os::unix::fs::symlink(&outside, root.join("link")).unwrap();
        let history = History::of(&root);
        let found = root.canonicalize().unwrap().join("a-run");
        for path in [Path::new("a-run"), &root.join("a-run"), Path::new("./a-run/../a-run")] {
            assert_eq!(history.dir_of(path).unwrap(), found, "{path:?}");
        }
        for path in ["../outside", "link", "", ".", "..", "/", "missing", outside.to_str().unwrap()]
        {
            let refused = history.dir_of(Path::new(path)).unwrap_err();
            assert!(matches!(refused, SavedError::NotARun { .. }), "{path}: {refused}");
        }
        assert!(History::of(parent.path().join("none")).dir_of(Path::new("a-run")).is_err());
    }
}
