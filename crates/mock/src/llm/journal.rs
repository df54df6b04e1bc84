//! What each client asked and got, in the order in which it ended.

use std::{
    collections::VecDeque,
    fs::File,
    io::{self, Write as _},
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
};

use mcp_loadtest_core::llm::Entry;

/// The journal remembers this many, with so many bytes of bodies, and forgets the oldest; a file has
/// them all.
const MOST_ENTRIES: usize = 10_000;
const MOST_BYTES: usize = 64 << 20;

/// What each client asked and got.
#[derive(Debug, Default)]
pub struct Journal {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    entries: VecDeque<Entry>,
    bytes: usize,
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

    pub(super) fn add(&self, entry: Entry) {
        let mut kept = self.kept();
        kept.count += 1;
        kept.write(&entry);
        kept.bytes += weight(&entry);
        kept.entries.push_back(entry);
        while kept.entries.len() > MOST_ENTRIES || kept.bytes > MOST_BYTES {
            let Some(oldest) = kept.entries.pop_front() else { break };
            kept.bytes -= weight(&oldest);
        }
    }

    /// Writes all that comes from now on to a file, too, a line each.
    pub fn write_to(&self, path: &Path) -> io::Result<()> {
        self.kept().file = Some(File::create(path)?);
        Ok(())
    }

    /// The requests that it remembers.
    pub fn entries(&self) -> Vec<Entry> {
        self.kept().entries.iter().cloned().collect()
    }

    /// How many requests there were.
    pub fn count(&self) -> u64 {
        self.kept().count
    }

    /// Forgets them.
    pub fn clear(&self) {
        let mut kept = self.kept();
        kept.entries.clear();
        kept.bytes = 0;
    }

    /// Whether every line of the file could be written.
    pub fn finish(&self) -> io::Result<()> {
        self.kept().failed.take().map_or(Ok(()), Err)
    }
}

impl Kept {
    fn write(&mut self, entry: &Entry) {
        let Some(file) = &mut self.file else { return };
        let mut line = serde_json::to_vec(entry).unwrap_or_default();
        line.push(b'\n');
        if let Err(error) = file.write_all(&line) {
            self.failed.get_or_insert(error);
        }
    }
}

fn weight(entry: &Entry) -> usize {
    entry.body.len() + entry.said.len()
}
