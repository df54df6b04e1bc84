//! The process behind a connection: whose it is, and what its end means for the calls in flight.

use std::{
    cell::{Cell, RefCell},
    sync::Arc,
    time::Duration,
};

use mcp_loadtest_core::{display::visible, event::note, outcome::ErrorCategory};
use tokio::time::sleep;

use super::{Break, Inner};
use crate::process::{EXIT_PATIENCE, Ended, ExitInfo, Lease, Running, StopReport, StopStep};

/// The time between two looks whether a server has ended: the first and the longest.
const LOOK_INTERVALS: (Duration, Duration) = (Duration::from_millis(2), Duration::from_millis(10));

/// Who answers at an address. Over pipes the link itself knows.
pub(crate) enum Behind {
    /// Nobody said.
    Unknown,
    /// A process of somebody else, which is only looked at.
    Other(u32),
    /// A process of ours that sessions share.
    Ours(Box<Ours>),
}

/// A session's part in a process of ours.
pub(crate) struct Ours {
    running: Arc<Running>,
    lease: RefCell<Option<Lease>>,
    closing: Cell<bool>,
}

impl Behind {
    pub(crate) fn ours(lease: Lease) -> Self {
        let running = lease.running.clone();
        let (lease, closing) = (RefCell::new(Some(lease)), Cell::new(false));
        Self::Ours(Box::new(Ours { running, lease, closing }))
    }

    pub(crate) fn pid(&self) -> Option<u32> {
        match self {
            Self::Unknown => None,
            Self::Other(pid) => Some(*pid),
            Self::Ours(ours) => Some(ours.running.pid),
        }
    }

    /// The end of what the server said on stderr.
    pub(crate) fn stderr_tail(&self) -> String {
        match self {
            Self::Ours(ours) => ours.running.stderr_tail(),
            Self::Unknown | Self::Other(_) => String::new(),
        }
    }

    /// How the server ended, if it is ours and has; not once we end it ourselves.
    fn ended(&self) -> Option<Ended> {
        match self {
            Self::Ours(ours) if !ours.closing.get() => ours.running.ended(),
            _ => None,
        }
    }

    /// Whose end may still be told by [`ended`](Self::ended).
    fn may_end(&self) -> Option<&Ours> {
        match self {
            Self::Ours(ours) if !ours.closing.get() => Some(ours),
            _ => None,
        }
    }

    /// A call that was sent then was answered well.
    #[inline]
    pub(crate) fn answered(&self, sent: Duration) {
        if let Self::Ours(ours) = self {
            ours.running.life.answered(sent);
        }
    }
}

impl Break {
    /// What the end of a process means for the calls that it has not answered.
    pub(crate) fn of_exit(exit: &ExitInfo) -> Self {
        let category =
            if exit.success() { ErrorCategory::Disconnected } else { ErrorCategory::Crash };
        Self { category, code: None, message: format!("the server ended with {exit}").into() }
    }
}

impl Inner {
    /// A process that ended may leave connections open, or calls that have none.
    pub(crate) fn notice_end(&self) {
        if self.broken.borrow().is_none()
            && let Some(ended) = self.behind.ended()
        {
            self.server_ended(&ended);
        }
    }

    /// A connection is lost. Where the server is ours and dies of it, that is the reason, and the
    /// whole session goes with it; otherwise the reason is what was seen.
    pub(crate) async fn why_lost(&self, seen: Break) -> Break {
        let Some(ours) = self.may_die_of(&seen) else { return seen };
        let doubt = ours.running.life.doubt(self.clock.now());
        let (mut waited, mut pause) = (Duration::ZERO, LOOK_INTERVALS.0);
        while self.behind.may_end().is_some() {
            if let Some(ended) = self.behind.ended() {
                ours.running.life.died();
                return self.server_ended(&ended);
            }
            let patient = ours.running.is_ending() && waited < EXIT_PATIENCE;
            if !patient && doubt.is_over(waited) {
                break;
            }
            sleep(pause).await;
            waited += pause;
            pause = (pause * 2).min(LOOK_INTERVALS.1);
        }
        seen
    }

