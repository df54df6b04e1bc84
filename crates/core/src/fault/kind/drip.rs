//! A server behind a very thin line.

use super::LARGEST;
use crate::fault::{
    entry::{Argument, Entry, Form, Values},
    treatment::Mangle,
};

pub(super) const ENTRY: Entry = Entry {
    name: "drip",
    about: "The reply arrives at so many bytes a second.",
    argument: Some(Form {
        key: "rate",
        unit: "bytes/s",
        values: Values::Whole(1, LARGEST),
        default: Some(Argument::Whole(10)),
    }),
    treat: |turn, treatment| treatment.mangles.push(Mangle::Drip(turn.count())),
    ..Entry::USUAL
};
