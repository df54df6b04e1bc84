//! What is lost while it is not yet clear why.

use std::{cell::RefCell, collections::BTreeMap, time::Duration};

use super::Break;

/// What was seen of a loss while it is not yet clear whether the server died of it. A deadline that
/// passes meanwhile ends a call with that, not with silence.
#[derive(Debug, Default)]
pub(crate) struct Losing {
    session: RefCell<Option<Lost>>,
    calls: RefCell<BTreeMap<u64, Lost>>,
}

/// What was seen of a loss, and when.
#[derive(Debug)]
struct Lost {
    seen: Break,
    at: Duration,
}

impl Losing {
    /// All calls of the session are lost.
    pub(crate) fn all(&self, seen: &Break, at: Duration) {
        *self.session.borrow_mut() = Some(Lost { seen: seen.clone(), at });
    }

    /// Whether the session as a whole is lost.
    #[inline]
    pub(crate) fn is_all(&self) -> bool {
        self.session.borrow().is_some()
    }

    pub(crate) fn one(&self, id: u64, seen: &Break, at: Duration) {
        self.calls.borrow_mut().insert(id, Lost { seen: seen.clone(), at });
    }

    pub(crate) fn is_clear(&self, id: u64) {
        self.calls.borrow_mut().remove(&id);
    }

    pub(crate) fn why(&self, id: u64) -> Option<Break> {
        self.look(id, |lost| lost.seen.clone())
    }

    /// When a call was lost.
    pub(crate) fn since(&self, id: u64) -> Option<Duration> {
        self.look(id, |lost| lost.at)
    }

    fn look<T>(&self, id: u64, what: impl FnOnce(&Lost) -> T) -> Option<T> {
        self.calls.borrow().get(&id).or(self.session.borrow().as_ref()).map(what)
    }
}
