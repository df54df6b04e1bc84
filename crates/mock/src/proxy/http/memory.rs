//! What the proxy remembers between requests: sessions that are lost, and calls that have no reply
//! yet, which may be withdrawn.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use tokio_util::sync::CancellationToken;

use crate::proxy::message::Key;

type CallKey = (Option<String>, Key);

/// What is remembered.
#[derive(Default)]
pub(super) struct Memory {
    lost: Mutex<HashSet<String>>,
    calls: Arc<Mutex<HashMap<CallKey, Waiting>>>,
}

/// A call that has no reply yet.
struct Waiting {
    /// Its cancels do nothing.
    is_deaf: bool,
    /// The server knows of it.
    is_forwarded: bool,
    withdrawn: CancellationToken,
}

impl Memory {
    /// The server is made to have forgotten this session.
    pub(super) fn lose(&self, session: Option<&str>) {
        lock(&self.lost).extend(session.map(str::to_owned));
    }

    pub(super) fn is_lost(&self, session: Option<&str>) -> bool {
        session.is_some_and(|session| lock(&self.lost).contains(session))
    }

    /// A call waits for its reply, for as long as what this gives is held.
    pub(super) fn hold(&self, session: Option<&str>, id: &Key, is_deaf: bool) -> Held {
        let key = (session.map(str::to_owned), id.clone());
        let withdrawn = CancellationToken::new();
        let waiting = Waiting { is_deaf, is_forwarded: false, withdrawn: withdrawn.clone() };
        lock(&self.calls).insert(key.clone(), waiting);
        Held { calls: self.calls.clone(), key, withdrawn }
    }

    /// A call is withdrawn. Whether the server is told.
    pub(super) fn withdraw(&self, session: Option<&str>, id: &Key) -> bool {
        let key = (session.map(str::to_owned), id.clone());
        match lock(&self.calls).get(&key) {
            None => true,
            Some(waiting) if waiting.is_deaf => false,
            Some(waiting) => {
                waiting.withdrawn.cancel();
                waiting.is_forwarded
            }
        }
    }
}

/// A call that waits for its reply.
pub(super) struct Held {
    calls: Arc<Mutex<HashMap<CallKey, Waiting>>>,
    key: CallKey,
    withdrawn: CancellationToken,
}

impl Held {
    /// It goes to the server, who is then told of its cancels.
    pub(super) fn forward(&self) {
        if let Some(waiting) = lock(&self.calls).get_mut(&self.key) {
            waiting.is_forwarded = true;
        }
    }

    pub(super) fn is_withdrawn(&self) -> bool {
        self.withdrawn.is_cancelled()
    }

    /// Waits for something, unless the call is withdrawn before.
    pub(super) async fn unless_withdrawn<T>(&self, work: impl Future<Output = T>) -> Option<T> {
        tokio::select! {
            biased;
            () = self.withdrawn.cancelled() => None,
            done = work => Some(done),
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        lock(&self.calls).remove(&self.key);
    }
}

/// A panic while the lock was held leaves at worst one entry too many.
fn lock<T>(shared: &Mutex<T>) -> MutexGuard<'_, T> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}
