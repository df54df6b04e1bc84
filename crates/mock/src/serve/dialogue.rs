//! A client behind one line in both directions: stdio, WebSocket, and the older HTTP+SSE. Replies go
//! back over the same line in whichever order they are ready.

use std::sync::Arc;

use mcp_loadtest_core::{
    config::TransportName,
    fault::Step,
    mcp::{Era, method},
};
use tokio::{
    runtime::Handle,
    sync::broadcast::error::RecvError,
    time::{Duration, timeout},
};
use tokio_util::task::TaskTracker;

use crate::{
    audit::{Kind, Row},
    mcp::{
        refusal::Refusal,
        request::{Incoming, Request},
        write,
    },
    server::{
        Change, Server,
        batch::batch,
        begin::{Arrival, Begun},
        call::Told,
        origin::Origin,
        pending::{Ending, Pending},
        record::Draft,
        session::{Out, Outbox, Session},
    },
};

/// How long calls have to notice that their client is gone.
const FAREWELL: Duration = Duration::from_millis(700);

/// One client. Messages are taken one by one; what is ready at once is appended to a buffer, all else
/// goes to the outbox.
#[derive(Debug)]
pub(crate) struct Dialogue {
    server: Arc<Server>,
    session: Arc<Session>,
    outbox: Outbox,
    runtime: Handle,
    tasks: TaskTracker,
}

/// What became of a message.
#[derive(Debug, Default)]
pub(crate) struct Taken {
    /// Whether a reply was appended.
    pub(crate) replied: bool,
    /// For the audit log, before the reply is sent.
    pub(crate) rows: Vec<Row>,
    /// What takes its time, to be [run](Dialogue::run).
    pub(crate) later: Option<Box<Pending>>,
}

impl Taken {
    fn quietly(row: Option<Box<Row>>) -> Self {
        Self { rows: row.map(|row| *row).into_iter().collect(), ..Self::default() }
    }

    fn reply(row: Option<Box<Row>>) -> Self {
        Self { replied: true, ..Self::quietly(row) }
    }
}

impl Dialogue {
    /// Must be called within a runtime, which then does what takes its time.
    pub(crate) fn new(
        server: Arc<Server>,
        id: &str,
        transport: TransportName,
        outbox: Outbox,
    ) -> Self {
        let session = server.open_session(id, transport);
        let dialogue =
            Self { server, session, outbox, runtime: Handle::current(), tasks: TaskTracker::new() };
        dialogue.forward_changes();
        dialogue
    }

    pub(crate) fn server(&self) -> &Arc<Server> {
        &self.server
    }

    /// Legacy clients hear of changes without asking.
    fn forward_changes(&self) {
        let (session, outbox) = (self.session.clone(), self.outbox.clone());
        let mut changes = self.server.changes();
        self.runtime.spawn(async move {
            loop {
                let change = tokio::select! {
                    () = session.ended.cancelled() => return,
                    change = changes.recv() => change,
                };
                match change {
                    Ok(change) => tell_change(&session, &outbox, &change).await,
                    Err(RecvError::Lagged(_)) => {}
                    Err(RecvError::Closed) => return,
                }
            }
        });
    }

    /// Takes one message.
    pub(crate) fn take(&self, frame: &[u8], origin: Origin<'_>, out: &mut Vec<u8>) -> Taken {
        match Incoming::read(frame, Era::Legacy) {
            Ok(Incoming::Request(request)) => self.take_request(&request, origin, out),
            Ok(Incoming::Notification { method, params }) => Taken::quietly(self.server.notice(
                &self.session,
                &origin,
                &method,
                params,
                frame.len(),
            )),
            Ok(Incoming::Response(frame)) => {
                Taken::quietly(self.server.take_answer(&self.session, &origin, frame))
            }
            Err(unreadable) => match batch(frame, &self.session) {
                Some(Ok(members)) => self.take_batch(&members, origin),
                other => {
                    let refusal = other.and_then(Result::err).unwrap_or(unreadable.refusal);
                    write::error(out, unreadable.id, &refusal);
                    Taken::reply(self.refused(&refusal, &origin, frame.len()))
                }
            },
        }
    }

