//! Runs that left no summary: those that go on, that were killed, or that ended with an error.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};

use crate::{
    history::History,
    run_dir::{file, is_running},
    saved::SavedError,
};

/// Why a run has no summary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Unfinished {
    /// Somebody works on it.
    GoesOn,
    /// Its process was killed, or the machine went down.
    Killed,
    /// It ended with an error, which its trace tells; or it is of a version that left no mark.
    Failed,
}

/// A run without a summary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnfinishedRun {
    /// Its directory.
    pub dir: PathBuf,
    /// Why it has none.
    pub state: Unfinished,
    /// How many bytes it recorded of the server: its trace and what the server printed.
    pub recorded: u64,
}

impl History {
    /// The runs that have no summary. What is no run directory of ours is left out.
    pub fn unfinished(&self) -> Result<Vec<UnfinishedRun>, SavedError> {
        let mut runs: Vec<_> = self.folders()?.iter().filter_map(|dir| unfinished(dir)).collect();
        runs.sort_by(|one, other| one.dir.cmp(&other.dir));
        Ok(runs)
    }

    /// Removes the directory of a run that was killed before it recorded anything, and nothing else.
    pub fn remove_empty(run: &UnfinishedRun) -> io::Result<()> {
        let now = unfinished(&run.dir);
        match now {
            Some(UnfinishedRun { state: Unfinished::Killed, recorded: 0, .. }) => {
                fs::remove_dir_all(&run.dir)
            }
            _ => Err(io::Error::other("it is no longer what it was")),
        }
    }
}

fn unfinished(dir: &Path) -> Option<UnfinishedRun> {
    // Every run writes its configuration and both logs before anything else.
    let ours = [file::CONFIG, file::STDOUT, file::STDERR];
    let is_ours = ours.iter().all(|name| dir.join(name).is_file());
    if !is_ours || dir.join(file::SUMMARY).exists() {
        return None;
    }
    let size = |name: &&str| fs::metadata(dir.join(name)).map_or(0, |file| file.len());
    let recorded = [file::TRACE, file::STDOUT, file::STDERR, file::METRICS].iter().map(size).sum();
    let state = match (dir.join(file::RUNNING).exists(), is_running(dir)) {
        (false, _) => Unfinished::Failed,
        (true, Some(false)) => Unfinished::Killed,
        // Where locks cannot be asked for, nobody may call it dead.
        (true, Some(true) | None) => Unfinished::GoesOn,
    };
    Some(UnfinishedRun { dir: dir.to_owned(), state, recorded })
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use mcp_loadtest_core::config::Config;

    use super::*;
    use crate::{run_dir::RunDir, wall_clock::Identity};

    fn begin(parent: &Path, id: &str) -> RunDir {
        let identity = Identity { run_id: id.into(), started_at: SystemTime::UNIX_EPOCH };
        RunDir::create(parent, &identity, &Config::default(), &Default::default()).unwrap()
    }

    fn states(parent: &Path) -> Vec<Unfinished> {
        History::of(parent).unfinished().unwrap().iter().map(|run| run.state).collect()
    }

    #[test]
    fn a_run_that_goes_on_is_told_from_one_that_was_killed_and_one_that_failed() {
        let parent = tempfile::tempdir().unwrap();
        fs::create_dir(parent.path().join("somebody-elses")).unwrap();
        let run = begin(parent.path(), "AAAAAA");
        assert_eq!(states(parent.path()), [Unfinished::GoesOn]);
        let path = run.path().to_owned();
        drop(run);
        assert_eq!(states(parent.path()), [Unfinished::Failed]);
        // What a process that is killed leaves behind: the file, and no lock.
        fs::write(path.join(file::RUNNING), "").unwrap();
        assert_eq!(states(parent.path()), [Unfinished::Killed]);
        fs::write(path.join(file::SUMMARY), "{}").unwrap();
        assert_eq!(states(parent.path()), []);
    }

    #[test]
    fn only_a_killed_run_without_a_record_is_removed() {
        let parent = tempfile::tempdir().unwrap();
        let run = begin(parent.path(), "BBBBBB");
        let going = History::of(parent.path()).unfinished().unwrap().remove(0);
        assert!(History::remove_empty(&going).is_err() && run.path().is_dir());
        let path = run.path().to_owned();
        drop(run);
        fs::write(path.join(file::RUNNING), "").unwrap();
        fs::write(path.join(file::TRACE), "{}\n").unwrap();
        let killed = History::of(parent.path()).unfinished().unwrap().remove(0);
        assert_eq!(killed.recorded, 3);
        assert!(History::remove_empty(&killed).is_err() && path.is_dir());
        fs::write(path.join(file::TRACE), "").unwrap();
        History::remove_empty(&killed).unwrap();
        assert!(!path.exists());
    }
}
