//! The pipes of a child process: one frame a line.
//!
//! One task writes and one reads. Calls append to a shared buffer and the writer takes all of it at
//! once, so that many calls in flight cost one system call; replies are settled straight from the
//! read buffer.

use std::{
    cell::{Cell, RefCell},
    future::poll_fn,
    path::Path,
    rc::{Rc, Weak},
    task::{Poll, Waker},
    time::Duration,
};

use mcp_loadtest_core::outcome::ErrorCategory;
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    process::{ChildStdin, ChildStdout},
    task::JoinHandle,
    time::{sleep, timeout},
};

use crate::{
    process::{Capture, ExitInfo, Patience, ServerProcess, StopReport, StopStep},
    session::{Break, Inner},
};

/// How much is asked of the pipe at once.
const READ_SIZE: usize = 64 << 10;
/// How long after the end of its output a process may take to end itself.
const EXIT_PATIENCE: Duration = Duration::from_secs(1);

/// How long the rest of the output may take once the server has ended.
const LAST_WORDS: Duration = Duration::from_secs(1);

/// Frames that wait for the writer.
#[derive(Default)]
struct Outbox {
    buffer: Vec<u8>,
    waker: Option<Waker>,
    closed: bool,
}

impl Outbox {
    fn close(&mut self) {
        self.closed = true;
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}

/// The server's process and the frames on their way to it.
pub(crate) struct StdioLink {
    process: RefCell<Option<ServerProcess>>,
    pid: u32,
    outbox: Rc<RefCell<Outbox>>,
    reader: Cell<Option<JoinHandle<()>>>,
    closing: Cell<bool>,
}

/// The ends of the pipes, until the tasks take them.
pub(crate) struct Pipes {
    stdin: ChildStdin,
    stdout: ChildStdout,
    capture: Capture,
}

impl StdioLink {
    /// Takes the pipes of a process that was just started.
    pub(crate) fn new(
        mut process: ServerProcess,
        stdout_log: Option<&Path>,
    ) -> Option<(Self, Pipes)> {
        let pipes = Pipes {
            stdin: process.take_stdin()?,
            stdout: process.take_stdout()?,
            capture: Capture::new(stdout_log),
        };
        let link = Self {
            pid: process.pid(),
            process: RefCell::new(Some(process)),
            outbox: Rc::default(),
            reader: Cell::new(None),
            closing: Cell::new(false),
        };
        Some((link, pipes))
    }

    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// Puts one frame on its way; `write` appends it without its end.
    #[inline]
    pub(crate) fn send(&self, write: impl FnOnce(&mut Vec<u8>)) {
        let mut outbox = self.outbox.borrow_mut();
        if outbox.closed {
            return;
        }
        write(&mut outbox.buffer);
        outbox.buffer.push(b'\n');
        if let Some(waker) = outbox.waker.take() {
            waker.wake();
        }
    }

    /// Starts the reader and the writer.
    pub(crate) fn start(&self, inner: &Rc<Inner>, pipes: Pipes, limit: usize) {
        tokio::task::spawn_local(write_frames(pipes.stdin, self.outbox.clone()));
        let reader = Reader { stdout: pipes.stdout, capture: pipes.capture, limit };
        let reader = tokio::task::spawn_local(reader.run(Rc::downgrade(inner)));
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
            match self.exit() {
                Some(exit) => break Some(exit),
                None if waited >= EXIT_PATIENCE => break None,
                None => {
                    sleep(Duration::from_millis(10)).await;
                    waited += Duration::from_millis(10);
                }
            }
        };
        match exit {
            Some(exit) => Break::of_exit(&exit),
            None => Break {
                category: ErrorCategory::Disconnected,
                code: None,
                message: "the server closed its output but still runs".into(),
            },
        }
    }

    /// The process may end while somebody else holds its output open.
    pub(crate) fn notice_exit(&self, inner: &Inner) {
        if !self.closing.get()
            && inner.broken.borrow().is_none()
            && let Some(exit) = self.exit()
        {
            self.report_end(inner, Break::of_exit(&exit));
        }
    }

    fn report_end(&self, inner: &Inner, cause: Break) {
        if self.closing.get() || inner.broken.borrow().is_some() {
            return;
        }
        inner.note_exit(&cause, &self.stderr_tail());
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

/// Writes whatever has gathered, in one piece, until the session closes.
async fn write_frames(mut stdin: ChildStdin, outbox: Rc<RefCell<Outbox>>) {
    let mut writing = Vec::new();
    loop {
        let open = poll_fn(|cx| {
            let mut outbox = outbox.borrow_mut();
            if !outbox.buffer.is_empty() {
                std::mem::swap(&mut outbox.buffer, &mut writing);
                return Poll::Ready(true);
            }
            if outbox.closed {
                return Poll::Ready(false);
            }
            outbox.waker = Some(cx.waker().clone());
            Poll::Pending
        })
        .await;
        // A pipe that nobody reads any more shows at the reader too, which knows what to say.
        if !open || stdin.write_all(&writing).await.is_err() {
            return;
        }
        writing.clear();
    }
}

struct Reader {
    stdout: ChildStdout,
    capture: Capture,
    limit: usize,
}

impl Reader {
    async fn run(mut self, inner: Weak<Inner>) {
        let mut buffer: Vec<u8> = Vec::with_capacity(READ_SIZE);
        let mut skipping = false;
        loop {
            if buffer.capacity() - buffer.len() < READ_SIZE / 2 {
                buffer.reserve(READ_SIZE);
            }
            let fresh = buffer.len();
            let read = self.stdout.read_buf(&mut buffer).await;
            let Some(inner) = inner.upgrade() else { return };
            match read {
                Ok(0) | Err(_) => {
                    end_of_output(&inner).await;
                    return;
                }
                Ok(_) => {
                    self.capture.take(&buffer[fresh..]);
                    self.take_lines(&inner, &mut buffer, fresh, &mut skipping);
                }
            }
        }
    }

    /// Hands all whole lines on; what is left begins the next one.
    fn take_lines(&self, inner: &Inner, buffer: &mut Vec<u8>, fresh: usize, skipping: &mut bool) {
        let at = inner.clock.now();
        let mut start = 0;
        let mut search = fresh;
        while let Some(found) = memchr::memchr(b'\n', &buffer[search..]) {
            let end = search + found;
            let line = buffer[start..end].strip_suffix(b"\r").unwrap_or(&buffer[start..end]);
            if *skipping {
                *skipping = false;
            } else if !line.trim_ascii().is_empty() {
                inner.take_frame(line, at);
            }
            start = end + 1;
            search = start;
        }
        let left = buffer.len() - start;
        buffer.copy_within(start.., 0);
        buffer.truncate(left);
        if *skipping {
            buffer.clear();
        } else if left > self.limit {
            inner.take_oversized(&buffer[..buffer.len().min(4096)], self.limit, at);
            buffer.clear();
            buffer.shrink_to(READ_SIZE);
            *skipping = true;
        }
    }
}

async fn end_of_output(inner: &Rc<Inner>) {
    let crate::transport::Link::Stdio(stdio) = &inner.link else { return };
    if stdio.closing.get() {
        return;
    }
    let cause = stdio.why_it_ended().await;
    stdio.report_end(inner, cause);
}
