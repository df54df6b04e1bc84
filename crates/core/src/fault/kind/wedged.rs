//! `hang` under another name, so that a test can say what it means.

use crate::fault::{entry::Entry, treatment::Instead};

pub(super) const ENTRY: Entry = Entry {
    name: "wedged",
    about: "The same as `hang`, for a deadlocked backend rather than a stalled network.",
    treat: |_, treatment| treatment.instead = Some(Instead::Hang),
    ..Entry::USUAL
};
