//! The lock behind `lazy-init-deadlock`: a server that loads something at its first call, and that
//! can never finish if a second call comes while it does.
//!
//! | state      | a call enters        | the loading call comes back |
//! |------------|----------------------|-----------------------------|
//! | cold       | it loads → loading   | –                           |
//! | loading    | it hangs → deadlock  | → ready                     |
//! | deadlock   | it hangs             | it hangs                    |
//! | ready      | it passes            | –                           |
//!
//! A loading call that is cancelled leaves the lock cold, or deadlocked if another has come meanwhile.

use std::{
    sync::atomic::{AtomicU8, Ordering},
    time::Duration,
};

const COLD: u8 = 0;
const LOADING: u8 = 1;
const DEADLOCK: u8 = 2;
const READY: u8 = 3;

/// How long the first call loads.
pub const LAZY_INIT_TIME: Duration = Duration::from_millis(100);

/// The state of one server's lock.
#[derive(Debug, Default)]
pub struct LazyInit(AtomicU8);

/// What a call has to do.
#[derive(Debug, PartialEq, Eq)]
pub enum Entered<'l> {
    /// Wait for [`LAZY_INIT_TIME`], then ask [`Loading::loaded`].
    Load(Loading<'l>),
    /// Go on as usual.
    Pass,
    /// Hang.
    Hang,
}

/// The call that loads. If it is dropped before it is done, the next one has to load.
#[derive(Debug)]
pub struct Loading<'l>(&'l LazyInit);

impl PartialEq for Loading<'_> {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.0, other.0)
    }
}

impl Eq for Loading<'_> {}

impl LazyInit {
    /// A call begins.
    pub fn enter(&self) -> Entered<'_> {
        let next = |state| match state {
            COLD => Some(LOADING),
            LOADING => Some(DEADLOCK),
            _ => None,
        };
        match self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, next) {
            Ok(COLD) => Entered::Load(Loading(self)),
            Ok(_) | Err(DEADLOCK) => Entered::Hang,
            Err(_) => Entered::Pass,
        }
    }

    /// Whether nobody has come while a call was loading.
    fn leave(&self, next: u8) -> bool {
        self.0.compare_exchange(LOADING, next, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }
}

impl<'l> Loading<'l> {
    /// The loading call has waited: it passes, or hangs with the others.
    pub fn loaded(self) -> Entered<'l> {
        // Dropped after this, it finds nobody loading.
        if self.0.leave(READY) { Entered::Pass } else { Entered::Hang }
    }
}

impl Drop for Loading<'_> {
    fn drop(&mut self) {
        self.0.leave(COLD);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn load(lock: &LazyInit) -> Loading<'_> {
        match lock.enter() {
            Entered::Load(loading) => loading,
            other => panic!("it was to load: {other:?}"),
        }
    }

    #[test]
    fn a_lone_call_makes_the_server_ready() {
        let lock = LazyInit::default();
        assert_eq!(load(&lock).loaded(), Entered::Pass);
        assert_eq!(lock.enter(), Entered::Pass);
    }

    #[test]
    fn a_lone_call_that_is_cancelled_leaves_the_loading_to_the_next() {
        let lock = LazyInit::default();
        drop(load(&lock));
        assert_eq!(load(&lock).loaded(), Entered::Pass);
        assert_eq!(lock.enter(), Entered::Pass);
    }

    #[test]
    fn who_has_met_the_loading_call_hangs_even_if_it_is_cancelled() {
        let lock = LazyInit::default();
        let loading = load(&lock);
        assert_eq!(lock.enter(), Entered::Hang);
        drop(loading);
        assert_eq!(lock.enter(), Entered::Hang);
    }

    #[test]
    fn two_calls_at_once_never_come_back() {
        let lock = LazyInit::default();
        let loading = load(&lock);
        assert_eq!(lock.enter(), Entered::Hang);
        assert_eq!(loading.loaded(), Entered::Hang);
        assert_eq!(lock.enter(), Entered::Hang);
    }
}
