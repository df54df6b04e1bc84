//! The pipes of a child process: one frame a line.
//!
//! One task moves the bytes (`pipes`). Calls append to a shared buffer that is written in few, large
//! pieces, so that many calls in flight cost one system call; replies are settled straight from the
//! read buffer.

mod pipes;

use std::{
    cell::{Cell, RefCell},
    path::Path,
    rc::Rc,
    time::Duration,
};

use mcp_loadtest_core::outcome::ErrorCategory;
use tokio::{
    task::JoinHandle,
    time::{sleep, timeout},
};

pub(crate) use pipes::Pipes;

use self::pipes::{Outbox, PipesEnd};
use crate::{
    process::{EXIT_PATIENCE, ExitInfo, Patience, ServerProcess, StopReport, StopStep},
    session::{Break, Inner},
};

/// The time between two looks whether the process has ended.
const LOOK_INTERVAL: Duration = Duration::from_millis(10);

/// How long the rest of the output may take once the server has ended.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Answers and notifications that a server may leave unread.
const MOST_UNREAD: usize = 10_000;

/// The server's process and the frames on their way to it.
pub(crate) struct StdioLink {
    process: RefCell<Option<ServerProcess>>,
    pid: u32,
    outbox: Rc<RefCell<Outbox>>,
    reader: Cell<Option<JoinHandle<()>>>,
    closing: Cell<bool>,
    /// A look has found the process ended; the next one tells it.
    ended: Cell<bool>,
}

impl StdioLink {
    /// Takes the pipes of a process that was just started.
    pub(crate) fn new(
        mut process: ServerProcess,
        stdout_log: Option<&Path>,
    ) -> Option<(Self, Pipes)> {
        let (stdin, stdout) = (process.take_stdin()?, process.take_stdout()?);
        let outbox = Rc::new(RefCell::new(Outbox::new(stdin)));
        let pipes = Pipes::new(stdout, outbox.clone(), process.capture(stdout_log));
        let link = Self {
            pid: process.pid(),
            process: RefCell::new(Some(process)),
            outbox,
            reader: Cell::new(None),
            closing: Cell::new(false),
            ended: Cell::new(false),
        };
        Some((link, pipes))
    }

    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// Puts one frame on its way; `write` appends it without its end.
    #[inline]
    pub(crate) fn send(&self, write: impl FnOnce(&mut Vec<u8>)) {
        self.outbox.borrow_mut().send(write);
    }

    /// Puts bytes on their way that need not be a whole frame.
    pub(crate) fn send_unended(&self, bytes: &[u8]) {
        self.outbox.borrow_mut().append(|out| out.extend_from_slice(bytes));
    }

    /// Puts a frame on its way that is no call. Calls in flight are limited by whoever makes them;
    /// answers only by the server, which might ask for ever and read nothing.
    pub(crate) fn send_unasked(&self, inner: &Inner, frame: &[u8]) {
        let waiting = self.outbox.borrow_mut().answer(frame);
        if waiting > MOST_UNREAD {
            let message = format!("the server asks and leaves {MOST_UNREAD} answers unread").into();
            let category = ErrorCategory::Disconnected;
            inner.break_off(Break { category, code: None, message });
        }
    }

    /// Starts the task that moves the bytes.
    pub(crate) fn start(&self, inner: &Rc<Inner>, pipes: Pipes, limit: usize) {
        let inner = Rc::downgrade(inner);
        let reader = tokio::task::spawn_local(async move {
            if let Some((inner, end)) = pipes.run(&inner, limit).await {
                end_of_pipes(&inner, end).await;
            }
        });
        self.reader.set(Some(reader));
    }

    /// How the process ended, if it has.
    pub(crate) fn exit(&self) -> Option<ExitInfo> {
        self.process.borrow_mut().as_mut()?.exit()
    }

