//! What a host stands for, looked up once: the run connects to what was found harmless here, and to
//! nothing that a later look-up would give.

use std::{io, net::IpAddr, time::Duration};

use mcp_loadtest_core::{display::visible, reach::not_public, server::Server};

use super::allow::{Admitted, AllowedHost, pinned};
use crate::error::CliError;

/// How long a look-up may take.
const LOOKUP_LIMIT: Duration = Duration::from_secs(10);

/// The server that a call may test, with its addresses where it is reached by a URL.
pub(crate) async fn settle(admitted: Admitted) -> Result<Server, CliError> {
    let (url, host, port, rule) = match admitted {
        Admitted::Server(server) => return Ok(*server),
        Admitted::Url { url, host, port, rule } => (url, host, port, rule),
    };
    let found = match rule.at.or(rule.literal()) {
        Some(address) => vec![address],
        None => look_up(&host, port).await.map_err(|error| {
            CliError::usage(
                format!("`{}` cannot be looked up: {error}", visible(&host, 200)),
                "check the name; the operator may say where it is with --allow-host NAME=ADDRESS",
            )
        })?,
    };
    Ok(pinned(&url, harmless(&rule, found)?))
}

async fn look_up(host: &str, port: u16) -> io::Result<Vec<IpAddr>> {
    let found = tokio::time::timeout(LOOKUP_LIMIT, tokio::net::lookup_host((host, port))).await;
    let found = found.map_err(|_| io::Error::other("there is no answer"))??;
    Ok(found.map(|address| address.ip()).collect())
}

/// The addresses, if a name may lead to all of them: one that leads into somebody's own network is
/// taken only where the operator named the address itself.
fn harmless(rule: &AllowedHost, found: Vec<IpAddr>) -> Result<Vec<IpAddr>, CliError> {
    let is_named = |address: &IpAddr| rule.at.or(rule.literal()) == Some(*address);
    let is_meant = |address: &IpAddr| rule.is_localhost() && address.is_loopback();
    for address in &found {
        if is_named(address) || is_meant(address) {
            continue;
        }
        if let Some(why) = not_public(*address) {
            return Err(CliError::usage(
                format!("`{rule}` is not reached: it stands for {address}, which is {why}"),
                format!("the operator allows that with --allow-host {rule}={address}"),
            ));
        }
    }
    if found.is_empty() {
        return Err(CliError::usage(format!("`{rule}` stands for no address"), "check the name"));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judged(rule: &str, found: &[&str]) -> Result<Vec<IpAddr>, CliError> {
        let found = found.iter().map(|address| address.parse().unwrap()).collect();
        harmless(&rule.parse().unwrap(), found)
    }

    #[test]
    fn a_name_may_not_lead_into_ones_own_network() {
        for found in ["127.0.0.1", "10.0.0.1", "169.254.169.254", "::1", "::ffff:10.0.0.1"] {
            let refused = judged("api.example.com", &["1.1.1.1", found]).unwrap_err();
            assert!(refused.to_string().contains("not reached"), "{refused}");
        }
        assert_eq!(judged("api.example.com", &["1.1.1.1", "8.8.8.8"]).unwrap().len(), 2);
        assert!(judged("api.example.com", &[]).is_err());
    }

    #[test]
    fn what_the_operator_named_itself_is_taken() {
        judged("127.0.0.1:3000", &["127.0.0.1"]).unwrap();
        judged("staging.test=10.1.2.3", &["10.1.2.3"]).unwrap();
        judged("localhost", &["127.0.0.1", "::1"]).unwrap();
        assert!(judged("localhost", &["10.0.0.1"]).is_err());
    }

    #[tokio::test]
    async fn the_run_gets_the_addresses_that_were_judged() {
        let rule: AllowedHost = "nowhere.invalid=10.1.2.3".parse().unwrap();
        let (url, host) = ("ws://nowhere.invalid/x".to_owned(), "nowhere.invalid".to_owned());
        let server = settle(Admitted::Url { url, host, port: 80, rule }).await.unwrap();
        assert_eq!(server.addresses, ["10.1.2.3".parse::<IpAddr>().unwrap()]);
        assert_eq!(server.transport.name(), "ws");
    }

    /// `getaddrinfo` reads old ways to write an address; we do not.
    #[tokio::test]
    async fn a_name_that_hides_an_address_is_looked_through() {
        let rule: AllowedHost = "0x7f.1".parse().unwrap();
        let (url, host) = ("http://0x7f.1:9/".to_owned(), "0x7f.1".to_owned());
        let refused = settle(Admitted::Url { url, host, port: 9, rule }).await.unwrap_err();
        assert!(refused.to_string().contains("127.0.0.1, which is this machine"), "{refused}");
    }
}
