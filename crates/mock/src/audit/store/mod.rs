//! Where rows are kept.
//!
//! To add a store: a file here with an `ENTRY` and one line in [`STORES`]. A store writes batches as
//! a whole ([`Sink`]) and reads in the order of arrival or of recording ([`Source`]).

mod columns;
mod jsonl;
mod memory;
mod none;
mod postgres;
mod sql;
mod sqlite;

use std::{fmt, io, ops::ControlFlow, path::PathBuf, sync::Arc};

use mcp_loadtest_core::hint::Hint;
use thiserror::Error;

use super::{filter::Filter, row::Row};

/// The stores.
pub const STORES: &[Store] =
    &[sqlite::ENTRY, postgres::ENTRY, jsonl::ENTRY, memory::ENTRY, none::ENTRY];

/// A sort of store.
#[derive(Debug)]
pub struct Store {
    /// The word for it.
    pub name: &'static str,
    /// How it is written.
    pub form: &'static str,
    /// What it is good for.
    pub about: &'static str,
    /// Whether its place is a path.
    pub(super) is_file: bool,
    /// The place in a text that names this store.
    pub(super) place: fn(&str) -> Option<&str>,
    /// A place as it may be shown, with the word.
    pub(super) show: fn(&str) -> String,
    /// Opens it for writing.
    pub(super) open: Option<Open>,
    /// Opens it for reading.
    pub(super) read: fn(&str) -> Result<Box<dyn Source>, StoreError>,
}

type Open = fn(&str) -> Result<Opened, StoreError>;

/// A store that is open for writing.
pub(super) struct Opened {
    pub(super) sink: Box<dyn Sink>,
    /// The number for the next row.
    pub(super) first_seq: u64,
    pub(super) read: OpenSource,
}

/// Opens for reading what this process writes.
#[derive(Clone)]
pub(super) struct OpenSource(Arc<dyn Fn() -> Result<Box<dyn Source>, StoreError> + Send + Sync>);

impl OpenSource {
    pub(super) fn new(
        open: impl Fn() -> Result<Box<dyn Source>, StoreError> + Send + Sync + 'static,
    ) -> Self {
        Self(Arc::new(open))
    }

    pub(super) fn open(&self) -> Result<Box<dyn Source>, StoreError> {
        (self.0)()
    }
}

impl fmt::Debug for OpenSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("OpenSource")
    }
}

/// Takes rows. It is used by one thread.
pub(super) trait Sink: Send {
    /// Keeps all of the rows, or fails and keeps none.
    fn append(&mut self, rows: &[Box<Row>]) -> Result<(), StoreError>;

    /// Nothing more will come.
    fn finish(&mut self) -> Result<(), StoreError>;
}

/// What is done with a row that is read; it can say that it is enough.
pub type Visit<'a> = &'a mut dyn FnMut(Row) -> ControlFlow<()>;

/// How much of a log has been seen, in the order in which rows were recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Place(pub(super) u64);

/// Gives rows back.
pub trait Source: Send {
    /// Visits the wanted rows in the order of arrival.
    fn each(&mut self, filter: &Filter, visit: Visit<'_>) -> Result<(), StoreError>;

    /// Visits the wanted rows that were recorded after a place, in the order in which they were, and
    /// tells where that ends. So a call that arrived early and took long is not missed. The limit and
    /// its end are not looked at.
    fn since(
        &mut self,
        place: Place,
        filter: &Filter,
        visit: Visit<'_>,
    ) -> Result<Place, StoreError>;

    /// The end of what is recorded.
    fn end(&mut self) -> Result<Place, StoreError>;

    /// The wanted rows in the order of arrival.
    fn query(&mut self, filter: &Filter) -> Result<Vec<Row>, StoreError> {
        let mut rows = Vec::new();
        self.each(filter, &mut |row| {
            rows.push(row);
            ControlFlow::Continue(())
        })?;
        Ok(rows)
    }
}

/// What a store fails of.
#[derive(Debug, Error)]
pub enum StoreError {
    /// There is nothing to read.
    #[error("there is no audit log at {}", .0.display())]
    Missing(PathBuf),
    /// Something is there that is not a log.
    #[error("{place} is not an audit log: {why}")]
    NotALog {
        /// Where.
        place: String,
        /// What speaks against it.
        why: String,
    },
    /// A later version wrote it.
    #[error(
        "{place} was written by a newer version: it has the schema {found}, and {known} is the latest known"
    )]
    Newer {
        /// Where.
        place: String,
        /// Its schema.
        found: i64,
        /// The latest that is known.
        known: i64,
    },
    /// Another process writes it, and it is not a store for two.
    #[error("another process writes {}", .0.display())]
    Busy(PathBuf),
    /// It cannot be opened, read or written.
    #[error("cannot {deed} {place}: {source}")]
    Failed {
        /// `open`, `read` or `write`.
        deed: &'static str,
        /// Where.
        place: String,
        /// Why.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A log in memory is gone with its process.
    #[error("an audit log in memory can only be read by the process that writes it")]
    InMemory,
    /// There is none.
    #[error("`none` keeps no rows")]
    NoStore,
    /// The thread that writes could not be started.
    #[error("cannot start the thread that writes the audit log: {0}")]
    Thread(#[source] io::Error),
    /// The thread that writes is gone.
    #[error("the thread that writes the audit log has panicked")]
    Panicked,
}

impl StoreError {
    fn failed(
        deed: &'static str,
        place: impl fmt::Display,
        source: impl Into<Box<dyn std::error::Error + Send + Sync>>,
    ) -> Self {
        Self::Failed { deed, place: place.to_string(), source: source.into() }
    }
}

impl Hint for StoreError {
    fn hint(&self) -> Option<String> {
        Some(match self {
            Self::Missing(_) => {
                "give the store that the server was started with; a relative path is taken from the \
                 working directory"
                    .into()
            }
            Self::NotALog { .. } | Self::InMemory | Self::NoStore => {
                let forms: Vec<_> =
                    STORES.iter().filter(|store| store.is_readable()).map(|store| store.form).collect();
                format!("give a log that a server has written: {}", forms.join(", "))
            }
            Self::Newer { .. } => "use the version that wrote it, or a later one".into(),
            Self::Busy(_) => {
                "give each process a file of its own, or use sqlite: or postgres://, which take several"
                    .into()
            }
            Self::Failed { place, .. } if place.starts_with("postgres") => {
                "check that the server runs and takes connections without TLS, and that the user may use the \
                 database".into()
            }
            Self::Failed { deed: "write", .. } => "look for a full disk or a log that was removed".into(),
            Self::Failed { .. } | Self::Thread(_) | Self::Panicked => return None,
        })
    }
}

impl Store {
    /// Whether another process can read what one has written.
    fn is_readable(&self) -> bool {
        self.name != memory::ENTRY.name && self.name != none::ENTRY.name
    }
}

/// The path in `word:PATH`, or a bare path that ends in one of these.
fn path_in<'a>(text: &'a str, word: &str, ends: &[&str]) -> Option<&'a str> {
    let after_word = text.strip_prefix(word).and_then(|rest| rest.strip_prefix(':'));
    after_word.or_else(|| {
        let is_path = ends.iter().any(|end| text.ends_with(end)) && !text.contains("://");
        is_path.then_some(text)
    })
}
