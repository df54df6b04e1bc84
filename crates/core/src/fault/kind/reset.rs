//! A load balancer that drops the connection.

use crate::{
    config::TransportName,
    fault::{
        entry::{Entry, Place},
        treatment::{Cut, Instead},
    },
};

pub(super) const ENTRY: Entry = Entry {
    name: "reset",
    about: "The connection is reset before the reply.",
    place: Place::only(
        &[TransportName::Http, TransportName::Sse, TransportName::Ws],
        "a pipe can be closed but not reset",
    ),
    treat: |_, treatment| treatment.instead = Some(Instead::Cut(Cut::Reset)),
    ..Entry::USUAL
};
