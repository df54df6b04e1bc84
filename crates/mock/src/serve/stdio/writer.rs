//! Writes what was not ready when its request was read, and obeys what faults want of the bytes.

use std::{
    io::{self, Write},
    thread,
    time::Duration,
};

use mcp_loadtest_core::fault::Step;
use tokio::sync::mpsc;

use super::output::Output;
use crate::server::{Server, pending::Ending, session::Out};

/// How many pieces a second slow bytes are written in, at most.
const PIECES_PER_SECOND: u64 = 50;

/// Writes until there is nothing more to come, nobody reads, or a fault wants the line to end.
pub(super) fn write<W: Write>(
    server: &Server,
    mut outgoing: mpsc::Receiver<Out>,
    output: &Output<W>,
) {
    while let Some(out) = outgoing.blocking_recv() {
        if obey(server, out, output).is_err() {
            break;
        }
    }
    output.close();
}

fn obey<W: Write>(server: &Server, out: Out, output: &Output<W>) -> io::Result<()> {
    match out {
        Out::Message(frame) => write_step(output, &Step::Frame(frame)),
        Out::Ending(Ending::Reply { steps, .. }) => {
            let written = steps.iter().try_for_each(|step| write_step(output, step));
            server.has_replied();
            written
        }
        Out::Ending(Ending::Crash(code)) => {
            server.crash(code);
            Err(ended())
        }
        Out::Ending(Ending::Cut(_)) => Err(ended()),
        // Statuses and sessions are not a matter of pipes; faults that need them are refused.
        Out::Ending(Ending::Silent | Ending::Http { .. } | Ending::SessionLost) => Ok(()),
    }
}

/// The line ends here, because a fault wants it.
fn ended() -> io::Error {
    io::ErrorKind::BrokenPipe.into()
}

fn write_step<W: Write>(output: &Output<W>, step: &Step) -> io::Result<()> {
    output.write(|output| match step {
        Step::Frame(bytes) | Step::Late(bytes) => {
            output.write_all(bytes)?;
            output.write_all(b"\n")
        }
        // As a server that dies while it writes: the line has no end, and nothing follows.
        Step::Partial { bytes, .. } => {
            output.write_all(bytes)?;
            output.flush()?;
            Err(ended())
        }
        Step::Raw(bytes) => output.write_all(bytes),
        Step::Drip { frame, bytes_per_second } => drip(output, frame, *bytes_per_second),
    })
}

fn drip(output: &mut impl Write, frame: &[u8], bytes_per_second: u64) -> io::Result<()> {
    let piece = (bytes_per_second / PIECES_PER_SECOND).max(1);
    let pause = Duration::from_secs_f64(piece as f64 / bytes_per_second.max(1) as f64);
    for bytes in frame.chunks(piece.try_into().unwrap_or(usize::MAX)) {
        output.write_all(bytes)?;
        output.flush()?;
        // Nobody unparks this thread, and if somebody did, a piece would only be early.
        thread::park_timeout(pause);
    }
    output.write_all(b"\n")
}
