//! What a request comes to: what is sent before its end, the end, and what that means for the session.

use std::{io, sync::Arc};

use mcp_loadtest_core::mcp::Era;
use tokio::sync::mpsc;

use super::{
    OUTBOX,
    connection::Connection,
    endpoint,
    reply::{After, Reply},
    response::{Response, status},
};
use crate::server::{
    pending::{Ending, Pending},
    session::{Out, Session},
};

impl Connection {
    /// Waits for what a request comes to, and sends what comes before it.
    pub(super) async fn later(
        &mut self,
        keep_alive: bool,
        pending: Pending,
        session: Arc<Session>,
    ) -> io::Result<After> {
        let era = pending.revision().era();
        let cancel = pending.cancel_token();
        let handshake = pending.is_handshake();
        let mut reply = Reply {
            keep_alive,
            era,
            always_stream: self.hub.always_stream,
            begun: false,
            session: None,
        };
        let mut outgoing = self.run(pending);
        let mut watches = true;
        loop {
            tokio::select! {
                biased;
                out = outgoing.recv() => match out {
                    Some(Out::Message(frame)) => reply.message(&mut self.stream, &frame).await?,
                    // A server that has crashed says nothing more.
                    Some(Out::Ending(_)) if self.has_crashed() => return Ok(After::Closed),
                    Some(Out::Ending(ending)) => {
                        self.obey_first(&ending, &session, handshake, &mut reply);
                        return self.conclude(reply, ending).await;
                    }
                    None => return Ok(After::Closed),
                },
                more = self.read_some(), if watches => match more {
                    // What comes now is the next request; it waits for its turn.
                    Ok(After::Open) => watches = false,
                    _ => {
                        if era == Era::Modern {
                            cancel.cancel();
                        }
                        // Legacy: a client that hangs up has not cancelled. The call goes on.
                        return Ok(After::Closed);
                    }
                },
            }
        }
    }

    /// Sends what a request has come to. None but a reply lets others pass.
    pub(super) async fn conclude(&mut self, reply: Reply, ending: Ending) -> io::Result<After> {
        let is_reply = matches!(ending, Ending::Reply { .. });
        let after = reply.end(&mut self.stream, ending).await?;
        if is_reply {
            self.hub.server.has_replied();
        }
        Ok(after)
    }

    pub(super) fn has_crashed(&self) -> bool {
        self.hub.server.has_crashed().is_some()
    }

    fn run(&self, pending: Pending) -> mpsc::Receiver<Out> {
        let (outbox, outgoing) = mpsc::channel(OUTBOX);
        let pending = pending.streamed(self.hub.always_stream);
        self.hub.tasks.spawn(async move {
            let ending = pending.run(outbox.clone()).await;
            // A client that is gone misses nothing.
            let _ = outbox.send(Out::Ending(ending)).await;
        });
        outgoing
    }

    /// What an ending means beyond its bytes.
    pub(super) fn obey_first(
        &self,
        ending: &Ending,
        session: &Arc<Session>,
        handshake: bool,
        reply: &mut Reply,
    ) {
        match ending {
            Ending::Reply { told, .. } if handshake && told.code.is_none() => {
                let nothing = Response::empty(status::OK);
                endpoint::welcome(&self.hub, session, nothing);
                reply.session = Some(session.id.to_string());
            }
            Ending::SessionLost => {
                self.hub.sessions.end(&session.id);
                session.ended.cancel();
            }
            Ending::Crash(code) => self.hub.server.crash(*code),
            _ => {}
        }
    }
}
