//! The thread that writes the trace: whole buffers in, a file out.
//!
//! When the disk cannot keep up, the buffers of a `full` trace are waited for: a hole would be worth
//! less than a slower run, and the wait shows as lag. In all other modes no load waits: whoever
//! cannot hand a buffer over counts its lines and goes on.

use std::{
    io,
    path::Path,
    sync::mpsc::{SyncSender, TrySendError, sync_channel},
    thread::JoinHandle,
};

use mcp_loadtest_core::{config::Trace, secrets::Secrets};
use mcp_loadtest_wire::{
    disk::File,
    torture::{Deed, strike},
};

/// Buffers on their way to the disk; each is about 64 KiB.
const QUEUE: usize = 256;

/// What to do when the writer is behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Patience {
    /// Wait until it has caught up.
    Wait,
    /// Give the buffer back.
    None,
}

/// Hands buffers to the thread. Clones feed the same file.
#[derive(Debug, Clone)]
pub(crate) struct TraceSender {
    buffers: SyncSender<Vec<u8>>,
    mode: Trace,
}

impl TraceSender {
    pub(crate) fn mode(&self) -> Trace {
        self.mode
    }

    /// How a thread that makes load hands a buffer over.
    pub(crate) fn patience(&self) -> Patience {
        if self.mode == Trace::Full { Patience::Wait } else { Patience::None }
    }

    /// Gives the buffer back when the writer is behind and nobody waits for it.
    pub(crate) fn send(&self, buffer: Vec<u8>, patience: Patience) -> Result<(), Vec<u8>> {
        // The writer outlives its senders; if it has panicked, its `finish` says so.
        match patience {
            Patience::Wait => drop(self.buffers.send(buffer)),
            Patience::None => {
                if let Err(TrySendError::Full(buffer)) = self.buffers.try_send(buffer) {
                    return Err(buffer);
                }
            }
        }
        Ok(())
    }
}

/// The thread and the way to it.
pub(crate) struct TraceWriter {
    sender: TraceSender,
    thread: JoinHandle<io::Result<()>>,
}

impl TraceWriter {
    pub(crate) fn start(path: &Path, mode: Trace, secrets: Secrets) -> io::Result<Self> {
        Self::start_on(File::create(path)?, mode, secrets)
    }

    fn start_on(
        mut file: impl io::Write + Send + 'static,
        mode: Trace,
        secrets: Secrets,
    ) -> io::Result<Self> {
        let (buffers, receiver) = sync_channel::<Vec<u8>>(QUEUE);
        strike(Deed::Spawn, "the thread of the trace")?;
        let thread = std::thread::Builder::new().name("trace".into()).spawn(move || {
            let mut result = Ok(());
            // After a failed write the rest is still taken, so that no worker waits for ever.
            for buffer in receiver {
                if result.is_ok() {
                    // A buffer holds whole lines, so no secret lies across two of them.
                    result = file.write_all(&secrets.bytes(&buffer));
                }
            }
            result
        })?;
        Ok(Self { sender: TraceSender { buffers, mode }, thread })
    }

    pub(crate) fn sender(&self) -> TraceSender {
        self.sender.clone()
    }

    /// Waits until everything is written. All other senders must be gone.
    pub(crate) fn finish(self) -> io::Result<()> {
        drop(self.sender);
        self.thread.join().unwrap_or_else(|_| Err(io::Error::other("the trace writer panicked")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::{Receiver, channel};

    /// A disk that writes nothing until it is told to.
    struct Stuck(Receiver<()>);

    impl io::Write for Stuck {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            let _ = self.0.recv();
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn no_load_waits_for_a_stuck_disk_and_what_it_was_too_slow_for_comes_back() {
        let (release, stuck) = channel();
        let writer =
            TraceWriter::start_on(Stuck(stuck), Trace::Sampled, Secrets::default()).unwrap();
        let sender = writer.sender();
        assert_eq!(sender.patience(), Patience::None);
        let sent = (0..QUEUE + 10).map(|_| sender.send(b"{}\n".to_vec(), sender.patience()));
        let refused: Vec<_> = sent.filter_map(Result::err).collect();
        // The writer holds one at most besides those in the queue.
        assert!((9..=10).contains(&refused.len()), "{}", refused.len());
        assert_eq!(refused[0], b"{}\n");
        drop((release, sender));
        writer.finish().unwrap();
    }

    #[test]
    fn a_full_trace_is_waited_for() {
        let (release, stuck) = channel();
        let writer = TraceWriter::start_on(Stuck(stuck), Trace::Full, Secrets::default()).unwrap();
        let sender = writer.sender();
        let load = std::thread::spawn(move || {
            (0..QUEUE + 10).filter_map(|_| sender.send(vec![0], sender.patience()).err()).count()
        });
        for _ in 0..QUEUE + 10 {
            release.send(()).unwrap();
        }
        assert_eq!(load.join().unwrap(), 0);
        writer.finish().unwrap();
    }
}
