//! Windows has two worlds of native code, MSVC's and GNU's: is Rust's compiler of the same as we are?

use mcp_loadtest_core::{
    display::visible,
    doctor::{Health, Seen},
};
use mcp_loadtest_wire::process::find_program;

use super::{
    super::{Check, Found, scene::Scene},
    ask::said_by,
};
use crate::error::CliError;

pub(super) const ENTRY: Check = Check {
    id: "toolchain",
    about: "Windows: Rust's compiler builds for MSVC or GNU, as this program was built",
    run,
};

fn run(scene: &Scene<'_>) -> Result<Vec<Found>, CliError> {
    let Some(world) = scene.world else { return Ok(Vec::new()) };
    // Whoever has no compiler builds nothing.
    let Ok(path) = find_program("rustc", &|name| scene.os_var(name), &scene.cwd) else {
        return Ok(Vec::new());
    };
    Ok(vec![seen(world, &said_by(&path, "-vV")?).into()])
}

fn seen(world: &str, said: &Result<String, String>) -> Seen {
    let said = match said {
        Ok(said) => said,
        Err(why) => {
            return Seen::new(Health::Failed, format!("rustc is there but does not run: {why}"))
                .fix("run `rustc -vV` by hand; `rustup default stable` sets it up anew");
        }
    };
    let Some(host) = said.lines().find_map(|line| line.strip_prefix("host: ")) else {
        return Seen::new(Health::CouldNotTell, "rustc does not say what it builds for");
    };
    let host = visible(host.trim(), 80);
    match host.strip_suffix(&format!("-windows-{world}")) {
        Some(_) => Seen::new(Health::Ok, format!("rustc builds for {host}, as this program was")),
        None => {
            let what = format!(
                "rustc builds for {host}, this program was built for {world}: libraries in C of one \
                 cannot be linked with the other"
            );
            let machine = host.split('-').next().unwrap_or("x86_64");
            Seen::new(Health::Warning, what)
                .fix(format!("rustup set default-host {machine}-pc-windows-{world}"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(world: &str, host: &str) -> Seen {
        seen(world, &Ok(format!("rustc 1.90.0\nbinary: rustc\nhost: {host}\nrelease: 1.90.0\n")))
    }

    #[test]
    fn only_a_compiler_of_the_other_world_is_told() {
        for (world, host, health) in [
            ("msvc", "x86_64-pc-windows-msvc", Health::Ok),
            ("gnu", "x86_64-pc-windows-gnu", Health::Ok),
            ("msvc", "aarch64-pc-windows-gnu", Health::Warning),
            ("gnu", "x86_64-pc-windows-msvc", Health::Warning),
        ] {
            assert_eq!(of(world, host).health, health, "{world} {host}");
        }
        let seen = of("msvc", "aarch64-pc-windows-gnu");
        let fix = "rustup set default-host aarch64-pc-windows-msvc";
        assert_eq!(seen.fix.as_deref(), Some(fix));
    }

    #[test]
    fn a_compiler_that_says_nothing_of_use_is_not_called_good() {
        assert_eq!(seen("msvc", &Ok("rustc 1.90.0".into())).health, Health::CouldNotTell);
        assert_eq!(seen("msvc", &Err("it ended".into())).health, Health::Failed);
    }

    #[test]
    #[cfg(unix)]
    fn only_windows_has_two_worlds() {
        use std::{fs, os::unix::fs::PermissionsExt as _};

        use crate::env::Lookup;

        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("rustc");
        fs::write(&path, "#!/bin/sh\n[ \"$1\" = -vV ] && echo host: x86_64-pc-windows-gnu\n")
            .unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        let place = dir.path().display().to_string();
        let var: Lookup = Box::new(move |name| (name == "PATH").then(|| place.clone()));
        let mut scene = Scene::healthy(dir.path(), &var);
        assert!(run(&scene).unwrap().is_empty());
        scene.world = Some("msvc");
        assert_eq!(run(&scene).unwrap()[0].seen.health, Health::Warning);
        fs::remove_file(&path).unwrap();
        assert!(run(&scene).unwrap().is_empty(), "whoever has no compiler builds nothing");
    }
}
