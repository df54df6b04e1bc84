//! From frames to ended calls.

use std::{borrow::Cow, time::Duration};

use mcp_loadtest_core::{
    arguments::{CROSSED, Echo, NOT_ECHOED, Nonce, Sighting},
    display::visible_bytes,
    event::{Call, Event, Failure, note},
    jsonrpc::{self, Body, Defect, Id, Message, ResultKind},
    mcp::method::CANCELLED,
    outcome::{ErrorCategory, Outcome},
};
use serde_json::{Value, value::RawValue};

use super::{Inner, Reply};
use crate::slots::{Ended, Overdue, Slot};

/// How much of a bad frame is shown.
const EXCERPT: usize = 120;
/// How an id begins.
const ID: &[u8] = b"\"id\":";

impl Inner {
    /// Takes one frame that arrived at `at`.
    pub(crate) fn take_frame(&self, frame: &[u8], at: Duration) {
        self.tell_tap(frame, at);
        self.take_message(frame, at);
    }

    fn take_message(&self, frame: &[u8], at: Duration) {
        let reading = jsonrpc::read(frame);
        if !reading.defects.is_empty() {
            if let Some(members) = self.members(frame, &reading.defects) {
                return self.take_batch(&members, at);
            }
            self.report_defects(&reading.defects, frame, at);
        }
        match reading.message {
            // Whose number it is, is anybody's guess.
            Some(Message::Response { body: Body::Unclear, .. })
                if is_no_envelope(&reading.defects) => {}
            Some(Message::Response { id: Id::Number(id), body }) => {
                self.settle(id, body, &reading.defects, at);
            }
            Some(Message::Response { id: Id::Other(id), body }) => self.take_orphan(id, &body),
            Some(Message::Request { id, method, params }) => self.take_request(id, method, params),
            Some(Message::Notification { method, params }) => {
                self.counters.notifications.set(self.counters.notifications.get() + 1);
                if method == CANCELLED.as_bytes() {
                    self.take_withdrawal(params);
                }
                self.sink.notified(method, params, at);
            }
            None => self.take_unreadable(frame, &reading.defects, at),
        }
    }

    fn take_batch(&self, members: &[&RawValue], at: Duration) {
        for member in members.iter().map(|member| member.get()) {
            // What is no message is told; a list in a list is none, however deep it goes.
            if member.starts_with('{') {
                self.take_message(member.as_bytes(), at);
            } else {
                self.report_defects(&[Defect::NotAnObject], member.as_bytes(), at);
            }
        }
    }

