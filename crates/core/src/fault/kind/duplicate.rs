//! A server, or a retrying gateway, that answers twice.

use crate::fault::{entry::Entry, treatment::Mangle};

pub(super) const ENTRY: Entry = Entry {
    name: "duplicate",
    about: "The reply is sent twice.",
    treat: |_, treatment| treatment.mangles.push(Mangle::Duplicate),
    ..Entry::USUAL
};
