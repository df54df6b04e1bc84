//! What each client asked and got, in the order in which it ended.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use mcp_loadtest_core::llm::Provider;

/// The journal keeps this many and forgets the oldest.
const MOST_ENTRIES: usize = 100_000;

/// One request and what became of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Entry {
    /// Requests are counted from 1, in the order in which they came.
    pub number: u64,
    /// When it came, in milliseconds since the start.
    pub at_ms: f64,
    /// How long it took until the last byte was sent, or the connection was gone.
    pub took_ms: f64,
    /// The path.
    pub path: String,
    /// Whose API it was.
    pub provider: Provider,
    /// The model that was asked for.
    pub model: String,
    /// Whether the answer came piece by piece.
    pub stream: bool,
    /// The headers; keys are masked.
    pub headers: Vec<(String, String)>,
    /// What the body comes to: equal bodies have equal hashes.
    pub body_hash: String,
    /// Who asked: what their API key comes to.
    pub client: String,
    /// The fixture that answered, by its name or its number from 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fixture: Option<String>,
    /// The status.
    pub status: u16,
    /// How long the client was told to wait.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub retry_after_ms: Option<u64>,
    /// What went wrong on purpose.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub faults: Vec<String>,
    /// What chances came from.
    pub seed: u64,
    /// Bytes of the body that were sent.
    pub bytes_sent: u64,
    /// Whether the client got all that it should have got.
    pub complete: bool,
    /// Whether the client hung up before.
    pub aborted_by_client: bool,
}

/// What each client asked and got.
#[derive(Debug, Default)]
pub struct Journal {
    entries: Mutex<VecDeque<Entry>>,
}

impl Journal {
    pub(super) fn add(&self, entry: Entry) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.len() == MOST_ENTRIES {
            entries.pop_front();
        }
        entries.push_back(entry);
    }

    /// All of them.
    pub fn entries(&self) -> Vec<Entry> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner).iter().cloned().collect()
    }

    /// Forgets them.
    pub fn clear(&self) {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
