//! What each client asked and got, in the order in which it ended.

use std::{
    collections::VecDeque,
    fs::File,
    io::{self, Write as _},
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
};

use mcp_loadtest_core::llm::Entry;

/// The journal remembers this many, in so many bytes, and forgets the oldest; a file has them all.
const MOST_ENTRIES: usize = 10_000;
const MOST_BYTES: usize = 64 << 20;

/// What each client asked and got.
#[derive(Debug, Default)]
pub struct Journal {
    kept: Mutex<Kept>,
}

/// Entries are kept as lines of JSON: one piece of memory each, where thirty small ones would scatter it.
#[derive(Debug, Default)]
struct Kept {
    lines: VecDeque<Box<[u8]>>,
    bytes: usize,
    /// Room for the line that is being written.
    line: Vec<u8>,
    /// All that ever came, those that are forgotten included.
    count: u64,
    file: Option<File>,
    /// Why the file could not be written.
    failed: Option<io::Error>,
}

impl Journal {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn add(&self, entry: &Entry) {
        let kept = &mut *self.kept();
        kept.count += 1;
        kept.line.clear();
        // Writing to memory cannot fail.
        let _ = serde_json::to_writer(&mut kept.line, entry);
        kept.line.push(b'\n');
        if let Some(Err(error)) = kept.file.as_mut().map(|file| file.write_all(&kept.line)) {
            kept.failed.get_or_insert(error);
        }
        kept.bytes += kept.line.len();
        kept.lines.push_back(kept.line.as_slice().into());
        while kept.lines.len() > MOST_ENTRIES || kept.bytes > MOST_BYTES {
            let Some(oldest) = kept.lines.pop_front() else { break };
            kept.bytes -= oldest.len();
        }
    }

    /// Writes all that comes from now on to a file, too, a line each.
    pub fn write_to(&self, path: &Path) -> io::Result<()> {
        self.kept().file = Some(File::create(path)?);
        Ok(())
    }

    /// The requests that it remembers.
    pub fn entries(&self) -> Vec<Entry> {
        self.kept().lines.iter().filter_map(|line| serde_json::from_slice(line).ok()).collect()
    }

    /// The same as they are written down: a line of JSON each.
    pub fn lines(&self) -> Vec<u8> {
        self.kept().lines.iter().flat_map(|line| line.iter().copied()).collect()
    }

    /// How many requests there were.
    pub fn count(&self) -> u64 {
        self.kept().count
    }

    /// Forgets them.
    pub fn clear(&self) {
        let mut kept = self.kept();
        kept.lines.clear();
        kept.bytes = 0;
    }

    /// Whether every line of the file could be written.
    pub fn finish(&self) -> io::Result<()> {
        self.kept().failed.take().map_or(Ok(()), Err)
    }
}
