//! What each client asked and got, in the order in which it ended.

use std::{
    collections::VecDeque,
    io::{self, Seek as _, SeekFrom, Write as _},
    path::Path,
    sync::{Mutex, MutexGuard, PoisonError},
};

use mcp_loadtest_core::llm::{ClientReport, Entry, Patience, judge};
use mcp_loadtest_wire::disk::File;

use super::record::Record;

/// The journal remembers this many, in so many bytes, and forgets the oldest; a file has them all.
const MOST_RECORDS: usize = 10_000;
const MOST_BYTES: usize = 64 << 20;

/// What each client asked and got.
#[derive(Debug, Default)]
pub struct Journal {
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    records: VecDeque<Record>,
    bytes: usize,
    /// All that ever came, those that are forgotten included.
    count: u64,
    /// How many of them had to go to make room for others.
    forgotten: u64,
    file: Option<File>,
    /// Why the file could not be written.
    failed: Option<io::Error>,
}

impl Journal {
    fn kept(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn add(&self, mut record: Record) {
        record.slim();
        let kept = &mut *self.kept();
        kept.count += 1;
        if let Some(Err(error)) =
            kept.file.as_mut().map(|file| append(file, &line(&record.entry())))
        {
            kept.failed.get_or_insert(error);
        }
        kept.bytes += record.weight();
        kept.records.push_back(record);
        while kept.records.len() > MOST_RECORDS || kept.bytes > MOST_BYTES {
            let Some(oldest) = kept.records.pop_front() else { break };
            kept.bytes -= oldest.weight();
            kept.forgotten += 1;
        }
    }

    /// Writes all that comes from now on to a file, too, a line each.
    pub fn write_to(&self, path: &Path) -> io::Result<()> {
        self.kept().file = Some(File::create(path)?);
        Ok(())
    }

    /// The requests that it remembers.
    pub fn entries(&self) -> Vec<Entry> {
        let kept = self.kept();
        let mut entries: Vec<_> = kept.records.iter().map(Record::entry).collect();
        if let Some(oldest) = entries.first_mut() {
            oldest.forgotten_before = kept.forgotten;
        }
        entries
    }

    /// The same as they are written down: a line of JSON each.
    pub fn lines(&self) -> Vec<u8> {
        self.entries().iter().flat_map(line).collect()
    }

    /// What clients did with the failures that they met. Where requests are forgotten, nobody passes.
    pub fn judged(&self) -> ClientReport {
        judge(&self.entries(), Patience::default())
    }

    /// How many requests there were.
    pub fn count(&self) -> u64 {
        self.kept().count
    }

    /// Forgets them.
    pub fn clear(&self) {
        let mut kept = self.kept();
        kept.records.clear();
        kept.bytes = 0;
        kept.forgotten = 0;
    }

    /// Whether every line of the file could be written.
    pub fn finish(&self) -> io::Result<()> {
        self.kept().failed.take().map_or(Ok(()), Err)
    }
}

/// Adds a whole line, or nothing: half of one would spoil the next.
fn append(file: &mut File, line: &[u8]) -> io::Result<()> {
    let start = file.as_file().stream_position().unwrap_or_default();
    file.write_all(line).inspect_err(|_| {
        let file = file.as_file();
        let _ = file.set_len(start).and_then(|()| file.seek(SeekFrom::Start(start)));
    })
}

fn line(entry: &Entry) -> Vec<u8> {
    let mut line = serde_json::to_vec(entry).unwrap_or_default();
    line.push(b'\n');
    line
}
