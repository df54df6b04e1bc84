//! `jsonl:PATH`: a JSON object a line, in the order in which rows were recorded.
//!
//! Every line begins with the version of its form. A file has one writer at a time.

use std::{
    fs::{File, OpenOptions},
    io::{self, BufRead as _, BufReader, Read as _, Seek as _, SeekFrom, Write as _},
    ops::ControlFlow,
    path::{Path, PathBuf},
};

use mcp_loadtest_wire::disk;

use super::{OpenSource, Opened, Place, Sink, Source, Store, StoreError, Visit, path_in};
use crate::audit::{filter::Filter, row::Row};

pub(super) const ENTRY: Store = Store {
    name: "jsonl",
    form: "jsonl:PATH",
    about: "a JSON object a line, for one writer",
    is_file: true,
    place: |text| path_in(text, "jsonl", &[".jsonl", ".ndjson"]),
    show: |place| format!("jsonl:{place}"),
    open: Some(open),
    read: |place| Ok(Box::new(Lines::open(place.as_ref())?)),
};

/// The version of a line, and what every line of it begins with.
const VERSION: i64 = 1;
const OPENING: &[u8] = b"{\"v\":1,";
/// No honest line is longer.
const LINE_LIMIT: u64 = 256 << 20;

fn open(place: &str) -> Result<Opened, StoreError> {
    let path = PathBuf::from(place);
    let failed = |error: io::Error| StoreError::failed("open", place, error);
    let mut sink =
        disk::File::open(&path, OpenOptions::new().create(true).append(true)).map_err(failed)?;
    let file = sink.as_file();
    lock(file, &path)?;
    // A pipe or a device has nothing to go on from.
    let is_regular = file.metadata().map_err(failed)?.is_file();
    let last = if is_regular { resume(file, &path)? } else { 0 };
    Ok(Opened {
        sink: Box::new(Writer { file: sink, place: place.to_owned(), text: Vec::new() }),
        first_seq: last + 1,
        read: OpenSource::new(move || Ok(Box::new(Lines::open(&path)?))),
    })
}

/// The number of the last row that is there. Half a line, which is what a killed process leaves, is cut
/// off: it would spoil the next one.
fn resume(file: &File, path: &Path) -> Result<u64, StoreError> {
    let mut lines = Lines::open(path)?;
    let mut last = 0;
    let whole = lines.scan(0, &mut |line, _| {
        last = last.max(parse(line, path)?.seq);
        Ok(ControlFlow::Continue(()))
    })?;
    file.set_len(whole).map_err(|error| StoreError::failed("open", path.display(), error))?;
    Ok(last)
}

/// Keeps a second writer out: its rows would have the same numbers.
fn lock(file: &File, path: &Path) -> Result<(), StoreError> {
    // On Windows a lock would keep readers out too.
    if cfg!(windows) {
        return Ok(());
    }
    file.try_lock().map_err(|error| match error {
        std::fs::TryLockError::WouldBlock => StoreError::Busy(path.to_owned()),
        std::fs::TryLockError::Error(error) => StoreError::failed("open", path.display(), error),
    })
}

fn push_line(row: &Row, text: &mut Vec<u8>) {
    let start = text.len();
    text.extend_from_slice(&OPENING[..OPENING.len() - 1]);
    serde_json::to_writer(&mut *text, row).expect("a row has no map and a list takes any text");
    // The brace with which the row opens becomes the comma after the version.
    text[start + OPENING.len() - 1] = b',';
    text.push(b'\n');
}

impl Row {
    /// The row as a line of a `jsonl` store, with its end.
    pub fn to_line(&self) -> String {
        let mut text = Vec::new();
        push_line(self, &mut text);
        String::from_utf8(text).expect("JSON is UTF-8")
    }
}

struct Writer {
    file: disk::File,
    place: String,
    text: Vec<u8>,
}

impl Writer {
    fn write(&mut self, rows: &[Box<Row>]) -> io::Result<()> {
        self.text.clear();
        rows.iter().for_each(|row| push_line(row, &mut self.text));
        self.file.write_all(&self.text)
    }
}

impl Sink for Writer {
    fn append(&mut self, rows: &[Box<Row>]) -> Result<(), StoreError> {
        let start = self.file.as_file().seek(SeekFrom::End(0)).unwrap_or_default();
        self.write(rows).map_err(|error| {
            // All or nothing: a part of the batch would be rows that nobody counts.
            let _ = self.file.as_file().set_len(start);
            StoreError::failed("write", &self.place, error)
        })
    }

