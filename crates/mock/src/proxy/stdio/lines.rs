//! Cuts a stream into messages, where somebody has to look at them.

use memchr::memchr;

/// Longer lines are passed on without being looked at.
const LINE_LIMIT: usize = 64 << 20;

/// A part of a stream.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// One line with its end.
    Line(Vec<u8>),
    /// Bytes that are not looked at.
    Raw(Vec<u8>),
}

/// The state of one stream.
#[derive(Debug)]
pub(super) struct Lines {
    blind: bool,
    line: Vec<u8>,
    /// Within a line that is too long.
    endless: bool,
}

impl Lines {
    /// A blind one passes everything on as it comes.
    pub(super) fn new(blind: bool) -> Self {
        Self { blind, line: Vec::new(), endless: false }
    }

    /// The pieces that are complete with this chunk.
    pub(super) fn feed(&mut self, chunk: Vec<u8>) -> Vec<Piece> {
        if self.blind {
            return vec![Piece::Raw(chunk)];
        }
        let mut pieces = Vec::new();
        let mut rest = chunk.as_slice();
        while let Some(at) = memchr(b'\n', rest) {
            let (end, after) = rest.split_at(at + 1);
            rest = after;
            self.line.extend_from_slice(end);
            let line = std::mem::take(&mut self.line);
            let endless = std::mem::take(&mut self.endless);
            pieces.push(if endless { Piece::Raw(line) } else { Piece::Line(line) });
        }
        self.line.extend_from_slice(rest);
        if self.line.len() > LINE_LIMIT {
            self.endless = true;
            pieces.push(Piece::Raw(std::mem::take(&mut self.line)));
        }
        pieces
    }

    /// What is left when the stream has ended.
    pub(super) fn rest(self) -> Option<Piece> {
        (!self.line.is_empty()).then_some(Piece::Raw(self.line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_put_together_and_nothing_is_lost() {
        let line = |text: &str| Piece::Line(text.as_bytes().to_vec());
        let mut lines = Lines::new(false);
        assert_eq!(lines.feed(b"a\nb".to_vec()), [line("a\n")]);
        assert_eq!(lines.feed(b"c\r\n\nd".to_vec()), [line("bc\r\n"), line("\n")]);
        assert_eq!(lines.rest(), Some(Piece::Raw(b"d".to_vec())));
        let mut blind = Lines::new(true);
        assert_eq!(blind.feed(b"a\nb".to_vec()), [Piece::Raw(b"a\nb".to_vec())]);
        assert_eq!(blind.rest(), None);
    }

    #[test]
    fn an_endless_line_goes_on_unseen() {
        let mut lines = Lines::new(false);
        let chunk = vec![b'x'; LINE_LIMIT + 1];
        assert_eq!(lines.feed(chunk.clone()), [Piece::Raw(chunk)]);
        let pieces = lines.feed(b"y\nz\n".to_vec());
        assert_eq!(pieces, [Piece::Raw(b"y\n".to_vec()), Piece::Line(b"z\n".to_vec())]);
    }
}
