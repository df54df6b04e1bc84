//! A library that prints to standard output.

use crate::{
    config::TransportName,
    fault::{
        entry::{Entry, Place},
        treatment::Mangle,
    },
};

pub(super) const ENTRY: Entry = Entry {
    name: "noise",
    about: "A line that is no message stands before the reply, as a stray `print` leaves it.",
    place: Place::only(&[TransportName::Stdio], "only a pipe can carry a line that is no message"),
    treat: |_, treatment| treatment.mangles.push(Mangle::Noise),
    ..Entry::USUAL
};
