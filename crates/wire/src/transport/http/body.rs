//! Bodies: lengths and chunks on the way in, bytes on the way out.

use super::head::Framing;

/// Takes the framing off a body that arrives in pieces.
#[derive(Debug)]
pub(crate) struct Decoder {
    state: State,
}

#[derive(Debug, PartialEq, Eq)]
enum State {
    /// So many bytes are left.
    Length(usize),
    /// A chunk's size line is due.
    Size,
    /// So many bytes of a chunk are left.
    Chunk(usize),
    /// The line end after a chunk is due.
    ChunkEnd,
    /// Trailer lines are due, up to an empty one.
    Trailer,
    UntilClose,
    Done,
}

/// A size line longer than this is an attack.
const LONGEST_LINE: usize = 4096;

impl Decoder {
    pub(crate) fn new(framing: Framing) -> Self {
        let state = match framing {
            Framing::Length(0) => State::Done,
            Framing::Length(length) => State::Length(length),
            Framing::Chunked => State::Size,
            Framing::UntilClose => State::UntilClose,
        };
        Self { state }
    }

    /// Whether the whole body has been seen.
    pub(crate) fn is_done(&self) -> bool {
        self.state == State::Done
    }

    /// Whether the end of the connection is the end of the body.
    pub(crate) fn may_end_here(&self) -> bool {
        matches!(self.state, State::Done | State::UntilClose)
    }

    /// Moves what can be decoded from `input` to `body`; the rest stays in `input`.
    pub(crate) fn decode(&mut self, input: &mut Vec<u8>, body: &mut Vec<u8>) -> Result<(), String> {
        let mut at = 0;
        loop {
            let rest = &input[at..];
            match &mut self.state {
                State::Length(left) | State::Chunk(left) => {
                    let take = rest.len().min(*left);
                    body.extend_from_slice(&rest[..take]);
                    at += take;
                    *left -= take;
                    if *left > 0 {
                        break;
                    }
                    self.state = if matches!(self.state, State::Chunk(_)) {
                        State::ChunkEnd
                    } else {
                        State::Done
                    };
                }
                State::Size | State::ChunkEnd | State::Trailer => {
                    let Some(end) = memchr::memchr(b'\n', rest) else {
                        if rest.len() > LONGEST_LINE {
                            return Err("a chunk line is too long".into());
                        }
                        break;
                    };
                    let line = rest[..end].trim_ascii_end();
                    at += end + 1;
                    self.state = next_state(&self.state, line)?;
                }
                State::UntilClose => {
                    body.extend_from_slice(rest);
                    at = input.len();
                    break;
                }
                State::Done => break,
            }
        }
        input.drain(..at);
        Ok(())
    }
}

fn next_state(state: &State, line: &[u8]) -> Result<State, String> {
    Ok(match state {
        State::Size => {
            let digits = line.split(|byte| *byte == b';').next().unwrap_or_default().trim_ascii();
            let text = std::str::from_utf8(digits).unwrap_or_default();
            match usize::from_str_radix(text, 16).map_err(|_| "a chunk size is no number")? {
                0 => State::Trailer,
                size => State::Chunk(size),
            }
        }
        State::ChunkEnd if line.is_empty() => State::Size,
        State::ChunkEnd => return Err("a chunk is longer than its size says".into()),
        State::Trailer if line.is_empty() => State::Done,
        _ => State::Trailer,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(framing: Framing, pieces: &[&str]) -> Result<(String, bool), String> {
        let mut decoder = Decoder::new(framing);
        let (mut input, mut body) = (Vec::new(), Vec::new());
        for piece in pieces {
            input.extend_from_slice(piece.as_bytes());
            decoder.decode(&mut input, &mut body)?;
        }
        Ok((String::from_utf8(body).unwrap(), decoder.is_done()))
    }

    #[test]
    fn chunks_are_joined_however_they_are_cut() {
        let whole = "4\r\nWiki\r\n6;x=y\r\npedia \r\n0\r\nTrailer: x\r\n\r\n";
        assert_eq!(decode(Framing::Chunked, &[whole]).unwrap(), ("Wikipedia ".into(), true));
        let single: Vec<&str> = whole.split("").collect();
        assert_eq!(decode(Framing::Chunked, &single).unwrap(), ("Wikipedia ".into(), true));
        assert!(!decode(Framing::Chunked, &["4\r\nWi"]).unwrap().1);
    }

    #[test]
    fn broken_framing_is_an_error() {
        assert!(decode(Framing::Chunked, &["zz\r\n"]).is_err());
        assert!(decode(Framing::Chunked, &["1\r\nab\r\n"]).is_err());
        assert!(decode(Framing::Chunked, &[&"1".repeat(LONGEST_LINE + 1)]).is_err());
        assert_eq!(decode(Framing::Length(3), &["a", "bcd"]).unwrap(), ("abc".into(), true));
    }
}
