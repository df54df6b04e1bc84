//! Rows of the audit log: begun when a message arrives, finished when its reply is ready.

use std::time::Duration;

use mcp_loadtest_core::{
    fault::Decision,
    mcp::{Era, method},
};

use super::{
    Server, begin::Arrival, call::Told, exchange::Said, origin::Origin, pending::Ending,
    session::Session,
};
use crate::{
    audit::{Kind, Row, SentEvent, Timestamp, word},
    mcp::{refusal::Refusal, request::Claim},
};

/// How many characters of an error are kept.
const MESSAGE_LIMIT: usize = 2_000;

/// A row whose end is not known.
#[derive(Debug)]
pub(crate) struct Draft {
    row: Box<Row>,
}

/// The end of a row.
pub(crate) struct Finish<'a> {
    pub(crate) told: &'a Told,
    pub(crate) bytes_out: usize,
    pub(crate) after: Duration,
    pub(crate) said: Said,
    pub(crate) decisions: &'a [Decision],
    pub(crate) was_cancelled: bool,
    /// The HTTP status of its reply, where that is known.
    pub(crate) status: Option<u16>,
    /// How it ended, if not with a reply.
    pub(crate) ended: Option<&'a Ending>,
}

impl Finish<'_> {
    /// So long after the message arrived.
    pub(crate) fn at(after: Duration) -> Finish<'static> {
        static NOTHING: Told = Told { code: None, is_error: false, message: None, category: None };
        Finish {
            told: &NOTHING,
            bytes_out: 0,
            after,
            said: Said::default(),
            decisions: &[],
            was_cancelled: false,
            status: None,
            ended: None,
        }
    }
}

impl Draft {
    /// Of any message.
    pub(crate) fn of_message(
        server: &Server,
        session: &Session,
        origin: &Origin<'_>,
        kind: Kind,
        bytes: usize,
    ) -> Self {
        let mut row = Row {
            seq: server.audit.next_seq(),
            ts: Timestamp::now(),
            kind,
            transport: Some(session.transport),
            session: (!session.id.is_empty()).then(|| session.id.to_string()),
            http_verb: origin.verb.map(word),
            http_path: origin.path.map(word),
            client: origin.caller.map(|caller| caller.address.clone()),
            bytes_in: bytes as u64,
            ..Row::default()
        };
        if let Some(revision) = session.agreed() {
            row.era = Some(revision.era());
            row.revision = Some(revision.as_str().into());
        }
        if !origin.head.is_empty() {
            row.headers = origin.redacted(server.redaction());
        }
        Self { row: Box::new(row) }
    }

    /// Of a request.
    pub(crate) fn of(server: &Server, arrival: &Arrival<'_>) -> Self {
        let Arrival { session, origin, request, bytes } = arrival;
        let mut draft = Self::of_message(server, session, origin, Kind::Request, *bytes);
        let row = &mut *draft.row;
        row.rpc_id = Some(String::from_utf8_lossy(request.id).into_owned());
        row.method = Some(word(&request.method));
        match &request.claim {
            Claim::Legacy => row.era = Some(Era::Legacy),
            Claim::Incomplete { .. } => row.era = Some(Era::Modern),
            Claim::Modern { version } => {
                row.era = Some(Era::Modern);
                row.revision = Some(word(version));
            }
        }
        if request.method == method::TOOLS_CALL {
            let tool = request.params.name.as_deref().unwrap_or_default();
            let arguments = request.params.arguments.unwrap_or("{}");
            row.tool = Some(tool.to_owned().into());
            row.attempt = server.audit.attempt(&request.method, tool, arguments);
            row.set_arguments(arguments, server.redaction());
        }
        draft
    }

    /// The row of something that was no message.
    pub(crate) fn refuse(mut self, refusal: &Refusal) -> Box<Row> {
        self.row.error_code = Some(refusal.code);
        self.row.error_message = Some(cut(&refusal.message));
        self.row.error_category = Some("protocol".into());
        self.row
    }

    pub(crate) fn into_row(self) -> Box<Row> {
        self.row
    }

    /// The whole row.
    pub(crate) fn finish(self, finish: Finish<'_>) -> Box<Row> {
        let mut row = self.row;
        let told = finish.told;
        row.duration_us = micros(finish.after);
        row.bytes_out = finish.bytes_out as u64 + finish.said.bytes;
        row.error_code = told.code;
        row.error_message = told.message.as_deref().map(cut);
        row.error_category = category(told).map(Into::into);
        row.success = finish.ended.is_none() && told.is_success();
        row.cancelled = finish.was_cancelled;
        row.http_status = finish.status;
        row.event_count = finish.said.count.try_into().unwrap_or(u32::MAX);
        row.events = finish.said.events.into_iter().map(event).collect();
        row.fault = fault(finish.decisions);
        if let Some(ended) = finish.ended {
            end(&mut row, ended);
        }
        row
    }
}

fn event((at, method): (Duration, String)) -> SentEvent {
    SentEvent { at_us: micros(at), method: method.into() }
}

/// What a reply without a word of its own is filed under.
fn category(told: &Told) -> Option<&'static str> {
    told.category.or(match (told.code, told.is_error) {
        (Some(_), _) => Some("protocol"),
        (None, true) => Some("tool"),
        (None, false) => None,
    })
}

/// The reply of this row was not sent, because another call of its batch took it along.
pub(crate) fn lose(row: &mut Row) {
    row.success = false;
    row.bytes_out = 0;
    row.error_category.get_or_insert_with(|| "transport".into());
    row.note.get_or_insert_with(|| "the reply was lost with that to its batch".into());
}

fn end(row: &mut Row, ended: &Ending) {
    let (category, note) = match ended {
        Ending::Reply { .. } => return,
        Ending::Silent => ("cancelled", "the call was cancelled and nothing was sent"),
        Ending::Http { status, .. } => {
            row.http_status = Some(*status);
            (if *status == 401 || *status == 403 { "auth" } else { "http" }, "answered by status")
        }
        Ending::SessionLost => {
            row.http_status = Some(404);
            ("session", "the session was lost")
        }
        Ending::Cut(_) => ("transport", "the connection was cut"),
        Ending::Crash(_) => ("crash", "the process ended"),
    };
    row.error_category = Some(category.into());
    row.note = Some(note.into());
}

fn fault(decisions: &[Decision]) -> Option<String> {
    if decisions.is_empty() {
        return None;
    }
    Some(serde_json::to_string(decisions).expect("decisions have text keys"))
}

/// A peer may have put anything into an error.
fn cut(message: &str) -> String {
    message.chars().take(MESSAGE_LIMIT).collect()
}

fn micros(duration: Duration) -> u64 {
    duration.as_micros().try_into().unwrap_or(u64::MAX)
}
