//! The kinds, one file each. To add one: its file, with all that is to be known about it in `ENTRY`,
//! and a line in [`FAULTS`]. It then appears in flags, files, schemas and help. What a client sees of it
//! is a row of `mock/tests/it/faults`, which tries it over every transport.
//!
//! An argument has a key in files: name its kind in the text of that key in `fault/config.rs`; a key
//! that no kind has yet is a field of `FaultConfig` and a line in its `arguments`. A deed that no kind
//! does yet is a variant in `fault/treatment.rs`, and the compiler names all who must obey.

mod auth_expired;
mod crash;
mod disconnect;
mod drip;
mod duplicate;
mod endless_pagination;
mod error;
mod flaky;
mod flood;
mod hang;
mod http;
mod lazy_init_deadlock;
mod list_changed;
mod malformed;
mod noise;
mod none;
mod oversized;
mod recover_after;
mod reorder;
mod reply_after_cancel;
mod reset;
mod schema_violation;
mod session_lost;
mod slow;
mod tool_error;
mod truncate;
mod wedged;
mod wrong_id;

use super::entry::Entry;
use crate::config::TransportName;

/// Every kind, in the order in which help lists them.
pub const FAULTS: &[&Entry] = &[
    &none::ENTRY,
    &hang::ENTRY,
    &wedged::ENTRY,
    &slow::ENTRY,
    &recover_after::ENTRY,
    &error::ENTRY,
    &tool_error::ENTRY,
    &flaky::ENTRY,
    &reply_after_cancel::ENTRY,
    &malformed::ENTRY,
    &truncate::ENTRY,
    &noise::ENTRY,
    &wrong_id::ENTRY,
    &duplicate::ENTRY,
    &reorder::ENTRY,
    &oversized::ENTRY,
    &schema_violation::ENTRY,
    &drip::ENTRY,
    &disconnect::ENTRY,
    &reset::ENTRY,
    &crash::ENTRY,
    &http::ENTRY,
    &session_lost::ENTRY,
    &auth_expired::ENTRY,
    &list_changed::ENTRY,
    &endless_pagination::ENTRY,
    &flood::ENTRY,
    &lazy_init_deadlock::ENTRY,
];

/// The kind with this name, with hyphens or underscores.
pub(super) fn find(name: &str) -> Option<&'static Entry> {
    FAULTS.iter().copied().find(|entry| entry.name == name.replace('_', "-"))
}

/// The longest delay.
const DAY_MS: i64 = 86_400_000;
/// The largest number of bytes.
const LARGEST: i64 = 1 << 30;
/// The transports on which each reply has a status.
const OVER_HTTP: &[TransportName] = &[TransportName::Http, TransportName::Sse];
/// Why other transports have none.
const NO_STATUS: &str = "only replies over HTTP have a status";
