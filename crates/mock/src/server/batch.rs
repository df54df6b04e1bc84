//! The messages of a batch, each taken as if it had come by itself.

use std::sync::Arc;

use futures_util::future::join_all;
use mcp_loadtest_core::{
    fault::{Company, Mangle, Step},
    mcp::Era,
};

use super::{
    Server,
    begin::{Arrival, Begun},
    origin::Origin,
    pending::{Ending, Pending},
    record::Draft,
    session::{Outbox, Session},
};
use crate::{
    audit::{Kind, Row},
    mcp::{
        batch::{BATCH_LIMIT, Batch, joined},
        refusal::Refusal,
        request::{Incoming, Unreadable},
        write,
    },
};

/// What has come of the messages of a batch so far.
#[derive(Debug, Default)]
pub(crate) struct Gathered {
    /// For the audit log.
    pub(crate) rows: Vec<Row>,
    /// What is answered by one array.
    pub(crate) together: Together,
    /// What must not hold it back.
    pub(crate) alone: Vec<(usize, Pending)>,
    /// What ends more than itself.
    pub(crate) whole: Vec<Pending>,
}

/// Replies that leave in one array, in the order of their calls.
#[derive(Debug, Default)]
pub(crate) struct Together {
    ready: Vec<(usize, Vec<u8>)>,
    pub(crate) pending: Vec<(usize, Pending)>,
}

impl Together {
    pub(crate) fn is_empty(&self) -> bool {
        self.ready.is_empty() && self.pending.is_empty()
    }

    /// Waits for all of them; nothing if nothing is left to be said.
    pub(crate) async fn array(self, outbox: Outbox) -> Option<Vec<u8>> {
        let mut replies = self.ready;
        let runs = self.pending.into_iter().map(|(at, pending)| {
            let outbox = outbox.clone();
            async move { (at, pending.run(outbox).await) }
        });
        for (at, ending) in join_all(runs).await {
            if let Ending::Reply { steps, .. } = ending {
                let frames = steps.into_iter().filter_map(Step::into_message);
                replies.extend(frames.map(|frame| (at, frame)));
            }
        }
        replies.sort_by_key(|(at, _)| *at);
        let frames: Vec<_> = replies.into_iter().map(|(_, frame)| frame).collect();
        (!frames.is_empty()).then(|| joined(&frames))
    }
}

impl Gathered {
    /// Whether nothing of it wants a reply.
    pub(crate) fn is_quiet(&self) -> bool {
        self.together.is_empty() && self.alone.is_empty() && self.whole.is_empty()
    }

    /// Lets what faults do to the bytes of one reply be done to the array: where there is but one
    /// body, that is where it is.
    pub(crate) fn share_mangles(&mut self) -> Vec<Mangle> {
        let mut shared = Vec::new();
        for (at, mut pending) in std::mem::take(&mut self.alone) {
            shared.append(&mut pending.take_stray_mangles());
            let room = if pending.hangs() { &mut self.alone } else { &mut self.together.pending };
            room.push((at, pending));
        }
        shared
    }
}

/// The messages of a batch, if the client of this session may send one.
pub(crate) fn batch<'a>(
    frame: &'a [u8],
    session: &Session,
) -> Option<Result<Vec<&'a [u8]>, Refusal>> {
    // Later revisions have none.
    session.agreed().filter(|agreed| agreed.has_batches())?;
    Some(match Batch::read(frame)? {
        Batch::Members(members) => Ok(members),
        Batch::TooMany => {
            let why = format!("a batch has more than {BATCH_LIMIT} messages");
            Err(Refusal::invalid_request(why))
        }
    })
}

impl Server {
    /// Takes the messages of a batch one by one.
    pub(crate) fn begin_batch(
        self: &Arc<Self>,
        session: &Arc<Session>,
        origin: Origin<'_>,
        members: &[&[u8]],
    ) -> Gathered {
        let mut gathered = Gathered::default();
        for (at, frame) in members.iter().enumerate() {
            let bytes = frame.len();
            let row = match Incoming::read(frame, Era::Legacy) {
                Ok(Incoming::Request(request)) => {
                    let arrival = Arrival { session, origin, request: &request, bytes };
                    self.begin_member(at, &arrival, &mut gathered)
                }
                Ok(Incoming::Notification { method, params }) => {
                    self.notice(session, &origin, &method, params, bytes)
                }
                Ok(Incoming::Response(frame)) => self.take_answer(session, &origin, frame),
                Err(Unreadable { id, refusal }) => {
                    let mut out = Vec::new();
                    write::error(&mut out, id, &refusal);
                    gathered.together.ready.push((at, out));
                    self.audit().is_on().then(|| {
                        Draft::of_message(self, session, &origin, Kind::Refused, bytes)
                            .refuse(&refusal)
                    })
                }
            };
            gathered.rows.extend(row.map(|row| *row));
        }
        gathered
    }

    fn begin_member(
        self: &Arc<Self>,
        at: usize,
        arrival: &Arrival<'_>,
        gathered: &mut Gathered,
    ) -> Option<Box<Row>> {
        let mut out = Vec::new();
        match self.begin(arrival, &mut out) {
            Begun::Done(done) => {
                gathered.together.ready.push((at, out));
                done.row
            }
            Begun::Later(pending) => {
                match pending.company() {
                    Company::Together => gathered.together.pending.push((at, *pending)),
                    Company::Alone => gathered.alone.push((at, *pending)),
                    Company::Whole => gathered.whole.push(*pending),
                }
                None
            }
        }
    }
}
