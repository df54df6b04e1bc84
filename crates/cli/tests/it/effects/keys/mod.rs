//! A table for each kind of file that people write.

mod config;
mod fixtures;
mod suite;
mod tools;

use super::{File, Key};

/// All of them.
pub(super) const FILES: &[File] = &[
    File { schema: "config", keys: config::CONFIG },
    File { schema: "fixtures", keys: fixtures::FIXTURES },
    File { schema: "suite", keys: suite::SUITE },
    File { schema: "tools", keys: tools::TOOLS },
];
