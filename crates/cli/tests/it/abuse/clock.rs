//! A time of day that is set while a load runs, as by an operator or by a machine that finds its time server.

use std::{
    fs,
    io::Read as _,
    path::{Path, PathBuf},
    process::{Child, Command},
};

use serde_json::Value;

use super::findings;
use crate::{browser::environment, harness::mock, process::binary};

/// A clock of the day that can be set, for processes that are started with its variables. The other clock,
/// which only goes on, stays as it is: no operator can set that one.
struct Clock {
    ahead: PathBuf,
    library: String,
}

impl Clock {
    /// An hour ahead.
    fn in_dir(dir: &Path) -> Self {
        let faketime = environment("faketime").join("bin/faketime");
        let told = Command::new(faketime).args(["-f", "+0", "printenv", "LD_PRELOAD"]).output();
        let library = String::from_utf8(told.unwrap().stdout).unwrap().trim().to_owned();
        assert!(library.contains("faketime"), "{library:?}");
        let clock = Self { ahead: dir.join("ahead"), library };
        clock.set("+1h");
        clock
    }

    /// Takes the place of the file at once, so that nobody reads half of it.
    fn set(&self, ahead: &str) {
        let new = self.ahead.with_extension("new");
        fs::write(&new, ahead).unwrap();
        fs::rename(new, &self.ahead).unwrap();
    }

    fn held_by(&self, mut command: Command) -> Command {
        command
            .env("LD_PRELOAD", &self.library)
            .env("FAKETIME_TIMESTAMP_FILE", &self.ahead)
            .env("FAKETIME_NO_CACHE", "1")
            .env("DONT_FAKE_MONOTONIC", "1");
        command
    }
}

/// The time of day by `date`.
fn day(mut date: Command) -> String {
    String::from_utf8(date.args(["-u", "+%Y-%m-%dT%H"]).output().unwrap().stdout).unwrap()
}

/// Waits until the trace of the one run in this directory, which this process writes, has so many lines.
#[expect(clippy::disallowed_methods, reason = "a file that another process writes is looked at")]
fn wait_for_lines(child: &mut Child, dir: &Path, many: usize) {
    let lines = || {
        let run = fs::read_dir(dir.join("runs")).ok()?.next()?.ok()?.path();
        Some(fs::read_to_string(run.join("trace.jsonl")).ok()?.lines().count())
    };
    loop {
        // Asked first: what it wrote before it ended counts.
        let has_ended = child.try_wait().unwrap().is_some();
        if lines().unwrap_or_default() >= many {
            return;
        }
        assert!(!has_ended, "it ended before line {many}: {}", last_words(child));
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

/// All that a process has said which has ended.
fn last_words(child: &mut Child) -> String {
    let mut said = String::new();
    child.stdout.take().unwrap().read_to_string(&mut said).unwrap();
    child.stderr.take().unwrap().read_to_string(&mut said).unwrap();
    said
}

#[test]
fn a_clock_that_is_set_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let clock = Clock::in_dir(dir.path());
    let here = day(Command::new("date"));
    let mut run = binary();
    run.args(["run", "-s", &mock("mock-normal.py"), "--tool", "echo", "--json"])
        .args(["--rate", "50/s", "--duration", "6s"])
        .current_dir(dir.path());
    let mut child = clock.held_by(run).spawn().unwrap();
    for (lines, ahead) in [(50, "-1h"), (200, "+1h"), (350, "-1h")] {
        wait_for_lines(&mut child, dir.path(), lines);
        clock.set(ahead);
    }
    let done = child.wait_with_output().unwrap();
    let told: Value = serde_json::from_slice(&done.stdout).unwrap();
    assert_eq!((&told["errors"], &told["hang_count"]), (&0.into(), &0.into()), "{told:#}");
    // A busy machine may be late with calls; nothing else may be found.
    let other: Vec<_> = findings(&told)
        .into_iter()
        .filter(|id| !["client_bound", "load_not_offered"].contains(id))
        .collect();
    assert!(other.is_empty() && told["requests"].as_u64().unwrap() > 200, "{told:#}");
    // Neither an hour too long nor less than nothing.
    let took = told["duration_secs"].as_f64().unwrap();
    assert!((5.0..600.0).contains(&took), "{took}");
    assert!((0.0..60_000.0).contains(&told["p999_ms"].as_f64().unwrap()), "{told:#}");
    // The clock did hold: this run began an hour ahead, and what is started now is an hour behind.
    let began = told["started_at"].as_str().unwrap();
    assert!(!began.starts_with(here.trim()), "{began} is not ahead of {here}");
    assert_ne!(day(clock.held_by(Command::new("date"))), day(Command::new("date")));
}
