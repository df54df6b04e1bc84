//! What all connections share: the fixtures in force, the limits and the journal.

use std::{
    sync::{
        Arc, PoisonError, RwLock,
        atomic::{AtomicU64, Ordering},
    },
    time::{Duration, Instant},
};

use mcp_loadtest_core::{
    llm::{Book, Chaos, Limits},
    seed::Seed,
};

use super::{journal::Journal, limits::Buckets};

/// What all connections share.
#[derive(Debug)]
pub struct Desk {
    book: RwLock<Arc<Book>>,
    pub(super) buckets: Buckets,
    journal: Journal,
    seed: Seed,
    requests: AtomicU64,
    chaotic: AtomicU64,
    started: Instant,
}

impl Desk {
    pub(super) fn new(book: Book, limits: Limits, seed: Seed) -> Self {
        Self {
            book: RwLock::new(Arc::new(book)),
            buckets: Buckets::new(limits),
            journal: Journal::default(),
            seed,
            requests: AtomicU64::new(0),
            chaotic: AtomicU64::new(0),
            started: Instant::now(),
        }
    }

    /// The fixtures in force. A request keeps those that it began with.
    pub fn book(&self) -> Arc<Book> {
        self.book.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Puts other fixtures in force.
    pub fn replace(&self, book: Book) {
        *self.book.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(book);
    }

    /// What each client asked and got.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// The time since the start.
    pub(super) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// The number of a new request.
    pub(super) fn number(&self) -> u64 {
        self.requests.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Where the chances of a request come from. Only requests that leave something to chance are
    /// counted.
    pub(super) fn chaos(&self, is_chaotic: bool) -> Chaos {
        let counter = if is_chaotic { self.chaotic.fetch_add(1, Ordering::Relaxed) } else { 0 };
        Chaos { server: self.seed, counter }
    }
}
