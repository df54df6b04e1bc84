//! Notes every message of a client in the audit log, together with its reply.

use std::borrow::Cow;

use mcp_loadtest_core::{
    config::TransportName,
    fault::Decision,
    jsonrpc::{self, Body, Message, ResultKind},
};
use serde::Deserialize;
use tokio::time::Instant;

use super::message::{Call, Said};
use crate::audit::{Audit, Kind, Row, Timestamp};

/// Writes rows, unless there is no log.
#[derive(Debug)]
pub(super) struct Recorder {
    audit: Audit,
    transport: TransportName,
}

/// A message that has arrived and whose row is not complete.
#[derive(Debug)]
pub(super) struct Open {
    row: Row,
    since: Instant,
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
            Said::Other => row.kind = Kind::Refused,
        }
        Some(Open { row, since: Instant::now() })
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
        let Some(Open { mut row, since }) = open else { return };
        row.duration_us = u64::try_from(since.elapsed().as_micros()).unwrap_or(u64::MAX);
        let _ = self.audit.record(row).await;
    }
}

impl Open {
    /// What the faults said.
    pub(super) fn decided(&mut self, decisions: &[Decision]) {
        let fired: Vec<_> = decisions.iter().filter(|decision| decision.fired).collect();
        if !fired.is_empty() {
            self.row.fault = serde_json::to_string(&fired).ok();
        }
    }

    /// What was sent to the client; the last of several counts.
    pub(super) fn replied(&mut self, frame: &[u8]) {
        self.row.bytes_out += frame.len() as u64;
        let Some(Message::Response { body, .. }) = jsonrpc::read(frame).message else { return };
        match body {
            Body::Result { kind, .. } => self.row.success = kind != ResultKind::ToolError,
            Body::Error { raw, code } => {
                self.row.success = false;
                self.row.error_code = Some(code);
                self.row.error_message = serde_json::from_slice::<Words<'_>>(raw)
                    .ok()
                    .map(|error| error.message.into_owned());
            }
            Body::Unclear => self.row.success = false,
        }
    }

    /// The client gave up.
    pub(super) fn cancelled(&mut self) {
        self.row.cancelled = true;
        self.row.success = false;
    }

    /// There was no reply, for this reason.
    pub(super) fn unanswered(&mut self, why: &'static str) {
        self.row.success = false;
        self.row.note = Some(why.to_owned());
    }
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
