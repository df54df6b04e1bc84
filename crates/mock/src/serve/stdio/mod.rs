//! One message a line over a pair of pipes.
//!
//! A thread of its own makes plain blocking reads and writes, because tokio's standard streams cost
//! a hop between threads each. Whatever one read brings is answered with one write. What takes its
//! time is done by the runtime and written by a second thread.

mod lines;
mod output;
mod writer;

use std::{
    io::{self, Read, Write},
    sync::Arc,
    thread,
};

use mcp_loadtest_core::config::TransportName;
use tokio::{
    sync::{mpsc, oneshot},
    time::{Duration, timeout},
};

use self::{
    lines::{Line, Lines, READ_SIZE},
    output::Output,
};
use super::{MESSAGE_LIMIT, Served, dialogue::Dialogue};
use crate::{
    mcp::refusal::Refusal,
    server::{Server, origin::Origin, pending::Pending},
};

/// How many messages may wait for a client that does not read.
const OUTBOX: usize = 256;
/// How long a client may take to read what is ready when it has closed its side.
const FAREWELL: Duration = Duration::from_millis(200);
/// The name of the one session that a pair of pipes has.
const SESSION: &str = "stdio";

/// Serves until the input ends, a fault ends it, or `stop` is done.
pub(crate) async fn serve<R, W>(
    server: Arc<Server>,
    mut input: R,
    output: W,
    stop: impl Future<Output = ()>,
) -> io::Result<Served>
where
    R: Read + Send + 'static,
    W: Write + Send + 'static,
{
    let (outbox, outgoing) = mpsc::channel(OUTBOX);
    let dialogue = Arc::new(Dialogue::new(server.clone(), SESSION, TransportName::Stdio, outbox));
    let output = Arc::new(Output::new(output));
    let (done, ended) = oneshot::channel();
    let (finished, mut later) = oneshot::channel();
    {
        let (dialogue, output) = (dialogue.clone(), output.clone());
        thread::Builder::new().name("mock-stdio".into()).spawn(move || {
            // Nobody listens when the future was dropped.
            let _ = done.send(answer_lines(&dialogue, &mut input, &output));
        })?;
    }
    {
        let server = server.clone();
        thread::Builder::new().name("mock-stdio-later".into()).spawn(move || {
            writer::write(&server, outgoing, &output);
            let _ = finished.send(());
        })?;
    }
    let stopped = |_| io::Error::other("the thread that serves the mock has panicked");
    let ended = tokio::select! {
        ended = ended => ended.map_err(stopped)?,
        // A line that was cut, or a client that reads no more.
        _ = &mut later => Ok(()),
        _ = server.crashed() => Ok(()),
        () = stop => Ok(()),
    };
    // Whatever ended it: what still runs has a moment to be written down.
    dialogue.end().await;
    // A crash ends the line as well, and either may be seen first.
    if let Some(code) = server.has_crashed() {
        return Ok(Served::Crashed(code));
    }
    // With the last sender gone, the second thread writes what is ready and ends.
    drop(dialogue);
    if !later.is_terminated() {
        let _ = timeout(FAREWELL, later).await;
    }
    ended.map(|()| Served::Gone)
}

/// Answers until the peer closes its side.
fn answer_lines<W: Write>(
    dialogue: &Dialogue,
    input: &mut impl Read,
    output: &Output<W>,
) -> io::Result<()> {
    let mut lines = Lines::new();
    let (mut replies, mut later) = (Vec::new(), Vec::new());
    loop {
        match lines.fill(input) {
            Ok(0) => return Ok(()),
            Ok(_) => {}
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(error),
        }
        lines.take(|line| later.extend(take_line(dialogue, line, &mut replies)));
        if !replies.is_empty() {
            match output.write(|output| output.write_all(&replies)) {
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => return Ok(()),
                other => other?,
            }
            dialogue.server().has_replied();
            replies.clear();
            replies.shrink_to(READ_SIZE);
        }
        // Only now: a fault that ends the line must not end it before what came first is answered.
        later.drain(..).for_each(|pending: Box<Pending>| dialogue.run(*pending));
    }
}

/// Appends the reply to a line, or gives back what takes its time.
fn take_line(dialogue: &Dialogue, line: Line<'_>, out: &mut Vec<u8>) -> Option<Box<Pending>> {
    let taken = match line {
        Line::Whole(line) if line.trim_ascii().is_empty() => return None,
        Line::Whole(line) => dialogue.take(line, Origin::default(), out),
        Line::TooLong => {
            let why = format!("a line is longer than {MESSAGE_LIMIT} bytes");
            dialogue.refuse(&Refusal::invalid_request(why), MESSAGE_LIMIT, out)
        }
    };
    for row in taken.rows {
        // A log that cannot be written says so at the end, when everybody hears it.
        let _ = dialogue.server().audit().record_blocking(row);
    }
    if taken.replied {
        out.push(b'\n');
    }
    taken.later
}

#[cfg(test)]
mod tests;
