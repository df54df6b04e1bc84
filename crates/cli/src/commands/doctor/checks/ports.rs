//! How many ports there are for connections from here: one that was closed rests for a minute.

use mcp_loadtest_core::doctor::{Health, Seen};

use super::super::{Check, Found, scene::Scene};
use crate::error::CliError;

const FEW: u32 = 10_000;
const TOO_FEW: u32 = 1_000;

pub(super) const ENTRY: Check =
    Check { id: "ports", about: "the range of ports for connections that we open", run };

fn run(scene: &Scene<'_>) -> Result<Vec<Found>, CliError> {
    let Some((first, last)) = scene.ports else {
        let seen = Seen::new(Health::CouldNotTell, "this system does not tell its range of ports");
        let fix = "look yourself: `sysctl net.inet.ip.portrange` on macOS, \
                   `netsh int ipv4 show dynamicport tcp` on Windows";
        return Ok(vec![seen.fix(fix).into()]);
    };
    let count = (u32::from(last) + 1).saturating_sub(u32::from(first));
    let what = format!("{count} ports for connections from here ({first} to {last})");
    let health = match count {
        FEW.. => return Ok(vec![Seen::new(Health::Ok, what).into()]),
        TOO_FEW.. => Health::Warning,
        _ => Health::Failed,
    };
    let fix = "widen it: `sysctl -w net.ipv4.ip_local_port_range=\"32768 60999\"` as root";
    Ok(vec![Seen::new(health, what).fix(fix).into()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::env::Lookup;

    #[test]
    fn a_narrow_range_is_seen_and_an_unknown_one_is_not_called_good() {
        let var: Lookup = Box::new(|_| None);
        let mut scene = Scene::healthy("/".as_ref(), &var);
        let mut health = |ports| {
            scene.ports = ports;
            run(&scene).unwrap().remove(0).seen.health
        };
        assert_eq!(health(Some((40_000, 40_100))), Health::Failed);
        assert_eq!(health(Some((60_999, 32_768))), Health::Failed);
        assert_eq!(health(Some((32_768, 37_768))), Health::Warning);
        assert_eq!(health(Some((1, 65_535))), Health::Ok);
        assert_eq!(health(None), Health::CouldNotTell);
    }
}
