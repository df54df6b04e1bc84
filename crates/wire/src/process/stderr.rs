//! Drains a server's stderr, so that no server ever blocks on it, and keeps what is worth keeping:
//! a log file up to a limit, and the last part in memory.

use std::fs::OpenOptions;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use mcp_loadtest_core::secrets::Veil;
use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::task::JoinHandle;

use super::ring::Ring;
use super::tee::Tee;
use crate::disk::File;
use crate::torture::{Deed, strike};

/// The log file grows no further than this, whatever the server writes.
const LOG_LIMIT: u64 = 64 * 1024 * 1024;
/// What is kept in memory, and added to a full log at the end.
const RING_LIMIT: usize = 1024 * 1024;
/// What [`Drain::tail`] shows.
const TAIL: usize = 4 * 1024;
/// What is read at once. Small, as there is one buffer for each server.
const CHUNK: usize = 16 * 1024;

/// The reader of one server's stderr.
pub(super) struct Drain {
    kept: Arc<Mutex<Kept>>,
    task: JoinHandle<()>,
}

/// What the task leaves for us to read.
struct Kept {
    ring: Ring,
    trouble: Option<String>,
}

impl Drain {
    /// Reads `pipe` to its end, in a task of its own.
    pub(super) fn start(
        pipe: impl AsyncRead + Unpin + Send + 'static,
        log: Option<Log>,
        tee: Option<Tee>,
        veil: Veil,
    ) -> Self {
        let kept = Arc::new(Mutex::new(Kept { ring: Ring::new(RING_LIMIT), trouble: None }));
        let task = tokio::spawn(drain(pipe, Ends { log, tee, kept: Arc::clone(&kept) }, veil));
        Drain { kept, task }
    }

    /// Waits for the end of the stream, but not longer than `patience`: a process that strayed may
    /// hold it open.
    pub(super) async fn finish(&mut self, patience: Duration) {
        if !self.task.is_finished() {
            let _ = tokio::time::timeout(patience, &mut self.task).await;
        }
    }

    /// The last words, raw.
    pub(super) fn tail(&self) -> String {
        let bytes = lock(&self.kept).ring.last(TAIL);
        // A cut may have gone through a character.
        let start = bytes.iter().take(3).take_while(|byte| **byte & 0xc0 == 0x80);
        String::from_utf8_lossy(&bytes[start.count()..]).into_owned()
    }

    /// Why the log is incomplete, if it is.
    pub(super) fn trouble(&self) -> Option<String> {
        lock(&self.kept).trouble.clone()
    }
}

impl Drop for Drain {
    fn drop(&mut self) {
        self.task.abort();
    }
}

/// A panic while the lock was held leaves at worst a ring with a gap.
fn lock(kept: &Mutex<Kept>) -> MutexGuard<'_, Kept> {
    kept.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Where what a server says ends up.
struct Ends {
    log: Option<Log>,
    tee: Option<Tee>,
    kept: Arc<Mutex<Kept>>,
}

impl Ends {
    fn take(&mut self, bytes: &[u8]) {
        if let Some(log) = &mut self.log {
            let result = log.append(bytes);
            log.note(result, &self.kept);
        }
        lock(&self.kept).ring.push(bytes);
        if let Some(tee) = &mut self.tee {
            tee.feed(bytes);
        }
    }

    async fn finish(mut self) {
        if let Some(log) = &mut self.log {
            let result = log.append_end(&lock(&self.kept).ring);
            log.note(result, &self.kept);
        }
        if let Some(tee) = self.tee {
            tee.finish().await;
        }
    }
}

async fn drain(mut pipe: impl AsyncRead + Unpin, mut ends: Ends, mut veil: Veil) {
    let mut chunk = vec![0; CHUNK];
    loop {
        let read = pipe.read(&mut chunk).await;
        let length = match read.and_then(|read| strike(Deed::Read, "stderr").map(|()| read)) {
            Ok(0) => break,
            Ok(length) => length,
            Err(error) => {
                lock(&ends.kept).trouble =
                    Some(format!("the server's stderr could not be read: {error}"));
                break;
            }
        };
        ends.take(&veil.pass(&chunk[..length]));
        // A flood must not delay the calls that share this thread with us.
        tokio::task::yield_now().await;
    }
    ends.take(&veil.end());
    ends.finish().await;
}

/// The log file of a server's stderr.
pub(super) struct Log {
    path: PathBuf,
    file: File,
    /// Once the file is full or broken: how much was left out since.
    left_out: Option<u64>,
}

