//! Nothing is wrong: the word for a healthy server.

use crate::fault::entry::Entry;

pub(super) const ENTRY: Entry = Entry { name: "none", about: "Nothing is wrong.", ..Entry::USUAL };
