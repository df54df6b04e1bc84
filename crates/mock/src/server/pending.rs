//! A request that takes its time, because of its tool or because of a fault. What is to be done with
//! it was decided when it came; here it is obeyed.

use std::sync::Arc;

use mcp_loadtest_core::{
    config::TransportName,
    fault::{
        Beside, Company, Cut, Entered, HANG_CODE, HANG_LIMIT, HANG_MESSAGE, Instead,
        LAZY_INIT_TIME, Mangle, REORDER_LIMIT, Step, Treatment, mangle,
    },
    mcp::{Era, Revision, method},
};
use serde_json::Value;
use tokio::time::{Instant, sleep, timeout};
use tokio_util::sync::CancellationToken;

use super::{
    Change, Server,
    call::{self, Told},
    exchange::{Exchange, Parts, Said},
    flood, listen,
    methods::Asked,
    origin::Facts,
    record::{self, Draft, Finish},
    session::{Outbox, Session},
};
use crate::{
    catalog::tool::{Call, Run},
    desk::Ended,
    mcp::{
        refusal::{ACCEPTED, OK, Refusal, status_of},
        request::{Incoming, Request},
        result::{CallResult, Outcome},
    },
};

/// A request that was taken and not answered.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(super) server: Arc<Server>,
    pub(super) session: Arc<Session>,
    pub(super) cancel: CancellationToken,
    pub(super) frame: Box<[u8]>,
    pub(super) is_initialize: bool,
    pub(super) outer: Era,
    pub(super) revision: Revision,
    pub(super) facts: Facts,
    pub(super) treatment: Treatment,
    pub(super) begun: Instant,
    pub(super) draft: Option<Draft>,
    /// Whether its reply is lost with its batch.
    pub(super) is_lost: bool,
    /// Whether even a lone reply is sent as an event.
    pub(super) is_streamed: bool,
}

/// What the transport has to do at the end.
#[derive(Debug)]
pub(crate) enum Ending {
    /// Send this.
    Reply {
        /// What to send, in this order.
        steps: Vec<Step>,
        told: Told,
    },
    /// Send nothing: it was cancelled.
    Silent,
    /// Answer with this status instead of a message.
    Http { status: u16, retry_after: Option<u64>, www_authenticate: bool },
    /// Act as if the session had never been.
    SessionLost,
    /// End the connection.
    Cut(Cut),
    /// End the process.
    Crash(i32),
}

impl Pending {
    /// Whoever fires this withdraws the call.
    pub(crate) fn cancel_token(&self) -> CancellationToken {
        self.cancel.clone()
    }

    /// Whether a fault answers it with nothing but a status.
    pub(crate) fn answers_by_status(&self) -> bool {
        matches!(self.treatment.instead, Some(Instead::Http { .. }))
    }

    /// How its reply travels if it came in a batch.
    pub(crate) fn company(&self) -> Company {
        self.treatment.company()
    }

    /// Whether a fault keeps it from being answered in any sensible time.
    pub(crate) fn hangs(&self) -> bool {
        matches!(self.treatment.instead, Some(Instead::Hang | Instead::LazyInit))
    }

    /// Takes away what faults do to the bytes of its reply, for somebody else to do.
    pub(crate) fn take_stray_mangles(&mut self) -> Vec<Mangle> {
        let is_stray = |mangle: &mut Mangle| !mangle.keeps_messages() && *mangle != Mangle::Reorder;
        self.treatment.mangles.extract_if(.., is_stray).collect()
    }

    /// What it comes to is not sent, because of another call of its batch.
    pub(crate) fn lose_reply(&mut self) {
        self.is_lost = true;
    }

    /// Even a lone reply is sent as an event.
    pub(crate) fn streamed(mut self, is_streamed: bool) -> Self {
        self.is_streamed = is_streamed;
        self
    }

    pub(crate) fn revision(&self) -> Revision {
        self.revision
    }

    /// Whether it is the handshake of a session that has none yet.
    pub(crate) fn is_handshake(&self) -> bool {
        self.is_initialize && self.session.agreed().is_none() && self.revision.era() == Era::Legacy
    }

