//! The task that moves the bytes of one server, in both directions.
//!
//! It works in turns. A turn writes what callers have appended since the one before, settles a share
//! of the replies that came with the last read, and lets their callers go on: they append their next
//! requests, which the next turn writes. So the server has work again while the rest of its replies
//! are still being looked at, and neither side sleeps while the other one works.

use std::{
    cell::RefCell,
    collections::VecDeque,
    future::poll_fn,
    io, mem,
    pin::{Pin, pin},
    rc::{Rc, Weak},
    task::{Context, Poll, Waker, ready},
    time::Duration,
};

use tokio::{
    io::{AsyncReadExt as _, AsyncWrite as _},
    process::{ChildStdin, ChildStdout},
};

use crate::{
    process::Capture,
    session::Inner,
    torture::{Deed, strike},
};

/// How much is asked of the pipe at once.
const READ_SIZE: usize = 64 << 10;
/// What came with one read is settled in this many turns,
const TURNS: usize = 2;
/// unless it is so little that a write of its own would cost more than it gains.
const SMALLEST_TURN: usize = 1 << 10;
/// As much of a message that is too long is looked at, to tell whose reply it is.
const OVERSIZED_HEAD: usize = 4 << 10;

/// Frames on their way to the server.
pub(super) struct Outbox {
    stdin: Option<ChildStdin>,
    buffer: Vec<u8>,
    sent: usize,
    /// How much was sent of what is no longer in the buffer.
    gone: u64,
    /// Where answers end that may not have been sent yet, counted from the first byte of all.
    answers: VecDeque<u64>,
    closed: bool,
    /// Nobody writes any more: the task has ended.
    left: bool,
    /// Why the pipe was given up, unless the server is the one who did.
    failed: Option<io::Error>,
    /// Of the task, while nothing else would make it look here.
    waker: Option<Waker>,
}

impl Outbox {
    pub(super) fn new(stdin: ChildStdin) -> Self {
        Self {
            stdin: Some(stdin),
            buffer: Vec::new(),
            sent: 0,
            gone: 0,
            answers: VecDeque::new(),
            closed: false,
            left: false,
            failed: None,
            waker: None,
        }
    }

    /// Puts one frame on its way; `write` appends it without its end.
    #[inline]
    pub(super) fn send(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        self.append(|out| {
            write(out);
            out.push(b'\n');
        });
    }

    /// Puts bytes on their way, whatever they are.
    #[inline]
    pub(super) fn append(&mut self, write: impl FnOnce(&mut Vec<u8>)) {
        if self.closed {
            return;
        }
        write(&mut self.buffer);
        self.wake();
    }

    /// The same for a frame that the server made us send. Gives how many of these wait.
    pub(super) fn answer(&mut self, frame: &[u8]) -> usize {
        self.send(|out| out.extend_from_slice(frame));
        let sent = self.gone + self.sent as u64;
        while self.answers.front().is_some_and(|end| *end <= sent) {
            self.answers.pop_front();
        }
        self.answers.push_back(self.gone + self.buffer.len() as u64);
        self.answers.len()
    }

    #[inline]
    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    /// Takes no more frames; the pipe closes behind the last of those that it has.
    pub(super) fn close(&mut self) {
        self.closed = true;
        if self.buffer.is_empty() || self.left {
            self.stdin = None;
        }
        self.wake();
    }

    /// Writes as much as the pipe takes.
    fn flush(&mut self, cx: &mut Context<'_>) {
        while self.sent < self.buffer.len()
            && let Some(stdin) = &mut self.stdin
        {
            let written = match strike(Deed::Write, "stdin") {
                Ok(()) => Pin::new(stdin).poll_write(cx, &self.buffer[self.sent..]),
                Err(error) => Poll::Ready(Err(error)),
            };
            match written {
                Poll::Pending => return self.forget_sent(),
                Poll::Ready(Ok(sent @ 1..)) => self.sent += sent,
                // A pipe that nobody reads any more shows in the other one too, where it is told.
                Poll::Ready(end) => {
                    self.failed = end.err().filter(|e| e.kind() != io::ErrorKind::BrokenPipe);
                    self.closed = true;
                    self.stdin = None;
                }
            }
        }
        self.gone += self.buffer.len() as u64;
        self.buffer.clear();
        self.sent = 0;
        if self.closed {
            self.stdin = None;
        }
    }

