//! Notes every message of a client in the audit log, together with its reply.

use std::{borrow::Cow, net::SocketAddr};

use http::request::Parts;
use mcp_loadtest_core::config::TransportName;

use super::{
    message::{Call, Said},
    open::Open,
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

/// What a message over HTTP came in.
#[derive(Debug, Clone)]
pub(super) struct Envelope {
    pub(super) verb: String,
    pub(super) path: String,
    pub(super) headers: Headers,
    pub(super) client: SocketAddr,
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
        Open::new(row, self.audit.clone())
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
            let _ = self.audit.record(row).await;
        }
    }
}

fn text(id: &[u8]) -> Option<String> {
    Some(String::from_utf8_lossy(id).into_owned())
}
