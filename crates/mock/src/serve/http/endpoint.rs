//! What a request to the Streamable HTTP endpoint gets. No socket is needed to find out.

use std::sync::Arc;

use mcp_loadtest_core::{
    config::TransportName,
    mcp::{Era, Revision, header, method},
};

use super::{
    Hub,
    head::{Head, Line},
    mirror,
    response::{Response, status},
    sessions::Sessions,
};
use crate::{
    audit::{Kind, Row},
    mcp::{
        refusal::{Refusal, code, status_of},
        request::{Claim, Incoming, Request},
        write,
    },
    server::{
        batch::{Gathered, batch},
        begin::{Arrival, Begun},
        caller::Caller,
        origin::Origin,
        pending::Pending,
        record::Draft,
        session::Session,
    },
};

/// What the connection has to do.
#[derive(Debug)]
pub(super) enum Verdict {
    /// Send this, when the row is written down.
    Reply(Response, Option<Box<Row>>),
    /// Wait for what comes of it.
    Later(Box<Pending>, Arc<Session>),
    /// The same for a batch.
    Batch(Box<Gathered>, Arc<Session>),
    /// Send whatever the session has to say, until one side has enough.
    Listen(Arc<Session>),
}

/// A message that HTTP keeps from the server, before it is known whom to tell.
#[derive(Debug)]
struct Denied(u16, Refusal);

impl Denied {
    fn to(&self, id: &[u8]) -> Response {
        Response::error(self.0, id, &self.1)
    }
}

/// What a whole request gets.
pub(super) fn answer(hub: &Hub, head: &Head<'_>, body: &[u8], from: &Caller) -> Verdict {
    let visit = Visit { hub, head, origin: origin(head, from), era: era_of(head) };
    match (head.method, visit.era) {
        ("POST", _) => visit.post(body),
        ("GET", Era::Legacy) => visit.listen(),
        ("DELETE", Era::Legacy) => visit.delete(),
        _ => {
            let response = not_allowed(visit.era);
            let row = refused(hub, &visit.origin, &response, body.len());
            Verdict::Reply(response, row)
        }
    }
}

/// The row of a request that was not served.
pub(super) fn refused(
    hub: &Hub,
    origin: &Origin<'_>,
    response: &Response,
    bytes: usize,
) -> Option<Box<Row>> {
    let why = response.why.as_ref().filter(|_| hub.server.audit().is_on())?;
    let nobody = hub.server.open_session("", hub.transport);
    let draft = Draft::of_message(&hub.server, &nobody, origin, Kind::Refused, bytes);
    let mut row = draft.refuse(why);
    row.http_status = Some(response.status);
    row.bytes_out = response.body.len() as u64;
    Some(row)
}

/// Where a request came from.
pub(super) fn origin<'a>(head: &Head<'a>, from: &'a Caller) -> Origin<'a> {
    Origin { caller: Some(from), verb: Some(head.method), path: Some(head.path), head: head.raw }
}

/// One HTTP request.
struct Visit<'a> {
    hub: &'a Hub,
    head: &'a Head<'a>,
    origin: Origin<'a>,
    era: Era,
}