    /// A server that is always behind must not make the buffer grow for ever.
    fn forget_sent(&mut self) {
        if self.sent * 2 >= self.buffer.len() {
            self.buffer.drain(..self.sent);
            self.gone += self.sent as u64;
            self.sent = 0;
        }
    }

    /// Whoever appends to an empty buffer wakes the task; a full pipe wakes it by itself.
    fn expect_frames(&mut self, cx: &Context<'_>) {
        if self.buffer.is_empty() && !self.waker.as_ref().is_some_and(|w| w.will_wake(cx.waker())) {
            self.waker = Some(cx.waker().clone());
        }
    }
}

/// Why there is nothing more to move.
pub(super) enum PipesEnd {
    /// The server closed its output, or has ended; what came behind the last line.
    EndOfOutput(Vec<u8>),
    /// The system did not let us: what it kept from being done.
    Failed(&'static str, io::Error),
}

/// Both pipes, and how far the task has come.
pub(crate) struct Pipes {
    stdout: ChildStdout,
    outbox: Rc<RefCell<Outbox>>,
    capture: Capture,
    buffer: Vec<u8>,
    /// When its end was read.
    at: Duration,
    /// Where the first line begins that was not taken.
    start: usize,
    /// Before this there is no end of it.
    searched: usize,
    /// Where a turn ends, and how long it is.
    turn: (usize, usize),
    /// The line is too long and is being left out.
    skipping: bool,
}

impl Pipes {
    pub(super) fn new(stdout: ChildStdout, outbox: Rc<RefCell<Outbox>>, capture: Capture) -> Self {
        Self {
            stdout,
            outbox,
            capture,
            buffer: Vec::with_capacity(READ_SIZE),
            at: Duration::ZERO,
            start: 0,
            searched: 0,
            turn: (0, 0),
            skipping: false,
        }
    }

    /// Moves bytes until there are no more; gives the session then, if it still lives, and why.
    pub(super) async fn run(
        mut self,
        inner: &Weak<Inner>,
        limit: usize,
    ) -> Option<(Rc<Inner>, PipesEnd)> {
        let ended = poll_fn(|cx| {
            let Some(inner) = inner.upgrade() else { return Poll::Ready(None) };
            let end = ready!(self.turn(cx, &inner, limit));
            Poll::Ready(Some((inner, end)))
        })
        .await;
        self.outbox.borrow_mut().left = true;
        ended
    }

