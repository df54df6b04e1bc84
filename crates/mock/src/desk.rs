//! What is wrong with a server, as of now, and what it has done so far: shared by those who serve and
//! by the one who may change it while they do.

use std::sync::{
    Arc, PoisonError, RwLock,
    atomic::{AtomicU64, Ordering},
};

use mcp_loadtest_core::{
    fault::{Fault, FaultPlan, LazyInit},
    seed::Seed,
};
use serde::Serialize;
use tokio::time::Instant;

/// The faults that are in force, and counters.
#[derive(Debug)]
pub struct Desk {
    faults: RwLock<Arc<FaultPlan>>,
    /// The lock of `lazy-init-deadlock`. Calls that hang at one hang for as long as they do, whatever is
    /// in force later.
    lazy: RwLock<Arc<LazyInit>>,
    seed: Seed,
    begun: Instant,
    requests: AtomicU64,
    errors: AtomicU64,
    cancelled: AtomicU64,
    faulted: AtomicU64,
}

/// What a server has done so far.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Counters {
    /// Requests that came.
    pub requests: u64,
    /// Those that got a JSON-RPC error, or a result that says that it is none.
    pub errors: u64,
    /// Those that were withdrawn.
    pub cancelled: u64,
    /// Those that a fault has touched.
    pub faulted: u64,
}

/// How a request ended, as far as it is counted.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Ended {
    pub(crate) error: bool,
    pub(crate) cancelled: bool,
    pub(crate) faulted: bool,
}

impl Desk {
    /// With these faults. The seed is for those that bring none.
    pub fn new(faults: Vec<Fault>, seed: Seed) -> Self {
        Self {
            faults: RwLock::new(Arc::new(FaultPlan::new(faults, seed))),
            lazy: RwLock::default(),
            seed,
            begun: Instant::now(),
            requests: AtomicU64::new(0),
            errors: AtomicU64::new(0),
            cancelled: AtomicU64::new(0),
            faulted: AtomicU64::new(0),
        }
    }

    /// When it all began.
    pub(crate) fn begun(&self) -> Instant {
        self.begun
    }

    /// What is in force.
    pub fn faults(&self) -> Arc<FaultPlan> {
        self.faults.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// The lock of `lazy-init-deadlock`.
    pub(crate) fn lazy(&self) -> Arc<LazyInit> {
        self.lazy.read().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Nothing is loaded any more.
    fn cool_down(&self) {
        *self.lazy.write().unwrap_or_else(PoisonError::into_inner) = Arc::default();
    }

    /// From now on, these are; they count calls from the first.
    pub fn set_faults(&self, faults: Vec<Fault>) {
        let plan = Arc::new(FaultPlan::new(faults, self.seed));
        *self.faults.write().unwrap_or_else(PoisonError::into_inner) = plan;
        self.cool_down();
    }

    /// Begins to count anew, calls of faults included.
    pub fn reset(&self) {
        self.faults().reset();
        self.cool_down();
        for counter in [&self.requests, &self.errors, &self.cancelled, &self.faulted] {
            counter.store(0, Ordering::Relaxed);
        }
    }

    /// What was done so far.
    pub fn counters(&self) -> Counters {
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counters {
            requests: read(&self.requests),
            errors: read(&self.errors),
            cancelled: read(&self.cancelled),
            faulted: read(&self.faulted),
        }
    }

    /// Counts a request that is over.
    pub(crate) fn count(&self, ended: Ended) {
        let add = |counter: &AtomicU64, on: bool| counter.fetch_add(on.into(), Ordering::Relaxed);
        add(&self.requests, true);
        add(&self.errors, ended.error);
        add(&self.cancelled, ended.cancelled);
        add(&self.faulted, ended.faulted);
    }
}

#[cfg(test)]
mod tests {
    use mcp_loadtest_core::fault::Entered;

    use super::*;

    #[test]
    fn new_faults_and_a_reset_begin_with_a_cold_lock() {
        let desk = Desk::new(Vec::new(), Seed(1));
        let is_deadlocked = |desk: &Desk| {
            let lock = desk.lazy();
            let loading = lock.enter();
            matches!(loading, Entered::Hang) || matches!(lock.enter(), Entered::Hang)
        };
        let hangs = |desk: &Desk| matches!(desk.lazy().enter(), Entered::Hang);
        assert!(is_deadlocked(&desk) && hangs(&desk));
        desk.set_faults(Vec::new());
        assert!(!hangs(&desk), "after other faults");
        assert!(is_deadlocked(&desk));
        desk.reset();
        assert!(!hangs(&desk), "after a reset");
    }
}
