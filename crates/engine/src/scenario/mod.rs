//! The scenarios. To add one: its settings in core (`core/src/scenario/mod.rs` says how), one file here
//! with its `ENTRY`, and one line in [`SCENARIOS`]. It then appears in `list-scenarios`, `--explain` and
//! docs/reference. Load that only arrives in another way needs no deeds of its own: give it an
//! `arrival` and let `crate::load` drive it, as `spike` does.

mod capacity;
mod cold_start;
mod deadlock_probe;
mod fuzzer;
mod pattern;
mod race_check;
mod ramp;
mod reconnect;
mod slow_mix;
mod soak;
mod spike;
mod sustained;

use std::{pin::Pin, rc::Rc};

use mcp_loadtest_core::{scenario::ScenarioName, tally::Tally};
use mcp_loadtest_wire::session::Session;

use crate::{context::Context, error::RunError, plan::Plan};

/// What a scenario starts with: an open session and the calls to make.
pub(crate) struct Stage {
    pub(crate) context: Rc<Context>,
    pub(crate) session: Session,
    pub(crate) plan: Plan,
}

pub(crate) type Driving = Pin<Box<dyn Future<Output = Result<Vec<Tally>, RunError>>>>;

/// A scenario by name.
pub struct Entry {
    /// Which one.
    pub name: ScenarioName,
    /// What it does, in one line.
    pub summary: &'static str,
    /// What it finds, in one line.
    pub detects: &'static str,
    /// How it does it, step by step.
    pub algorithm: &'static str,
    /// The settings that change it.
    pub knobs: &'static str,
    /// Does it; gives what other threads saw.
    pub(crate) drive: fn(Stage) -> Driving,
}

/// All scenarios.
pub static SCENARIOS: &[Entry] = &[
    cold_start::ENTRY,
    sustained::ENTRY,
    spike::ENTRY,
    ramp::ENTRY,
    soak::ENTRY,
    pattern::ENTRY,
    deadlock_probe::ENTRY,
    race_check::ENTRY,
    slow_mix::ENTRY,
    reconnect::ENTRY,
    capacity::ENTRY,
    fuzzer::ENTRY,
];

/// The scenario with this name.
pub fn entry(name: ScenarioName) -> &'static Entry {
    SCENARIOS.iter().find(|entry| entry.name == name).expect("every scenario name has an entry")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_scenario_name_has_an_entry() {
        for name in ScenarioName::ALL {
            let has_entry = SCENARIOS.iter().any(|entry| entry.name == *name);
            assert!(has_entry, "`{name}` has settings in core and no line in SCENARIOS");
        }
        assert_eq!(SCENARIOS.len(), ScenarioName::ALL.len());
    }
}
