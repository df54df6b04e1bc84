//! The checks, one file each; `bounds` is what those of limits share.

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

use super::Check;

/// The check that looks at the server which the flags name.
pub(super) const SERVER: &str = server::ENTRY.id;

/// One line per check, in the order in which they are told.
pub(crate) const CHECKS: &[Check] = &[
    runtimes::ENTRY,
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