    /// Says that a message could not be taken at all.
    pub(crate) fn refuse(&self, refusal: &Refusal, bytes: usize, out: &mut Vec<u8>) -> Taken {
        write::error(out, write::NO_ID, refusal);
        Taken::reply(self.refused(refusal, &Origin::default(), bytes))
    }

    fn refused(&self, refusal: &Refusal, origin: &Origin<'_>, bytes: usize) -> Option<Box<Row>> {
        self.server.audit().is_on().then(|| {
            let draft =
                Draft::of_message(&self.server, &self.session, origin, Kind::Refused, bytes);
            draft.refuse(refusal)
        })
    }

    fn take_request(&self, request: &Request<'_>, origin: Origin<'_>, out: &mut Vec<u8>) -> Taken {
        let bytes = request.frame.len();
        let arrival = Arrival { session: &self.session, origin, request, bytes };
        match self.server.begin(&arrival, out) {
            Begun::Done(done) => {
                if request.method == method::INITIALIZE && self.session.agreed().is_some() {
                    let _inside = self.runtime.enter();
                    self.server.stream_opened(&self.session, &self.outbox, Era::Legacy);
                }
                Taken::reply(done.row)
            }
            Begun::Later(later) => Taken { later: Some(later), ..Taken::default() },
        }
    }

    /// Does what takes its time; the outcome goes to the outbox.
    pub(crate) fn run(&self, pending: Pending) {
        let (outbox, server, session) =
            (self.outbox.clone(), self.server.clone(), self.session.clone());
        let is_handshake = pending.is_handshake();
        self.tasks.spawn_on(
            async move {
                let ending = pending.run(outbox.clone()).await;
                // A client that is gone misses nothing.
                let _ = outbox.send(Out::Ending(ending)).await;
                if is_handshake && session.agreed().is_some() {
                    server.stream_opened(&session, &outbox, Era::Legacy);
                }
            },
            &self.runtime,
        );
    }

    /// Takes the messages of a batch. Their replies are sent together, but for those that a fault
    /// keeps from it.
    fn take_batch(&self, members: &[&[u8]], origin: Origin<'_>) -> Taken {
        let gathered = self.server.begin_batch(&self.session, origin, members);
        let mut whole = gathered.whole.into_iter();
        let later = whole.next().map(Box::new);
        whole.chain(gathered.alone.into_iter().map(|(_, pending)| pending)).for_each(|pending| {
            self.run(pending);
        });
        let outbox = self.outbox.clone();
        self.tasks.spawn_on(
            async move {
                if let Some(array) = gathered.together.array(outbox.clone()).await {
                    let steps = vec![Step::Frame(array)];
                    let ending = Ending::Reply { steps, told: Told::default() };
                    let _ = outbox.send(Out::Ending(ending)).await;
                }
            },
            &self.runtime,
        );
        Taken { rows: gathered.rows, later, ..Taken::default() }
    }

    /// The client is gone: what still runs is cancelled and has a moment to be written down.
    pub(crate) async fn end(&self) {
        self.session.ended.cancel();
        self.tasks.close();
        // A log that cannot keep up must not hold up the end.
        let _ = timeout(FAREWELL, self.tasks.wait()).await;
    }
}

/// Tells a legacy client about a change that it may know of.
pub(crate) async fn tell_change(session: &Session, outbox: &Outbox, change: &Change) {
    let is_told = match change {
        _ if session.agreed().is_none() => false,
        Change::Tools | Change::Prompts => true,
        Change::Resource(uri) => session.is_subscribed(uri),
    };
    if is_told {
        let (method, params) = change.notification();
        // A client that is gone misses nothing.
        let _ = outbox.send(Out::Message(write::notification(method, &params))).await;
    }
}
