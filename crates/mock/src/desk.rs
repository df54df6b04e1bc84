//! What is wrong with a server, as of now, and what it has done so far: shared by those who serve and
//! by the one who may change it while they do.

use std::sync::{
    Arc, PoisonError, RwLock,
    atomic::{AtomicU64, Ordering},
};

use mcp_loadtest_core::{
    fault::{Fault, FaultPlan},
    seed::Seed,
};
use serde::Serialize;
use tokio::time::Instant;

/// The faults that are in force, and counters.
#[derive(Debug)]
pub struct Desk {
    faults: RwLock<Arc<FaultPlan>>,
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

    /// From now on, these are; they count calls from the first.
    pub fn set_faults(&self, faults: Vec<Fault>) {
        let plan = Arc::new(FaultPlan::new(faults, self.seed));
        *self.faults.write().unwrap_or_else(PoisonError::into_inner) = plan;
    }

    /// Begins to count anew, calls of faults included.
    pub fn reset(&self) {
        self.faults().reset();
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
