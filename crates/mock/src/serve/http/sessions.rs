//! Legacy sessions: who has shaken hands and has not said goodbye.

use std::{
    collections::BTreeSet,
    sync::{Mutex, MutexGuard, PoisonError},
};

use ulid::Ulid;

/// A client that never says goodbye must not fill the memory: beyond this the oldest session ends.
const MOST_SESSIONS: usize = 100_000;

/// The sessions that are open. The ids sort by age.
#[derive(Debug, Default)]
pub(super) struct Sessions {
    open: Mutex<BTreeSet<Ulid>>,
}

impl Sessions {
    /// Opens a session.
    pub(super) fn begin(&self) -> Ulid {
        let id = Ulid::generate();
        let mut open = self.lock();
        if open.len() >= MOST_SESSIONS {
            open.pop_first();
        }
        open.insert(id);
        id
    }

    /// Whether the session is open.
    pub(super) fn contains(&self, id: &str) -> bool {
        Ulid::from_string(id).is_ok_and(|id| self.lock().contains(&id))
    }

    /// Ends a session; `false` if there is none.
    pub(super) fn end(&self, id: &str) -> bool {
        Ulid::from_string(id).is_ok_and(|id| self.lock().remove(&id))
    }

    fn lock(&self) -> MutexGuard<'_, BTreeSet<Ulid>> {
        // A set is whole between any two of its methods, so a panic elsewhere does no harm.
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_lasts_until_it_is_ended() {
        let sessions = Sessions::default();
        let id = sessions.begin().to_string();
        assert!(sessions.contains(&id));
        assert!(!sessions.contains("") && !sessions.contains("nonsense"));
        assert!(sessions.end(&id));
        assert!(!sessions.contains(&id) && !sessions.end(&id));
    }

    #[test]
    fn sessions_that_nobody_ends_do_not_pile_up() {
        let sessions = Sessions::default();
        let ids: Vec<_> = (0..=MOST_SESSIONS).map(|_| sessions.begin()).collect();
        assert_eq!(sessions.lock().len(), MOST_SESSIONS);
        assert!(sessions.contains(&ids[MOST_SESSIONS].to_string()));
    }
}
