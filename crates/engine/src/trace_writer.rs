//! The thread that writes the trace: whole buffers in, a file out.
//!
//! When the disk cannot keep up, the workers wait: a trace with holes would be worth less than a
//! slower run, and the wait shows as lag.

use std::{
    fs::File,
    io::{self, Write as _},
    path::Path,
    sync::mpsc::{SyncSender, sync_channel},
    thread::JoinHandle,
};

/// Buffers on their way to the disk; each is about 64 KiB.
const QUEUE: usize = 256;

/// Hands buffers to the thread. Clones feed the same file.
pub(crate) type TraceSender = SyncSender<Vec<u8>>;

/// The thread and the way to it.
pub(crate) struct TraceWriter {
    sender: TraceSender,
    thread: JoinHandle<io::Result<()>>,
}

impl TraceWriter {
    pub(crate) fn start(path: &Path) -> io::Result<Self> {
        let mut file = File::create(path)?;
        let (sender, receiver) = sync_channel::<Vec<u8>>(QUEUE);
        let thread = std::thread::Builder::new().name("trace".into()).spawn(move || {
            let mut result = Ok(());
            // After a failed write the rest is still taken, so that no worker waits for ever.
            for buffer in receiver {
                if result.is_ok() {
                    result = file.write_all(&buffer);
                }
            }
            result
        })?;
        Ok(Self { sender, thread })
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