    /// The end of what the server said on stderr.
    pub(crate) fn stderr_tail(&self) -> String {
        self.process.borrow().as_ref().map(ServerProcess::stderr_tail).unwrap_or_default()
    }

    /// Why the stream ended: the process died, or only its output closed.
    async fn why_it_ended(&self) -> Break {
        let mut waited = Duration::ZERO;
        let exit = loop {
            // Before the first look too: the end of the output, the end of the process and its last
            // words on stderr may all wait for us by now. The words are told with the end, so the task
            // that drains stderr needs a turn before that.
            sleep(LOOK_INTERVAL).await;
            waited += LOOK_INTERVAL;
            match self.exit() {
                Some(exit) => break Some(exit),
                // Whoever closes the session has taken the process, and tells its end.
                None if waited >= EXIT_PATIENCE || self.closing.get() => break None,
                None => {}
            }
        };
        match exit {
            Some(exit) => Break::of_exit(&exit),
            None => closed_its_output(" but still runs"),
        }
    }

    /// The process may end while somebody else holds its output open. It is told by the second look
    /// that finds it so: between the two, the task that drains stderr has a turn, and with it the
    /// last words are told.
    pub(crate) fn notice_exit(&self, inner: &Inner) {
        if !self.closing.get()
            && inner.broken.borrow().is_none()
            && let Some(exit) = self.exit()
            && self.ended.replace(true)
        {
            self.report_end(inner, Break::of_exit(&exit));
        }
    }

    fn report_end(&self, inner: &Inner, cause: Break) {
        if self.closing.get() || inner.broken.borrow().is_some() {
            return;
        }
        if cause.category == ErrorCategory::Crash {
            let exit = self.exit().unwrap_or(ExitInfo::UNKNOWN);
            inner.note_exit(&exit, &cause, &self.stderr_tail());
        }
        inner.break_off(cause);
    }

    /// Ends the input, then the server, and tells what it took.
    pub(crate) async fn close(&self, inner: &Inner, patience: Duration) -> Option<StopReport> {
        self.closing.set(true);
        self.outbox.borrow_mut().close();
        let process = self.process.borrow_mut().take()?;
        let wedged = inner.slots.borrow().in_flight() > 0;
        // A server that hangs gets no time for a goodbye that it cannot say.
        let patience = if wedged {
            Patience {
                eof: Duration::from_millis(100),
                term: Duration::from_millis(500),
                ..Patience::default()
            }
        } else {
            Patience {
                eof: patience.mul_f64(0.4),
                term: patience.mul_f64(0.6),
                ..Patience::default()
            }
        };
        let report = process.stop(patience).await;
        if let Some(reader) = self.reader.take() {
            // What the server printed into a buffer of its own comes out only now.
            let _ = timeout(LAST_WORDS, reader).await;
        }
        inner.note_stop(&report, StopStep::Term);
        Some(report)
    }
}

fn closed_its_output(and: &str) -> Break {
    let message = format!("the server closed its output{and}").into();
    Break { category: ErrorCategory::Disconnected, code: None, message }
}

async fn end_of_pipes(inner: &Rc<Inner>, end: PipesEnd) {
    let crate::transport::Link::Stdio(stdio) = &inner.link else { return };
    let is_closing = stdio.closing.get();
    if let PipesEnd::EndOfOutput(rest) = &end {
        inner.take_unended(rest, is_closing);
    }
    if is_closing {
        return;
    }
    let cause = match end {
        PipesEnd::EndOfOutput(_) => {
            // Whether it still runs is not known yet.
            inner.losing.all(&closed_its_output(""), inner.clock.now());
            stdio.why_it_ended().await
        }
        // The server is not to blame, and nobody waits for what it might do now.
        PipesEnd::Failed(what, error) => Break {
            category: ErrorCategory::Disconnected,
            code: None,
            message: format!("the pipe of the server could not be {what}: {error}").into(),
        },
    };
    stdio.report_end(inner, cause);
}
