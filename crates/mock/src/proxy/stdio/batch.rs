//! Batches: each message of an array is treated as if it had come by itself, and what is left of the
//! array goes on. An array that nothing touches goes on as it came.

use std::{borrow::Cow, collections::HashSet, pin::pin, sync::Arc};

use mcp_loadtest_core::fault::{self, Step, mangle};
use tokio::time::{Instant, sleep_until};

use super::{
    held::{Company, Made},
    outlet::Out,
    relay::{Relay, Wait},
};
use crate::{
    mcp::batch::joined,
    proxy::{
        message::{Call, Key, Said, answered},
        notice,
        open::Open,
    },
};

/// A reply that leaves in an array.
struct Part {
    /// Of a call that is held; a reply to any other is none of our business.
    id: Option<Key>,
    frame: Vec<u8>,
}

impl From<Made> for Part {
    fn from(made: Made) -> Self {
        Self { id: Some(made.id), frame: made.frame }
    }
}

impl Relay {
    /// Treats the messages of a client's batch, and sends on what the server is to have of it.
    pub(super) async fn batch_from_client(self: &Arc<Self>, members: Vec<Cow<'_, [u8]>>) -> Onward {
        let company = Arc::new(Company::default());
        let (mut kept, mut changed) = (Vec::with_capacity(members.len()), false);
        for member in members {
            let said = Said::read(&member);
            let open = self.judge.recorder.open(&said, member.len(), None);
            let left = match said {
                Said::Request(call) => self.member(call, member, open, &company),
                other => self.hear(other, open).await.then_some(member),
            };
            changed |= !matches!(left, Some(Cow::Borrowed(_)));
            kept.extend(left);
        }
        // Where the server has nothing to answer, nothing is waited for.
        self.release(company.take_last());
        match (changed, kept.is_empty()) {
            (false, _) => Onward::AsItCame,
            (true, true) => Onward::Nothing,
            (true, false) => Onward::Other(array(&kept)),
        }
    }