impl Visit<'_> {
    fn post(&self, body: &[u8]) -> Verdict {
        let denied = |denied: &Denied, id: &[u8]| self.deny(denied, id, body.len());
        match Incoming::read(body, self.era) {
            Err(unreadable) => match self.batch(body) {
                Some(Ok(verdict)) => verdict,
                Some(Err(why)) => denied(&why, unreadable.id),
                None => denied(&Denied(status::BAD_REQUEST, unreadable.refusal), unreadable.id),
            },
            Ok(Incoming::Request(request)) => match self.session_of(&request) {
                Ok(session) => self.serve(&request, session, body.len()),
                Err(why) => denied(&why, request.id),
            },
            Ok(other) => match self.session_of_notice() {
                Ok(session) => self.notice(&other, &session, body.len()),
                Err(why) => denied(&why, write::NO_ID),
            },
        }
    }

    /// What a batch gets, if it is one that this client may send.
    fn batch(&self, body: &[u8]) -> Option<Result<Verdict, Denied>> {
        let session = self.session().ok().filter(|_| self.era == Era::Legacy)?;
        let members = match batch(body, &session)? {
            Ok(members) => members,
            Err(refusal) => return Some(Err(Denied(status::BAD_REQUEST, refusal))),
        };
        Some(self.check_version().map(|()| {
            let gathered = self.hub.server.begin_batch(&session, self.origin, &members);
            Verdict::Batch(Box::new(gathered), session)
        }))
    }

    /// A session that the audit log can name and that nothing is remembered in.
    fn nobody(&self) -> Arc<Session> {
        self.hub.server.open_session("", TransportName::Http)
    }

    fn deny(&self, denied: &Denied, id: &[u8], bytes: usize) -> Verdict {
        let response = denied.to(id);
        let row = refused(self.hub, &self.origin, &response, bytes);
        Verdict::Reply(response, row)
    }

    /// The session that a request belongs to, if HTTP lets it through.
    fn session_of(&self, request: &Request<'_>) -> Result<Arc<Session>, Denied> {
        match &request.claim {
            Claim::Legacy if request.method == method::INITIALIZE => {
                let name = Sessions::<Session>::name().to_string();
                Ok(self.hub.server.open_session(&name, TransportName::Http))
            }
            Claim::Legacy => {
                let session = self.session()?;
                self.check_version()?;
                Ok(session)
            }
            Claim::Modern { version } => {
                let marked = self.hub.server.marked(request);
                mirror::check(self.head, version, request)
                    .and_then(|()| mirror::check_marked(&self.origin, marked, request))
                    .map(|()| self.nobody())
                    .map_err(|refusal| Denied(status::BAD_REQUEST, refusal))
            }
            // The server says what is missing.
            Claim::Incomplete { .. } => Ok(self.nobody()),
        }
    }

    fn session_of_notice(&self) -> Result<Arc<Session>, Denied> {
        match self.era {
            Era::Legacy => self.session(),
            Era::Modern => Ok(self.nobody()),
        }
    }

    fn session(&self) -> Result<Arc<Session>, Denied> {
        match self.head.get(Line::SessionId) {
            None => {
                let why = format!("the header `{}` is missing", Line::SessionId.name());
                Err(Denied(status::BAD_REQUEST, Refusal::new(code::NO_SESSION, why)))
            }
            Some(id) => self.hub.sessions.find(id).ok_or_else(unknown_session),
        }
    }

    /// Legacy: an absent header is an older client, an unknown version is nobody.
    fn check_version(&self) -> Result<(), Denied> {
        match self.head.get(Line::ProtocolVersion) {
            Some(value) if value.parse::<Revision>().is_err() => {
                let why =
                    format!("the header `{}` names no revision", Line::ProtocolVersion.name());
                Err(Denied(status::BAD_REQUEST, Refusal::new(code::NO_SESSION, why)))
            }
            _ => Ok(()),
        }
    }

    fn serve(&self, request: &Request<'_>, session: Arc<Session>, bytes: usize) -> Verdict {
        let mut body = Vec::new();
        let arrival = Arrival { session: &session, origin: self.origin, request, bytes };
        match self.hub.server.begin(&arrival, &mut body) {
            Begun::Later(pending) => Verdict::Later(pending, session),
            Begun::Done(mut done) => {
                let status = status_of(pending_era(&request.claim), done.told.code);
                if let Some(row) = &mut done.row {
                    row.http_status = Some(status);
                }
                let begins = request.method == method::INITIALIZE && done.told.code.is_none();
                let response = match begins {
                    true => welcome(self.hub, &session, Response::json(status, body)),
                    false => Response::json(status, body),
                };
                Verdict::Reply(response, done.row)
            }
        }
    }

    fn notice(&self, message: &Incoming<'_>, session: &Session, bytes: usize) -> Verdict {
        let server = &self.hub.server;
        let row = match message {
            Incoming::Notification { method, params } => {
                server.notice(session, &self.origin, method, *params, bytes)
            }
            Incoming::Response(frame) => server.take_answer(session, &self.origin, frame),
            Incoming::Request(_) => unreachable!("requests are served"),
        };
        Verdict::Reply(Response::empty(status::ACCEPTED), accepted(row))
    }

    fn listen(&self) -> Verdict {
        match self.session() {
            Ok(session) => Verdict::Listen(session),
            Err(denied) => self.deny(&denied, write::NO_ID, 0),
        }
    }

    fn delete(&self) -> Verdict {
        let session = match self.session() {
            Ok(session) => session,
            Err(denied) => return self.deny(&denied, write::NO_ID, 0),
        };
        self.hub.sessions.end(&session.id);
        session.ended.cancel();
        let row = self.hub.server.audit().is_on().then(|| {
            let server = &self.hub.server;
            let draft = Draft::of_message(server, &session, &self.origin, Kind::SessionEnd, 0);
            let mut row = draft.into_row();
            row.http_status = Some(status::NO_CONTENT);
            row.success = true;
            row
        });
        Verdict::Reply(Response::empty(status::NO_CONTENT), row)
    }
}

fn accepted(row: Option<Box<Row>>) -> Option<Box<Row>> {
    row.map(|mut row| {
        row.http_status = Some(status::ACCEPTED);
        row
    })
}

fn unknown_session() -> Denied {
    let refusal = Refusal::new(code::UNKNOWN_SESSION, "there is no such session");
    Denied(status::NOT_FOUND, refusal)
}

/// What a client gets whose session was lost.
pub(super) fn session_lost() -> Response {
    unknown_session().to(write::NO_ID)
}

/// Opens the session that a handshake was about, and tells its name.
pub(super) fn welcome(hub: &Hub, session: &Arc<Session>, response: Response) -> Response {
    let Ok(name) = ulid::Ulid::from_string(&session.id) else { return response };
    if let Some(oldest) = hub.sessions.open(name, session.clone()) {
        oldest.ended.cancel();
    }
    response.header(header::SESSION_ID, &*session.id)
}

/// The era that the version header speaks for.
fn era_of(head: &Head<'_>) -> Era {
    let version = head.get(Line::ProtocolVersion).and_then(|value| value.parse::<Revision>().ok());
    version.map_or(Era::Legacy, Revision::era)
}

fn pending_era(claim: &Claim<'_>) -> Era {
    match claim {
        Claim::Legacy => Era::Legacy,
        Claim::Modern { .. } | Claim::Incomplete { .. } => Era::Modern,
    }
}

fn not_allowed(era: Era) -> Response {
    let why = "the method is not allowed here";
    Response::refuse(status::METHOD_NOT_ALLOWED, why).header(
        "Allow",
        match era {
            Era::Legacy => "POST, GET, DELETE",
            Era::Modern => "POST",
        },
    )
}
