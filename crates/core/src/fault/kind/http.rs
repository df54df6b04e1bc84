//! A gateway or load balancer that answers in the server's place.

use crate::fault::{
    entry::{Argument, Entry, Form, Place, Values},
    treatment::Instead,
};

/// How long a client is told to wait, in seconds.
const RETRY_AFTER: u64 = 1;

pub(super) const ENTRY: Entry = Entry {
    name: "http",
    about: "The request is answered with this HTTP status; 429 and 503 carry `Retry-After`.",
    argument: Some(Form {
        key: "status",
        unit: "status",
        values: Values::Whole(200, 599),
        default: Some(Argument::Whole(503)),
    }),
    place: Place::only(super::OVER_HTTP, super::NO_STATUS),
    treat: |turn, treatment| treatment.instead = Some(refusal(turn.whole() as u16)),
    ..Entry::USUAL
};

/// A status with the headers that belong to it.
pub(super) fn refusal(status: u16) -> Instead {
    Instead::Http {
        status,
        retry_after: matches!(status, 429 | 503).then_some(RETRY_AFTER),
        www_authenticate: status == 401,
    }
}
