//! The clocks: a wrong date makes certificates invalid and runs sort wrongly; a coarse step makes
//! short calls look like none.

use std::time::{Duration, SystemTime};

use mcp_loadtest::History;
use mcp_loadtest_core::{
    doctor::{Health, Seen},
    units::{format_latency, format_utc},
};

use super::super::{Check, Found, scene::Scene};
use crate::error::CliError;

/// 2025-11-25, the day of a revision that this program speaks: no clock can be right that is before it.
const EARLIEST: Duration = Duration::from_secs(1_764_028_800);
/// A step longer than this is as long as a call.
const COARSE: Duration = Duration::from_millis(1);
/// A run that began later than now by this much was not just started by somebody else.
const SLACK: Duration = Duration::from_secs(5);

pub(super) const ENTRY: Check =
    Check { id: "clock", about: "the date, and the step of the clock that measures calls", run };

fn run(scene: &Scene<'_>) -> Result<Vec<Found>, CliError> {
    let mut found = vec![date(scene.now).into(), step(scene.tick).into()];
    let last = History::of(&scene.runs).runs()?.into_iter().next();
    if let Some(run) = last.filter(|run| run.summary.started_at > format_utc(scene.now + SLACK)) {
        let what = format!(
            "{} began at {}, which is later than now",
            run.dir.display(),
            run.summary.started_at
        );
        let fix = "set the clock; until then `--baseline last` takes that run for the latest";
        found.push(Seen::new(Health::Warning, what).fix(fix).into());
    }
    Ok(found)
}

fn date(now: SystemTime) -> Seen {
    let what = format!("it is {}", format_utc(now));
    match now.duration_since(SystemTime::UNIX_EPOCH) {
        Ok(since) if since >= EARLIEST => Seen::new(Health::Ok, what),
        _ => Seen::new(Health::Failed, format!("{what}, which is before this program was made"))
            .fix("set the clock, for example with `timedatectl set-ntp true`"),
    }
}

fn step(tick: Duration) -> Seen {
    let what = format!("calls are measured in steps of {}", format_latency(tick));
    if tick <= COARSE && !tick.is_zero() {
        return Seen::new(Health::Ok, what);
    }
    Seen::new(Health::Warning, what)
        .fix("choose another clock source of the system or of the virtual machine")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_date_and_a_coarse_step_are_seen() {
        let at = |seconds| SystemTime::UNIX_EPOCH + Duration::from_secs(seconds);
        assert_eq!(date(at(0)).health, Health::Failed);
        assert_eq!(date(at(1_790_000_000)).health, Health::Ok);
        assert_eq!(step(Duration::from_millis(15)).health, Health::Warning);
        assert_eq!(step(Duration::from_nanos(40)).health, Health::Ok);
    }

    #[test]
    fn a_run_from_the_future_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let var: crate::env::Lookup = Box::new(|_| None);
        let mut scene = Scene::healthy(dir.path(), &var);
        super::super::runs::tests::finished(&scene.runs, "2026-09-22T00:00:00Z");
        assert_eq!(run(&scene).unwrap().len(), 3);
        scene.now += Duration::from_secs(86_400 * 30);
        assert_eq!(run(&scene).unwrap().len(), 2);
    }
}
