//! Frames as bytes, in the usual form or in an odd one that the standard allows.

use mcp_loadtest_core::llm::{BytesFault, LineEnd, Split};

use crate::llm::{dialect::Framing, frame::Frame};

/// Writes frames.
#[derive(Debug)]
pub(super) struct FrameWriter {
    framing: Framing,
    odd: BytesFault,
    begun: bool,
}

impl FrameWriter {
    pub(super) fn new(framing: Framing, odd: Option<BytesFault>) -> Self {
        Self { framing, odd: odd.unwrap_or_default(), begun: false }
    }

    /// The type of the whole stream.
    pub(super) fn content_type(&self) -> &'static str {
        match self.framing {
            Framing::Events => "text/event-stream; charset=utf-8",
            Framing::Array => "application/json; charset=utf-8",
        }
    }

    /// Appends a frame.
    pub(super) fn write(&mut self, frame: &Frame, out: &mut Vec<u8>) {
        let first = !std::mem::replace(&mut self.begun, true);
        match self.framing {
            Framing::Array => {
                out.extend_from_slice(if first { b"[" } else { b",\r\n" });
                out.extend_from_slice(frame.data.as_bytes());
            }
            Framing::Events => self.write_event(frame, first, out),
        }
    }

    fn write_event(&self, frame: &Frame, first: bool, out: &mut Vec<u8>) {
        let end: &[u8] = match self.odd.line_end {
            Some(LineEnd::Crlf) => b"\r\n",
            Some(LineEnd::Lf) | None => b"\n",
        };
        let space: &[u8] = if self.odd.no_space { b"" } else { b" " };
        if first && self.odd.bom {
            out.extend_from_slice("\u{feff}".as_bytes());
        }
        let mut line = |parts: &[&[u8]]| {
            parts.iter().for_each(|part| out.extend_from_slice(part));
            out.extend_from_slice(end);
        };
        if self.odd.comments {
            line(&[b": keep-alive"]);
            line(&[]);
        }
        if let Some(event) = frame.event {
            line(&[b"event:", space, event.as_bytes()]);
        }
        if frame.breaks_off {
            out.extend_from_slice(b"data:");
            out.extend_from_slice(space);
            out.extend_from_slice(frame.data.as_bytes());
            return;
        }
        line(&[b"data:", space, frame.data.as_bytes()]);
        line(&[]);
    }

    /// Appends what ends the stream in good order.
    pub(super) fn finish(&self, out: &mut Vec<u8>) {
        if self.framing == Framing::Array {
            out.extend_from_slice(if self.begun { b"]" } else { b"[]" });
        }
    }

    /// How many frames go out in one write.
    pub(super) fn frames_per_write(&self) -> usize {
        self.odd.merge.unwrap_or(1).max(1)
    }

    /// Where these bytes are cut into several writes.
    pub(super) fn cuts(&self, bytes: &[u8]) -> Vec<usize> {
        let after = |found: Option<usize>, more: usize| {
            found.map(|at| at + more).filter(|at| *at < bytes.len()).into_iter().collect()
        };
        match self.odd.split {
            None => Vec::new(),
            Some(Split::EveryByte) => (1..bytes.len()).collect(),
            // The first byte of a character of several says so.
            Some(Split::Utf8) => after(bytes.iter().position(|byte| *byte >= 0xc0), 1),
            Some(Split::Data) => after(memchr::memmem::find(bytes, b"data:"), 2),
            Some(Split::Json) => after(memchr::memmem::find(bytes, b"{\""), 2),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(odd: BytesFault) -> String {
        let mut writer = FrameWriter::new(Framing::Events, Some(odd));
        let mut out = Vec::new();
        writer.write(&Frame::named("ping", "{}"), &mut out);
        writer.write(&Frame::data("[DONE]"), &mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn odd_forms_say_the_same() {
        assert_eq!(written(BytesFault::default()), "event: ping\ndata: {}\n\ndata: [DONE]\n\n");
        let odd = BytesFault {
            line_end: Some(LineEnd::Crlf),
            no_space: true,
            bom: true,
            ..BytesFault::default()
        };
        assert_eq!(written(odd), "\u{feff}event:ping\r\ndata:{}\r\n\r\ndata:[DONE]\r\n\r\n");
        let commented = written(BytesFault { comments: true, ..BytesFault::default() });
        assert!(commented.starts_with(": keep-alive\n\nevent: ping\n"), "{commented}");
    }

    #[test]
    fn a_write_may_end_inside_a_character() {
        let writer = FrameWriter::new(
            Framing::Events,
            Some(BytesFault { split: Some(Split::Utf8), ..BytesFault::default() }),
        );
        let bytes = "data: é\n\n".as_bytes();
        let cuts = writer.cuts(bytes);
        assert!(std::str::from_utf8(&bytes[..cuts[0]]).is_err());
    }
}
