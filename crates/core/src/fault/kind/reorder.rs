//! Replies that overtake each other, which JSON-RPC allows and clients forget.

use crate::fault::{entry::Entry, treatment::Mangle};

pub(super) const ENTRY: Entry = Entry {
    name: "reorder",
    about: "The reply waits until another one has left.",
    treat: |_, treatment| treatment.mangles.push(Mangle::Reorder),
    ..Entry::USUAL
};
