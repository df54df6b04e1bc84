//! Legacy sessions: who has shaken hands and has not said goodbye.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use ulid::Ulid;

/// A client that never says goodbye must not fill the memory: beyond this the oldest session ends.
const MOST_SESSIONS: usize = 100_000;

/// What is open, by a name that sorts by age.
#[derive(Debug)]
pub(super) struct Sessions<T> {
    open: Mutex<BTreeMap<Ulid, Arc<T>>>,
}

impl<T> Default for Sessions<T> {
    fn default() -> Self {
        Self { open: Mutex::default() }
    }
}

impl<T> Sessions<T> {
    /// A name that no session has.
    pub(super) fn name() -> Ulid {
        Ulid::generate()
    }

    /// Opens a session; the one that had to make room for it.
    pub(super) fn open(&self, name: Ulid, session: Arc<T>) -> Option<Arc<T>> {
        let mut open = self.lock();
        let oldest = match open.len() >= MOST_SESSIONS {
            true => open.pop_first().map(|(_, session)| session),
            false => None,
        };
        open.insert(name, session);
        oldest
    }

    pub(super) fn find(&self, name: &str) -> Option<Arc<T>> {
        Ulid::from_string(name).ok().and_then(|name| self.lock().get(&name).cloned())
    }

    /// Ends a session, if it is open.
    pub(super) fn end(&self, name: &str) -> Option<Arc<T>> {
        Ulid::from_string(name).ok().and_then(|name| self.lock().remove(&name))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<Ulid, Arc<T>>> {
        // A map is whole between any two of its methods, so a panic elsewhere does no harm.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_lasts_until_it_is_ended() {
        let sessions = Sessions::default();
        let name = Sessions::<u8>::name();
        assert!(sessions.open(name, Arc::new(7)).is_none());
        let name = name.to_string();
        assert_eq!(sessions.find(&name).as_deref(), Some(&7));
        assert!(sessions.find("").is_none() && sessions.find("nonsense").is_none());
        assert!(sessions.end(&name).is_some());
        assert!(sessions.find(&name).is_none() && sessions.end(&name).is_none());
    }

    #[test]
    fn sessions_that_nobody_ends_do_not_pile_up() {
        let sessions = Sessions::default();
        let one = Arc::new(());
        let ended = (0..=MOST_SESSIONS)
            .filter_map(|_| sessions.open(Sessions::<()>::name(), one.clone()))
            .count();
        assert_eq!((ended, sessions.lock().len()), (1, MOST_SESSIONS));
    }
}
