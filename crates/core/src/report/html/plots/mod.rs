//! The plots of the page. To add one: a file here with a function that makes its figure, or nothing
//! where the run has no data for it, and one line in [`PLOTS`].

mod burst;
mod coverage;
mod environment;
mod faults;
mod fuzz;
mod heat;
mod in_flight;
mod memory;
mod outcomes;
mod overview;
mod percentiles;
mod process;
mod rate;
mod recovery;
mod rows;
mod spectrum;
mod start;
mod steps;
mod throughput;
mod tools;
mod validity;

use super::figure::Figure;
use crate::report::Report;

/// One plot.
pub(super) struct Plot {
    /// Its anchor.
    pub(super) id: &'static str,
    /// Its heading.
    pub(super) title: &'static str,
    /// Where it stands.
    pub(super) part: Part,
    /// Makes it; nothing where the run has no data for it.
    pub(super) make: fn(&Report) -> Option<Figure>,
}

/// The parts of the page, in their order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    /// What happened when.
    Time,
    /// How the calls spread, by percentile, by tool, by load.
    Spread,
    /// How far the figures can be trusted, and how to get them again.
    Trust,
}

impl Part {
    pub(super) const ALL: [Self; 3] = [Self::Time, Self::Spread, Self::Trust];

    /// Anchor and heading.
    pub(super) const fn name(self) -> (&'static str, &'static str) {
        match self {
            Self::Time => ("over-time", "Over time"),
            Self::Spread => ("spread", "By percentile, tool and load"),
            Self::Trust => ("trust", "Can it be trusted, and repeated?"),
        }
    }
}

/// All plots, in their order.
pub(super) static PLOTS: &[Plot] = &[
    Plot {
        id: "overview",
        title: "Calls, latency and failures",
        part: Part::Time,
        make: overview::make,
    },
    Plot {
        id: "percentiles",
        title: "Latency percentiles",
        part: Part::Time,
        make: percentiles::make,
    },
    Plot { id: "heat", title: "Latency heat map", part: Part::Time, make: heat::make },
    Plot {
        id: "recovery",
        title: "Disturbance and recovery",
        part: Part::Time,
        make: recovery::make,
    },
    Plot { id: "faults", title: "Faults at work", part: Part::Time, make: faults::make },
    Plot { id: "outcomes", title: "How calls ended", part: Part::Time, make: outcomes::make },
    Plot { id: "in-flight", title: "Calls in flight", part: Part::Time, make: in_flight::make },
    Plot { id: "memory", title: "Memory of the server", part: Part::Time, make: memory::make },
    Plot {
        id: "process",
        title: "CPU, threads and open files of the server",
        part: Part::Time,
        make: process::make,
    },
    Plot { id: "burst", title: "Calls released together", part: Part::Spread, make: burst::make },
    Plot { id: "spectrum", title: "Percentile spectrum", part: Part::Spread, make: spectrum::make },
    Plot { id: "tools", title: "Tool by tool", part: Part::Spread, make: tools::make },
    Plot { id: "steps", title: "Load step by step", part: Part::Spread, make: steps::make },
    Plot {
        id: "throughput",
        title: "Throughput by load",
        part: Part::Spread,
        make: throughput::make,
    },
    Plot { id: "rate", title: "Latency by rate", part: Part::Spread, make: rate::make },
    Plot { id: "start", title: "Phases", part: Part::Spread, make: start::make },
    Plot { id: "coverage", title: "Tools called", part: Part::Trust, make: coverage::make },
    Plot { id: "fuzz", title: "Bad input", part: Part::Trust, make: fuzz::make },
    Plot {
        id: "validity",
        title: "Whose figures are these?",
        part: Part::Trust,
        make: validity::make,
    },
    Plot { id: "environment", title: "The run", part: Part::Trust, make: environment::make },
];
