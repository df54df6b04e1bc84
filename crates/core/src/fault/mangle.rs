//! Spoils the bytes of a reply. Total: whatever the bytes are, there is something to send.

mod edit;

pub use edit::CURSOR_PREFIX;

use super::treatment::Mangle;

/// What a library leaves on standard output.
const NOISE: &[u8] = b"DEBUG connected to backend in 12 ms\n";

/// What to send, one after the other.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Step {
    /// A whole message.
    Frame(Vec<u8>),
    /// Bytes as they are, line end included.
    Raw(Vec<u8>),
    /// The beginning of a message; then the connection ends.
    Partial {
        /// What is sent of it.
        bytes: Vec<u8>,
        /// How long it was to be.
        announced: usize,
    },
    /// A whole message, in small pieces.
    Drip {
        /// The message.
        frame: Vec<u8>,
        /// How fast.
        bytes_per_second: u64,
    },
    /// A whole message that waits until another reply has left, but no longer than
    /// [`super::REORDER_LIMIT`].
    Late(Vec<u8>),
}

impl Step {
    /// The whole message that it sends, if it sends one.
    pub fn into_message(mut self) -> Option<Vec<u8>> {
        self.message().map(std::mem::take)
    }

    /// The whole message in it, if it is one.
    fn message(&mut self) -> Option<&mut Vec<u8>> {
        match self {
            Self::Frame(frame) | Self::Late(frame) | Self::Drip { frame, .. } => Some(frame),
            Self::Raw(_) | Self::Partial { .. } => None,
        }
    }
}

/// Spoils a reply, which is one message without its line end, in the order of `mangles`.
///
/// ```
/// # use mcp_loadtest_core::fault::{Mangle, Step, mangle};
/// let reply = br#"{"jsonrpc":"2.0","id":7,"result":{}}"#.to_vec();
/// assert_eq!(mangle(reply.clone(), &[]), [Step::Frame(reply.clone())]);
/// assert_eq!(mangle(reply, &[Mangle::Duplicate]).len(), 2);
/// ```
pub fn mangle(reply: Vec<u8>, mangles: &[Mangle]) -> Vec<Step> {
    let mut steps = vec![Step::Frame(reply)];
    for how in mangles {
        steps = match how {
            Mangle::Noise => [Step::Raw(NOISE.to_vec())].into_iter().chain(steps).collect(),
            Mangle::Duplicate => steps.into_iter().flat_map(|step| [step.clone(), step]).collect(),
            how => steps.into_iter().map(|step| spoil(step, *how)).collect(),
        };
    }
    steps
}

fn spoil(mut step: Step, how: Mangle) -> Step {
    let Some(message) = step.message() else { return step };
    match how {
        Mangle::Malformed => break_syntax(message),
        Mangle::WrongId => edit::wrong_id(message),
        Mangle::Oversized(bytes) => edit::oversized(message, bytes),
        Mangle::SchemaViolation => edit::schema_violation(message),
        Mangle::NextCursor(page) => edit::next_cursor(message, page),
        Mangle::Truncate(bytes) if bytes < message.len() => {
            let announced = message.len();
            message.truncate(bytes);
            return Step::Partial { bytes: std::mem::take(message), announced };
        }
        Mangle::Drip(bytes_per_second) => {
            return Step::Drip { frame: std::mem::take(message), bytes_per_second };
        }
        Mangle::Reorder => return Step::Late(std::mem::take(message)),
        // The last two concern the list of steps, not one of them.
        Mangle::Truncate(_) | Mangle::Noise | Mangle::Duplicate => {}
    }
    step
}

/// No JSON ends in a comma and a bracket, unless within a text, which would then not end.
fn break_syntax(message: &mut Vec<u8>) {
    message.pop();
    message.extend_from_slice(b",]");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_that_is_a_whole_message_gives_it_away() {
        let bytes = || b"{}".to_vec();
        for (step, message) in [
            (Step::Frame(bytes()), Some(bytes())),
            (Step::Late(bytes()), Some(bytes())),
            (Step::Drip { frame: bytes(), bytes_per_second: 1 }, Some(bytes())),
            (Step::Raw(bytes()), None),
            (Step::Partial { bytes: bytes(), announced: 9 }, None),
        ] {
            assert_eq!(step.clone().into_message(), message, "{step:?}");
        }
    }
}
