//! What is known of a request while it is answered, and what the journal says of it in the end.

use std::{
    ops::{Deref, DerefMut},
    sync::Arc,
    time::Duration,
};

use mcp_loadtest_core::llm::Ending;
use tokio::time::Instant;

use super::{After, incoming::Asked};
use crate::llm::{desk::Desk, dialect, hash, record::Record};

/// What is known of a request while it is answered.
pub(super) struct Asking {
    /// Until the end; then the journal has it.
    record: Option<Record>,
    pub(super) keep_alive: bool,
    began: Instant,
    at: Duration,
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
    /// Whether that ends where a text of the answer ends.
    pub(super) said_whole: bool,
}

impl Sent {
    pub(super) fn new(bytes: usize, ending: Ending, after: After) -> Self {
        Self { bytes, ending, after, said: String::new(), said_whole: false }
    }
}

impl Asking {
    pub(super) fn new(desk: &Arc<Desk>, asked: &mut Asked) -> Self {
        let began = Instant::now();
        let at = desk.at(began);
        let client = asked.key.as_deref().map_or(0, |key| {
            desk.look_at_key(key);
            hash(key.as_bytes())
        });
        let body = std::mem::take(&mut asked.body);
        let record = Record {
            number: desk.number(),
            at_ms: milliseconds(at),
            took_ms: 0.0,
            head: std::mem::take(&mut asked.head),
            hash: hash(&body),
            body,
            provider: dialect::likely_provider(&asked.path),
            model: String::new(),
            stream: false,
            client,
            fixture: None,
            status: 200,
            retry_after_ms: None,
            should_retry: None,
            faults: Vec::new(),
            seed: 0,
            bytes_sent: 0,
            said: String::new(),
            said_whole: false,
            // Unless something else becomes of it: only a server that stops drops what is under way.
            ending: Ending::Stopped,
        };
        let (record, keep_alive) = (Some(record), asked.keep_alive);
        Self { record, keep_alive, began, at, desk: desk.clone() }
    }

    /// When it came, since the start of the server.
    pub(super) const fn at(&self) -> Duration {
        self.at
    }

    /// Notes what became of the answer. Where the socket failed, the client is gone.
    pub(super) fn answered(&mut self, sent: std::io::Result<Sent>) -> After {
        let gone = |_| Sent::new(0, Ending::Aborted, After::Closed);
        let Sent { bytes, ending, after, said, said_whole } = sent.unwrap_or_else(gone);
        self.bytes_sent = bytes;
        self.ending = ending;
        self.said = said;
        self.said_whole = said_whole;
        after
    }
}

impl Deref for Asking {
    type Target = Record;

    #[expect(clippy::expect_used, reason = "it is taken when this is dropped, and not before")]
    fn deref(&self) -> &Record {
        self.record.as_ref().expect("the record of a request that is not over")
    }
}

impl DerefMut for Asking {
    #[expect(clippy::expect_used, reason = "it is taken when this is dropped, and not before")]
    fn deref_mut(&mut self) -> &mut Record {
        self.record.as_mut().expect("the record of a request that is not over")
    }
}

impl Drop for Asking {
    /// However a request ends, it is in the journal: the server may stop in the middle of it.
    fn drop(&mut self) {
        if let Some(mut record) = self.record.take() {
            record.took_ms = milliseconds(self.began.elapsed());
            self.desk.journal().add(record);
        }
    }
}

fn milliseconds(time: Duration) -> f64 {
    (time.as_secs_f64() * 1e6).round() / 1e3
}
