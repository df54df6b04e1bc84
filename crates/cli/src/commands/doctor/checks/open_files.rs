//! How many files, and so how many pipes and connections, may be open at once.

use mcp_loadtest_core::doctor::{Health, Seen};

use super::super::{Check, Found, scene::Scene};
use crate::{error::CliError, limits::Limit};

/// A server over pipes takes three, and its watcher one more.
const OF_A_SERVER: u64 = 4;
/// What we need for ourselves.
const OURS: u64 = 64;
const FEW: u64 = 4096;
const TOO_FEW: u64 = 256;

pub(super) const ENTRY: Check = Check {
    id: "open_files",
    about: "the limit of open files, which bounds connections and servers over pipes",
    run,
};

fn run(scene: &Scene<'_>) -> Result<Vec<Found>, CliError> {
    let Limit::At(limit) = scene.open_files else {
        return Ok(vec![Seen::new(Health::Ok, "no limit").into()]);
    };
    let sessions = limit.saturating_sub(OURS);
    let what = format!(
        "{limit} open files: about {sessions} connections, or {} servers over pipes",
        sessions / OF_A_SERVER
    );
    let health = match limit {
        FEW.. => return Ok(vec![Seen::new(Health::Ok, what).into()]),
        TOO_FEW.. => Health::Warning,
        _ => Health::Failed,
    };
    let fix = "raise the hard limit: `ulimit -Hn 65536` as root, `LimitNOFILE=65536` of a service, \
               `--ulimit nofile=65536` of a container";
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
            scene.open_files = limit;
            run(&scene).unwrap().remove(0).seen.health
        };
        assert_eq!(health(Limit::At(100)), Health::Failed);
        assert_eq!(health(Limit::At(1024)), Health::Warning);
        assert_eq!(health(Limit::At(65_536)), Health::Ok);
        assert_eq!(health(Limit::None), Health::Ok);
    }
}
