//! What the proxy remembers between requests: sessions that are lost, and calls whose cancels do
//! not reach the server.

use std::{
    collections::HashSet,
    hash::Hash,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use crate::proxy::message::Key;

type CallKey = (Option<String>, Key);

/// What is remembered.
#[derive(Default)]
pub(super) struct Memory {
    lost: Mutex<HashSet<String>>,
    deaf: Arc<Mutex<HashSet<CallKey>>>,
}

impl Memory {
    /// The server is made to have forgotten this session.
    pub(super) fn lose(&self, session: Option<&str>) {
        lock(&self.lost).extend(session.map(str::to_owned));
    }

    pub(super) fn is_lost(&self, session: Option<&str>) -> bool {
        session.is_some_and(|session| lock(&self.lost).contains(session))
    }

    /// Keeps the cancels of a call from the server, for as long as what this gives is held.
    pub(super) fn deafen(&self, session: Option<&str>, id: &Key) -> Deaf {
        let key = (session.map(str::to_owned), id.clone());
        lock(&self.deaf).insert(key.clone());
        Deaf { calls: self.deaf.clone(), key }
    }

    pub(super) fn is_deaf(&self, session: Option<&str>, id: &Key) -> bool {
        lock(&self.deaf).contains(&(session.map(str::to_owned), id.clone()))
    }
}

/// Cancels of a call do not reach the server.
pub(super) struct Deaf {
    calls: Arc<Mutex<HashSet<CallKey>>>,
    key: CallKey,
}

impl Drop for Deaf {
    fn drop(&mut self) {
        lock(&self.calls).remove(&self.key);
    }
}

/// A panic while the lock was held leaves at worst one entry too many.
fn lock<T: Hash + Eq>(set: &Mutex<HashSet<T>>) -> MutexGuard<'_, HashSet<T>> {
    set.lock().unwrap_or_else(PoisonError::into_inner)
}
