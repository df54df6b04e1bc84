//! A row of the audit log while it is not complete.

use std::borrow::Cow;

use http::StatusCode;
use mcp_loadtest_core::{
    fault::Decision,
    jsonrpc::{self, Body, Message, ResultKind},
};
use serde::Deserialize;
use tokio::time::Instant;

use super::{record::Envelope, sent::Sent};
use crate::audit::{Audit, Kind, Row};

/// A message that has arrived and whose row is not complete. One that is let go of before that is
/// written down as given up: nothing that arrived is missing from the log.
#[derive(Debug)]
pub(super) struct Open {
    /// Taken when it is written down.
    row: Option<Box<Row>>,
    since: Instant,
    audit: Audit,
}

impl Drop for Open {
    fn drop(&mut self) {
        if let Some(mut row) = self.finish() {
            if row.kind != Kind::Stream {
                withdraw(&mut row);
                // A reply that was held back has not been sent.
                (row.bytes_out, row.error_code, row.error_message) = (0, None, None);
                let why = "the client left before there was a reply";
                row.note.get_or_insert_with(|| why.to_owned());
            }
            // The log has a thread of its own, so this waits for the disk at worst.
            let _ = self.audit.record_blocking(*row);
        }
    }
}

impl Open {
    pub(super) fn new(row: Row, audit: Audit) -> Self {
        Self { row: Some(Box::new(row)), since: Instant::now(), audit }
    }

    pub(super) fn finish(&mut self) -> Option<Box<Row>> {
        let mut row = self.row.take()?;
        row.duration_us = u64::try_from(self.since.elapsed().as_micros()).unwrap_or(u64::MAX);
        Some(row)
    }

    /// What it came in.
    pub(super) fn came_in(&mut self, envelope: Envelope) {
        let Some(row) = &mut self.row else { return };
        row.http_verb = Some(envelope.verb.into());
        row.http_path = Some(envelope.path.into());
        row.headers = envelope.headers;
        row.client = Some(envelope.client.to_string());
    }

    /// The status that the client gets.
    pub(super) fn status(&mut self, status: StatusCode) {
        let Some(row) = &mut self.row else { return };
        row.http_status = Some(status.as_u16());
        // A redirect has not been answered either, wherever it leads.
        if !status.is_success() {
            row.success = false;
            let is_auth = matches!(status.as_u16(), 401 | 403);
            row.error_category = Some(if is_auth { "auth" } else { "http" }.into());
        }
    }

    /// What the faults said.
    pub(super) fn decided(&mut self, decisions: &[Decision]) {
        let fired: Vec<_> = decisions.iter().filter(|decision| decision.fired).collect();
        if let Some(row) = &mut self.row
            && !fired.is_empty()
        {
            row.fault = serde_json::to_string(&fired).ok();
        }
    }

    /// What was sent to the client; the last of several counts.
    pub(super) fn replied(&mut self, frame: &[u8]) {
        let Some(row) = &mut self.row else { return };
        row.bytes_out += frame.len() as u64;
        let Some(Message::Response { body, .. }) = jsonrpc::read(frame).message else { return };
        match body {
            Body::Result { kind, .. } => {
                row.success = kind != ResultKind::ToolError;
                row.error_category = (!row.success).then(|| "tool".into());
            }
            Body::Error { raw, code } => {
                row.success = false;
                row.error_category = Some("protocol".into());
                row.error_code = Some(code);
                row.error_message = serde_json::from_slice::<Words<'_>>(raw)
                    .ok()
                    .map(|error| error.message.into_owned());
            }
            Body::Unclear => row.success = false,
        }
    }

    /// What was sent before its reply.
    pub(super) fn came_after(&mut self, sent: &Sent) {
        let Some(row) = &mut self.row else { return };
        row.bytes_out += sent.bytes;
        for (at, word) in &sent.events {
            let after = at.saturating_duration_since(self.since).as_micros();
            row.push_event(u64::try_from(after).unwrap_or(u64::MAX), word.clone());
        }
        row.event_count = sent.count;
    }

    /// There was no reply to it but this status of its whole batch, for this reason.
    pub(super) fn lost(&mut self, status: Option<StatusCode>, why: &'static str) {
        self.unanswered(why);
        if let Some(status) = status {
            self.status(status);
        }
    }

    /// The client gave up.
    pub(super) fn cancelled(&mut self) {
        if let Some(row) = &mut self.row {
            withdraw(row);
        }
    }

    /// There was no reply, for this reason.
    pub(super) fn unanswered(&mut self, why: &'static str) {
        if let Some(row) = &mut self.row {
            row.success = false;
            row.error_category = Some("transport".into());
            row.note = Some(why.to_owned());
        }
    }
}

fn withdraw(row: &mut Row) {
    row.cancelled = true;
    row.success = false;
    row.error_category = Some("cancelled".into());
}

/// The words of an error.
#[derive(Deserialize)]
struct Words<'a> {
    #[serde(borrow)]
    message: Cow<'a, str>,
}
