//! Where to listen, as people write it.

use std::net::SocketAddr;

/// Reads an address; a port alone is one of this machine.
pub(crate) fn parse_listen(text: &str) -> Result<SocketAddr, String> {
    let local = text.strip_prefix("localhost:").or_else(|| text.strip_prefix(':')).unwrap_or(text);
    if local.chars().all(|c| c.is_ascii_digit()) && !local.is_empty() {
        let port = local.parse().map_err(|_| "ports end at 65535".to_owned())?;
        return Ok(SocketAddr::from(([127, 0, 0, 1], port)));
    }
    text.parse().map_err(|_| {
        "no such address; write `127.0.0.1:8080`, or `127.0.0.1:0` for a port that is free".into()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_read_as_it_is_meant() {
        let local = |port| Ok(SocketAddr::from(([127, 0, 0, 1], port)));
        for (text, port) in [("8080", 8080), (":0", 0), ("localhost:81", 81), ("127.0.0.1:9", 9)] {
            assert_eq!(parse_listen(text), local(port), "{text}");
        }
        assert_eq!(parse_listen("[::1]:7"), Ok("[::1]:7".parse().unwrap()));
        assert!(parse_listen("99999").unwrap_err().contains("65535"));
        assert!(parse_listen("example").unwrap_err().contains("127.0.0.1:8080"));
    }
}
