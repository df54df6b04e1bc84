//! A server that hangs up.

use crate::fault::{
    entry::Entry,
    treatment::{Cut, Instead},
};

pub(super) const ENTRY: Entry = Entry {
    name: "disconnect",
    about: "The connection closes before the reply.",
    treat: |_, treatment| treatment.instead = Some(Instead::Cut(Cut::Disconnect)),
    ..Entry::USUAL
};
