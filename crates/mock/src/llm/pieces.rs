//! An answer, cut into the pieces that it is streamed in. Faults have their places between pieces, and
//! cut one in two where they must, so that a place means the same on every API.

use std::sync::Arc;

use mcp_loadtest_core::llm::{Answer, At, Block, CallId};

use super::dialect::Reply;

/// The next bit of an answer.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Piece<'a> {
    /// A text begins.
    TextBegins { block: usize },
    /// More of it.
    Text { block: usize, text: &'a str },
    /// It has ended.
    TextEnds { block: usize, whole: &'a str },
    /// A refusal begins.
    RefusalBegins { block: usize },
    /// More of it.
    Refusal { block: usize, text: &'a str },
    /// It has ended.
    RefusalEnds { block: usize, whole: &'a str },
    /// The call of a tool begins; `call` counts calls from 0.
    CallBegins { block: usize, call: usize, id: &'a CallId, name: &'a str },
    /// More of its arguments.
    Arguments { block: usize, call: usize, text: &'a str },
    /// It has ended.
    CallEnds { block: usize, call: usize, id: &'a CallId, name: &'a str, whole: &'a str },
}

/// Where an answer is, and how it goes on.
#[derive(Debug, Clone)]
pub(crate) struct Pieces {
    reply: Arc<Reply>,
    chunk_size: usize,
    block: usize,
    call: usize,
    step: Step,
    /// Bytes of the answer so far.
    bytes: usize,
    /// Bytes after which a piece must end, in order.
    breaks: Vec<usize>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Step {
    Begin,
    Inside { from: usize },
    End,
}

impl Pieces {
    /// The pieces of an answer, none of which goes over one of these places.
    pub(crate) fn new(reply: Arc<Reply>, chunk_size: usize, places: &[At]) -> Self {
        let mut breaks: Vec<_> =
            places.iter().filter_map(|at| offset(&reply.answer, *at)).collect();
        breaks.sort_unstable();
        Self {
            reply,
            chunk_size: chunk_size.max(1),
            block: 0,
            call: 0,
            step: Step::Begin,
            bytes: 0,
            breaks,
        }
    }

    /// Whether the answer has come to this place.
    pub(crate) fn has_reached(&self, at: At) -> bool {
        match at {
            At::BeforeHeaders => true,
            At::BeforeTerminal => self.block >= self.reply.answer.blocks.len(),
            _ => match offset(&self.reply.answer, at) {
                Some(offset) => self.bytes >= offset,
                // A place that the answer does not have is its end.
                None => self.block >= self.reply.answer.blocks.len(),
            },
        }
    }

    /// How much has been said, in bytes.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// Hands the next piece to somebody. `false`: there is none.
    pub(crate) fn next(&mut self, hear: impl FnOnce(&Piece<'_>)) -> bool {
        let reply = self.reply.clone();
        let Some(block) = reply.answer.blocks.get(self.block) else { return false };
        let at = self.block;
        match (self.step, whole(block)) {
            (Step::Begin, text) => {
                hear(&begins(block, at, self.call));
                self.step = if text.is_empty() { Step::End } else { Step::Inside { from: 0 } };
            }
            (Step::Inside { from }, text) => {
                let part = self.cut(&text[from..]);
                hear(&inside(block, at, self.call, part));
                self.bytes += part.len();
                let from = from + part.len();
                self.step = if from == text.len() { Step::End } else { Step::Inside { from } };
            }
            (Step::End, _) => {
                hear(&ends(block, at, self.call));
                self.call += usize::from(matches!(block, Block::ToolCall { .. }));
                self.block += 1;
                self.step = Step::Begin;
            }
        }
        true
    }

    /// The next piece of a text: so many characters, or fewer where a place lies before.
    fn cut<'t>(&self, text: &'t str) -> &'t str {
        let room = text.char_indices().nth(self.chunk_size).map_or(text.len(), |(at, _)| at);
        let place = self.breaks.iter().find(|place| **place > self.bytes);
        let room = place.map_or(room, |place| room.min(place - self.bytes));
        // A place inside a character is its end.
        let end = (room..=text.len()).find(|at| text.is_char_boundary(*at)).unwrap_or(text.len());
        &text[..end]
    }
}

/// What an answer says in its first so many bytes.
pub(crate) fn beginning(answer: &Answer, bytes: usize) -> String {
    let mut said: String = answer.blocks.iter().map(whole).collect();
    let end = (0..=bytes.min(said.len())).rev().find(|at| said.is_char_boundary(*at));
    said.truncate(end.unwrap_or_default());
    said
}

/// Whether a text, or the arguments of a call, ends after so many bytes of an answer.
pub(crate) fn ends_a_block(answer: &Answer, bytes: usize) -> bool {
    let ends = answer.blocks.iter().scan(0, |end, block| {
        *end += whole(block).len();
        Some(*end)
    });
    ends.into_iter().any(|end| end == bytes)
}

/// How many bytes of the answer lie before a place; nothing where it has no such place.
fn offset(answer: &Answer, at: At) -> Option<usize> {
    let texts = || answer.blocks.iter().map(whole);
    let length: usize = texts().map(str::len).sum();
    match at {
        At::BeforeHeaders | At::BeforeTerminal => None,
        At::AfterChars(chars) => {
            let mut left = chars;
            let mut bytes = 0;
            for c in texts().flat_map(str::chars) {
                if left == 0 {
                    return Some(bytes);
                }
                left -= 1;
                bytes += c.len_utf8();
            }
            (left == 0).then_some(bytes)
        }
        At::AfterTokens(tokens) => {
            let bytes = tokens.saturating_mul(4);
            (bytes <= length).then_some(bytes)
        }
        At::InToolArgument(number) => {
            let mut before = 0;
            let mut calls = 0;
            for block in &answer.blocks {
                if let Block::ToolCall { arguments, .. } = block {
                    calls += 1;
                    if calls == number {
                        return Some(before + arguments.len() / 2);
                    }
                }
                before += whole(block).len();
            }
            None
        }
    }
}

fn whole(block: &Block) -> &str {
    match block {
        Block::Text(text) | Block::Refusal(text) => text,
        Block::ToolCall { arguments, .. } => arguments,
        Block::Embedding(_) => "",
    }
}

fn begins(block: &Block, at: usize, call: usize) -> Piece<'_> {
    match block {
        Block::Text(_) | Block::Embedding(_) => Piece::TextBegins { block: at },
        Block::Refusal(_) => Piece::RefusalBegins { block: at },
        Block::ToolCall { id, name, .. } => Piece::CallBegins { block: at, call, id, name },
    }
}

fn inside<'a>(block: &Block, at: usize, call: usize, text: &'a str) -> Piece<'a> {
    match block {
        Block::Text(_) | Block::Embedding(_) => Piece::Text { block: at, text },
        Block::Refusal(_) => Piece::Refusal { block: at, text },
        Block::ToolCall { .. } => Piece::Arguments { block: at, call, text },
    }
}

fn ends(block: &Block, at: usize, call: usize) -> Piece<'_> {
    match block {
        Block::Text(text) => Piece::TextEnds { block: at, whole: text },
        Block::Embedding(_) => Piece::TextEnds { block: at, whole: "" },
        Block::Refusal(text) => Piece::RefusalEnds { block: at, whole: text },
        Block::ToolCall { id, name, arguments } => {
            Piece::CallEnds { block: at, call, id, name, whole: arguments }
        }
    }
}