    fn finish(&mut self) -> Result<(), StoreError> {
        self.file.sync_data().map_err(|error| StoreError::failed("write", &self.place, error))
    }
}

fn parse(line: &[u8], path: &Path) -> Result<Row, StoreError> {
    let not_a_log = |why: String| StoreError::NotALog { place: path.display().to_string(), why };
    if !line.starts_with(OPENING) {
        return Err(match version_of(line) {
            Some(found) if found > VERSION => {
                StoreError::Newer { place: path.display().to_string(), found, known: VERSION }
            }
            _ => not_a_log("it has a line that is no row".into()),
        });
    }
    serde_json::from_slice(line).map_err(|error| not_a_log(error.to_string()))
}

fn version_of(line: &[u8]) -> Option<i64> {
    serde_json::from_slice::<serde_json::Value>(line).ok()?.get("v")?.as_i64()
}

struct Lines {
    file: BufReader<File>,
    path: PathBuf,
}

type See<'a> = &'a mut dyn FnMut(&[u8], u64) -> Result<ControlFlow<()>, StoreError>;

impl Lines {
    fn open(path: &Path) -> Result<Self, StoreError> {
        match File::open(path) {
            Ok(file) => {
                Ok(Self { file: BufReader::with_capacity(1 << 20, file), path: path.to_owned() })
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Err(StoreError::Missing(path.to_owned()))
            }
            Err(error) => Err(StoreError::failed("open", path.display(), error)),
        }
    }

    fn failed(&self, error: io::Error) -> StoreError {
        StoreError::failed("read", self.path.display(), error)
    }

    /// Keeps what has been read ahead if the place lies in it: rows that arrived one after the other
    /// stand near each other.
    fn go_to(&mut self, place: u64) -> io::Result<()> {
        let here = self.file.stream_position()?;
        self.file.seek_relative(place.cast_signed().wrapping_sub(here.cast_signed()))
    }

    /// Sees the whole lines from a place on, with where they begin, and tells where they end. The
    /// last line may still be on its way.
    fn scan(&mut self, from: u64, see: See<'_>) -> Result<u64, StoreError> {
        let mut at = from;
        self.go_to(from).map_err(|error| self.failed(error))?;
        let mut line = Vec::new();
        loop {
            line.clear();
            let mut limited = (&mut self.file).take(LINE_LIMIT);
            limited.read_until(b'\n', &mut line).map_err(|error| self.failed(error))?;
            if line.pop() != Some(b'\n') {
                return Ok(at);
            }
            let end = at + line.len() as u64 + 1;
            if see(&line, at)?.is_break() {
                return Ok(end);
            }
            at = end;
        }
    }

    fn row_at(&mut self, at: u64) -> Result<Option<Row>, StoreError> {
        let (path, mut found) = (self.path.clone(), None);
        self.scan(at, &mut |line, _| {
            found = Some(parse(line, &path)?);
            Ok(ControlFlow::Break(()))
        })?;
        Ok(found)
    }
}

impl Source for Lines {
    /// Lines stand in the order in which rows were recorded. To bring them into the order of arrival
    /// the places of those that are wanted are sorted, not the rows: a file may be large.
    fn each(&mut self, filter: &Filter, visit: Visit<'_>) -> Result<(), StoreError> {
        let (path, mut places) = (self.path.clone(), Vec::new());
        self.scan(0, &mut |line, at| {
            let row = parse(line, &path)?;
            if filter.matches(&row) {
                places.push((row.seq, at));
            }
            Ok(ControlFlow::Continue(()))
        })?;
        places.sort_unstable();
        for (_, at) in filter.cut(&places) {
            if let Some(row) = self.row_at(*at)?
                && visit(row).is_break()
            {
                break;
            }
        }
        Ok(())
    }

    fn since(
        &mut self,
        place: Place,
        filter: &Filter,
        visit: Visit<'_>,
    ) -> Result<Place, StoreError> {
        let path = self.path.clone();
        let end = self.scan(place.0, &mut |line, _| {
            let row = parse(line, &path)?;
            Ok(if filter.matches(&row) { visit(row) } else { ControlFlow::Continue(()) })
        })?;
        Ok(Place(end))
    }

    fn end(&mut self) -> Result<Place, StoreError> {
        // The last line may be half there: a place must lie between lines.
        self.scan(0, &mut |_, _| Ok(ControlFlow::Continue(()))).map(Place)
    }
}
