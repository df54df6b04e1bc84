//! The tool fails in the way that models are meant to see.

use super::flaky::failed;
use crate::fault::entry::Entry;

pub(super) const ENTRY: Entry = Entry {
    name: "tool-error",
    about: "The tool answers with a result that says `isError`.",
    treat: |_, treatment| treatment.instead = Some(failed()),
    ..Entry::USUAL
};
