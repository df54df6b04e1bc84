//! Takes a request: answers it on the spot where it can, and hands it back as a [`Pending`] where a
//! tool or a fault takes its time. Nothing of the first way leaves the thread that read the request.

use std::sync::Arc;

use mcp_loadtest_core::{
    fault::Treatment,
    mcp::{Era, Revision, method},
};
use tokio::time::Instant;

use super::{
    Server,
    call::{self, Told},
    methods::Asked,
    origin::Origin,
    pending::Pending,
    record::{Draft, Finish},
    session::Session,
};
use crate::{
    audit::Row,
    desk::Ended,
    mcp::{refusal::Refusal, request::Request},
};

/// What became of a request.
pub(crate) enum Begun {
    /// The reply was appended.
    Done(Done),
    /// It takes its time.
    Later(Box<Pending>),
}

/// A request that is over.
pub(crate) struct Done {
    pub(crate) told: Told,
    /// For the audit log, which wants it before the reply is sent.
    pub(crate) row: Option<Box<Row>>,
}

/// A request and all that came with it.
pub(crate) struct Arrival<'a> {
    pub(crate) session: &'a Arc<Session>,
    pub(crate) origin: Origin<'a>,
    pub(crate) request: &'a Request<'a>,
    /// How long the message was.
    pub(crate) bytes: usize,
}

impl Server {
    /// Answers a request, or says that it takes its time. The reply is appended without a line end.
    pub(crate) fn begin(self: &Arc<Self>, arrival: &Arrival<'_>, out: &mut Vec<u8>) -> Begun {
        let Arrival { session, request, .. } = arrival;
        let begun = Instant::now();
        let before = out.len();
        let draft = self.audit.is_on().then(|| Draft::of(self, arrival));
        let told = match self.admit(session, request) {
            Err(refusal) => Told::refuse(out, request.id, &refusal),
            Ok(revision) => {
                let treatment = self.treat(request, session, revision.era());
                let now = match treatment.is_nothing() {
                    true => self.answer_now(session, request, revision, out),
                    false => None,
                };
                match now {
                    Some(told) => told,
                    None => {
                        let pending = self.postpone(arrival, revision, treatment, begun, draft);
                        return Begun::Later(Box::new(pending));
                    }
                }
            }
        };
        self.desk.count(Ended { error: !told.is_success(), ..Ended::default() });
        let finish =
            Finish { told: &told, bytes_out: out.len() - before, ..Finish::at(begun.elapsed()) };
        Begun::Done(Done { row: draft.map(|draft| draft.finish(finish)), told })
    }

    /// The revision in which a request is served, if it is.
    fn admit(&self, session: &Session, request: &Request<'_>) -> Result<Revision, Refusal> {
        let agreed = session.agreed();
        let revision = request.revision(agreed)?;
        let needs_no_handshake = revision.era() == Era::Modern
            || matches!(&*request.method, method::INITIALIZE | method::PING);
        if agreed.is_none() && !needs_no_handshake {
            let why = "there was no `initialize` yet, and no `_meta` that makes it unnecessary";
            return Err(Refusal::invalid_request(why));
        }
        Ok(revision)
    }

    fn answer_now(
        &self,
        session: &Session,
        request: &Request<'_>,
        revision: Revision,
        out: &mut Vec<u8>,
    ) -> Option<Told> {
        match (&*request.method, revision.era()) {
            (method::TOOLS_CALL, _) => call::now(self, session, request, revision, out),
            (method::LISTEN, Era::Modern) => None,
            _ => {
                let asked = Asked { server: self, session, request, revision };
                Some(match asked.answer(out) {
                    Ok(()) => Told::default(),
                    Err(refusal) => Told::refuse(out, request.id, &refusal),
                })
            }
        }
    }

    fn postpone(
        self: &Arc<Self>,
        arrival: &Arrival<'_>,
        revision: Revision,
        treatment: Treatment,
        begun: Instant,
        draft: Option<Draft>,
    ) -> Pending {
        let Arrival { session, origin, request, .. } = arrival;
        Pending {
            server: self.clone(),
            session: (*session).clone(),
            // Registered before the next message is read: it may be the cancellation.
            cancel: session.begin(request.id),
            frame: request.frame.into(),
            is_initialize: request.method == method::INITIALIZE,
            outer: request.outer,
            revision,
            facts: origin.keep(),
            treatment,
            begun,
            draft,
            is_lost: false,
            is_streamed: false,
        }
    }
}
