//! What a request gets. No socket is needed to find out.

use mcp_loadtest_core::mcp::{Era, Revision, method};

use super::{
    PATH, guard,
    head::{Head, Line},
    mirror,
    response::{Response, status},
    sessions::Sessions,
};
use crate::mcp::{
    handler::{Answer, Handler},
    refusal::{Refusal, code},
    request::{Claim, Incoming, Request, Unreadable},
    write,
};

/// The server behind all connections.
#[derive(Debug)]
pub(super) struct Endpoint {
    handler: Handler,
    sessions: Sessions,
}

/// What the connection has to do.
#[derive(Debug)]
pub(super) enum Verdict {
    /// Send this.
    Reply(Response),
    /// Nothing, ever.
    Wedged,
}

/// A message that HTTP keeps from the handler, before it is known whom to tell.
#[derive(Debug)]
struct Denied(u16, Refusal);

impl Denied {
    fn to(&self, id: &[u8]) -> Response {
        Response::error(self.0, id, &self.1)
    }
}

impl Endpoint {
    pub(super) fn new(handler: Handler) -> Self {
        Self { handler, sessions: Sessions::default() }
    }

    pub(super) fn is_wedged(&self) -> bool {
        self.handler.is_wedged()
    }

    /// What a whole request gets.
    pub(super) fn answer(&self, head: &Head<'_>, body: &[u8]) -> Verdict {
        if self.is_wedged() {
            return Verdict::Wedged;
        }
        self.route(head, body).unwrap_or_else(Verdict::Reply)
    }

    fn route(&self, head: &Head<'_>, body: &[u8]) -> Result<Verdict, Response> {
        guard::check(head)?;
        if head.path != PATH {
            return Err(Response::refuse(status::NOT_FOUND, format!("the endpoint is `{PATH}`")));
        }
        let era = era_of(head);
        match (head.method, era) {
            ("POST", _) => self.post(head, body, era),
            ("DELETE", Era::Legacy) => Err(self.delete(head)),
            _ => Err(not_allowed(era)),
        }
    }

    fn delete(&self, head: &Head<'_>) -> Response {
        match self.check_session(head) {
            Ok(id) => {
                self.sessions.end(id);
                Response::empty(status::NO_CONTENT)
            }
            Err(denied) => denied.to(write::NO_ID),
        }
    }

    fn post(&self, head: &Head<'_>, body: &[u8], era: Era) -> Result<Verdict, Response> {
        let unreadable =
            |error: Unreadable<'_>| Denied(status::BAD_REQUEST, error.refusal).to(error.id);
        match Incoming::read(body, era).map_err(unreadable)? {
            Incoming::Request(request) => {
                self.check_claim(head, &request).map_err(|denied| denied.to(request.id))?;
                Ok(self.serve(&request))
            }
            Incoming::Other => {
                if era == Era::Legacy {
                    self.check_session(head).map_err(|denied| denied.to(write::NO_ID))?;
                }
                Ok(Verdict::Reply(Response::empty(status::ACCEPTED)))
            }
        }
    }

    /// What HTTP asks of a request beside what its method does.
    fn check_claim(&self, head: &Head<'_>, request: &Request<'_>) -> Result<(), Denied> {
        match &request.claim {
            Claim::Legacy if request.method == method::INITIALIZE => Ok(()),
            Claim::Legacy => {
                self.check_session(head)?;
                check_version(head)
            }
            Claim::Modern { version } => mirror::check(head, version, request)
                .map_err(|refusal| Denied(status::BAD_REQUEST, refusal)),
            // The handler says what is missing.
            Claim::Incomplete { .. } => Ok(()),
        }
    }

    fn check_session<'a>(&self, head: &Head<'a>) -> Result<&'a str, Denied> {
        match head.get(Line::SessionId) {
            None => {
                let why = format!("the header `{}` is missing", Line::SessionId.name());
                Err(Denied(status::BAD_REQUEST, Refusal::new(code::NO_SESSION, why)))
            }
            Some(id) if self.sessions.contains(id) => Ok(id),
            Some(_) => {
                let refusal = Refusal::new(code::UNKNOWN_SESSION, "there is no such session");
                Err(Denied(status::NOT_FOUND, refusal))
            }
        }
    }

    fn serve(&self, request: &Request<'_>) -> Verdict {
        let mut body = Vec::new();
        let status = match self.handler.answer(request, &mut body) {
            Answer::Wedged => return Verdict::Wedged,
            Answer::Result => status::OK,
            Answer::Error(code) => status_of(&request.claim, code),
        };
        let mut response = Response::json(status, body);
        let begins = request.claim == Claim::Legacy && request.method == method::INITIALIZE;
        if begins && status == status::OK {
            response.session = Some(self.sessions.begin());
        }
        Verdict::Reply(response)
    }
}

/// The era that the version header speaks for.
fn era_of(head: &Head<'_>) -> Era {
    let version = head.get(Line::ProtocolVersion).and_then(|value| value.parse::<Revision>().ok());
    version.map_or(Era::Legacy, Revision::era)
}

/// Legacy: an absent header is an older client, an unknown version is nobody.
fn check_version(head: &Head<'_>) -> Result<(), Denied> {
    match head.get(Line::ProtocolVersion) {
        Some(value) if value.parse::<Revision>().is_err() => {
            let why = format!("the header `{}` names no revision", Line::ProtocolVersion.name());
            Err(Denied(status::BAD_REQUEST, Refusal::new(code::NO_SESSION, why)))
        }
        _ => Ok(()),
    }
}

/// In the legacy era errors travel with 200; in the modern one the status tells them apart.
fn status_of(claim: &Claim<'_>, code: i64) -> u16 {
    match (claim, code) {
        (Claim::Legacy, _) => status::OK,
        (_, code::METHOD_NOT_FOUND) => status::NOT_FOUND,
        (_, code::INVALID_REQUEST | code::INVALID_PARAMS | code::UNSUPPORTED_VERSION) => {
            status::BAD_REQUEST
        }
        _ => status::OK,
    }
}

fn not_allowed(era: Era) -> Response {
    let mut response = Response::empty(status::METHOD_NOT_ALLOWED);
    response.allow = Some(match era {
        Era::Legacy => "POST, DELETE",
        Era::Modern => "POST",
    });
    response
}
