//! What every part of a run needs: in one thread a [`Context`], across threads its [`Blueprint`].

use std::{
    path::{Path, PathBuf},
    rc::Rc,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use mcp_loadtest_core::{
    config::Trace,
    event::{Event, Phase, note},
    mcp::Revision,
    scenario::Scenario,
    secrets::Secrets,
    server::Server,
    thresholds::Thresholds,
};
use mcp_loadtest_wire::{
    clock::Clock,
    session::{Deadlines, Hello, How, OpenError, Options, ProtocolStrictness, Session, Target},
    sink::Sink as _,
};

use crate::{
    files::Files,
    pause::Pause,
    plan::Count,
    recorder::{Progress, Recorder},
    sampler::Watch,
    stop::Stop,
    trace_writer::TraceSender,
    watch::Onlooker,
};

/// How long calls in flight may go on after the run was interrupted.
const DRAIN: Duration = Duration::from_secs(5);

/// The process ids of the servers that run now, once for each session.
#[derive(Debug, Clone, Default)]
pub(crate) struct Pids(Arc<Mutex<Vec<u32>>>);

impl Pids {
    pub(crate) fn add(&self, pid: u32) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).push(pid);
    }

    /// Takes one away: sessions that share a server each have it in the list.
    pub(crate) fn remove(&self, pid: u32) {
        let mut pids = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(index) = pids.iter().position(|known| *known == pid) {
            pids.swap_remove(index);
        }
    }

    pub(crate) fn all(&self) -> Vec<u32> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// What all threads of a run share.
#[derive(Clone)]
pub(crate) struct Blueprint {
    pub(crate) server: Server,
    pub(crate) scenario: Scenario,
    pub(crate) thresholds: Thresholds,
    pub(crate) files: Arc<Files>,
    pub(crate) target: Target,
    pub(crate) strictness: ProtocolStrictness,
    pub(crate) threads: Option<u16>,
    pub(crate) only_reading: bool,
    pub(crate) clock: Clock,
    pub(crate) stop: Stop,
    pub(crate) pause: Pause,
    pub(crate) onlooker: Option<Onlooker>,
    /// Ends the load early without making the run an interrupted one.
    pub(crate) enough: Stop,
    pub(crate) trace: Option<TraceSender>,
    pub(crate) trace_mode: Trace,
    pub(crate) progress: Arc<Progress>,
    pub(crate) pids: Pids,
    pub(crate) stderr_log: Option<PathBuf>,
    pub(crate) stdout_log: Option<PathBuf>,
    /// What is kept out of all that is written.
    pub(crate) secrets: Secrets,
}

impl Blueprint {
    /// The directory of the run, if it has one.
    pub(crate) fn run_dir(&self) -> Option<&Path> {
        self.stderr_log.as_deref().and_then(Path::parent)
    }

    /// The same without the way to the trace writer, which waits until all ways are gone.
    pub(crate) fn without_trace(&self) -> Self {
        Self { trace: None, ..self.clone() }
    }
}

/// What one thread of a run needs.
pub(crate) struct Context {
    pub(crate) blueprint: Blueprint,
    pub(crate) revision: Revision,
    pub(crate) worker: u16,
    pub(crate) recorder: Rc<Recorder>,
    pub(crate) watch: Watch,
    /// Numbers the calls of scenarios that make them one by one.
    pub(crate) count: Rc<Count>,
}

impl Context {
    pub(crate) fn new(blueprint: Blueprint, revision: Revision, worker: u16) -> Self {
        let recorder = Rc::new(Recorder::new(&blueprint, worker));
        let count = Count::new(blueprint.scenario.seed, worker, (0, 1));
        Self { blueprint, revision, worker, recorder, watch: Watch::default(), count }
    }

    pub(crate) fn now(&self) -> Duration {
        self.blueprint.clock.now()
    }

    pub(crate) fn stop(&self) -> &Stop {
        &self.blueprint.stop
    }

    pub(crate) fn note(&self, name: &'static str, detail: impl Into<String>) {
        self.recorder.emit(&Event::note(self.now(), name, detail.into()));
    }

    /// Whether no further call should be made.
    pub(crate) fn is_over(&self) -> bool {
        self.blueprint.stop.is_stopped() || self.blueprint.enough.is_stopped()
    }

    /// Waits until no further call should be made.
    pub(crate) async fn over(&self) {
        tokio::select! {
            () = self.blueprint.stop.stopped() => {}
            () = self.blueprint.enough.stopped() => {}
        }
    }

