//! How many processes may run: each session over pipes is at least one.

use mcp_loadtest_core::doctor::{Health, Seen};

use super::super::{Check, Found, scene::Scene};
use crate::{error::CliError, limits::Limit};

const FEW: u64 = 1024;
const TOO_FEW: u64 = 64;

pub(super) const ENTRY: Check = Check {
    id: "processes",
    about: "the limit of processes and threads, which bounds servers over pipes",
    run,
};

fn run(scene: &Scene<'_>) -> Result<Vec<Found>, CliError> {
    let Limit::At(limit) = scene.processes else {
        return Ok(vec![Seen::new(Health::Ok, "no limit").into()]);
    };
    let what = format!("{limit} processes and threads");
    let health = match limit {
        FEW.. => return Ok(vec![Seen::new(Health::Ok, what).into()]),
        TOO_FEW.. => Health::Warning,
        _ => Health::Failed,
    };
    let fix = "raise it: `ulimit -u 8192`, `TasksMax=8192` of a service, `--pids-limit 8192` of a \
               container";
    Ok(vec![Seen::new(health, what).fix(fix).into()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::Lookup;

    #[test]
    fn few_are_a_warning_and_very_few_fail() {
        let var: Lookup = Box::new(|_| None);
        let mut scene = Scene::healthy("/".as_ref(), &var);
        let mut health = |limit| {
            scene.processes = limit;
            run(&scene).unwrap().remove(0).seen.health
        };
        assert_eq!(health(Limit::At(20)), Health::Failed);
        assert_eq!(health(Limit::At(512)), Health::Warning);
        assert_eq!(health(Limit::At(8192)), Health::Ok);
        assert_eq!(health(Limit::None), Health::Ok);
    }
}
