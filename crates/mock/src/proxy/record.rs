//! Notes every message of a client in the audit log, together with its reply.

use std::{borrow::Cow, net::SocketAddr};

use http::{StatusCode, request::Parts};
use mcp_loadtest_core::{
    config::TransportName,
    fault::Decision,
    jsonrpc::{self, Body, Message, ResultKind},
};
use serde::Deserialize;
use tokio::time::Instant;

use super::{
    message::{Call, Said},
    sent::Sent,
};
use crate::{
    audit::{Audit, Headers, Kind, Row, Timestamp},
    mcp::batch::BATCH_LIMIT,
};

/// Writes rows, unless there is no log.
#[derive(Debug)]
pub(super) struct Recorder {
    audit: Audit,
    transport: TransportName,
}

/// A message that has arrived and whose row is not complete. One that is let go of before that is
/// written down as given up: nothing that arrived is missing from the log.
#[derive(Debug)]
pub(super) struct Open {
    /// Taken when it is written down.
    row: Option<Box<Row>>,
    since: Instant,
    audit: Audit,
}

/// What a message over HTTP came in.
#[derive(Debug, Clone)]
pub(super) struct Envelope {
    verb: String,
    path: String,
    headers: Headers,
    client: SocketAddr,
}

impl Recorder {
    pub(super) fn new(audit: Audit, transport: TransportName) -> Self {
        Self { audit, transport }
    }

    pub(super) fn is_on(&self) -> bool {
        self.audit.is_on()
    }

    /// A message arrives; `size` is that of its bytes.
    pub(super) fn open(&self, said: &Said, size: usize, session: Option<&str>) -> Option<Open> {
        if !self.is_on() {
            return None;
        }
        let mut row = Row {
            seq: self.audit.next_seq(),
            ts: Timestamp::now(),
            transport: Some(self.transport),
            session: session.map(str::to_owned),
            bytes_in: size as u64,
            success: true,
            ..Row::default()
        };
        match said {
            Said::Request(call) => self.note_call(&mut row, call),
            Said::Cancelled(id) => {
                row.kind = Kind::Cancellation;
                row.rpc_id = text(id);
            }
            Said::Notification(method) => {
                row.kind = Kind::Notification;
                row.method = Some(Cow::Owned(method.clone()));
            }
            Said::Reply(id) => {
                row.kind = Kind::Response;
                row.rpc_id = text(id);
            }
            Said::TooMany => {
                row.kind = Kind::Refused;
                row.note = Some(format!("a batch of more than {BATCH_LIMIT} messages, not read"));
            }
            Said::Other => row.kind = Kind::Refused,
        }
        Some(self.begin(row))
    }

    fn begin(&self, row: Row) -> Open {
        Open { row: Some(Box::new(row)), since: Instant::now(), audit: self.audit.clone() }
    }

    /// A request that holds no message arrives: a stream opens, or a session ends.
    pub(super) fn open_bare(&self, kind: Kind, session: Option<&str>) -> Option<Open> {
        self.is_on().then(|| {
            self.begin(Row {
                seq: self.audit.next_seq(),
                ts: Timestamp::now(),
                transport: Some(self.transport),
                session: session.map(str::to_owned),
                kind,
                success: true,
                ..Row::default()
            })
        })
    }

    /// What a request over HTTP came in, if anybody wants to know.
    pub(super) fn envelope(&self, head: &Parts, client: SocketAddr) -> Option<Envelope> {
        self.is_on().then(|| {
            let lines = head
                .headers
                .iter()
                .map(|(name, value)| (name.as_str(), value.to_str().unwrap_or("(not a text)")));
            Envelope {
                verb: head.method.to_string(),
                path: head.uri.path().to_owned(),
                headers: self.audit.redaction().headers(lines),
                client,
            }
        })
    }

    fn note_call(&self, row: &mut Row, call: &Call) {
        row.kind = Kind::Request;
        row.era = Some(call.era);
        row.rpc_id = text(&call.id);
        row.method = Some(Cow::Owned(call.method.clone()));
        if let Some(tool) = &call.tool {
            let arguments = call.arguments.as_deref().unwrap_or("{}");
            row.tool = Some(Cow::Owned(tool.clone()));
            row.set_arguments(arguments, self.audit.redaction());
            row.attempt = self.audit.attempt(&call.method, tool, arguments);
        }
    }

    /// Its row is complete. A log that fails is told at the end, and is no reason to stop.
    pub(super) async fn close(&self, open: Option<Open>) {
        if let Some(row) = open.and_then(|mut open| open.finish()) {
            let _ = self.audit.record(*row).await;
        }
    }
}

impl Drop for Open {
    fn drop(&mut self) {
        if let Some(mut row) = self.finish() {
            if row.kind != Kind::Stream {
                withdraw(&mut row);
                let why = "the client left before there was a reply";
                row.note.get_or_insert_with(|| why.to_owned());
            }
            // The log has a thread of its own, so this waits for the disk at worst.
            let _ = self.audit.record_blocking(*row);
        }
    }
}

impl Open {
    fn finish(&mut self) -> Option<Box<Row>> {
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
        if status.is_client_error() || status.is_server_error() {
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

    /// The reply to its batch has none for it: the status is all that its client gets to know.
    pub(super) fn lost(&mut self, status: Option<StatusCode>) {
        self.unanswered("the reply to its batch has none for it");
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

fn text(id: &[u8]) -> Option<String> {
    Some(String::from_utf8_lossy(id).into_owned())
}
