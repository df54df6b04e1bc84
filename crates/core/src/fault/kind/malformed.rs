//! A serializer that broke half-way.

use crate::fault::{entry::Entry, treatment::Mangle};

pub(super) const ENTRY: Entry = Entry {
    name: "malformed",
    about: "The reply is not JSON.",
    treat: |_, treatment| treatment.mangles.push(Mangle::Malformed),
    ..Entry::USUAL
};
