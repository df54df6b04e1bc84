//! How a server is stopped: asked first, then told, then ended, with all it started.
//!
//! | step    | what we do                           | and wait for          |
//! |---------|--------------------------------------|-----------------------|
//! | `Eof`   | stdin is closed, by us or the caller | [`Patience::eof`]     |
//! | `Term`  | `SIGTERM` to the group               | [`Patience::term`]    |
//! | `Kill`  | `SIGKILL` to the group               | [`KILL_PATIENCE`]     |
//! | (sweep) | `SIGKILL` to whatever is left        | [`SWEEP_PASSES`]      |
//!
//! The sweep comes after every step, but gives what the server started a moment to end by itself.

use std::time::Duration;

use tokio::time::{Instant, sleep, timeout};

use super::exit::ExitInfo;
use super::fence;
use super::server::{Cleared, ServerProcess};
use super::stray::Stray;

/// A killed process that does not end hangs in the kernel; there is no use in waiting longer.
const KILL_PATIENCE: Duration = Duration::from_secs(5);
/// The time between two looks; it also lets servers that stop together share one.
const POLL: Duration = Duration::from_millis(10);
/// How often the sweep kills before it gives up.
const SWEEP_PASSES: u32 = 300;
/// How long the stderr pipe may take to end once nobody should hold it open.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// How long each step may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// After its stdin was closed.
    pub eof: Duration,
    /// After `SIGTERM`.
    pub term: Duration,
    /// After the server's end, for what it started; whoever is left then counts as a stray.
    pub settle: Duration,
}

impl Patience {
    /// No time at all: the server is killed.
    pub const NONE: Patience =
        Patience { eof: Duration::ZERO, term: Duration::ZERO, settle: Duration::ZERO };
}

impl Default for Patience {
    fn default() -> Self {
        Patience {
            eof: Duration::from_secs(2),
            term: Duration::from_secs(3),
            settle: Duration::from_millis(250),
        }
    }
}

/// The step that was needed to end a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum StopStep {
    /// None: it was known to have ended before it was stopped.
    AlreadyEnded,
    /// It ended when its stdin was closed, as the protocol asks.
    Eof,
    /// It took a `SIGTERM`.
    Term,
    /// It took a `SIGKILL`.
    Kill,
}

/// How a server was stopped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StopReport {
    /// The step that ended it.
    pub step: StopStep,
    /// How it ended; `None` if not even `SIGKILL` ended it.
    pub exit: Option<ExitInfo>,
    /// The processes it left behind, which were killed. A long list is cut.
    pub strays: Vec<Stray>,
    /// The processes that did not end even so.
    pub survivors: Vec<Stray>,
    /// What did not work but was no reason to stop: see [`ServerProcess::warnings`].
    pub warnings: Vec<String>,
}

impl ServerProcess {
    /// Stops the server and everything it started, as gently as it allows.
    ///
    /// Whoever took the server's stdin should have dropped it: that is the first thing a server is
    /// to react to. If this future is dropped before it is done, everything is killed at once.
    pub async fn stop(mut self, patience: Patience) -> StopReport {
        // Whoever closed stdin itself may have done so just now, and only knows of an end that it
        // saw; as long as stdin is open, an end has nothing to do with us.
        let before = match self.take_stdin() {
            Some(_stdin) => self.exit(),
            None => self.exit,
        };
        let asked = fence::ticket();
        // Servers that are stopped together get here before the first of them looks.
        tokio::task::yield_now().await;
        // Remembers the family while the server still holds it together.
        self.fence.look(asked);

        let (step, grace) = match before {
            Some(_) => (StopStep::AlreadyEnded, Duration::ZERO),
            None => self.descend(patience).await,
        };
        self.clear(grace.max(patience.settle)).await;
        self.stderr.finish(LAST_WORDS).await;
        self.cleared = Cleared::Yes;
        StopReport {
            step,
            exit: self.exit(),
            strays: self.fence.killed(),
            survivors: self.fence.survivors(),
            warnings: self.warnings(),
        }
    }

    /// Goes down the steps until the server ends. What it started was asked to end by the same
    /// `SIGTERM`, and gets what is left of that step's time.
    async fn descend(&mut self, patience: Patience) -> (StopStep, Duration) {
        if timeout(patience.eof, self.ended()).await.is_ok() {
            return (StopStep::Eof, Duration::ZERO);
        }
        if self.fence.ask_to_end() {
            let asked = Instant::now();
            if timeout(patience.term, self.ended()).await.is_ok() {
                let left = patience.term.saturating_sub(asked.elapsed());
                return (StopStep::Term, left);
            }
        }
        self.kill();
        let _ = timeout(KILL_PATIENCE, self.ended()).await;
        (StopStep::Kill, Duration::ZERO)
    }

    /// Waits up to `grace` for the rest to end, then kills it until a look finds nothing.
    async fn clear(&mut self, grace: Duration) {
        let deadline = Instant::now() + grace;
        while self.look_in_a_moment().await > 0 {
            if Instant::now() >= deadline {
                return self.sweep().await;
            }
        }
    }

    async fn sweep(&mut self) {
        // A process may be missed while it forks; twice in a row it is not.
        let mut quiet = 0;
        for _ in 0..SWEEP_PASSES {
            self.fence.kill_seen();
            quiet = if self.look_in_a_moment().await > 0 { 0 } else { quiet + 1 };
            if quiet == 2 {
                return;
            }
        }
    }

    async fn look_in_a_moment(&mut self) -> usize {
        let ticket = fence::ticket();
        sleep(POLL).await;
        self.fence.look(ticket)
    }
}
