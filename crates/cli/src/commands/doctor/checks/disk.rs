//! Is there room for runs, and may they be written?

use mcp_loadtest_core::{
    doctor::{Health, Seen},
    units::format_size,
};

use super::super::{
    Check, Found,
    scene::{Scene, existing},
};
use crate::{error::CliError, limits::is_writable};

/// A long run with `--trace full` writes gigabytes.
const LITTLE: u64 = 1 << 30;
const TOO_LITTLE: u64 = 100 << 20;

pub(super) const ENTRY: Check = Check {
    id: "disk",
    about: "free space where runs are written, and the right to write there",
    run,
};

fn run(scene: &Scene<'_>) -> Result<Vec<Found>, CliError> {
    let dir = existing(&scene.runs);
    let mut found = vec![space(scene.free, &dir.display().to_string()).into()];
    if is_writable(dir) == Some(false) {
        let seen = Seen::new(Health::Failed, format!("{} cannot be written", dir.display()));
        found.push(seen.fix("choose another directory with `--output-dir`").into());
    }
    Ok(found)
}

fn space(free: Option<u64>, dir: &str) -> Seen {
    let Some(free) = free else {
        let what = format!("this system does not tell how much is free in {dir}");
        return Seen::new(Health::CouldNotTell, what);
    };
    let what = format!("{} free in {dir}", format_size(free));
    let health = match free {
        LITTLE.. => return Seen::new(Health::Ok, what),
        TOO_LITTLE.. => Health::Warning,
        _ => Health::Failed,
    };
    Seen::new(health, what).fix(
        "delete old runs, write elsewhere with `--output-dir`, or keep less with `--trace errors`",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_disk_fails_and_a_large_one_is_silent() {
        assert_eq!(space(Some(1 << 20), "/x").health, Health::Failed);
        assert_eq!(space(Some(500 << 20), "/x").health, Health::Warning);
        assert_eq!(space(Some(50 << 30), "/x").health, Health::Ok);
        assert_eq!(space(None, "/x").health, Health::CouldNotTell);
    }

    #[cfg(unix)]
    #[test]
    fn a_directory_that_cannot_be_written_fails() {
        use std::os::unix::fs::PermissionsExt as _;
        let dir = tempfile::tempdir().unwrap();
        let var: crate::env::Lookup = Box::new(|_| None);
        let scene = Scene::healthy(dir.path(), &var);
        assert_eq!(run(&scene).unwrap().len(), 1);
        let writable = |may: bool| {
            let mode = std::fs::Permissions::from_mode(if may { 0o755 } else { 0o555 });
            std::fs::set_permissions(dir.path(), mode).unwrap();
        };
        writable(false);
        // Nothing stops the superuser.
        let is_root = is_writable(dir.path()) == Some(true);
        let found = run(&scene).unwrap();
        writable(true);
        assert!(is_root || found[1].seen.health == Health::Failed);
    }
}
