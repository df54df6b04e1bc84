//! The proxy between a client and a server that both hide nothing.
//!
//! | file    | what is seen                                                |
//! |---------|-------------------------------------------------------------|
//! | `stdio` | what reaches a server behind pipes                          |
//! | `rows`  | what is written down about calls over HTTP                  |
//! | `order` | in which order replies arrive over HTTP+SSE                 |

mod order;
mod rows;
mod stdio;

use std::net::SocketAddr;

use mcp_loadtest_core::config::TransportName;
use mcp_loadtest_mock::{audit::Audit, proxy::Proxy};
use mcp_loadtest_wire::session::Address;
use tokio::{io::AsyncReadExt as _, net::TcpStream};

/// How requests end that have no body.
const HEAD: &[&[u8]] = &[b"\r\n\r\n"];
/// How bodies end: each has but one line.
const BODY: &[&[u8]] = &[b"}", b"]"];

/// A proxy with these faults in front of a server; where it listens.
async fn start(url: &str, transport: TransportName, faults: &[&str], audit: Audit) -> SocketAddr {
    let listen = "127.0.0.1:0".parse().unwrap();
    let faults = faults.iter().map(|fault| fault.parse().unwrap());
    let proxy = Proxy::new().faults(faults).audit(audit);
    let bound = proxy.bind(listen, &Address::new(url), transport).await.unwrap();
    let address = bound.url().split('/').nth(2).unwrap().parse().unwrap();
    tokio::spawn(bound.serve());
    address
}

/// Reads until what was said has one of these ends; whether it came to that.
async fn hear(stream: &mut TcpStream, ends: &[&[u8]]) -> bool {
    let mut said: Vec<u8> = Vec::new();
    while !ends.iter().any(|end| said.ends_with(end)) {
        if stream.read_buf(&mut said).await.unwrap_or(0) == 0 {
            return false;
        }
    }
    true
}
