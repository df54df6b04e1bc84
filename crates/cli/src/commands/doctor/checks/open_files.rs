//! How many files, and so how many pipes and connections, may be open at once.

use super::{
    super::{Check, Found, scene::Scene},
    bounds::Bounds,
};
use crate::error::CliError;

/// A server over pipes takes three, and its watcher one more.
const OF_A_SERVER: u64 = 4;
/// What we need for ourselves.
const OURS: u64 = 64;
const BOUNDS: Bounds = Bounds { few: 4096, too_few: 256 };

pub(super) const ENTRY: Check = Check {
    id: "open_files",
    about: "the limit of open files, which bounds connections and servers over pipes",
    run,
};

fn run(scene: &Scene<'_>) -> Result<Vec<Found>, CliError> {
    let say = |limit: u64| {
        let sessions = limit.saturating_sub(OURS);
        let servers = sessions / OF_A_SERVER;
        format!("{limit} open files: about {sessions} connections, or {servers} servers over pipes")
    };
    let fix = "raise the hard limit: `ulimit -Hn 65536` as root, `LimitNOFILE=65536` of a service, \
               `--ulimit nofile=65536` of a container";
    Ok(BOUNDS.judge(scene.open_files, say, fix))
}
