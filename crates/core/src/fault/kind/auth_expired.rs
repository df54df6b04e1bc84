//! A token that ran out in the middle of a session.

use super::http;
use crate::fault::entry::{Entry, Place};

pub(super) const ENTRY: Entry = Entry {
    name: "auth-expired",
    about: "The token is no longer accepted: 401 with `WWW-Authenticate`.",
    place: Place::only(super::OVER_HTTP, super::NO_STATUS),
    treat: |_, treatment| treatment.instead = Some(http::refusal(401)),
    ..Entry::USUAL
};
