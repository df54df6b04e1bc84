//! What is known of a request while it is answered, and what the journal says of it in the end.

use std::{sync::Arc, time::Duration};

use mcp_loadtest_core::llm::{Ending, Entry, secret};
use tokio::time::Instant;

use super::{After, incoming::Asked};
use crate::llm::{desk::Desk, dialect, hash};

/// Longer bodies are not kept.
const LONGEST_BODY: usize = 64 << 10;

/// What is known of a request while it is answered.
pub(super) struct Asking {
    pub(super) entry: Entry,
    pub(super) keep_alive: bool,
    /// Who asks: what their key comes to.
    pub(super) client: u64,
    /// What the body comes to.
    pub(super) hash: u64,
    began: Instant,
    desk: Arc<Desk>,
}

/// What became of an answer.
#[derive(Debug)]
pub(super) struct Sent {
    /// Bytes of the body.
    pub(super) bytes: usize,
    pub(super) ending: Ending,
    pub(super) after: After,
    /// What was said before it ended too early.
    pub(super) said: String,
}

impl Sent {
    pub(super) fn new(bytes: usize, ending: Ending, after: After) -> Self {
        Self { bytes, ending, after, said: String::new() }
    }
}

impl Asking {
    pub(super) fn new(desk: &Arc<Desk>, asked: &Asked) -> Self {
        let key = key(asked);
        key.into_iter().for_each(|key| desk.look_at_key(key));
        let client = key.map_or(0, |key| hash(key.as_bytes()));
        let hash = hash(&asked.body);
        let entry = Entry {
            number: desk.number(),
            at_ms: milliseconds(desk.elapsed()),
            path: asked.path.clone(),
            provider: dialect::likely_provider(&asked.path),
            headers: headers(asked),
            body: body(&asked.body),
            body_hash: format!("{hash:016x}"),
            client: format!("{client:016x}"),
            // Unless something else becomes of it.
            ending: Ending::Broken,
            ..Entry::nothing()
        };
        let (desk, began) = (desk.clone(), Instant::now());
        Self { entry, keep_alive: asked.keep_alive, client, hash, began, desk }
    }

    /// Closes the entry. Where the socket failed, the client is gone.
    pub(super) fn end(mut self, sent: std::io::Result<Sent>) -> After {
        let gone = |_| Sent::new(0, Ending::Aborted, After::Closed);
        let Sent { bytes, ending, after, said } = sent.unwrap_or_else(gone);
        self.entry.bytes_sent = bytes as u64;
        self.entry.ending = ending;
        self.entry.said = said;
        after
    }
}

impl Drop for Asking {
    /// However a request ends, it is in the journal: the server may stop in the middle of it.
    fn drop(&mut self) {
        self.entry.took_ms = milliseconds(self.began.elapsed());
        self.desk.journal().add(&self.entry);
    }
}

/// The headers that carry a key.
const KEYS: [&str; 3] = ["authorization", "x-api-key", "x-goog-api-key"];
/// Others that nobody should read.
const SECRETS: [&str; 2] = ["cookie", "proxy-authorization"];

/// No key is shorter than this.
const SHORTEST_KEY: usize = 16;

fn key(asked: &Asked) -> Option<&str> {
    let mut headers = asked.headers.iter();
    headers.find(|(name, _)| KEYS.contains(&name.as_str())).map(|(_, value)| value.as_str())
}

fn headers(asked: &Asked) -> Vec<(String, String)> {
    let is_secret = |name: &str| KEYS.contains(&name) || SECRETS.contains(&name);
    let mask = |(name, value): &(String, String)| match is_secret(name) {
        true => (name.clone(), secret::MASK.to_owned()),
        // Shorter values hold no key.
        false if value.len() < SHORTEST_KEY => (name.clone(), value.clone()),
        false => (name.clone(), secret::masked(value).into_owned()),
    };
    asked.headers.iter().map(mask).collect()
}

fn body(bytes: &[u8]) -> String {
    match std::str::from_utf8(bytes) {
        Ok(text) if text.len() <= LONGEST_BODY => secret::masked(text).into_owned(),
        _ => String::new(),
    }
}

fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}
