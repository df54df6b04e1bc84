//! The lock behind `lazy-init-deadlock`: a server that loads something at its first call, and that
//! can never finish if a second call comes while it does.
//!
//! | state      | a call enters        | the loading call comes back |
//! |------------|----------------------|-----------------------------|
//! | cold       | it loads → loading   | –                           |
//! | loading    | it hangs → deadlock  | → ready                     |
//! | deadlock   | it hangs             | it hangs                    |
//! | ready      | it passes            | –                           |

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
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Entered {
    /// Wait for [`LAZY_INIT_TIME`], then ask [`LazyInit::loaded`].
    Load,
    /// Go on as usual.
    Pass,
    /// Hang.
    Hang,
}

impl LazyInit {
    /// A call begins.
    pub fn enter(&self) -> Entered {
        let next = |state| match state {
            COLD => Some(LOADING),
            LOADING => Some(DEADLOCK),
            _ => None,
        };
        match self.0.fetch_update(Ordering::AcqRel, Ordering::Acquire, next) {
            Ok(COLD) => Entered::Load,
            Ok(_) | Err(DEADLOCK) => Entered::Hang,
            Err(_) => Entered::Pass,
        }
    }

    /// The loading call has waited: it passes, or hangs with the others.
    pub fn loaded(&self) -> Entered {
        match self.0.compare_exchange(LOADING, READY, Ordering::AcqRel, Ordering::Acquire) {
            Ok(_) => Entered::Pass,
            Err(_) => Entered::Hang,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lone_call_makes_the_server_ready() {
        let lock = LazyInit::default();
        assert_eq!(lock.enter(), Entered::Load);
        assert_eq!(lock.loaded(), Entered::Pass);
        assert_eq!(lock.enter(), Entered::Pass);
    }

    #[test]
    fn two_calls_at_once_never_come_back() {
        let lock = LazyInit::default();
        assert_eq!(lock.enter(), Entered::Load);
        assert_eq!(lock.enter(), Entered::Hang);
        assert_eq!(lock.loaded(), Entered::Hang);
        assert_eq!(lock.enter(), Entered::Hang);
    }
}
