//! The checks, one file each; `bounds` is what those of limits share, `ask` what those of programs do.
//!
//! To add one: a file here with an `ENTRY`, and a line in [`CHECKS`]. It then appears in `--only`,
//! `--explain` and docs/reference. A check looks at the [`Scene`](super::scene::Scene) and at nothing
//! else, so that its tests can show it any machine: what it needs of the machine is a field there, for
//! this machine and for a healthy one. It says what to do in one line wherever something is wrong, and
//! what it cannot find out it does not call good.

mod ask;
mod bounds;
mod clients;
mod clock;
mod disk;
mod loopback;
mod open_files;
mod overhead;
mod ports;
mod processes;
mod runs;
mod runtimes;
mod server;
mod toolchain;

use super::Check;

/// The check that looks at the server which the flags name.
pub(super) const SERVER: &str = server::ENTRY.id;

/// One line per check, in the order in which they are told.
pub(crate) const CHECKS: &[Check] = &[
    runtimes::ENTRY,
    toolchain::ENTRY,
    open_files::ENTRY,
    processes::ENTRY,
    ports::ENTRY,
    loopback::ENTRY,
    disk::ENTRY,
    clock::ENTRY,
    overhead::ENTRY,
    runs::ENTRY,
    clients::ENTRY,
    server::ENTRY,
];

/// How wide the column of ids is, with a space to spare.
pub(super) fn widest() -> usize {
    CHECKS.iter().map(|check| check.id.len()).max().unwrap_or(0) + 1
}
