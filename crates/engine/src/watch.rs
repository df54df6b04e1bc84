//! Watching a run from another thread.
//!
//! Load threads offer a glimpse of their tally when they flush, a few times a second, and never wait:
//! when nobody takes it, the next one holds what is missing.

use std::{
    borrow::Cow,
    sync::{
        Arc, OnceLock,
        mpsc::{Receiver, SyncSender, TrySendError, sync_channel},
    },
    time::Duration,
};

use mcp_loadtest_core::{
    live::{Glimpse, Snapshot, State, View},
    report::{Report, RunInfo},
    secrets::Secrets,
};
use mcp_loadtest_wire::clock::Clock;

use crate::{pause::Pause, stop::Stop};

/// Glimpses that wait to be taken.
const QUEUE: usize = 64;

/// What is known from the moment on at which the session is open.
type Begun = Arc<OnceLock<(RunInfo, Clock)>>;

/// The way to whoever watches.
#[derive(Debug, Clone)]
pub(crate) struct Onlooker {
    glimpses: SyncSender<Glimpse>,
    begun: Begun,
}

impl Onlooker {
    /// The session is open.
    pub(crate) fn begin(&self, info: RunInfo, clock: Clock) {
        // A run begins once.
        let _ = self.begun.set((info, clock));
    }

    /// Offers a glimpse; `false` where it was not taken.
    pub(crate) fn offer(&self, glimpse: Glimpse) -> bool {
        // Whoever has gone away takes everything, so that nothing is kept for them.
        !matches!(self.glimpses.try_send(glimpse), Err(TrySendError::Full(_)))
    }
}

/// A run as it goes on. Made by [`Run::watch`](crate::Run::watch); look at it from any thread.
#[derive(Debug)]
pub struct Watch {
    glimpses: Receiver<Glimpse>,
    begun: Begun,
    view: View,
    stop: Stop,
    pause: Pause,
    secrets: Secrets,
}

impl Watch {
    pub(crate) fn new(stop: Stop, pause: Pause, secrets: Secrets) -> (Self, Onlooker) {
        let (sender, glimpses) = sync_channel(QUEUE);
        let begun = Begun::default();
        let onlooker = Onlooker { glimpses: sender, begun: begun.clone() };
        (Self { glimpses, begun, view: View::default(), stop, pause, secrets }, onlooker)
    }

    /// The run at this moment.
    pub fn snapshot(&mut self) -> Snapshot {
        self.take();
        let state = self.state();
        let (now, paused) = (self.now(), self.pause.total());
        let snapshot = self.view.snapshot(state, now, paused);
        let snapshot = self.without_secrets(snapshot);
        match (snapshot.state, snapshot.issued) {
            (State::Running, 0) => Snapshot { state: State::Starting, ..snapshot },
            _ => snapshot,
        }
    }

    /// What a report would show by now; not judged. Nothing before the session is open.
    pub fn report(&mut self) -> Option<Report> {
        self.take();
        let report = self.view.report(self.now(), self.pause.spans())?;
        // What could not be masked is not shown.
        self.secrets.document(report).ok()
    }

    fn without_secrets(&self, mut snapshot: Snapshot) -> Snapshot {
        let texts = [&mut snapshot.target, &mut snapshot.scenario].into_iter();
        let texts = texts.chain(snapshot.tools.iter_mut().map(|tool| &mut tool.name));
        for text in texts.chain(snapshot.log.iter_mut().map(|line| &mut line.text)) {
            if let Cow::Owned(masked) = self.secrets.text(text) {
                *text = masked;
            }
        }
        snapshot
    }

    /// What the run is doing, but for its start.
    fn state(&self) -> State {
        if self.stop.is_stopped() {
            State::Stopping
        } else if self.pause.is_held() {
            State::Paused
        } else {
            State::Running
        }
    }

    fn now(&self) -> Duration {
        self.begun.get().map(|(_, clock)| clock.now()).unwrap_or_default()
    }

    fn take(&mut self) {
        if let Some((info, _)) = self.begun.get() {
            self.view.begin(info);
        }
        while let Ok(glimpse) = self.glimpses.try_recv() {
            self.view.add(glimpse);
        }
    }
}
