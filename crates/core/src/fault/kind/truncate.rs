//! A server that dies while it writes.

use super::LARGEST;
use crate::fault::{
    entry::{Argument, Entry, Form, Values},
    treatment::Mangle,
};

pub(super) const ENTRY: Entry = Entry {
    name: "truncate",
    about: "The reply ends after so many bytes, and the connection with it; a shorter reply stays whole.",
    argument: Some(Form {
        key: "bytes",
        unit: "bytes",
        values: Values::Whole(0, LARGEST),
        default: Some(Argument::Whole(16)),
    }),
    treat: |turn, treatment| {
        treatment.mangles.push(Mangle::Truncate(turn.count() as usize));
    },
    ..Entry::USUAL
};
