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

/// A proxy with this fault in front of a server; where it listens.
async fn start(url: &str, transport: TransportName, fault: &str, audit: Audit) -> SocketAddr {
    let listen = "127.0.0.1:0".parse().unwrap();
    let proxy = Proxy::new().faults([fault.parse().unwrap()]).audit(audit);
    let bound = proxy.bind(listen, &Address::new(url), transport).await.unwrap();
    let address = bound.url().split('/').nth(2).unwrap().parse().unwrap();
    tokio::spawn(bound.serve());
    address
}
