//! A server that does not listen to cancels: its replies answer nobody.

use std::time::Duration;

use super::DAY_MS;
use crate::fault::entry::{Entry, Form, Values};

pub(super) const ENTRY: Entry = Entry {
    name: "reply-after-cancel",
    about: "The call is answered after so many milliseconds, even when it was cancelled.",
    argument: Some(Form {
        key: "delay_ms",
        unit: "ms",
        values: Values::Whole(0, DAY_MS),
        default: None,
    }),
    treat: |turn, treatment| {
        treatment.delay += Duration::from_millis(turn.count());
        treatment.ignores_cancel = true;
    },
    ..Entry::USUAL
};