    /// The server whose end may be the true reason for what was seen.
    fn may_die_of(&self, seen: &Break) -> Option<&Ours> {
        self.behind.may_end().filter(|_| seen.category == ErrorCategory::Disconnected)
    }

    /// A call has lost its connection; it ends once it is clear why, as of now. Whoever made it waits for
    /// its slot, so that a call need not keep room for this.
    pub(crate) fn lose_call(&self, id: u64, seen: Break) {
        match self.session().filter(|_| self.may_die_of(&seen).is_some()) {
            None => self.end_call(id, &seen),
            Some(session) => {
                self.losing.one(id, &seen, self.clock.now());
                tokio::task::spawn_local(async move {
                    let cause = session.inner.why_lost(seen).await;
                    session.inner.end_call(id, &cause);
                    session.inner.losing.is_clear(id);
                });
            }
        }
    }

    fn server_ended(&self, ended: &Ended) -> Break {
        let cause = Break::of_exit(&ended.exit);
        let Behind::Ours(ours) = &self.behind else { return cause };
        if self.broken.borrow().is_none() && ours.running.is_untold() {
            self.note_exit(&ended.exit, &cause, &ended.stderr);
        }
        self.break_off(cause.clone());
        cause
    }

    /// Gives up the session's part in the process; the last session to do so stops it.
    pub(crate) async fn leave_process(&self, patience: Duration) -> Option<StopReport> {
        let Behind::Ours(ours) = &self.behind else { return None };
        ours.closing.set(true);
        let lease = ours.lease.borrow_mut().take()?;
        let report = lease.end(patience).await?;
        // A server that listens is meant to be ended by `SIGTERM`.
        self.note_stop(&report, StopStep::Kill);
        Some(report)
    }

    /// Notes what was left of the process before this one.
    pub(crate) fn note_cleared(&self) {
        let Behind::Ours(ours) = &self.behind else { return };
        let cleared = ours.lease.borrow_mut().as_mut().and_then(|lease| lease.cleared.take());
        if let Some(report) = cleared {
            self.note_stop(&report, StopStep::Kill);
        }
    }

    /// Notes that the server ended by itself, or that we could not let it go on.
    pub(crate) fn note_exit(&self, exit: &ExitInfo, cause: &Break, stderr: &str) {
        let in_flight = self.slots.borrow().in_flight();
        let calls = if in_flight == 1 { "call" } else { "calls" };
        let mut detail = format!("{} with {in_flight} {calls} in flight", cause.message);
        let last: Vec<&str> =
            stderr.lines().rev().filter(|line| !line.trim().is_empty()).take(3).collect();
        if !last.is_empty() {
            let last: Vec<_> = last.into_iter().rev().map(|line| visible(line, 200)).collect();
            detail.push_str(&format!("; stderr: {}", last.join(" / ")));
        }
        let ours = exit.crowd.is_some();
        self.note(if ours { note::TOO_MANY_PROCESSES } else { note::SERVER_EXIT }, detail);
    }

    /// Notes the steps from `worth_telling` on that it took to end the server, and what it left.
    pub(crate) fn note_stop(&self, report: &StopReport, worth_telling: StopStep) {
        let signal = match report.step {
            StopStep::Term => Some("SIGTERM"),
            StopStep::Kill => Some("SIGKILL"),
            StopStep::AlreadyEnded | StopStep::Eof => None,
        };
        if let Some(signal) = signal.filter(|_| report.step >= worth_telling) {
            self.note(note::SERVER_STOP, format!("it took {signal} to end the server"));
        }
        for warning in &report.warnings {
            self.note(note::OUR_TROUBLE, visible(warning, 300));
        }
        for stray in &report.strays {
            self.note(
                note::STRAY_PROCESS,
                format!("{} (pid {})", visible(&stray.command_line, 200), stray.pid),
            );
        }
    }
}
