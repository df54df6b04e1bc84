//! Pushes a call past a time limit without an unbounded wait.

use std::time::Duration;

use super::DAY_MS;
use crate::fault::entry::{Entry, Form, Values};

pub(super) const ENTRY: Entry = Entry {
    name: "slow",
    about: "The call is answered after so many milliseconds.",
    argument: Some(Form {
        key: "delay_ms",
        unit: "ms",
        values: Values::Whole(0, DAY_MS),
        default: None,
    }),
    treat: |turn, treatment| treatment.delay += Duration::from_millis(turn.count()),
    ..Entry::USUAL
};