    /// The messages of a batch, where the revision has batches.
    fn members<'a>(&self, frame: &'a [u8], defects: &[Defect]) -> Option<Vec<&'a RawValue>> {
        let may_come = defects == [Defect::Batch] && self.lifecycle.get().revision.has_batches();
        let members = may_come.then(|| serde_json::from_slice(frame).ok()).flatten();
        members.filter(|members: &Vec<_>| !members.is_empty())
    }

    fn report_defects(&self, defects: &[Defect], frame: &[u8], at: Duration) {
        let slugs: Vec<_> = defects.iter().map(|defect| defect.slug()).collect();
        let detail = format!("{}: {}", slugs.join(", "), visible_bytes(frame, EXCERPT));
        self.counters.first_defect.borrow_mut().get_or_insert_with(|| detail.clone());
        self.emit(&Event::note(at, note::FRAME_DEFECT, detail));
    }

    /// A frame that is no message may still show which call it was meant for.
    fn take_unreadable(&self, frame: &[u8], defects: &[Defect], at: Duration) {
        if !may_be_a_reply(frame, defects) {
            return;
        }
        let is_object = frame.trim_ascii_start().starts_with(b"{");
        let id = {
            let mut slots = self.slots.borrow_mut();
            match id_of(frame) {
                Some(id) if slots.waiting(id).is_some() => Some(id),
                // This is the reply to a call that was given up, and to no other.
                Some(id) if slots.was_used(id) => None,
                // Nobody can have asked for this one.
                _ => is_object.then(|| slots.only_waiting()).flatten(),
            }
        };
        if let Some(id) = id {
            self.settle(id, Body::Unclear, defects, at);
        }
    }

    /// A frame that was too long to keep; `head` is how it began.
    pub(crate) fn take_oversized(&self, head: &[u8], limit: usize, at: Duration) {
        self.note_oversized(head, limit, at);
        self.take_unreadable(head, &[Defect::TooLarge], at);
    }

    /// The same on the stream of one call; 0 is a stream of which nobody awaits a reply any more. Many write
    /// the id behind the result, where it is cut off: the stream itself says whose reply it is.
    pub(crate) fn take_oversized_event(&self, id: u64, head: &[u8], limit: usize, at: Duration) {
        let awaited = id != 0 && self.slots.borrow_mut().waiting(id).is_some();
        if awaited && may_be_a_reply(head, &[Defect::TooLarge]) {
            self.take_oversized_reply(id, head, limit, at);
        } else {
            self.note_oversized(head, limit, at);
        }
    }

    /// The same where it is known which call it answers.
    pub(crate) fn take_oversized_reply(&self, id: u64, head: &[u8], limit: usize, at: Duration) {
        self.note_oversized(head, limit, at);
        self.settle(id, Body::Unclear, &[Defect::TooLarge], at);
    }

    /// What stands behind the last line of all. Half a message of a server that we end is our doing.
    pub(crate) fn take_unended(&self, rest: &[u8], is_closing: bool) {
        let rest = rest.trim_ascii();
        let may_be_ours = is_closing && rest.starts_with(b"{");
        if !rest.is_empty() && !may_be_ours {
            self.report_defects(&[Defect::Unended], rest, self.clock.now());
        }
    }

    fn note_oversized(&self, head: &[u8], limit: usize, at: Duration) {
        let detail = format!("more than {limit} bytes: {}", visible_bytes(head, EXCERPT));
        self.emit(&Event::note(at, note::FRAME_TOO_LARGE, detail));
    }

    fn take_orphan(&self, id: &[u8], body: &Body<'_>) {
        let said = match body {
            Body::Error { raw, .. } | Body::Result { raw, .. } => visible_bytes(raw, EXCERPT),
            Body::Unclear => String::new(),
        };
        self.note(note::ORPHAN_REPLY, format!("id {}: {said}", visible_bytes(id, 40)));
    }

    /// A tool call that is open can be withdrawn by nobody but us. Whether it is answered all the same is
    /// another matter: it goes on as if nothing had been said.
    fn take_withdrawal(&self, params: Option<&[u8]>) {
        let params = params.and_then(|params| serde_json::from_slice::<Value>(params).ok());
        let Some(id) = params.as_ref().and_then(|params| params["requestId"].as_u64()) else {
            return;
        };
        let prepared = self.slots.borrow_mut().prepared(id);
        if let Some(tool) = prepared.as_ref().and_then(|prepared| prepared.tool()) {
            self.note(note::CALL_WITHDRAWN, format!("id {id}, `{tool}`"));
        }
    }

    /// Ends the call that this reply answers.
    pub(crate) fn settle(&self, id: u64, body: Body<'_>, defects: &[Defect], at: Duration) {
        let mut slots = self.slots.borrow_mut();
        let Some((slot, overdue)) = slots.waiting_at(id, at) else {
            drop(slots);
            self.take_late(id, &body, at);
            return;
        };
        if overdue == Overdue::Unnoticed {
            self.tell_hang(slot, at);
        }
        if let Body::Result { raw, kind: ResultKind::InputRequired } = body {
            if let Some(unfinished) = slot.unfinished(raw) {
                slots.finish(id, Ended::NeedsInput(unfinished));
            }
            return;
        }
        let keep = slot.keep_body.then(|| raw_of(&body).to_vec());
        let (call, started) = (self.call_of(slot), slot.started);
        let expected = slot.prepared.as_ref().and_then(|prepared| prepared.expected);
        let failure = failure_of(&body, defects, overdue);
        let failure = failure.or_else(|| not_ours(expected?, raw_of(&body)));
        let failure = failure.or_else(|| {
            let why = slot.prepared.as_ref()?.breach(raw_of(&body))?;
            self.note(note::SCHEMA_MISMATCH, why.clone());
            let category = ErrorCategory::ProtocolError;
            Some(Failure { category, message: why.into(), code: None })
        });
        let ended = match failure {
            None => {
                if let Some(prepared) = &slot.prepared {
                    prepared.saw_answer(started);
                }
                self.behind.answered(started);
                self.emit(&Event::Response { call, at, result: Cow::Borrowed(raw_of(&body)) });
                match keep {
                    None => Ended::Well(at),
                    body => Ended::Replied(Box::new(Reply { body, ..Reply::good(started, at) })),
                }
            }
            Some(failure) => {
                let reply = reply_of(&failure, keep, started, at);
                self.emit(&Event::Error { call, at, failure });
                Ended::Replied(Box::new(reply))
            }
        };
        slots.finish(id, ended);
    }

    /// A reply to a call that was given up, answered before, or never made.
    fn take_late(&self, id: u64, body: &Body<'_>, at: Duration) {
        let late = self.slots.borrow_mut().take_abandoned(id);
        if let Some(slot) = late {
            let took = at.saturating_sub(slot.started);
            self.note(
                note::LATE_REPLY,
                format!("id {id} answered after {:.3} s", took.as_secs_f64()),
            );
            return;
        }
        let used = self.slots.borrow().was_used(id);
        if used && self.is_broken() {
            // The call ended with the session; its reply was on its way already.
            return;
        }
        let word = if used { "answered twice" } else { "never sent" };
        let said = visible_bytes(raw_of(body), EXCERPT);
        self.note(note::ORPHAN_REPLY, format!("id {id} {word}: {said}"));
    }

    /// The call in a slot, as events name it.
    #[inline]
    pub(crate) fn call_of<'a>(&self, slot: &'a Slot) -> Call<'a> {
        let prepared = slot.prepared.as_deref();
        Call {
            request_id: slot.id,
            session: self.index,
            worker: self.worker,
            phase: slot.phase,
            method: Cow::Borrowed(prepared.map_or("", |prepared| prepared.method())),
            tool: prepared.and_then(|prepared| prepared.tool()).map(Cow::Borrowed),
            segment: slot.segment,
            intended: slot.intended,
            started: slot.started,
        }
    }
}

