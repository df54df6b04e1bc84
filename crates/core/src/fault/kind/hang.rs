//! The canonical dead but connected server: discovery works, the call goes nowhere.

use crate::fault::{entry::Entry, treatment::Instead};

pub(super) const ENTRY: Entry = Entry {
    name: "hang",
    about: "The call is never answered; everything else still is.",
    treat: |_, treatment| treatment.instead = Some(Instead::Hang),
    ..Entry::USUAL
};
