//! A backend that comes back, for clients that try again.

use crate::fault::{
    entry::{Entry, Form, Values},
    treatment::Instead,
};

pub(super) const ENTRY: Entry = Entry {
    name: "recover-after",
    about: "The first so many calls hang, later ones are answered.",
    argument: Some(Form {
        key: "failures",
        unit: "n",
        values: Values::Whole(0, i64::MAX),
        default: None,
    }),
    fires: |turn, _| turn.ordinal <= turn.count(),
    treat: |_, treatment| treatment.instead = Some(Instead::Hang),
    ..Entry::USUAL
};
