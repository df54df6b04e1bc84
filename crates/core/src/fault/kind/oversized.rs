//! A tool that returns a whole database.

use super::LARGEST;
use crate::fault::{
    entry::{Argument, Entry, Form, Values},
    treatment::Mangle,
};

pub(super) const ENTRY: Entry = Entry {
    name: "oversized",
    about: "The reply's text is padded to so many bytes.",
    argument: Some(Form {
        key: "bytes",
        unit: "bytes",
        values: Values::Whole(1, LARGEST),
        default: Some(Argument::Whole(32 << 20)),
    }),
    treat: |turn, treatment| {
        treatment.mangles.push(Mangle::Oversized(turn.count() as usize));
    },
    ..Entry::USUAL
};
