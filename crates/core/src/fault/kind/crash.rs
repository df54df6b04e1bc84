//! A server that dies.

use crate::fault::{
    entry::{Argument, Entry, Form, Values},
    treatment::Instead,
};

pub(super) const ENTRY: Entry = Entry {
    name: "crash",
    about: "The process ends with this exit code.",
    argument: Some(Form {
        key: "exit_code",
        unit: "exit code",
        values: Values::Whole(0, 255),
        default: Some(Argument::Whole(1)),
    }),
    treat: |turn, treatment| treatment.instead = Some(Instead::Crash(turn.whole() as i32)),
    ..Entry::USUAL
};
