//! A cursor that never ends, for clients that read every page.

use crate::{
    fault::{entry::Entry, treatment::Mangle},
    mcp::method,
};

pub(super) const ENTRY: Entry = Entry {
    name: "endless-pagination",
    about: "Every page of the list promises one more.",
    method: method::TOOLS_LIST,
    treat: |turn, treatment| treatment.mangles.push(Mangle::NextCursor(turn.ordinal)),
    ..Entry::USUAL
};
