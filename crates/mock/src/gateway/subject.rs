//! The gateway: how it is started and reached.

use std::io;

use mcp_loadtest_core::{secrets::masked_arguments, server::public_url};
use mcp_loadtest_wire::{
    process::{Host, Launch},
    session::{Address, Owner, Target},
};

/// What stands for the address of the server in the arguments of a gateway.
pub const UPSTREAM_PLACE: &str = "{upstream}";
/// The variable that holds that address, too.
pub const UPSTREAM_VARIABLE: &str = "MCP_LOADTEST_UPSTREAM";

/// The gateway that is checked.
#[derive(Debug, Clone)]
pub enum Subject {
    /// It is started for each session, and spoken with over its pipes.
    Pipes(Launch),
    /// It listens; it was told that its server is at this port of 127.0.0.1, path `/mcp`.
    Listening {
        /// Where it listens, and what every request to it carries.
        address: Address,
        /// Where its server is to be.
        upstream_port: u16,
        /// What starts it, if it does not run already.
        launch: Option<Launch>,
    },
}

impl Subject {
    /// The port that its server has to have; 0 is any.
    pub(super) fn upstream_port(&self) -> u16 {
        match self {
            Self::Pipes(_) => 0,
            Self::Listening { upstream_port, .. } => *upstream_port,
        }
    }

    /// Its command, or its address.
    pub(super) fn told(&self) -> String {
        match self {
            Self::Pipes(launch) => {
                let words = std::iter::once(launch.command.clone());
                words.chain(masked_arguments(&launch.args)).collect::<Vec<_>>().join(" ")
            }
            Self::Listening { address, .. } => public_url(&address.url),
        }
    }

    /// What the wire can open, once the address of the server is known.
    pub(super) fn target(self, upstream: &str) -> io::Result<Target> {
        Ok(match self {
            Self::Pipes(launch) => Target::Stdio(told_where(launch, upstream)),
            Self::Listening { mut address, launch, .. } => {
                if let Some(launch) = launch {
                    address.owner = Owner::Ours(Host::new(told_where(launch, upstream), None)?);
                }
                Target::Http(address)
            }
        })
    }
}

fn told_where(mut launch: Launch, upstream: &str) -> Launch {
    for argument in &mut launch.args {
        *argument = argument.replace(UPSTREAM_PLACE, upstream);
    }
    launch.env.insert(UPSTREAM_VARIABLE.into(), upstream.into());
    launch
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_of_the_server_is_told_in_two_ways() {
        let mut launch = Launch::new("gw");
        launch.args = vec!["--to={upstream}".into(), "-v".into()];
        let Target::Stdio(launch) = Subject::Pipes(launch).target("http://h/mcp").unwrap() else {
            panic!("over pipes");
        };
        assert_eq!(launch.args, ["--to=http://h/mcp", "-v"]);
        assert_eq!(launch.env[UPSTREAM_VARIABLE], "http://h/mcp");
    }
}
