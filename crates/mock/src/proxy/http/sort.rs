//! The messages of a batch, by who answers them. Each is treated as if it had come by itself.

use std::collections::VecDeque;

use futures_util::future::join_all;
use http::StatusCode;
use mcp_loadtest_core::fault::{HANG_LIMIT, Instead};
use tokio::time::sleep_until;

use super::{
    call::Errand,
    exchange::{Exchange, addressed},
    replies::{Job, status},
};
use crate::{
    mcp::batch::joined,
    proxy::{judge::Gate, message::Said, open::Open, record::Envelope},
};

/// A batch, sorted.
#[derive(Default)]
pub(super) struct Sorted {
    /// What the server is to see of it.
    kept: Vec<Vec<u8>>,
    /// Whether that is not what has come.
    pub(super) is_changed: bool,
    /// The rows of messages that want no reply.
    pub(super) told: Vec<Open>,
    /// Calls that the server answers.
    pub(super) asked: Vec<Job>,
    /// Calls that a fault answers.
    pub(super) made: Vec<(Vec<u8>, Job)>,
    /// The same for those that must not hold the others back.
    pub(super) hung: Vec<(Vec<u8>, Job)>,
    /// Calls for which a fault ends or refuses all of it.
    pub(super) whole: VecDeque<(Instead, Errand)>,
    /// Calls that a lock may let pass.
    locked: Vec<(Errand, Vec<u8>)>,
}

impl Sorted {
    /// The body for the server, if there is anything to tell it.
    pub(super) fn body(&self, came: Vec<u8>) -> Option<Vec<u8>> {
        match self.is_changed {
            false => Some(came),
            true => (!self.kept.is_empty()).then(|| joined(&self.kept)),
        }
    }

    /// The rows of all that is left.
    pub(super) fn into_rows(self) -> impl Iterator<Item = Open> {
        let made = self.made.into_iter().chain(self.hung).map(|(_, job)| job.open);
        let ended = self.whole.into_iter().map(|(_, errand)| errand.open);
        let opens = self.asked.into_iter().map(|job| job.open).chain(made).chain(ended);
        self.told.into_iter().chain(opens.flatten())
    }

    fn ask(&mut self, errand: Errand, bytes: Vec<u8>) {
        errand.held.forward();
        self.kept.push(bytes);
        self.asked.push(errand.into_job().0);
    }

    fn place(&mut self, mut errand: Errand, bytes: Vec<u8>) {
        let Some(instead) = errand.treatment.instead.take() else {
            return self.ask(errand, bytes);
        };
        self.is_changed = true;
        match instead {
            Instead::LazyInit => self.locked.push((errand, bytes)),
            Instead::Hang => self.hang(&instead, errand),
            Instead::Error { .. } | Instead::ToolError { .. } => {
                let frame = instead.frame(&errand.call.id, errand.call.era).unwrap_or_default();
                self.made.push((frame, errand.into_job().0));
            }
            Instead::Http { .. } | Instead::SessionLost | Instead::Cut(_) | Instead::Crash(_) => {
                self.whole.push_back((instead, errand))
            }
        }
    }

    fn hang(&mut self, instead: &Instead, mut errand: Errand) {
        errand.due += HANG_LIMIT;
        let frame = instead.frame(&errand.call.id, errand.call.era).unwrap_or_default();
        self.hung.push((frame, errand.into_job().0));
    }
}

impl Exchange {
    /// Asks the faults about each message.
    pub(super) async fn sort(
        &self,
        members: &[&[u8]],
        session: Option<&str>,
        envelope: Option<&Envelope>,
    ) -> Sorted {
        let mut sorted = Sorted::default();
        for member in members {
            let said = Said::read(member);
            let open = self.judge.recorder.open(&said, member.len(), session);
            let open = addressed(open, envelope.cloned());
            match said {
                Said::Request(call) => {
                    let other = self.judge.first_page(&call, member);
                    sorted.is_changed |= other.is_some();
                    let bytes = other.unwrap_or_else(|| member.to_vec());
                    sorted.place(self.treat(call, session.map(str::to_owned), open), bytes);
                }
                Said::Cancelled(id) if !self.memory.withdraw(session, &id) => {
                    sorted.is_changed = true;
                    self.answered(open, status(StatusCode::ACCEPTED, None)).await;
                }
                _ => {
                    sorted.told.extend(open);
                    sorted.kept.push(member.to_vec());
                }
            }
        }
        self.unlock(&mut sorted).await;
        sorted
    }

    /// Lets those calls pass that come to the lock of `lazy-init-deadlock` alone.
    async fn unlock(&self, sorted: &mut Sorted) {
        let locked = std::mem::take(&mut sorted.locked);
        let gates = locked.iter().map(|(errand, _)| {
            errand.held.unless_withdrawn(async {
                sleep_until(errand.due).await;
                self.judge.enter().await
            })
        });
        let gates = join_all(gates).await;
        for ((errand, bytes), gate) in locked.into_iter().zip(gates) {
            match gate {
                Some(Gate::Pass) => sorted.ask(errand, bytes),
                // One that was withdrawn is found to be so by whoever waits for it.
                Some(Gate::Hung) | None => sorted.hang(&Instead::LazyInit, errand),
            }
        }
    }
}
