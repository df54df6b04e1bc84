//! What is sent on a stream before the replies that it is for.

use tokio::time::Instant;

use super::message::word;
use crate::audit::{EVENT_LIMIT, Word};

/// The messages that have left, the first of them with their times.
#[derive(Debug, Default)]
pub(super) struct Sent {
    pub(super) events: Vec<(Instant, Word)>,
    pub(super) count: u32,
    pub(super) bytes: u64,
}

impl Sent {
    /// A message leaves.
    pub(super) fn note(&mut self, frame: &[u8]) {
        if self.events.len() < EVENT_LIMIT {
            self.events.push((Instant::now(), word(frame)));
        }
        self.count = self.count.saturating_add(1);
        self.bytes += frame.len() as u64;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_are_counted_and_the_first_are_kept() {
        let mut sent = Sent::default();
        for frame in [
            &br#"{"jsonrpc":"2.0","method":"a/b"}"#[..],
            br#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            b"x",
        ] {
            sent.note(frame);
        }
        let words: Vec<_> = sent.events.iter().map(|(_, word)| &**word).collect();
        assert_eq!(words, ["a/b", "(reply)", "(no message)"]);
        (0..2 * EVENT_LIMIT).for_each(|_| sent.note(b"x"));
        assert_eq!((sent.events.len(), sent.count as usize), (EVENT_LIMIT, 3 + 2 * EVENT_LIMIT));
    }
}
