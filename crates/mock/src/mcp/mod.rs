//! What the mock says, without a socket: messages in, replies out, in both eras.
//!
//! | file      | what it does                                                         |
//! |-----------|----------------------------------------------------------------------|
//! | `request` | reads a message and finds the era that it claims                     |
//! | `handler` | answers a request by its era and method, or wedges                   |
//! | `legacy`  | the results that only the handshake era has                          |
//! | `modern`  | the results that only the stateless era has                          |
//! | `tools`   | the tools, one file each                                             |
//! | `refusal` | why a request is not served, and the codes for it                    |
//! | `write`   | frames                                                               |
//!
//! To add a method: an arm in `handler` and its result beside the era that has it.

pub(crate) mod handler;
mod legacy;
pub(crate) mod modern;
pub(crate) mod refusal;
pub(crate) mod request;
mod tools;
pub(crate) mod write;

use serde::Serialize;

/// Who the mock says it is.
#[derive(Debug, Serialize)]
struct ServerInfo {
    name: &'static str,
    version: &'static str,
}

const SERVER_INFO: ServerInfo =
    ServerInfo { name: env!("CARGO_PKG_NAME"), version: env!("CARGO_PKG_VERSION") };

/// What the mock offers: tools, in a list that never changes.
#[derive(Debug, Serialize)]
struct Capabilities {
    tools: Empty,
}

#[derive(Debug, Serialize)]
struct Empty {}

const CAPABILITIES: Capabilities = Capabilities { tools: Empty {} };
