//! What the mock says, without a socket: messages in, replies out, in both eras.
//!
//! | file      | what it does                                                         |
//! |-----------|----------------------------------------------------------------------|
//! | `request` | reads a message and finds the era that it claims                     |
//! | `batch`   | takes an array of messages apart and puts one together                |
//! | `legacy`  | the results that only the handshake era has                          |
//! | `modern`  | the results that only the stateless era has                          |
//! | `result`  | what a tool call comes to                                            |
//! | `refusal` | why a request is not served, and the codes for it                    |
//! | `write`   | frames                                                               |

pub(crate) mod batch;
pub(crate) mod legacy;
pub(crate) mod modern;
pub(crate) mod refusal;
pub(crate) mod request;
pub(crate) mod result;
pub(crate) mod write;

use serde::Serialize;
use serde_json::{Value, json};

/// Who the mock says it is.
#[derive(Debug, Clone, Serialize)]
pub(crate) struct ServerInfo {
    pub(crate) name: String,
    version: &'static str,
}

impl Default for ServerInfo {
    fn default() -> Self {
        Self { name: env!("CARGO_PKG_NAME").into(), version: env!("CARGO_PKG_VERSION") }
    }
}

/// What the mock offers. It may change its lists while it runs, and it takes every wish for logs.
pub(crate) fn capabilities() -> Value {
    json!({
        "tools": { "listChanged": true },
        "resources": { "subscribe": true, "listChanged": true },
        "prompts": { "listChanged": true },
        "completions": {},
        "logging": {},
    })
}
