//! One message a line over a pair of pipes.
//!
//! A thread of its own makes plain blocking reads and writes, because tokio's standard streams cost
//! a hop between threads each. Whatever one read brings is answered with one write.

use std::{
    io::{self, Read, Write},
    thread,
};

use mcp_loadtest_core::mcp::Era;
use tokio::sync::oneshot;

use super::{MESSAGE_LIMIT, stay_wedged};
use crate::mcp::{
    handler::{Answer, Handler},
    refusal::Refusal,
    request::Incoming,
    write,
};

/// How much is asked of the pipe at once.
const READ_SIZE: usize = 64 << 10;

/// Why the thread came to its end.
#[derive(Debug, PartialEq, Eq)]
enum End {
    /// The peer closed its side.
    Gone,
    /// The fault says that nothing is read or written any more.
    Wedged,
}

/// Serves until the input ends.
pub(crate) async fn serve<R, W>(handler: Handler, mut input: R, mut output: W) -> io::Result<()>
where
    R: Read + Send + 'static,
    W: Write + Send + 'static,
{
    let (done, ended) = oneshot::channel();
    thread::Builder::new().name("mock-stdio".into()).spawn(move || {
        let end = answer_lines(&handler, &mut input, &mut output);
        // A wedged server keeps its pipes open, so they come back with the news. Nobody listens
        // when the future was dropped.
        let _ = done.send((end, input, output));
    })?;
    let stopped = |_| io::Error::other("the thread that serves the mock has panicked");
    let (end, _input, _output) = ended.await.map_err(stopped)?;
    match end? {
        End::Gone => Ok(()),
        End::Wedged => Err(stay_wedged().await),
    }
}

