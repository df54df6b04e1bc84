//! A server that talks without being asked.

use crate::fault::{
    START,
    entry::{Argument, Entry, Form, Values},
    treatment::Beside,
};

pub(super) const ENTRY: Entry = Entry {
    name: "flood",
    about: "The server sends so many notifications a second, unasked.",
    argument: Some(Form {
        key: "rate",
        unit: "notifications/s",
        values: Values::Whole(1, 1_000_000),
        default: Some(Argument::Whole(1000)),
    }),
    method: START,
    treat: |turn, treatment| treatment.beside.push(Beside::Flood(turn.count() as u32)),
    ..Entry::USUAL
};
