//! What series, histograms and steps show: the arithmetic behind soak, ramp, capacity, race and
//! comparison runs.
//!
//! Each file answers one question and knows neither tally nor report: figures go in, a verdict with
//! its figures and its reason comes out. Every function is total: it answers or says that it cannot,
//! whatever the numbers are, and no figure that it gives is NaN or infinite. To add one: one file
//! here, tested with a subject that it must catch and a healthy one on which it must stay silent.

pub mod bimodal;
pub mod bootstrap;
pub mod drift;
pub mod envelope;
pub mod grade;
pub mod head_of_line;
pub mod interval;
pub mod kept;
pub mod knee;
pub mod leak;
pub mod part;
pub mod race;
pub mod regression;
pub mod search;
pub mod usl;

pub(crate) mod order;
mod plateau;
mod resample;
mod stamps;

#[cfg(test)]
mod fixed;
#[cfg(test)]
mod fixture;
#[cfg(test)]
mod limits;
