//! How many processes may run: each session over pipes is at least one.

use super::{
    super::{Check, Found, scene::Scene},
    bounds::Bounds,
};
use crate::error::CliError;

const BOUNDS: Bounds = Bounds { few: 1024, too_few: 64 };

pub(super) const ENTRY: Check = Check {
    id: "processes",
    about: "the limit of processes and threads, which bounds servers over pipes",
    run,
};

fn run(scene: &Scene<'_>) -> Result<Vec<Found>, CliError> {
    let fix = "raise it: `ulimit -u 8192`, `TasksMax=8192` of a service, `--pids-limit 8192` of a \
               container";
    Ok(BOUNDS.judge(scene.processes, |limit| format!("{limit} processes and threads"), fix))
}
