//! The last bytes of an endless stream.

use std::collections::VecDeque;

/// Keeps the last `limit` bytes of what is pushed.
#[derive(Debug)]
pub(super) struct Ring {
    bytes: VecDeque<u8>,
    limit: usize,
}

impl Ring {
    /// An empty ring; memory is taken only as bytes arrive.
    pub(super) fn new(limit: usize) -> Self {
        Ring { bytes: VecDeque::new(), limit }
    }

    pub(super) fn push(&mut self, chunk: &[u8]) {
        let kept = &chunk[chunk.len().saturating_sub(self.limit)..];
        let excess = (self.bytes.len() + kept.len()).saturating_sub(self.limit);
        self.bytes.drain(..excess);
        self.bytes.extend(kept);
    }

    /// The last `length` bytes, or as many as there are.
    pub(super) fn last(&self, length: usize) -> Vec<u8> {
        let skipped = self.bytes.len().saturating_sub(length);
        self.bytes.range(skipped..).copied().collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_is_kept() {
        let mut ring = Ring::new(4);
        ring.push(b"ab");
        assert_eq!(ring.last(10), b"ab");
        ring.push(b"cde");
        assert_eq!(ring.last(10), b"bcde");
        assert_eq!(ring.last(2), b"de");
        ring.push(b"0123456789");
        assert_eq!(ring.last(10), b"6789");
    }
}