    /// One turn. Ready when there is nothing more to move.
    fn turn(&mut self, cx: &mut Context<'_>, inner: &Inner, limit: usize) -> Poll<PipesEnd> {
        self.outbox.borrow_mut().flush(cx);
        if let Some(error) = self.outbox.borrow_mut().failed.take() {
            return Poll::Ready(PipesEnd::Failed("written", error));
        }
        while !self.settle_share(inner, limit) {
            match self.read(cx) {
                Poll::Pending => {
                    self.outbox.borrow_mut().expect_frames(cx);
                    return Poll::Pending;
                }
                Poll::Ready(Ok(1..)) => self.at = inner.clock.now(),
                Poll::Ready(Ok(0)) => return Poll::Ready(PipesEnd::EndOfOutput(self.rest())),
                Poll::Ready(Err(error)) => return Poll::Ready(PipesEnd::Failed("read", error)),
            }
        }
        // Behind the callers that were just woken.
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Reads once, and tells how much.
    fn read(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<usize>> {
        if self.buffer.capacity() - self.buffer.len() < READ_SIZE / 2 {
            self.buffer.reserve(READ_SIZE);
        }
        let fresh = self.buffer.len();
        let read = ready!(pin!(self.stdout.read_buf(&mut self.buffer)).poll(cx))?;
        strike(Deed::Read, "stdout")?;
        self.capture.take(&self.buffer[fresh..]);
        let share = (self.buffer.len() / TURNS).max(SMALLEST_TURN);
        self.turn = (share, share);
        Poll::Ready(Ok(read))
    }

    /// Hands whole lines on until this turn's share is done. Whether there were any.
    fn settle_share(&mut self, inner: &Inner, limit: usize) -> bool {
        let mut any = false;
        while let Some(found) = memchr::memchr(b'\n', &self.buffer[self.searched..]) {
            let end = self.searched + found;
            let line = &self.buffer[self.start..end];
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            if self.skipping {
                self.skipping = false;
            } else if line.len() > limit {
                inner.take_oversized(&line[..line.len().min(OVERSIZED_HEAD)], limit, self.at);
                any = true;
            } else if !line.trim_ascii().is_empty() {
                inner.take_frame(line, self.at);
                any = true;
            }
            self.start = end + 1;
            self.searched = self.start;
            if self.start >= self.turn.0 && any {
                self.turn.0 = self.start + self.turn.1;
                return true;
            }
        }
        self.keep_rest(inner, limit);
        any
    }

    fn rest(&mut self) -> Vec<u8> {
        if self.skipping { Vec::new() } else { mem::take(&mut self.buffer) }
    }

    /// What is left begins the next line, unless it is too long for that already.
    fn keep_rest(&mut self, inner: &Inner, limit: usize) {
        self.buffer.copy_within(self.start.., 0);
        self.buffer.truncate(self.buffer.len() - self.start);
        self.start = 0;
        if self.skipping {
            self.buffer.clear();
        } else if self.buffer.len() > limit {
            let head = self.buffer.len().min(OVERSIZED_HEAD);
            inner.take_oversized(&self.buffer[..head], limit, self.at);
            self.buffer.clear();
            self.buffer.shrink_to(READ_SIZE);
            self.skipping = true;
        }
        self.searched = self.buffer.len();
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::process::Stdio;

    use tokio::process::{Child, Command};

    use super::*;

    fn spawn(program: &str, arguments: &[&str]) -> Child {
        let mut command = Command::new(program);
        let command = command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::null());
        command.kill_on_drop(true).spawn().expect("it is there")
    }

    #[tokio::test]
    async fn answers_count_until_they_are_sent() {
        let mut reading = spawn("cat", &[]);
        let mut outbox = Outbox::new(reading.stdin.take().expect("it was asked for"));
        assert_eq!([(); 3].map(|()| outbox.answer(b"{}")), [1, 2, 3]);
        poll_fn(|cx| {
            outbox.flush(cx);
            if outbox.buffer.is_empty() { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
        outbox.send(|out| out.extend_from_slice(b"{}"));
        assert_eq!(outbox.answer(b"{}"), 1);
    }

    #[tokio::test]
    async fn what_a_full_pipe_has_taken_is_not_kept() {
        let mut deaf = spawn("sleep", &["60"]);
        let mut outbox = Outbox::new(deaf.stdin.take().expect("it was asked for"));
        for _ in 0..100 {
            outbox.send(|out| out.resize(out.len() + 1000, b'x'));
        }
        let all = outbox.buffer.len();
        poll_fn(|cx| {
            outbox.flush(cx);
            if outbox.buffer.len() < all { Poll::Ready(()) } else { Poll::Pending }
        })
        .await;
        assert_eq!(outbox.sent, 0);
        assert!(!outbox.buffer.is_empty(), "no pipe takes so much");
        outbox.close();
        assert!(outbox.stdin.is_some(), "the rest is still to be sent");
    }
}