/// What a failure looks like to the caller.
pub(super) fn reply_of(
    failure: &Failure<'_>,
    body: Option<Vec<u8>>,
    started: Duration,
    ended: Duration,
) -> Reply {
    Reply {
        outcome: Outcome::Failed(failure.category),
        code: failure.code,
        message: failure.message.clone().into_owned(),
        body,
        started,
        ended,
    }
}

fn raw_of<'a>(body: &Body<'a>) -> &'a [u8] {
    match body {
        Body::Result { raw, .. } | Body::Error { raw, .. } => raw,
        Body::Unclear => b"null",
    }
}

/// The one category of a reply, in order of precedence: late, malformed, error, tool error.
fn failure_of(body: &Body<'_>, defects: &[Defect], overdue: Overdue) -> Option<Failure<'static>> {
    let fail =
        |category, message: String, code| Some(Failure { category, message: message.into(), code });
    match overdue {
        Overdue::No => {}
        Overdue::Noticed | Overdue::Unnoticed => {
            return fail(ErrorCategory::Hang, "answered after the hang threshold".into(), None);
        }
        Overdue::TimedOut => {
            return fail(ErrorCategory::Timeout, "answered after the call timeout".into(), None);
        }
    }
    if let Some(defect) = defects.iter().find(|defect| defect.is_fatal()) {
        return fail(ErrorCategory::Malformed, defect.slug().into(), None);
    }
    match body {
        Body::Result { kind: ResultKind::Complete, .. } => None,
        Body::Result { raw, kind: ResultKind::ToolError } => {
            fail(ErrorCategory::ToolError, first_text(raw), None)
        }
        Body::Result { kind: ResultKind::InputRequired | ResultKind::Unknown, .. } => fail(
            ErrorCategory::Malformed,
            "a `resultType` that this client does not know".into(),
            None,
        ),
        Body::Error { raw, code } => {
            let message = serde_json::from_slice::<Value>(raw).ok();
            let message =
                message.as_ref().and_then(|error| error["message"].as_str()).unwrap_or_default();
            fail(
                ErrorCategory::from_code(*code),
                visible_bytes(message.as_bytes(), EXCERPT),
                Some(*code),
            )
        }
        Body::Unclear => fail(ErrorCategory::Malformed, "no readable reply".into(), None),
    }
}

/// A good reply with the contents of another is worse than an error: nobody notices it.
fn not_ours((nonce, echo): (Nonce, Echo), result: &[u8]) -> Option<Failure<'static>> {
    let message = match nonce.look(result) {
        Sighting::Own => return None,
        Sighting::Other(other) => format!("{CROSSED}: it carries nonce {other}, not {nonce}"),
        Sighting::Nothing if echo == Echo::May => return None,
        Sighting::Nothing => format!("{NOT_ECHOED}: nonce {nonce} is missing"),
    };
    let message = message.into();
    Some(Failure { category: ErrorCategory::Malformed, message, code: None })
}

/// The first text of a tool result, which is where tools say what went wrong.
fn first_text(raw: &[u8]) -> String {
    let value: Option<Value> = serde_json::from_slice(raw).ok();
    let text = value.as_ref().and_then(|result| result["content"][0]["text"].as_str());
    visible_bytes(text.unwrap_or("isError without a text").as_bytes(), EXCERPT)
}

