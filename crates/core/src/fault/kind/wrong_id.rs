//! A server that mixes up its callers.

use crate::fault::{entry::Entry, treatment::Mangle};

pub(super) const ENTRY: Entry = Entry {
    name: "wrong-id",
    about: "The reply answers an id that was never sent.",
    treat: |_, treatment| treatment.mangles.push(Mangle::WrongId),
    ..Entry::USUAL
};
