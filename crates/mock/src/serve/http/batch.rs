//! A batch over Streamable HTTP. Its calls share one response: an array, or a stream of events where
//! one of them has to wait without holding the others back.

use std::{io, sync::Arc};

use mcp_loadtest_core::{
    fault::{Mangle, mangle},
    mcp::Era,
};
use tokio::sync::mpsc;

use super::{
    OUTBOX,
    connection::Connection,
    reply::{After, Reply},
    response::{Response, status},
};
use crate::{
    audit::Row,
    server::{
        batch::{Gathered, Together},
        call::Told,
        pending::{Ending, Pending},
        record,
        session::{Out, Outbox, Session},
    },
};

impl Connection {
    /// Answers a batch whose messages have been taken.
    pub(super) async fn batch(
        &mut self,
        keep_alive: bool,
        mut gathered: Gathered,
        session: &Arc<Session>,
    ) -> io::Result<After> {
        let rows = std::mem::take(&mut gathered.rows);
        if gathered.is_quiet() {
            self.write_down(rows, |row| row.http_status = Some(status::ACCEPTED)).await;
            Response::empty(status::ACCEPTED).render(keep_alive, &mut self.output);
            return self.accept(keep_alive).await;
        }
        let reply = Reply {
            keep_alive,
            era: Era::Legacy,
            always_stream: self.hub.always_stream,
            begun: false,
            session: None,
        };
        if !gathered.whole.is_empty() {
            return self.lose(gathered, rows, session, reply).await;
        }
        self.write_down(rows, |row| row.http_status = Some(status::OK)).await;
        let shared = gathered.share_mangles();
        let (outbox, outgoing) = mpsc::channel(OUTBOX);
        let mut left = gathered.alone.len();
        for (_, pending) in gathered.alone {
            self.hub.tasks.spawn(alone(pending, outbox.clone()));
        }
        if !gathered.together.is_empty() {
            left += 1;
            self.hub.tasks.spawn(together(gathered.together, shared, outbox));
        }
        self.send_endings(reply, outgoing, left).await
    }

    /// One of the calls ends more than itself: the response is what it says, and nothing else is
    /// sent of what the others come to.
    async fn lose(
        &mut self,
        mut gathered: Gathered,
        rows: Vec<Row>,
        session: &Arc<Session>,
        mut reply: Reply,
    ) -> io::Result<After> {
        // Nobody listens to it.
        let (outbox, _) = mpsc::channel(1);
        let first = gathered.whole.remove(0);
        let together = gathered.together.pending.into_iter().chain(gathered.alone);
        for mut pending in together.map(|(_, pending)| pending).chain(gathered.whole) {
            pending.lose_reply();
            self.hub.tasks.spawn(alone(pending, outbox.clone()));
        }
        let ending = first.run(outbox).await;
        let status = match &ending {
            Ending::Http { status, .. } => Some(*status),
            Ending::SessionLost => Some(status::NOT_FOUND),
            _ => None,
        };
        self.write_down(rows, |row| {
            row.http_status = status;
            record::lose(row);
        })
        .await;
        self.obey_first(&ending, session, false, &mut reply);
        self.conclude(reply, ending).await
    }

    async fn write_down(&self, rows: Vec<Row>, finish: impl Fn(&mut Row)) {
        for mut row in rows {
            finish(&mut row);
            // A log that cannot be written says so at the end, when everybody hears it.
            let _ = self.hub.server.audit().record(row).await;
        }
    }

    /// Sends what comes until so many endings have come.
    async fn send_endings(
        &mut self,
        mut reply: Reply,
        mut outgoing: mpsc::Receiver<Out>,
        mut left: usize,
    ) -> io::Result<After> {
        let mut watches = true;
        loop {
            tokio::select! {
                biased;
                out = outgoing.recv() => match out {
                    Some(Out::Message(frame)) => reply.message(&mut self.stream, &frame).await?,
                    // A server that has crashed says nothing more.
                    Some(Out::Ending(_)) if self.has_crashed() => return Ok(After::Closed),
                    Some(Out::Ending(ending)) => {
                        left -= 1;
                        if left == 0 {
                            return self.conclude(reply, ending).await;
                        }
                        if let Ending::Reply { steps, .. } = ending {
                            if reply.part(&mut self.stream, &steps).await? == After::Closed {
                                return Ok(After::Closed);
                            }
                            self.hub.server.has_replied();
                        }
                    }
                    None => return Ok(After::Closed),
                },
                more = self.read_some(), if watches => match more {
                    // What comes now is the next request; it waits for its turn.
                    Ok(After::Open) => watches = false,
                    // A client that hangs up has not cancelled. The calls go on.
                    _ => return Ok(After::Closed),
                },
            }
        }
    }
}

async fn alone(pending: Pending, outbox: Outbox) {
    let ending = pending.run(outbox.clone()).await;
    // A client that is gone misses nothing.
    let _ = outbox.send(Out::Ending(ending)).await;
}

async fn together(together: Together, mangles: Vec<Mangle>, outbox: Outbox) {
    let ending = match together.array(outbox.clone()).await {
        Some(array) => Ending::Reply { steps: mangle(array, &mangles), told: Told::default() },
        None => Ending::Silent,
    };
    let _ = outbox.send(Out::Ending(ending)).await;
}
