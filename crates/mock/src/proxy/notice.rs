//! The notifications that faults send.

use std::time::Duration;

use mcp_loadtest_core::fault::Beside;

/// Says that the tools are others now.
const LIST_CHANGED: &[u8] = br#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;
/// What a flood is made of.
const FLOOD: &[u8] = br#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"debug","logger":"flood","data":"still here"}}"#;
/// A flood is sent in bursts this far apart: timers are not finer, and a burst is a flood, too.
pub(super) const BURST: Duration = Duration::from_millis(10);

/// The notifications that go with one reply.
pub(super) fn beside(list: &[Beside]) -> impl Iterator<Item = &'static [u8]> {
    list.iter().filter(|beside| **beside == Beside::ListChanged).map(|_| LIST_CHANGED)
}

/// How many notifications a second something is to be flooded with.
pub(super) fn flood(list: &[Beside]) -> Option<u32> {
    list.iter().find_map(|beside| match beside {
        Beside::Flood(rate) => Some(*rate),
        Beside::ListChanged => None,
    })
}

/// A flood: how many notifications each burst has.
#[derive(Debug)]
pub(super) struct Flood {
    rate: u64,
    owed: u64,
}

impl Flood {
    pub(super) fn new(rate: u32) -> Self {
        Self { rate: rate.into(), owed: 0 }
    }

    /// The notification, as often as it is due now; called once each [`BURST`].
    pub(super) fn burst(&mut self) -> impl Iterator<Item = &'static [u8]> + use<> {
        // In thousandths, so that a low rate adds up to a whole one.
        self.owed += self.rate * BURST.as_millis() as u64;
        let count = self.owed / 1000;
        self.owed %= 1000;
        (0..count).map(|_| FLOOD)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flood_keeps_its_rate() {
        for rate in [1, 7, 1000, 12_345] {
            let mut flood = Flood::new(rate);
            let second: usize = (0..100).map(|_| flood.burst().count()).sum();
            assert_eq!(second, rate as usize);
        }
    }
}
