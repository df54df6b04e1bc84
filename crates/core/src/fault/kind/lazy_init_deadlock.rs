//! An import under a lock, the classic of servers that load at their first call.

use crate::fault::{entry::Entry, treatment::Instead};

pub(super) const ENTRY: Entry = Entry {
    name: "lazy-init-deadlock",
    about: "First calls that are in flight together hang for ever; a lone one works.",
    treat: |_, treatment| treatment.instead = Some(Instead::LazyInit),
    ..Entry::USUAL
};
