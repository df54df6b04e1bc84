//! What all connections share: the fixtures in force, the limits and the journal.

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, PoisonError, RwLock,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    time::Duration,
};

use mcp_loadtest_core::{
    llm::{Book, Chaos, FixtureFile, Limits, Oauth, secret},
    seed::Seed,
};
use tokio::{sync::Notify, time::Instant};

use super::{journal::Journal, limits::Buckets, oauth::Issuer, serve::Recorder};

/// So many requests that no fixture answers are told.
const MOST_UNMATCHED: u64 = 5;

/// What all connections share.
#[derive(Debug)]
pub struct Desk {
    set: RwLock<Arc<Set>>,
    journal: Journal,
    seed: Seed,
    replay_speed: f64,
    recorder: Option<Recorder>,
    issuer: Issuer,
    requests: AtomicU64,
    chaotic: AtomicU64,
    started: Instant,
    warned: AtomicBool,
    unmatched: AtomicU64,
    notices: Mutex<VecDeque<String>>,
    noticed: Notify,
}

/// What is in force, all of it or none.
#[derive(Debug)]
pub(super) struct Set {
    pub(super) book: Book,
    pub(super) buckets: Buckets,
    pub(super) oauth: Option<Oauth>,
}

/// What a desk is made from.
#[derive(Debug)]
pub(super) struct DeskSettings {
    pub(super) files: Vec<FixtureFile>,
    pub(super) seed: Seed,
    pub(super) replay_speed: f64,
    pub(super) recorder: Option<Recorder>,
}

impl Set {
    fn new(files: Vec<FixtureFile>, seed: Seed) -> Self {
        let limits: Option<Limits> = files.iter().find_map(|file| file.limits.clone());
        let buckets = Buckets::new(limits.unwrap_or_default());
        let oauth = files.iter().find_map(|file| file.oauth.clone());
        Self { book: Book::new(files, seed), buckets, oauth }
    }
}

impl Desk {
    pub(super) fn new(settings: DeskSettings) -> Self {
        let DeskSettings { files, seed, replay_speed, recorder } = settings;
        Self {
            set: RwLock::new(Arc::new(Set::new(files, seed))),
            journal: Journal::default(),
            seed,
            replay_speed,
            recorder,
            issuer: Issuer::new(seed),
            requests: AtomicU64::new(0),
            chaotic: AtomicU64::new(0),
            started: Instant::now(),
            warned: AtomicBool::new(false),
            unmatched: AtomicU64::new(0),
            notices: Mutex::default(),
            noticed: Notify::new(),
        }
    }

    /// What is in force. A request keeps what it began with.
    pub(super) fn set(&self) -> Arc<Set> {
        self.set.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How many fixtures and recordings are in force.
    pub fn fixtures(&self) -> usize {
        let set = self.set();
        set.book.len() + set.book.recordings().len()
    }

    /// Puts other fixtures in force, from the next request on.
    pub fn replace(&self, files: Vec<FixtureFile>) {
        let set = Arc::new(Set::new(files, self.seed));
        *self.set.write().unwrap_or_else(PoisonError::into_inner) = set;
    }

    /// Begins anew: stories, counts of requests, and the journal. Buckets and tokens stay as they are.
    pub fn reset(&self) {
        self.set().book.reset();
        self.issuer.reset();
        self.journal.clear();
        self.chaotic.store(0, Ordering::Relaxed);
    }

    /// What each client asked and got.
    pub fn journal(&self) -> &Journal {
        &self.journal
    }

    /// The time since the start.
    pub fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }

    /// How long after the start a moment was.
    pub(super) fn at(&self, moment: Instant) -> Duration {
        moment.saturating_duration_since(self.started)
    }

    /// Who hands out tokens, where they are needed.
    pub(super) fn issuer(&self) -> &Issuer {
        &self.issuer
    }

    pub(super) fn recorder(&self) -> Option<&Recorder> {
        self.recorder.as_ref()
    }

    /// How much faster recordings are told than they were; nothing: at once.
    pub(super) fn replay_speed(&self) -> f64 {
        self.replay_speed
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

    /// Warns once if somebody uses a key that a provider has handed out.
    pub(super) fn look_at_key(&self, key: &str) {
        if !self.warned.load(Ordering::Relaxed) && secret::looks_real(key) {
            self.warned.store(true, Ordering::Relaxed);
            self.notice(
                "a client sent what looks like a real API key; it is masked everywhere and goes \
                 nowhere, but a test needs none: use any word"
                    .into(),
            );
        }
    }

    /// Tells of requests that no fixture answers: whoever wrote the file wants to know. After some, the
    /// journal says the rest.
    pub(super) fn unmatched(&self, words: &str) {
        match self.unmatched.fetch_add(1, Ordering::Relaxed) {
            0..MOST_UNMATCHED => self.notice(words.to_owned()),
            MOST_UNMATCHED => self.notice("more requests that no fixture answers".into()),
            _ => {}
        }
    }

    /// Says something to whoever runs this.
    pub fn notice(&self, words: String) {
        self.notices.lock().unwrap_or_else(PoisonError::into_inner).push_back(words);
        self.noticed.notify_one();
    }

    /// What has not been told yet.
    pub fn notices(&self) -> Vec<String> {
        self.notices.lock().unwrap_or_else(PoisonError::into_inner).drain(..).collect()
    }

    /// The next thing that whoever runs this should know.
    pub async fn next_notice(&self) -> String {
        loop {
            let next = self.notices.lock().unwrap_or_else(PoisonError::into_inner).pop_front();
            match next {
                Some(words) => return words,
                None => self.noticed.notified().await,
            }
        }
    }
}
