//! A server whose tools come and go.

use crate::fault::{entry::Entry, treatment::Beside};

pub(super) const ENTRY: Entry = Entry {
    name: "list-changed",
    about: "The server says beside the reply that its list of tools has changed.",
    treat: |_, treatment| treatment.beside.push(Beside::ListChanged),
    ..Entry::USUAL
};