impl Log {
    /// Opens the file for appending, readable for nobody else.
    pub(super) fn open(path: &Path) -> io::Result<Self> {
        let mut options = OpenOptions::new();
        options.append(true).create(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        Ok(Log { path: path.to_owned(), file: File::open(path, &options)?, left_out: None })
    }

    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        if let Some(left_out) = &mut self.left_out {
            *left_out += bytes.len() as u64;
            return Ok(());
        }
        // Asked of the file each time, as the next server of the same run appends to it as well.
        let room = LOG_LIMIT.saturating_sub(self.file.as_file().metadata()?.len());
        let fitting = usize::try_from(room).unwrap_or(usize::MAX).min(bytes.len());
        self.file.write_all(&bytes[..fitting])?;
        if fitting < bytes.len() {
            self.left_out = Some((bytes.len() - fitting) as u64);
            writeln!(self.file, "\n[mcp-loadtest: the log is full, only the end follows]")?;
        }
        Ok(())
    }

    /// Adds the last part of what did not fit, the most telling part of most logs.
    fn append_end(&mut self, ring: &Ring) -> io::Result<()> {
        let Some(left_out) = self.left_out else {
            return Ok(());
        };
        let end = ring.last(usize::try_from(left_out).unwrap_or(usize::MAX));
        let skipped = left_out.saturating_sub(end.len() as u64);
        writeln!(self.file, "[mcp-loadtest: {skipped} bytes left out]")?;
        self.file.write_all(&end)
    }

    /// A full disk ends the log, not the run.
    fn note(&mut self, result: io::Result<()>, kept: &Mutex<Kept>) {
        if let Err(error) = result {
            let path = self.path.display();
            lock(kept).trouble = Some(format!("could not write to `{path}`: {error}"));
            self.left_out.get_or_insert(0);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn the_tail_begins_with_a_whole_character() {
        let text = "ä".repeat(10_000) + "b";
        let mut drain = Drain::start(io::Cursor::new(text), None, None, Veil::default());
        drain.finish(Duration::from_secs(10)).await;
        let tail = drain.tail();
        assert!(tail.starts_with('ä') && tail.ends_with("äb"), "{}", &tail[..8]);
    }

    #[tokio::test]
    async fn what_the_server_was_given_is_in_neither_log_nor_tail() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("stderr.log");
        let log = Log::open(&path).unwrap();
        let given = mcp_loadtest_core::secrets::Given::default().variable("TOKEN", "c4n4ry-5ecret");
        // Two reads, with a cut in the middle of the secret.
        let text = AsyncReadExt::chain(&b"is c4n4ry"[..], &b"-5ecret\nc4n4ry"[..]);
        let mut drain = Drain::start(text, Some(log), None, Veil::new(given.secrets()));
        drain.finish(Duration::from_secs(10)).await;
        assert_eq!(drain.tail(), "is ***\nc4n4ry");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "is ***\nc4n4ry");
    }

    #[tokio::test]
    async fn a_full_log_gets_the_end_of_the_stream() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("stderr.log");
        std::fs::File::create(&path).unwrap().set_len(LOG_LIMIT - 2).unwrap();
        let text = "ab".to_owned() + &"-".repeat(RING_LIMIT) + "the end";
        let log = Log::open(&path).unwrap();
        let mut drain = Drain::start(io::Cursor::new(text), Some(log), None, Veil::default());
        drain.finish(Duration::from_secs(10)).await;
        let log = std::fs::read(&path).unwrap();
        let added = String::from_utf8_lossy(&log[LOG_LIMIT as usize - 2..]);
        assert!(added.starts_with("ab\n[mcp-loadtest: the log is full"));
        assert!(added.contains("[mcp-loadtest: 7 bytes left out]"));
        assert!(added.ends_with("-the end"));
        assert_eq!(drain.trouble(), None);
    }

    #[cfg(target_os = "linux")]
    #[tokio::test]
    async fn a_full_disk_is_told_and_harms_nothing_else() {
        let log = Log::open(Path::new("/dev/full")).unwrap();
        let mut drain = Drain::start(io::Cursor::new("text"), Some(log), None, Veil::default());
        drain.finish(Duration::from_secs(10)).await;
        assert_eq!(drain.tail(), "text");
        assert!(drain.trouble().unwrap().contains("/dev/full"));
    }
}
