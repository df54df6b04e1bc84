//! Whether a process of ours lives on that has lost a connection.
//!
//! | what is seen after a loss                         | what it means                                  |
//! |---------------------------------------------------|------------------------------------------------|
//! | the process ends                                  | it died of it, or the loss is a sign of its end|
//! | a call that was sent after the loss is answered   | it lives on                                    |
//! | neither, for as long as a dying process may take  | it lives on, and it is not waited for again    |
//!
//! The same server may be started again and again, once for each session: what is known of it stays known.

use std::{
    sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering},
    time::Duration,
};

use mcp_loadtest_core::units::nanos;

/// How long after the loss of a connection its server may take to end. One that dies on a busy machine
/// may get no CPU for a second, and its end is the reason that is worth telling.
pub(crate) const EXIT_PATIENCE: Duration = Duration::from_secs(3);
/// The same for a server that has lost connections before and lived on: long enough that the end of one that
/// dies is seen to begin. What it costs to wait is taken from the load, each time again.
const SHORT_PATIENCE: Duration = Duration::from_millis(100);

/// What the sessions of one server know of it together.
#[derive(Debug, Default)]
pub(crate) struct Life {
    /// Losses of which it is not known yet what they mean.
    doubts: AtomicUsize,
    /// When the youngest call was sent that was answered while there were doubts, in nanoseconds.
    served: AtomicU64,
    /// It was waited for in vain.
    lived_on: AtomicBool,
}

/// A loss of which it is not known yet what it means.
pub(crate) struct Doubt<'a> {
    life: &'a Life,
    lost: u64,
}

impl Life {
    /// A connection was lost at that moment.
    pub(crate) fn doubt(&self, lost: Duration) -> Doubt<'_> {
        self.doubts.fetch_add(1, Ordering::Relaxed);
        Doubt { life: self, lost: nanos(lost) }
    }

    /// A call that was sent then was answered well.
    #[inline]
    pub(crate) fn answered(&self, sent: Duration) {
        if self.doubts.load(Ordering::Relaxed) > 0 {
            self.served.fetch_max(nanos(sent), Ordering::Relaxed);
        }
    }

    /// It has died of a loss: that it lived on before says nothing of the next one.
    pub(crate) fn died(&self) {
        self.lived_on.store(false, Ordering::Relaxed);
    }
}

impl Doubt<'_> {
    /// Whether the process is known to live on, or was waited for long enough.
    pub(crate) fn is_over(&self, waited: Duration) -> bool {
        // The dead answer nothing, but what they said before may come late: so it is asked when the call
        // was sent, and not when its answer came.
        if self.life.served.load(Ordering::Relaxed) > self.lost {
            return true;
        }
        if waited >= EXIT_PATIENCE {
            self.life.lived_on.store(true, Ordering::Relaxed);
        }
        waited >= SHORT_PATIENCE && self.life.lived_on.load(Ordering::Relaxed)
    }
}

impl Drop for Doubt<'_> {
    fn drop(&mut self) {
        self.life.doubts.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const MOMENT: Duration = Duration::from_nanos(1);

    #[test]
    fn a_process_that_answers_lives_on() {
        let life = Life::default();
        life.answered(SECOND * 9);
        let doubt = life.doubt(SECOND * 5);
        assert!(!doubt.is_over(Duration::ZERO), "what was answered before the loss says nothing");
        life.answered(SECOND * 5);
        assert!(!doubt.is_over(SECOND), "it may have died since it was sent");
        life.answered(SECOND * 5 + MOMENT);
        assert!(doubt.is_over(Duration::ZERO));
        let later = life.doubt(SECOND * 6);
        assert!(!later.is_over(SECOND), "it may die of the next one");
    }

    #[test]
    fn a_process_is_waited_for_in_vain_only_once() {
        let life = Life::default();
        let (one, other) = (life.doubt(SECOND), life.doubt(SECOND));
        assert!(!one.is_over(EXIT_PATIENCE - MOMENT));
        assert!(one.is_over(EXIT_PATIENCE));
        assert!(other.is_over(SECOND), "another that waits need not wait any longer");
        drop((one, other));
        let later = life.doubt(SECOND * 6);
        assert!(!later.is_over(SHORT_PATIENCE - MOMENT) && later.is_over(SHORT_PATIENCE));
        life.died();
        assert!(!later.is_over(EXIT_PATIENCE - MOMENT), "who died once is waited for again");
    }
}
