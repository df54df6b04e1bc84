//! Cuts what a pipe brings into lines, with a limit.

use std::io::{self, Read};

use crate::serve::MESSAGE_LIMIT;

/// How much is asked of the pipe at once.
pub(super) const READ_SIZE: usize = 64 << 10;

/// A whole line, or what is left of one that was too long.
pub(super) enum Line<'a> {
    Whole(&'a [u8]),
    TooLong,
}

/// A buffer that hands out whole lines. Its front part, up to `filled`, is what was read.
pub(super) struct Lines {
    buffer: Vec<u8>,
    filled: usize,
    /// How much of the front part has no line end.
    searched: usize,
    /// Whether the rest of a line that was too long is on its way.
    skipping: bool,
}

impl Lines {
    pub(super) fn new() -> Self {
        Self { buffer: vec![0; 2 * READ_SIZE], filled: 0, searched: 0, skipping: false }
    }

    pub(super) fn fill(&mut self, input: &mut impl Read) -> io::Result<usize> {
        if self.buffer.len() - self.filled < READ_SIZE {
            // Doubling, so that a long line is not copied once per read.
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
        let read = input.read(&mut self.buffer[self.filled..])?;
        self.filled += read;
        Ok(read)
    }

    /// Hands on the lines that are complete.
    pub(super) fn take(&mut self, mut take: impl FnMut(Line<'_>)) {
        let mut start = 0;
        while let Some(found) = memchr::memchr(b'\n', &self.buffer[self.searched..self.filled]) {
            let end = self.searched + found;
            let skipped = std::mem::take(&mut self.skipping);
            if !skipped {
                take(Line::Whole(&self.buffer[start..end]));
            }
            start = end + 1;
            self.searched = start;
        }
        self.buffer.copy_within(start..self.filled, 0);
        self.filled -= start;
        self.searched = self.filled;
        self.limit(take);
    }

    /// Lets go of a line that is too long, or was.
    fn limit(&mut self, mut take: impl FnMut(Line<'_>)) {
        let too_long = self.filled > MESSAGE_LIMIT;
        if self.skipping || too_long {
            (self.filled, self.searched) = (0, 0);
        }
        if self.filled == 0 {
            self.buffer.truncate(2 * READ_SIZE);
            self.buffer.shrink_to_fit();
        }
        if too_long && !std::mem::replace(&mut self.skipping, true) {
            take(Line::TooLong);
        }
    }
}
