//! The checks, one file each. To add one: its file, with all that is to be known about it in `ENTRY`,
//! and a line in [`CHECKS`]. It then appears in flags, reports and help.

mod arguments;
mod cancel;
mod crossed;
mod duplicates;
mod hang;
mod headers;
mod latency;
mod order;
mod protocol_error;
mod retries;
mod sessions;
mod streaming;
mod tool_error;

use super::check::Check;

/// Every check, in the order in which they are made: those that may hurt the gateway come last.
pub const CHECKS: &[&Check] = &[
    &protocol_error::ENTRY,
    &tool_error::ENTRY,
    &arguments::ENTRY,
    &order::ENTRY,
    &headers::ENTRY,
    &streaming::ENTRY,
    &crossed::ENTRY,
    &latency::ENTRY,
    &retries::ENTRY,
    &cancel::ENTRY,
    &duplicates::ENTRY,
    &sessions::ENTRY,
    &hang::ENTRY,
];