/// A line of a log that is JSON has neither a version nor anything that a reply has.
fn is_no_envelope(defects: &[Defect]) -> bool {
    [Defect::WrongVersion, Defect::InvalidEnvelope].iter().all(|defect| defects.contains(defect))
}

/// Whether what cannot be read may have been a reply. What names a method is a request or a notification,
/// or tells of one, unless the name stands in a result or an error.
fn may_be_a_reply(frame: &[u8], defects: &[Defect]) -> bool {
    let place = |name: &str| memchr::memmem::find(head(frame), name.as_bytes());
    let answer = [place("\"result\":"), place("\"error\":")].into_iter().flatten().min();
    let is_named = place("\"method\":").is_some_and(|at| answer.is_none_or(|answer| at < answer));
    !is_no_envelope(defects) && !is_named
}

/// Where an object says its own id, and not that of something within it.
fn own_id(frame: &[u8]) -> Option<usize> {
    let (mut depth, mut quoted, mut escaped) = (0_usize, false, false);
    for (at, byte) in frame.iter().enumerate() {
        match byte {
            _ if escaped => escaped = false,
            b'\\' if quoted => escaped = true,
            b'"' if !quoted && depth == 1 && frame[at..].starts_with(ID) => return Some(at),
            b'"' => quoted = !quoted,
            b'{' | b'[' if !quoted => depth += 1,
            b'}' | b']' if !quoted => depth = depth.saturating_sub(1),
            _ => {}
        }
    }
    None
}

/// The part of a frame in which those of its members stand that say what it is.
fn head(frame: &[u8]) -> &[u8] {
    &frame[..frame.len().min(256)]
}

/// The number after `"id":` in a frame, as far as it is there: in an object its own member, which many write
/// last; elsewhere what stands near the beginning.
fn id_of(frame: &[u8]) -> Option<u64> {
    let is_object = frame.trim_ascii_start().starts_with(b"{");
    let own = if is_object { own_id(frame) } else { memchr::memmem::find(head(frame), ID) };
    let rest = frame[own? + ID.len()..].trim_ascii_start();
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    // A number that the cut may have shortened is no number.
    (digits > 0 && digits < rest.len())
        .then(|| std::str::from_utf8(&rest[..digits]).ok()?.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcp_loadtest_core::{arguments::Turn, seed::Seed};

    #[test]
    fn the_id_of_a_broken_frame_is_its_own() {
        assert_eq!(id_of(br#"{"jsonrpc":"2.0","id":12,"resu"#), Some(12));
        assert_eq!(id_of(br#"{"jsonrpc":"2.0","id": 12"#), None);
        assert_eq!(id_of(br#"{"result":{"id":5,"at":["\"id\":6",NaN]},"id":12}"#), Some(12));
        assert_eq!(id_of(br#"{"result":{"text":"{\\","id":5"#), None);
        assert_eq!(id_of(br#"[{"jsonrpc":"2.0","id":12,"resu"#), Some(12));
        assert_eq!(id_of(b"Server started"), None);
    }

    #[test]
    fn what_others_write_is_no_reply() {
        let whole = [Defect::WrongVersion, Defect::InvalidEnvelope];
        assert!(!may_be_a_reply(br#"{"level":30,"msg":"called echo","id":5}"#, &whole));
        let log = br#"DEBUG <- {"jsonrpc":"2.0","id":5,"method":"tools/call"}"#;
        assert!(!may_be_a_reply(log, &[Defect::NotJson]));
        assert!(may_be_a_reply(br#"{"jsonrpc":"2.0","id":12,"resu"#, &[Defect::Truncated]));
        let data = br#"{"jsonrpc":"2.0","id":5,"result":{"method":"GET","latency":NaN}}"#;
        assert!(may_be_a_reply(data, &[Defect::NotJson]));
        assert!(may_be_a_reply(br#"{"jsonrpc":"2.0","id":5}"#, &[Defect::InvalidEnvelope]));
    }

    #[test]
    fn a_reply_shows_whose_it_is() {
        let nonce = |iter| Turn::new(Seed(1), iter, 0, 0).nonce();
        let (own, other) = (nonce(0), nonce(1));
        let text = |nonce: &Nonce| format!(r#"{{"content":[{{"text":"{{\"t\":\"{nonce}\"}}"}}]}}"#);
        assert_eq!(not_ours((own, Echo::Must), text(&own).as_bytes()), None);
        let told = |result: &str| {
            not_ours((own, Echo::Must), result.as_bytes()).unwrap().message.into_owned()
        };
        assert_eq!(told(&text(&other)), format!("{CROSSED}: it carries nonce {other}, not {own}"));
        assert_eq!(told("{}"), format!("{NOT_ECHOED}: nonce {own} is missing"));
    }
}
