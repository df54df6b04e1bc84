//! What came back of a case, frame by frame.

use std::{collections::VecDeque, time::Duration};

use mcp_loadtest_core::{
    display::visible,
    fuzz::{FIRST_ID, Heard},
    jsonrpc::{self, Body, Defect, Id, Message, ResultKind, without_halves},
};
use serde_json::Value;

/// So many answered cases are remembered, so that a second answer is noticed.
const REMEMBERED: usize = 64;
/// So much of what a server says is shown.
const SHOWN: usize = 160;

/// Ids that were answered, the latest last.
#[derive(Debug, Default)]
pub(super) struct Answered(VecDeque<u64>);

impl Answered {
    pub(super) fn add(&mut self, id: u64) {
        self.0.push_back(id);
        if self.0.len() > REMEMBERED {
            self.0.pop_front();
        }
    }
}

/// Hears the answer to one case.
#[derive(Debug)]
pub(super) struct Ear {
    pub(super) id: u64,
    /// Whether what we sent may ask with any id, and more than once: a server that answers so is not
    /// to blame.
    odd_ids: bool,
    pub(super) heard: Heard,
    pub(super) took: Duration,
    /// What the protocol does not allow.
    pub(super) breach: Option<String>,
    /// An earlier case that was answered a second time.
    pub(super) stray: Option<u64>,
    pub(super) words: String,
    /// A line that is no message at all, such as one of a log.
    pub(super) noise: Option<String>,
}

impl Ear {
    pub(super) fn new(id: u64, odd_ids: bool) -> Self {
        Self {
            id,
            odd_ids,
            heard: Heard::Nothing,
            took: Duration::ZERO,
            breach: None,
            stray: None,
            words: String::new(),
            noise: None,
        }
    }

    pub(super) fn has_answer(&self) -> bool {
        self.heard != Heard::Nothing
    }

    /// Takes a frame.
    pub(super) fn take(&mut self, frame: &[u8], took: Duration, answered: &Answered) {
        let whole = without_halves(frame);
        let reading = jsonrpc::read(&whole);
        let is_ours = |defect: &Defect| {
            self.odd_ids && matches!(defect, Defect::InvalidId | Defect::IdTypeChanged)
        };
        let mut defects = reading.defects.iter().filter(|defect| !is_ours(defect));
        let breach = defects.find(|defect| is_breach(defect)).filter(|_| !is_to_nobody(&whole));
        if let Some(defect) = breach {
            let shown = visible(&String::from_utf8_lossy(frame), SHOWN);
            let told = format!("{}: {shown}", defect.slug());
            let place = if is_noise(&whole) { &mut self.noise } else { &mut self.breach };
            place.get_or_insert(told);
        }
        let Some(Message::Response { id, body }) = reading.message else { return };
        match id {
            Id::Number(id) if id == self.id => self.answer(&body, took),
            Id::Number(id) if !self.odd_ids && id >= FIRST_ID && answered.0.contains(&id) => {
                self.stray = Some(id);
            }
            // To nobody in particular, or to something that only looks like a request.
            _ => {}
        }
    }

    fn answer(&mut self, body: &Body<'_>, took: Duration) {
        if self.has_answer() {
            if !self.odd_ids {
                self.breach.get_or_insert("answered twice".into());
            }
            return;
        }
        self.took = took;
        (self.heard, self.words) = match body {
            Body::Result { raw, kind } => {
                let shown = visible(&String::from_utf8_lossy(raw), SHOWN);
                let refused = *kind == ResultKind::ToolError;
                let heard = if refused { Heard::Refusal } else { Heard::Result };
                (heard, format!("result {shown}"))
            }
            Body::Error { raw, .. } => {
                (Heard::Refusal, format!("error {}", visible(&String::from_utf8_lossy(raw), SHOWN)))
            }
            Body::Unclear => (Heard::Refusal, "neither result nor error".into()),
        };
    }

    /// Takes an HTTP status that came without an answer.
    pub(super) fn status(&mut self, status: u16, took: Duration) {
        if !self.has_answer() && status >= 300 {
            self.heard = Heard::Refusal;
            self.took = took;
            self.words = format!("HTTP {status}");
        }
    }
}

/// Whether the server is to blame: our own limits, and what we can read all the same, are not.
fn is_breach(defect: &Defect) -> bool {
    match defect {
        Defect::TooDeep | Defect::TooLarge => false,
        Defect::IdTypeChanged => true,
        defect => defect.is_fatal(),
    }
}

/// A line that does not even begin like a message. It is wrong, but it answers nobody wrongly.
fn is_noise(frame: &[u8]) -> bool {
    !matches!(frame.trim_ascii_start().first(), Some(b'{' | b'['))
}

/// An error without an id: what some SDKs say to what they cannot read, where others say nothing.
fn is_to_nobody(frame: &[u8]) -> bool {
    let message: Value = serde_json::from_slice(frame).unwrap_or_default();
    message.get("id").is_none() && message["error"]["code"].is_i64()
}

/// Whether a frame is the answer to this id.
pub(super) fn answers(frame: &[u8], id: u64) -> bool {
    let whole = without_halves(frame);
    let message = jsonrpc::read(&whole).message;
    matches!(message, Some(Message::Response { id: Id::Number(number), .. }) if number == id)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(frames: &[&str]) -> Ear {
        let mut ear = Ear::new(FIRST_ID + 5, false);
        let mut answered = Answered::default();
        answered.add(FIRST_ID + 4);
        for frame in frames {
            ear.take(frame.as_bytes(), Duration::ZERO, &answered);
        }
        ear
    }

    #[test]
    fn an_answer_is_told_from_noise_and_from_a_second_one() {
        let good = r#"{"jsonrpc":"2.0","id":1125899906842629,"result":{}}"#;
        let bad = r#"{"jsonrpc":"2.0","id":1125899906842629,"error":{"code":-1,"message":"x"}}"#;
        let text = r#"{"jsonrpc":"2.0","id":"1125899906842629","result":{}}"#;
        let earlier = r#"{"jsonrpc":"2.0","id":1125899906842628,"result":{}}"#;
        let nobody = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"x"}}"#;
        let ours = r#"{"jsonrpc":"2.0","id":3,"result":{}}"#;
        let notice = r#"{"jsonrpc":"2.0","method":"notifications/message","params":{}}"#;
        assert_eq!(heard(&[nobody, ours, notice, good]).heard, Heard::Result);
        assert_eq!(heard(&[nobody, ours, notice, good]).breach, None);
        assert_eq!(heard(&[bad]).heard, Heard::Refusal);
        assert_eq!(heard(&[good, bad]).breach.as_deref(), Some("answered twice"));
        assert!(heard(&[text]).breach.is_some() && heard(&[text]).has_answer());
        assert_eq!(heard(&[earlier]).stray, Some(FIRST_ID + 4));
        let noisy = heard(&["Traceback (most recent call last)"]);
        assert!(noisy.noise.is_some() && noisy.breach.is_none());
        assert!(heard(&["{\"jsonrpc\":"]).breach.is_some());
        let deep = format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}", "[".repeat(5_000));
        assert_eq!(heard(&[&deep]).breach, None);
        let half = r#"{"jsonrpc":"2.0","id":1125899906842629,"result":{"a":"\\ud8\ud800\uDC00"}}"#;
        let ear = heard(&[half]);
        assert_eq!((ear.heard, ear.breach), (Heard::Result, None));
        let no_id = r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"x"}}"#;
        assert_eq!(heard(&[no_id]).breach, None);
        assert!(heard(&[r#"{"jsonrpc":"2.0","result":{}}"#]).breach.is_some());
    }
}
