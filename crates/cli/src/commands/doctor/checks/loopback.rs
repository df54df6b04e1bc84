//! Can anything listen on this machine, and be reached? Mocks, proxies and servers behind an address
//! need both.

use std::{
    io,
    net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, TcpListener, TcpStream},
    time::Duration,
};

use mcp_loadtest_core::doctor::{Health, Seen};

use super::super::{Check, Found, scene::Scene};
use crate::error::CliError;

/// A connection to ourselves that takes longer is none.
const PATIENCE: Duration = Duration::from_secs(5);

pub(super) const ENTRY: Check =
    Check { id: "loopback", about: "listening on 127.0.0.1 and connecting to it", run };

fn run(_scene: &Scene<'_>) -> Result<Vec<Found>, CliError> {
    let addresses = [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
    Ok(addresses.into_iter().filter_map(|address| seen(address, reach)).map(Found::from).collect())
}

/// Nothing for a machine without IPv6, which nobody needs.
fn seen(address: IpAddr, reach: fn(IpAddr) -> io::Result<()>) -> Option<Seen> {
    let error = match reach(address) {
        Ok(()) => {
            let what = format!("the address {address} can be listened on and reached");
            return Some(Seen::new(Health::Ok, what));
        }
        Err(error) if address.is_ipv6() && error.kind() == io::ErrorKind::AddrNotAvailable => {
            return None;
        }
        Err(error) => error,
    };
    let health = if address.is_ipv6() { Health::Warning } else { Health::Failed };
    Some(Seen::new(health, format!("the address {address} cannot be used: {error}")).fix(
        "bring the loopback interface up (`ip link set lo up`), and let a firewall or sandbox \
         allow it",
    ))
}

fn reach(address: IpAddr) -> io::Result<()> {
    let listener = TcpListener::bind(SocketAddr::new(address, 0))?;
    TcpStream::connect_timeout(&listener.local_addr()?, PATIENCE).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_reached_fails_and_a_machine_without_ipv6_is_healthy() {
        let (four, six) = (Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into());
        let refused: fn(IpAddr) -> io::Result<()> = |_| Err(io::ErrorKind::PermissionDenied.into());
        let absent: fn(IpAddr) -> io::Result<()> = |_| Err(io::ErrorKind::AddrNotAvailable.into());
        let health = |address, reach| seen(address, reach).map(|seen| seen.health);
        assert_eq!(health(four, refused), Some(Health::Failed));
        assert_eq!(health(four, absent), Some(Health::Failed));
        assert_eq!(health(six, refused), Some(Health::Warning));
        assert_eq!(health(six, absent), None);
        assert_eq!(health(four, reach), Some(Health::Ok));
    }
}
