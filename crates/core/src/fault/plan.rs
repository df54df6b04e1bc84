//! Asks all faults about a call.

use std::{
    sync::atomic::{AtomicU64, Ordering},
    time::Duration,
};

use super::{
    Fault,
    entry::Turn,
    treatment::{Decision, Treatment},
};
use crate::{config::TransportName, mcp::Era, seed::Seed};

/// A call as faults see it.
#[derive(Debug, Clone, Copy)]
pub struct CallView<'a> {
    /// The method, or [`super::START`].
    pub method: &'a str,
    /// The tool of a `tools/call`.
    pub tool: Option<&'a str>,
    /// The session that the call belongs to.
    pub session: Option<&'a str>,
    /// The server that it goes to.
    pub server: Option<&'a str>,
    /// The time since the server or the proxy started.
    pub elapsed: Duration,
    /// How it came.
    pub transport: TransportName,
    /// The era that it belongs to.
    pub era: Era,
}

/// The faults of one server, and how many calls each of them has counted.
#[derive(Debug, Default)]
pub struct FaultPlan {
    armed: Vec<Armed>,
    seed: Seed,
}

#[derive(Debug)]
struct Armed {
    fault: Fault,
    calls: AtomicU64,
}

impl FaultPlan {
    /// These faults, in this order. The seed is for those that bring none.
    pub fn new(faults: impl IntoIterator<Item = Fault>, seed: Seed) -> Self {
        let ill = faults.into_iter().filter(|fault| fault.kind.name != "none");
        let armed = ill.map(|fault| Armed { fault, calls: AtomicU64::new(0) }).collect();
        Self { armed, seed }
    }

    /// The faults, without those that do nothing.
    pub fn faults(&self) -> impl Iterator<Item = &Fault> {
        self.armed.iter().map(|armed| &armed.fault)
    }

    /// Whether nothing can go wrong.
    pub fn is_empty(&self) -> bool {
        self.armed.is_empty()
    }

    /// The seed of a fault's choices.
    pub fn seed_of(&self, fault: &Fault) -> Seed {
        fault.when.seed.unwrap_or(self.seed)
    }

    /// What is to be done with a call. Each fault counts the calls that its selector admits, whether
    /// or not an earlier fault has already ended the matter, so that its choices do not depend on
    /// other faults.
    pub fn decide(&self, call: &CallView<'_>) -> Treatment {
        let mut treatment = Treatment::default();
        for Armed { fault, calls } in &self.armed {
            if !fault.counts(call) {
                continue;
            }
            let ordinal = calls.fetch_add(1, Ordering::Relaxed) + 1;
            if treatment.instead.is_none() {
                apply(fault, self.seed_of(fault), ordinal, &mut treatment);
            }
        }
        treatment
    }

    /// Counts from the first call again.
    pub fn reset(&self) {
        for armed in &self.armed {
            armed.calls.store(0, Ordering::Relaxed);
        }
    }
}

/// What one fault does with the call that it counts as this number: the same as the plan does, for
/// replaying a single [`Decision`].
pub fn decide_at(fault: &Fault, seed: Seed, ordinal: u64, call: &CallView<'_>) -> Treatment {
    let mut treatment = Treatment::default();
    if fault.counts(call) {
        apply(fault, seed, ordinal, &mut treatment);
    }
    treatment
}

fn apply(fault: &Fault, seed: Seed, ordinal: u64, treatment: &mut Treatment) {
    let fired = fault.fires(seed, ordinal);
    treatment.decisions.push(Decision {
        fault: fault.name.clone().unwrap_or_else(|| fault.to_string()),
        kind: fault.kind.name,
        seed: seed.0,
        ordinal,
        fired,
    });
    if fired {
        (fault.kind.treat)(Turn { argument: fault.argument, ordinal }, treatment);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fault(text: &str) -> Fault {
        text.parse().unwrap_or_else(|error| panic!("{text}: {error}"))
    }

    #[test]
    fn a_plan_holds_what_can_go_wrong() {
        let plan = FaultPlan::new(["none", "hang", "slow:5"].map(fault), Seed(1));
        let names: Vec<_> = plan.faults().map(|fault| fault.kind().name).collect();
        assert_eq!((names, plan.is_empty()), (vec!["hang", "slow"], false));
        assert!(FaultPlan::new([fault("none")], Seed(1)).is_empty());
    }

    #[test]
    fn chance_does_not_depend_on_where_the_seed_is_written() {
        let (with, without) = (fault("flaky:0.5@nth=3,seed=7"), fault("flaky:0.5@nth=3"));
        assert_eq!(with.stream, without.stream);
        assert_ne!(with.stream, fault("flaky:0.5@nth=4").stream);
        let plan = FaultPlan::new([with.clone(), without.clone()], Seed(3));
        assert_eq!((plan.seed_of(&with), plan.seed_of(&without)), (Seed(7), Seed(3)));
    }
}