fn answer_lines(
    handler: &Handler,
    input: &mut impl Read,
    output: &mut impl Write,
) -> io::Result<End> {
    let mut lines = Lines::new();
    let mut replies = Vec::new();
    loop {
        match lines.fill(input) {
            Ok(0) => return Ok(End::Gone),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        }
        let answer = lines.take(|line| take_line(handler, line, &mut replies));
        match output.write_all(&replies).and_then(|()| output.flush()) {
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(End::Gone),
            other => other?,
        }
        if answer == Flow::Stop {
            return Ok(End::Wedged);
        }
        replies.clear();
        replies.shrink_to(READ_SIZE);
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flow {
    Go,
    Stop,
}

/// A whole line, or what is left of one that was too long.
enum Line<'a> {
    Whole(&'a [u8]),
    TooLong,
}

fn take_line(handler: &Handler, line: Line<'_>, out: &mut Vec<u8>) -> Flow {
    let incoming = match line {
        Line::Whole(line) if line.trim_ascii().is_empty() => return Flow::Go,
        Line::Whole(line) => Incoming::read(line, Era::Legacy),
        Line::TooLong => {
            let refusal =
                Refusal::invalid_request(format!("a line is longer than {MESSAGE_LIMIT} bytes"));
            write::error(out, write::NO_ID, &refusal);
            out.push(b'\n');
            return Flow::Go;
        }
    };
    match incoming {
        Ok(Incoming::Request(request)) if handler.answer(&request, out) == Answer::Wedged => {
            return Flow::Stop;
        }
        Ok(Incoming::Request(_)) => {}
        Ok(Incoming::Other) => return Flow::Go,
        Err(unreadable) => write::error(out, unreadable.id, &unreadable.refusal),
    }
    out.push(b'\n');
    Flow::Go
}

/// A buffer that hands out whole lines. Its front part, up to `filled`, is what was read.
struct Lines {
    buffer: Vec<u8>,
    filled: usize,
    /// How much of the front part has no line end.
    searched: usize,
    /// Whether the rest of a line that was too long is on its way.
    skipping: bool,
}

impl Lines {
    fn new() -> Self {
        Self { buffer: vec![0; 2 * READ_SIZE], filled: 0, searched: 0, skipping: false }
    }

    fn fill(&mut self, input: &mut impl Read) -> io::Result<usize> {
        if self.buffer.len() - self.filled < READ_SIZE {
            // Doubling, so that a long line is not copied once per read.
            self.buffer.resize(self.buffer.len() * 2, 0);
        }
        let read = input.read(&mut self.buffer[self.filled..])?;
        self.filled += read;
        Ok(read)
    }

    /// Hands on the lines that are complete, until `take` wants no more.
    fn take(&mut self, mut take: impl FnMut(Line<'_>) -> Flow) -> Flow {
        let mut start = 0;
        while let Some(found) = memchr::memchr(b'\n', &self.buffer[self.searched..self.filled]) {
            let end = self.searched + found;
            let skipped = std::mem::take(&mut self.skipping);
            if !skipped && take(Line::Whole(&self.buffer[start..end])) == Flow::Stop {
                return Flow::Stop;
            }
            start = end + 1;
            self.searched = start;
        }
        self.buffer.copy_within(start..self.filled, 0);
        self.filled -= start;
        self.searched = self.filled;
        self.limit(take)
    }

    /// Lets go of a line that is too long, or was.
    fn limit(&mut self, mut take: impl FnMut(Line<'_>) -> Flow) -> Flow {
        let too_long = self.filled > MESSAGE_LIMIT;
        if self.skipping || too_long {
            (self.filled, self.searched) = (0, 0);
        }
        if self.filled == 0 {
            self.buffer.truncate(2 * READ_SIZE);
            self.buffer.shrink_to_fit();
        }
        if too_long && !std::mem::replace(&mut self.skipping, true) {
            return take(Line::TooLong);
        }
        Flow::Go
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fault::Fault;

    /// Gives its pieces one by one, as a pipe may.
    struct Pieces<'a>(Vec<&'a [u8]>);

    impl Read for Pieces<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            let Some(first) = self.0.first_mut() else { return Ok(0) };
            let length = first.len().min(buffer.len());
            buffer[..length].copy_from_slice(&first[..length]);
            *first = &first[length..];
            if first.is_empty() {
                self.0.remove(0);
            }
            Ok(length)
        }
    }

    /// Counts the writes.
    #[derive(Default)]
    struct Writes(Vec<Vec<u8>>);

    impl Write for Writes {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.push(bytes.to_vec());
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    const PING: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
    const PONG: &[u8] = b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n";
    const CALL: &[u8] =
        b"{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"echo\"}}\n";

    fn run(fault: Fault, pieces: Vec<&[u8]>) -> (End, Vec<Vec<u8>>) {
        let mut writes = Writes::default();
        let end = answer_lines(&Handler::new(fault), &mut Pieces(pieces), &mut writes).unwrap();
        (end, writes.0)
    }

    #[test]
    fn what_one_read_brings_is_answered_with_one_write() {
        let (end, writes) = run(Fault::None, vec![&PING.repeat(3), PING]);
        assert_eq!((end, writes), (End::Gone, vec![PONG.repeat(3), PONG.to_vec()]));
    }

    #[test]
    fn a_line_may_come_in_pieces() {
        let pieces = PING.chunks(1).collect();
        assert_eq!(run(Fault::None, pieces).1.concat(), PONG);
    }

    #[test]
    fn replies_before_the_wedge_are_written_and_nothing_after() {
        let batch = [PING, CALL, PING].concat();
        let (end, writes) = run(Fault::LazyInitDeadlock, vec![&batch, PING]);
        assert_eq!((end, writes.concat()), (End::Wedged, PONG.to_vec()));
    }

    #[test]
    fn blank_lines_and_notifications_are_not_answered() {
        let quiet = b"\n\r\n{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n";
        assert_eq!(run(Fault::None, vec![quiet]).1.concat(), b"");
    }

    #[test]
    fn a_line_that_is_too_long_costs_only_itself() {
        let long = vec![b'x'; MESSAGE_LIMIT + 3 * READ_SIZE];
        let (_, writes) = run(Fault::None, vec![&long, b"yy\n", PING]);
        let text = String::from_utf8(writes.concat()).unwrap();
        let lines: Vec<_> = text.lines().collect();
        assert_eq!(lines.len(), 2, "{text}");
        assert!(lines[0].contains("-32600") && lines[1].contains("result"));
    }

    #[test]
    fn a_message_much_longer_than_a_read_is_answered() {
        let text = "x".repeat(20 * READ_SIZE);
        let call = String::from_utf8_lossy(CALL)
            .replace("\"echo\"", &format!("\"echo\",\"arguments\":{{\"text\":\"{text}\"}}"));
        let (_, writes) = run(Fault::None, vec![call.as_bytes(), PING]);
        let replies = writes.concat();
        assert!(replies.len() > text.len() && replies.ends_with(PONG));
    }
}
