//! What a server and everything it started are doing: state, processor time, memory, waits.
//!
//! [`inspect`] takes one thorough look, as evidence for a hang. A [`Sampler`] takes many cheap ones
//! over a run. On Linux both read `/proc`; elsewhere the `sysinfo` crate does the reading.

#[cfg(target_os = "linux")]
mod linux;
#[cfg(not(target_os = "linux"))]
mod portable;
mod sampler;
mod state;
#[cfg(target_os = "linux")]
mod waits;

pub use sampler::{Sample, Sampler, inspect};
pub use state::{RunState, StateCounts, TreeState};

#[cfg(target_os = "linux")]
use linux as system;
#[cfg(not(target_os = "linux"))]
use portable as system;
