//! Server processes: started with three pipes, watched, and never left behind.
//!
//! Four nets, each for what slips through the one before:
//!
//! 1. the server is asked to end: end of file, then `SIGTERM` ([`ServerProcess::stop`]);
//! 2. its process group (on Windows: its job) is killed, by `stop` or by `Drop`;
//! 3. a sweep of the process table kills what left the group; such processes are known by the
//!    variable [`MARKER_VARIABLE`] in their environment, or by descent;
//! 4. a guard process does 2 and 3 when we ourselves die too suddenly to do so (`guard.sh`).
//!
//! While a server runs, somebody counts: one with too many processes is ended (`crowd`).
//!
//! What slips through all four: a process that changed its user, or one that left the group, the
//! family *and* its environment before the server was stopped.

mod capture;
#[cfg(unix)]
mod census;
mod crowd;
mod exit;
#[cfg(unix)]
mod group;
#[cfg(unix)]
mod guard;
mod host;
mod inspect;
#[cfg(windows)]
mod job;
mod launch;
mod life;
mod lookup;
mod marker;
#[cfg(target_os = "linux")]
mod procfs;
mod ring;
mod server;
mod spawn;
mod stderr;
mod stop;
mod stray;
mod tee;

pub use exit::ExitInfo;
pub use host::Host;
pub use inspect::{RunState, Sample, Sampler, StateCounts, TreeState, inspect};
pub use launch::{Launch, TeeStderr};
pub use lookup::{LookupError, find_program};
pub use marker::MARKER_VARIABLE;
pub use server::ServerProcess;
pub use spawn::SpawnError;
pub use stop::{Patience, StopReport, StopStep};
pub use stray::Stray;

pub(crate) use capture::Capture;
pub(crate) use exit::FROM_US;
pub(crate) use host::{Ended, HostError, Lease, Running};
pub(crate) use life::EXIT_PATIENCE;

/// To be called where the process is about to end: sends the guard home if it has nothing left to do.
/// Otherwise it would look for leftovers once more, and whoever watches our processes, as a run of ours
/// around this one does, might take it for one. It stays where a server still runs.
pub fn dismiss_guard() {
    #[cfg(unix)]
    guard::dismiss();
}

#[cfg(unix)]
use group as fence;
#[cfg(windows)]
use job as fence;
