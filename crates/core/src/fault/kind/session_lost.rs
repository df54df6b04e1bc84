//! A legacy server that was restarted behind its clients' backs.

use crate::{
    config::TransportName,
    fault::{
        entry::{Entry, Place},
        treatment::Instead,
    },
    mcp::Era,
};

pub(super) const ENTRY: Entry = Entry {
    name: "session-lost",
    about: "The server has forgotten the session: 404 from here on.",
    place: Place {
        transports: &[TransportName::Http],
        eras: &[Era::Legacy],
        why: "only Streamable HTTP of the legacy era has sessions to lose",
    },
    treat: |_, treatment| treatment.instead = Some(Instead::SessionLost),
    ..Entry::USUAL
};
