//! What earlier runs left behind.

use mcp_loadtest::{History, Unfinished, UnfinishedRun};
use mcp_loadtest_core::{
    doctor::{Health, Seen},
    units::format_size,
};

use super::super::{Check, Found, scene::Scene};
use crate::error::CliError;

/// As many runs take a while to list, and nobody reads them.
const MANY: usize = 500;
/// As many unfinished ones are told one by one.
const TOLD: usize = 10;

pub(super) const ENTRY: Check = Check {
    id: "runs",
    about: "runs that were killed half-way or ended with an error, and how many there are",
    run,
};

fn run(scene: &Scene<'_>) -> Result<Vec<Found>, CliError> {
    let history = History::of(&scene.runs);
    let (finished, unfinished) = (history.runs()?.len(), history.unfinished()?);
    let dir = scene.runs.display();
    let what = format!("{finished} finished runs in {dir}");
    let mut found = vec![Found::from(match finished {
        MANY.. => Seen::new(Health::Warning, what)
            .fix("delete the oldest: their directories begin with the date"),
        _ => Seen::new(Health::Ok, what),
    })];
    let more = unfinished.len().saturating_sub(TOLD);
    found.extend(unfinished.into_iter().take(TOLD).map(told));
    if more > 0 {
        let what = format!("and {more} more without a report");
        found.push(Seen::new(Health::Warning, what).fix("deal with these, and ask again").into());
    }
    Ok(found)
}

fn told(run: UnfinishedRun) -> Found {
    let dir = run.dir.display().to_string();
    match (run.state, run.recorded) {
        (Unfinished::GoesOn, _) => Seen::new(Health::Ok, format!("{dir} goes on")).into(),
        (Unfinished::Killed, 0) => Found {
            seen: Seen::new(Health::Warning, format!("{dir} was killed and recorded nothing"))
                .fix(format!("delete it; `--fix` does: {dir}")),
            remedy: Some(Box::new(move || {
                History::remove_empty(&run).map_err(|error| error.to_string())?;
                Ok(format!("removed {dir}"))
            })),
        },
        (Unfinished::Killed, bytes) => {
            let what = format!("{dir} was killed half-way ({} recorded)", format_size(bytes));
            let fix = format!("read it with `mcp-loadtest report {dir}`, then delete it");
            Seen::new(Health::Warning, what).fix(fix).into()
        }
        (Unfinished::Failed, _) => {
            let what = format!("{dir} ended without a report");
            let fix = "its `trace.jsonl` and `server.stderr.log` say why; then delete it";
            Seen::new(Health::Warning, what).fix(fix).into()
        }
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::{fs, path::Path};

    use super::*;
    use crate::env::Lookup;

    /// A run that began at this time and came to its end.
    pub(in super::super) fn finished(runs: &Path, started_at: &str) {
        let dir = runs.join(started_at.replace(':', "-"));
        fs::create_dir_all(&dir).unwrap();
        let summary = serde_json::json!({
            "schema": "mcp-loadtest/summary/v1", "run_id": "01", "passed": true, "verdict": "PASS",
            "exit_code": 0, "scenario": "sustained", "server": "x", "revision": null, "requests": 1,
            "ok": 1, "errors": 0, "error_rate": 0.0, "requests_per_sec": 1.0, "p50_ms": 1.0,
            "p95_ms": 1.0, "p99_ms": 1.0, "p999_ms": 1.0, "deadlock_count": 0, "hang_count": 0,
            "threshold_violations": [], "findings": [], "duration_secs": 1.0,
            "started_at": started_at, "run_dir": null, "seed": 0,
        });
        fs::write(dir.join("summary.json"), summary.to_string()).unwrap();
    }

    /// What a run that was killed leaves behind.
    fn killed(runs: &Path, name: &str, trace: &str) {
        let dir = runs.join(name);
        fs::create_dir_all(&dir).unwrap();
        for (file, text) in [
            ("config.toml", ""),
            ("server.stdout.log", ""),
            ("server.stderr.log", ""),
            (".running", ""),
            ("trace.jsonl", trace),
        ] {
            fs::write(dir.join(file), text).unwrap();
        }
    }

    #[test]
    fn killed_runs_are_told_and_only_empty_ones_can_be_mended() {
        let dir = tempfile::tempdir().unwrap();
        let var: Lookup = Box::new(|_| None);
        let scene = Scene::healthy(dir.path(), &var);
        assert_eq!(run(&scene).unwrap()[0].seen.health, Health::Ok);
        finished(&scene.runs, "2026-01-01T00:00:00Z");
        killed(&scene.runs, "a", "");
        killed(&scene.runs, "b", "{}\n");
        let mut found = run(&scene).unwrap();
        assert!(found[0].seen.what.starts_with("1 finished"), "{}", found[0].seen.what);
        assert!(found[1].seen.what.contains("recorded nothing"), "{}", found[1].seen.what);
        assert!(found[2].seen.what.contains("half-way") && found[2].remedy.is_none());
        let done = found.remove(1).remedy.unwrap()().unwrap();
        assert!(done.starts_with("removed "), "{done}");
        assert!(!scene.runs.join("a").exists() && scene.runs.join("b").exists());
    }

    #[test]
    fn a_great_many_runs_are_told() {
        let dir = tempfile::tempdir().unwrap();
        let var: Lookup = Box::new(|_| None);
        let scene = Scene::healthy(dir.path(), &var);
        for number in 0..MANY {
            finished(&scene.runs, &format!("2026-01-01T00:00:{number}Z"));
        }
        assert_eq!(run(&scene).unwrap()[0].seen.health, Health::Warning);
    }
}
