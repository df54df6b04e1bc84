//! A table for each kind of file that people write.

mod config;
mod fixtures;
mod suite;
mod tools;

use super::{File, Key, Same};

/// All of them.
pub(super) const FILES: &[File] = &[
    File { schema: "config", same: &[], keys: config::CONFIG },
    File { schema: "fixtures", same: &[], keys: fixtures::FIXTURES },
    File { schema: "suite", same: suite::SAME, keys: suite::SUITE },
    File { schema: "tools", same: &[], keys: tools::TOOLS },
];