    /// Does what is to be done. Messages before the reply go to `outbox`.
    pub(crate) async fn run(self, outbox: Outbox) -> Ending {
        let read = Incoming::read(&self.frame, self.outer);
        let Ok(Incoming::Request(request)) = read else {
            unreachable!("it was read as a request before");
        };
        let exchange = Exchange::new(Parts {
            server: self.server.clone(),
            session: self.session.clone(),
            id: request.id.into(),
            params: request.params.to_value(),
            revision: self.revision,
            facts: self.facts.clone(),
            outbox,
            begun: self.begun,
        });
        // A fault may keep the client from withdrawing it, but nothing outlives its session.
        let over = if self.treatment.ignores_cancel { &self.session.ended } else { &self.cancel };
        // What is ready at once is answered, even when the client has closed its side already.
        let ending = tokio::select! {
            biased;
            ending = self.obey(&request, &exchange) => ending,
            () = over.cancelled() => Ending::Silent,
        };
        self.session.finish(request.id);
        self.server.desk().count(Ended {
            error: !matches!(&ending, Ending::Reply { told, .. } if told.is_success()),
            cancelled: self.cancel.is_cancelled(),
            faulted: !self.treatment.is_nothing(),
        });
        self.write_down(&exchange, &ending).await;
        ending
    }

    async fn obey(&self, request: &Request<'_>, exchange: &Exchange) -> Ending {
        for beside in &self.treatment.beside {
            match beside {
                Beside::ListChanged => self.server.announce(Change::Tools),
                Beside::Flood(rate) => flood::hold(exchange, *rate).await,
            }
        }
        if !self.treatment.delay.is_zero() {
            sleep(self.treatment.delay).await;
        }
        let mut frame = Vec::new();
        let told = match &self.treatment.instead {
            None => self.serve(request, exchange, &mut frame).await,
            Some(instead) => match self.replace(instead, request, exchange, &mut frame).await {
                Ok(told) => told,
                Err(ending) => return ending,
            },
        };
        let mut steps = mangle(frame, &self.treatment.mangles);
        self.let_others_pass(&mut steps).await;
        Ending::Reply { steps, told }
    }

    /// Waits with a reply that is to be late until another has left.
    async fn let_others_pass(&self, steps: &mut [Step]) {
        if !steps.iter().any(|step| matches!(step, Step::Late(_))) {
            return;
        }
        // Nobody overtakes for ever.
        let _ = timeout(REORDER_LIMIT, self.server.replied.notified()).await;
        for step in steps {
            if let Step::Late(frame) = step {
                *step = Step::Frame(std::mem::take(frame));
            }
        }
    }

    /// Does what a fault wants done in place of the usual. `Err` is an end without a message.
    async fn replace(
        &self,
        instead: &Instead,
        request: &Request<'_>,
        exchange: &Exchange,
        frame: &mut Vec<u8>,
    ) -> Result<Told, Ending> {
        Ok(match instead {
            Instead::LazyInit => match self.load().await {
                true => self.serve(request, exchange, frame).await,
                false => hang(request.id, frame).await,
            },
            Instead::Hang => hang(request.id, frame).await,
            Instead::Error { code, message, data } => {
                let refusal = Refusal { code: *code, message: message.clone(), data: data.clone() };
                Told::refuse(frame, request.id, &refusal)
            }
            Instead::ToolError { text } => {
                let outcome = CallResult::error(text.clone()).into();
                call::tell(&self.server, &outcome, request.id, self.revision, frame)
            }
            Instead::Http { status, retry_after, www_authenticate } => {
                return Err(Ending::Http {
                    status: *status,
                    retry_after: *retry_after,
                    www_authenticate: *www_authenticate,
                });
            }
            Instead::SessionLost => return Err(Ending::SessionLost),
            Instead::Cut(cut) => return Err(Ending::Cut(*cut)),
            Instead::Crash(code) => return Err(Ending::Crash(*code)),
        })
    }