    /// A call of a batch arrives; what the server is to see of it now.
    fn member<'a>(
        self: &Arc<Self>,
        call: Call,
        bytes: Cow<'a, [u8]>,
        open: Option<Open>,
        company: &Arc<Company>,
    ) -> Option<Cow<'a, [u8]>> {
        let bytes = match self.judge.first_page(&call, &bytes) {
            Some(other) => Cow::Owned(other),
            None => bytes,
        };
        let mut held = self.treat(&call, open);
        let Some(instead) = held.treatment.instead.clone() else {
            held.company = Some(company.clone());
            self.calls.lock().insert(call.id, held);
            return Some(bytes);
        };
        let travels = held.treatment.company();
        let wait = Wait::of(&held);
        self.calls.lock().insert(call.id.clone(), held);
        match instead.frame(&call.id, call.era) {
            Some(frame) if travels == fault::Company::Together => {
                company.join(Made { id: call.id, frame });
            }
            _ => {
                let line = array(&[bytes]);
                tokio::spawn(self.clone().replace(instead, call, line, wait));
            }
        }
        None
    }

    /// Treats the replies in an array of the server.
    pub(super) async fn batch_from_server(self: &Arc<Self>, line: Vec<u8>, members: Vec<Vec<u8>>) {
        let (mut parts, mut alone, mut made) = (Vec::new(), Vec::new(), Vec::new());
        let mut seen = HashSet::new();
        for frame in members {
            // A second reply to the same call is passed on as it is.
            let id = answered(&frame).filter(|id| seen.insert(id.clone()));
            let mut calls = self.calls.lock();
            let Some((id, held)) = id.and_then(|id| Some((id.clone(), calls.get_mut(&id)?))) else {
                parts.push(Part { id: None, frame });
                continue;
            };
            made.extend(held.company.take().into_iter().flat_map(|company| company.take()));
            if held.treatment.company() == fault::Company::Together {
                parts.push(Part { id: Some(id), frame });
            } else {
                alone.push((id, frame, held.due));
            }
        }
        let original = (alone.is_empty() && made.is_empty()).then_some(line);
        for (id, frame, due) in alone {
            self.arrived(id, frame, due).await;
        }
        parts.extend(made.into_iter().map(Part::from));
        if self.due(&parts) <= Instant::now() {
            return self.together(parts, original).await;
        }
        tokio::spawn(self.clone().together_when_due(parts, original));
    }

    /// A server that knows no batches answers one by an error that answers no id. It can only be meant
    /// if no other batch waits.
    pub(super) async fn batch_is_refused(self: &Arc<Self>, error: &[u8]) {
        let (mut refused, mut made) = (Vec::new(), Vec::new());
        {
            let mut calls = self.calls.lock();
            let mut waiting = calls.values().filter_map(|held| held.company.as_ref());
            let Some(first) = waiting.next().cloned() else { return };
            if !waiting.all(|other| Arc::ptr_eq(other, &first)) {
                return;
            }
            for (_, mut held) in calls.extract_if(|_, held| held.company.is_some()) {
                refused.extend(held.open.take());
            }
            made.extend(first.take());
        }
        for mut open in refused {
            open.replied(error);
            self.judge.recorder.close(Some(open)).await;
        }
        self.release(made);
    }

    /// Sends replies that faults made, and that no array of the server will take along.
    pub(super) fn release(self: &Arc<Self>, made: Vec<Made>) {
        if !made.is_empty() {
            let parts = made.into_iter().map(Part::from).collect();
            tokio::spawn(self.clone().together_when_due(parts, None));
        }
    }

    /// When the last of these replies may leave that anybody still waits for.
    fn due(&self, parts: &[Part]) -> Instant {
        let calls = self.calls.lock();
        let held = parts.iter().filter_map(|part| calls.get(part.id.as_ref()?));
        let dues = held.filter(|held| !held.withdrawn.is_cancelled()).map(|held| held.due);
        dues.max().unwrap_or_else(Instant::now)
    }

    async fn together_when_due(self: Arc<Self>, parts: Vec<Part>, original: Option<Vec<u8>>) {
        loop {
            let mut withdrawn = pin!(self.withdrawn.notified());
            // From now on no cancel is missed.
            withdrawn.as_mut().enable();
            let due = self.due(&parts);
            tokio::select! {
                biased;
                () = sleep_until(due) => break,
                () = withdrawn => {}
            }
        }
        self.together(parts, original).await;
    }

    /// Sends replies in one array: the one that came, if nothing has to be done to any of them.
    async fn together(&self, parts: Vec<Part>, mut original: Option<Vec<u8>>) {
        let mut frames = Vec::with_capacity(parts.len());
        for Part { id, frame } in parts {
            let Some(id) = id else {
                frames.push(frame);
                continue;
            };
            let held = self.calls.lock().remove(&id);
            let Some(mut held) = held.filter(|held| !held.withdrawn.is_cancelled()) else {
                // It was withdrawn while it waited.
                original = None;
                continue;
            };
            for notice in notice::beside(&held.treatment.beside) {
                self.send(Out::Bytes { bytes: [notice, b"\n"].concat(), is_reply: false }).await;
            }
            if let Some(open) = &mut held.open {
                open.replied(&frame);
            }
            if !held.treatment.mangles.is_empty() {
                original = None;
            }
            frames.extend(
                mangle(frame, &held.treatment.mangles).into_iter().filter_map(Step::into_message),
            );
            self.judge.recorder.close(held.open).await;
        }
        if !frames.is_empty() {
            let bytes = original.unwrap_or_else(|| array(&frames));
            self.send(Out::Bytes { bytes, is_reply: true }).await;
        }
    }
}

/// What the server is to have of a batch.
pub(super) enum Onward {
    AsItCame,
    Other(Vec<u8>),
    Nothing,
}

fn array<T: AsRef<[u8]>>(frames: &[T]) -> Vec<u8> {
    let mut line = joined(frames);
    line.push(b'\n');
    line
}
