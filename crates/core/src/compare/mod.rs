//! Whether one run, or one server, is worse than another: differences with an interval, judged by a
//! policy.
//!
//! [`runs`] compares two finished runs second by second, [`against`] several with the same base, and
//! [`rounds`] several servers that were tested in turns. All give a [`Comparison`], which [`terminal`], [`markdown`], [`html`] and [`json`]
//! tell. To judge another figure: a variant of [`crate::stats::bootstrap::Figure`], its limit in [`Policy`]
//! and its key in [`crate::config::CompareConfig`].

mod comparable;
mod figures;
mod gate;
pub mod html;
pub mod json;
pub mod markdown;
mod model;
mod phrases;
mod policy;
mod rounds;
mod runs;
pub mod terminal;

#[cfg(test)]
pub(crate) mod fixture;
#[cfg(test)]
mod tests;

pub use comparable::why_not;
pub use model::{
    Candidate, Comparison, ComparisonVerdict, Deadlocks, FigureChange, Method, Reason, RunRef,
    Spread, Target, ToolChange,
};
pub use policy::{NewDeadlocks, Policy, Undecided};
pub use rounds::{TargetRuns, order, rounds};
pub use runs::{against, runs};