    /// Loads what the first call has to load. `false`: it is not alone, and has to hang.
    async fn load(&self) -> bool {
        let lock = self.server.desk().lazy();
        match lock.enter() {
            Entered::Load(loading) => {
                sleep(LAZY_INIT_TIME).await;
                loading.loaded() == Entered::Pass
            }
            entered => entered == Entered::Pass,
        }
    }

    /// What a healthy server would have done.
    async fn serve(&self, request: &Request<'_>, exchange: &Exchange, out: &mut Vec<u8>) -> Told {
        let outcome = match &*request.method {
            method::TOOLS_CALL => self.call(request, exchange).await,
            method::LISTEN if self.revision.era() == Era::Modern => listen::listen(exchange).await,
            _ => {
                let asked = Asked {
                    server: &self.server,
                    session: &self.session,
                    request,
                    revision: self.revision,
                };
                return match asked.answer(out) {
                    Ok(()) => Told::default(),
                    Err(refusal) => Told::refuse(out, request.id, &refusal),
                };
            }
        };
        call::tell(&self.server, &outcome, request.id, self.revision, out)
    }

    async fn call(&self, request: &Request<'_>, exchange: &Exchange) -> Outcome {
        let tool = match call::find(&self.server, &request.params) {
            Ok(tool) => tool,
            Err(refusal) => return refusal.into(),
        };
        let arguments: Value = match call::arguments(tool, &request.params) {
            Ok(arguments) => arguments,
            Err(outcome) => return outcome,
        };
        match &tool.run {
            Run::Now(run) => {
                let raw = request.params.arguments.unwrap_or("{}");
                run(&Call { session: &self.session, arguments: &arguments, raw })
            }
            Run::Later(run) => run(exchange.clone()).await,
        }
    }

    /// The status that its reply travels with, if it has one. A stream that has begun has told its own.
    fn status(&self, said: &Said, ending: &Ending) -> Option<u16> {
        let era = self.revision.era();
        match (self.session.transport, ending) {
            _ if self.is_lost => None,
            (TransportName::Sse, Ending::Reply { .. } | Ending::Silent) => Some(ACCEPTED),
            (TransportName::Http, Ending::Reply { steps, told }) => {
                let is_alone = steps.len() == 1 && said.count == 0 && !self.is_streamed;
                Some(if is_alone { status_of(era, told.code) } else { OK })
            }
            // A modern client withdraws a call by leaving: it reads no status. A server that has
            // crashed says nothing more.
            (TransportName::Http, Ending::Silent) => {
                let is_told = era == Era::Legacy && self.server.has_crashed().is_none();
                (is_told || said.count > 0).then_some(OK)
            }
            _ => None,
        }
    }

    async fn write_down(mut self, exchange: &Exchange, ending: &Ending) {
        let Some(draft) = self.draft.take() else { return };
        let said = exchange.said();
        let status = self.status(&said, ending);
        let nothing = Told::default();
        let finish = match ending {
            Ending::Reply { steps, told } => Finish {
                told,
                bytes_out: steps.iter().map(length).sum(),
                ..Finish::at(self.begun.elapsed())
            },
            other => {
                Finish { told: &nothing, ended: Some(other), ..Finish::at(self.begun.elapsed()) }
            }
        };
        let finish = Finish {
            said,
            status,
            decisions: &self.treatment.decisions,
            was_cancelled: self.cancel.is_cancelled(),
            ..finish
        };
        let mut row = draft.finish(finish);
        if self.is_lost {
            record::lose(&mut row);
        }
        // A log that cannot be written says so at the end, when everybody hears it.
        let _ = self.server.audit.record(row).await;
    }
}

/// Blocks for longer than anybody waits, and then says that it did.
async fn hang(id: &[u8], out: &mut Vec<u8>) -> Told {
    sleep(HANG_LIMIT).await;
    Told::refuse(out, id, &Refusal::new(HANG_CODE, HANG_MESSAGE))
}

/// How many bytes a step sends.
fn length(step: &Step) -> usize {
    match step {
        Step::Frame(bytes) | Step::Raw(bytes) | Step::Late(bytes) => bytes.len(),
        Step::Partial { bytes, .. } | Step::Drip { frame: bytes, .. } => bytes.len(),
    }
}
