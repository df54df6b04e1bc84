//! What a revision asks of a client, in one place: how a session starts, what every request
//! carries, how a call is withdrawn and how an end is told.

use super::{
    method,
    revision::{Era, Revision},
};

/// How a session begins.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// `initialize`, then `notifications/initialized`.
    Handshake,
    /// Nothing is needed; `server/discover` tells what the server offers.
    Discover,
}

/// How a call that is given up is withdrawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Withdrawal {
    /// `notifications/cancelled` on every transport.
    Notify,
    /// `notifications/cancelled` on stdio; on HTTP the closed response stream says it.
    NotifyOrClose,
}

/// What a server may send besides replies and notifications.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ServerAsks {
    /// JSON-RPC requests on the stream.
    Requests,
    /// `input_required` results that the client answers by repeating its request.
    InputRequired,
}

/// The cheap request that shows that a server still reads its input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Control {
    /// `ping`.
    Ping,
    /// `server/discover`: `ping` was removed.
    Discover,
}

impl Control {
    /// The method that is asked.
    pub const fn method(self) -> &'static str {
        match self {
            Self::Ping => method::PING,
            Self::Discover => method::DISCOVER,
        }
    }
}

/// The rules that one revision sets for a client.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lifecycle {
    /// The revision that sets them.
    pub revision: Revision,
    /// How a session begins.
    pub start: Start,
    /// How a call is withdrawn.
    pub withdrawal: Withdrawal,
    /// What the server may ask of us.
    pub server_asks: ServerAsks,
    /// How to see that the server still listens.
    pub control: Control,
    /// Whether every request carries version and capabilities in `_meta`.
    pub meta_in_every_request: bool,
    /// Whether HTTP has sessions, a GET stream and DELETE.
    pub http_sessions: bool,
}

/// The one place where a revision becomes behaviour.
pub const fn lifecycle(revision: Revision) -> Lifecycle {
    match revision.era() {
        Era::Legacy => Lifecycle {
            revision,
            start: Start::Handshake,
            withdrawal: Withdrawal::Notify,
            server_asks: ServerAsks::Requests,
            control: Control::Ping,
            meta_in_every_request: false,
            http_sessions: true,
        },
        Era::Modern => Lifecycle {
            revision,
            start: Start::Discover,
            withdrawal: Withdrawal::NotifyOrClose,
            server_asks: ServerAsks::InputRequired,
            control: Control::Discover,
            meta_in_every_request: true,
            http_sessions: false,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_eras_begin_ask_and_end_in_their_own_ways() {
        let legacy = lifecycle(Revision::NEWEST_LEGACY);
        assert_eq!((legacy.start, legacy.control), (Start::Handshake, Control::Ping));
        assert!(legacy.http_sessions && !legacy.meta_in_every_request);
        assert_eq!(legacy.server_asks, ServerAsks::Requests);
        let modern = lifecycle(Revision::NEWEST_MODERN);
        assert_eq!((modern.start, modern.control), (Start::Discover, Control::Discover));
        assert!(!modern.http_sessions && modern.meta_in_every_request);
        assert_eq!(modern.withdrawal, Withdrawal::NotifyOrClose);
        assert_eq!(modern.revision, Revision::NEWEST_MODERN);
    }
}