    /// Waits until calls in flight have had their moment after that.
    pub(crate) async fn out_of_time(&self) {
        self.over().await;
        tokio::time::sleep(DRAIN).await;
    }

    /// Whether no call should be made for the time being.
    #[inline]
    pub(crate) fn is_held(&self) -> bool {
        self.blueprint.pause.is_held()
    }

    /// Waits while no call should be made for the time being. Boxed, because thousands of callers
    /// hold one.
    pub(crate) async fn resumed(&self) {
        if !self.is_held() {
            return;
        }
        let resumed = async {
            tokio::select! {
                () = self.blueprint.pause.resumed() => {}
                () = self.over() => {}
            }
        };
        Box::pin(resumed).await;
    }

    /// How much of the load's time lies between two moments: pauses do not count.
    #[inline]
    pub(crate) fn load_time(&self, begin: Duration, at: Duration) -> Duration {
        at.saturating_sub(begin + self.blueprint.pause.spent())
    }

    /// Sleeps, unless no further call should be made. Boxed, because thousands of callers hold one.
    pub(crate) async fn pause(&self, length: Duration) {
        let pause = async {
            tokio::select! {
                () = tokio::time::sleep(length) => {}
                () = self.over() => {}
            }
        };
        Box::pin(pause).await;
    }

    /// Ends the load before its time; the report says why.
    pub(crate) fn end_early(&self, name: &'static str, why: &str) {
        if !self.is_over() {
            self.note(name, why);
            self.blueprint.enough.stop();
        }
    }

    /// Books a named step with its duration.
    pub(crate) fn step(&self, name: &'static str, took: Duration) {
        let (at, name, detail) = (self.now(), name.into(), "".into());
        self.recorder.emit(&Event::Scenario { at, name, detail, took: Some(took) });
    }

    pub(crate) fn options(&self, index: u32) -> Options {
        let deadlines = self.deadlines();
        Options {
            index,
            worker: self.worker,
            startup_timeout: self.blueprint.server.startup_timeout,
            shutdown_timeout: self.blueprint.server.shutdown_timeout,
            strictness: self.blueprint.strictness,
            message_limit: usize::try_from(self.blueprint.server.max_message.0)
                .unwrap_or(usize::MAX),
            stderr_log: self.blueprint.stderr_log.clone(),
            stdout_log: self.blueprint.stdout_log.clone(),
            shortest_deadline: deadlines.hang.min(deadlines.timeout),
            ..Options::new(self.recorder.clone(), self.blueprint.clock)
        }
    }

    /// Opens a session and keeps its process in view.
    pub(crate) async fn open(&self, index: u32) -> Result<(Session, Hello), OpenError> {
        let opened =
            Session::open(&self.blueprint.target, &self.options(index), self.revision).await?;
        if let Some(pid) = opened.0.pid() {
            self.blueprint.pids.add(pid);
        }
        Ok(opened)
    }

    /// Closes a session; what it took is noted.
    pub(crate) async fn close(&self, session: Session) {
        if let Some(pid) = session.pid() {
            self.blueprint.pids.remove(pid);
        }
        session.close().await;
    }

    /// Cuts a session off in the middle of its calls.
    pub(crate) async fn cut(&self, session: Session) {
        if let Some(pid) = session.pid() {
            self.blueprint.pids.remove(pid);
        }
        session.cut().await;
    }

    /// How long load calls are waited for.
    pub(crate) fn deadlines(&self) -> Deadlines {
        use mcp_loadtest_core::scenario::ScenarioKind;
        let thresholds = &self.blueprint.thresholds;
        let (hang, grace) = match &self.blueprint.scenario.kind {
            ScenarioKind::DeadlockProbe(probe) => (probe.hang_threshold, probe.grace_period),
            _ => (thresholds.hang_timeout, thresholds.grace_period),
        };
        Deadlines { hang, grace, timeout: self.blueprint.scenario.timeout.unwrap_or(Duration::MAX) }
    }

    /// How load calls are made.
    pub(crate) fn load(&self) -> How {
        How::new(Phase::Load, self.deadlines())
    }

    /// Notes that the run was cut short.
    pub(crate) fn note_interruption(&self) {
        if self.stop().is_stopped() {
            self.note(note::INTERRUPTED, "stopped before its time");
        }
    }
}
