//! Who may ask. A web page must not reach the mock through the browser of the person who runs it:
//! not from its own origin, and not under a name of its own that resolves to this machine.

use std::net::IpAddr;

use super::{
    head::{Head, Line},
    response::{Response, status},
};

/// Lets only this machine ask, under a name of this machine.
pub(super) fn check(head: &Head<'_>) -> Result<(), Response> {
    let Some(host) = head.get(Line::Host) else {
        return Err(Response::refuse(status::BAD_REQUEST, "the header `Host` is missing"));
    };
    if !is_loopback(host) {
        return Err(Response::refuse(status::FORBIDDEN, "`Host` does not name this machine"));
    }
    match head.get(Line::Origin) {
        Some(origin) if !is_local_origin(origin) => {
            Err(Response::refuse(status::FORBIDDEN, "`Origin` is not this machine"))
        }
        _ => Ok(()),
    }
}

/// Whether a page of this origin is of this machine.
pub fn is_local_origin(origin: &str) -> bool {
    let rest = ["http://", "https://"].iter().find_map(|scheme| origin.strip_prefix(scheme));
    rest.is_some_and(is_loopback)
}

/// Whether `host` or `host:port` is this machine. Any port will do: it may have been forwarded.
pub fn is_loopback(authority: &str) -> bool {
    // The part in brackets may hold colons; the one before a port may not.
    let (name, port) = match authority.strip_prefix('[') {
        Some(rest) => match rest.split_once(']') {
            Some((name, "")) => (name, None),
            Some((name, port)) => (name, port.strip_prefix(':').or(Some("no port"))),
            None => return false,
        },
        None => match authority.split_once(':') {
            Some((name, port)) => (name, Some(port)),
            None => (authority, None),
        },
    };
    let port_is_number = port.is_none_or(|port| port.parse::<u16>().is_ok());
    let is_local = name.eq_ignore_ascii_case("localhost")
        || name.parse::<IpAddr>().is_ok_and(|address| address.is_loopback());
    is_local && port_is_number
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_this_machine_are_known() {
        for good in [
            "127.0.0.1",
            "127.0.0.1:80",
            "localhost:3000",
            "LOCALHOST",
            "[::1]",
            "[::1]:80",
            "127.9.9.9:1",
        ] {
            assert!(is_loopback(good), "{good}");
            assert!(is_local_origin(&format!("http://{good}")), "{good}");
        }
    }

    #[test]
    fn other_names_are_not_let_in() {
        for bad in [
            "",
            "evil.example",
            "evil.example:80",
            "localhost.evil.example",
            "127.0.0.1.evil.example",
            "0.0.0.0",
            "192.168.0.1:80",
            "[::2]:80",
            "[::1",
            "[::1]80",
            "localhost:",
            "localhost:80/x",
            "localhost@evil.example",
            "evil.example@localhost",
        ] {
            assert!(!is_loopback(bad), "{bad}");
        }
        for bad in
            ["null", "localhost", "file://localhost", "http://localhost/", "https://evil.example"]
        {
            assert!(!is_local_origin(bad), "{bad}");
        }
    }
}
