//! A server whose results are not what its protocol says.

use crate::fault::{entry::Entry, treatment::Mangle};

pub(super) const ENTRY: Entry = Entry {
    name: "schema-violation",
    about: "The reply is a JSON-RPC response whose result breaks its schema.",
    treat: |_, treatment| treatment.mangles.push(Mangle::SchemaViolation),
    ..Entry::USUAL
};
