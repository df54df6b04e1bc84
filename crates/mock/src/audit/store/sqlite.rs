//! `sqlite:PATH`: a database in a file. Several processes may write it and read it at a time.

use std::{
    ops::ControlFlow,
    path::{Path, PathBuf},
    time::Duration,
};

use mcp_loadtest_wire::torture::{Deed, strike};
use rusqlite::{
    Connection, OpenFlags, ToSql, TransactionBehavior, params_from_iter,
    types::{ToSqlOutput, ValueRef},
};

use super::{
    OpenSource, Opened, Place, Sink, Source, Store, StoreError, Visit,
    columns::{self, COLUMNS, Value},
    path_in, sql,
};
use crate::audit::{filter::Filter, row::Row};

pub(super) const ENTRY: Store = Store {
    name: "sqlite",
    form: "sqlite:PATH",
    about: "a database in a file, for any number of writers",
    is_file: true,
    place: |text| path_in(text, "sqlite", &[".db", ".sqlite", ".sqlite3"]),
    show: |place| format!("sqlite:{place}"),
    open: Some(open),
    read: |place| Ok(Box::new(Reader::open(place.as_ref())?)),
};

/// How long one waits for another to finish a batch.
const BUSY: Duration = Duration::from_secs(30);
/// Rows come by the hundred: larger pages than usual are fewer calls of the system.
const PAGE_SIZE: u32 = 16 << 10;
/// How many pages may wait in the write-ahead log. With few, the disk is waited for all the time.
const CHECKPOINT_PAGES: u32 = 2048;
const ID: &str = "INTEGER PRIMARY KEY";
const POSITION: &str = "instr";

fn open(place: &str) -> Result<Opened, StoreError> {
    let path = PathBuf::from(place);
    let failed = |error: rusqlite::Error| StoreError::failed("open", place, error);
    let mut connection = Connection::open(&path).map_err(failed)?;
    connection.busy_timeout(BUSY).map_err(failed)?;
    // Has no effect on a database that is there.
    connection.pragma_update(None, "page_size", PAGE_SIZE).map_err(failed)?;
    // In this mode a reader and a writer do not wait for each other, and a batch that was committed
    // outlives this process, though not always the machine.
    connection.pragma_update(None, "journal_mode", "wal").map_err(failed)?;
    connection.pragma_update(None, "synchronous", "normal").map_err(failed)?;
    connection.pragma_update(None, "wal_autocheckpoint", CHECKPOINT_PAGES).map_err(failed)?;
    let found = migrate(&mut connection).map_err(failed)?;
    check_version(found, place)?;
    let first_seq = reserve(&mut connection).map_err(failed)?;
    Ok(Opened {
        sink: Box::new(Writer {
            connection,
            place: place.to_owned(),
            next: first_seq,
            first: first_seq,
        }),
        first_seq: first_seq.cast_unsigned(),
        read: OpenSource::new(move || Ok(Box::new(Reader::open(&path)?))),
    })
}

/// Brings the tables to the latest schema; tells which one they have.
fn migrate(connection: &mut Connection) -> rusqlite::Result<i64> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(sql::CREATE_VERSION)?;
    let found = version(&transaction)?;
    let missing = sql::MIGRATIONS.get(usize::try_from(found).unwrap_or(usize::MAX)..);
    let Some(missing) = missing else { return Ok(found) };
    for step in missing {
        transaction.execute_batch(&step.replace("{id}", ID))?;
    }
    if !missing.is_empty() {
        transaction.execute("INSERT INTO audit_schema_version VALUES ($1)", [sql::LATEST])?;
    }
    transaction.commit()?;
    Ok(sql::LATEST)
}

fn version(connection: &Connection) -> rusqlite::Result<i64> {
    let version: Option<i64> = connection.query_row(sql::READ_VERSION, [], |row| row.get(0))?;
    Ok(version.unwrap_or_default())
}

fn check_version(found: i64, place: &str) -> Result<(), StoreError> {
    if found > sql::LATEST {
        return Err(StoreError::Newer { place: place.to_owned(), found, known: sql::LATEST });
    }
    Ok(())
}

/// Takes a range of numbers for the rows of this writer.
fn reserve(connection: &mut Connection) -> rusqlite::Result<i64> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let first = transaction.query_row("SELECT next FROM audit_sequence", [], |row| row.get(0))?;
    transaction.execute("UPDATE audit_sequence SET next = next + $1", [sql::RANGE])?;
    transaction.commit()?;
    Ok(first)
}

struct Writer {
    connection: Connection,
    place: String,
    first: i64,
    /// After the largest number that was written.
    next: i64,
}

impl Writer {
    fn insert(&mut self, rows: &[Box<Row>]) -> rusqlite::Result<()> {
        let transaction =
            self.connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        {
            let mut insert = transaction.prepare(&INSERT)?;
            for row in rows {
                // Half of the columns are empty in most rows, and empty is what is not bound.
                insert.clear_bindings();
                for (column, value) in (1..).zip(&columns::values(row)) {
                    if *value != Value::Null {
                        insert.raw_bind_parameter(column, value)?;
                    }
                }
                insert.raw_execute()?;
            }
        }
        strike(Deed::Store, &self.place)
            .map_err(|error| rusqlite::Error::ToSqlConversionFailure(error.into()))?;
        transaction.commit()
    }

    /// Gives back the numbers that were not used, unless somebody has taken later ones.
    fn give_back(&self) -> rusqlite::Result<()> {
        let give = "UPDATE audit_sequence SET next = $1 WHERE next = $2";
        self.connection.execute(give, [self.next, self.first + sql::RANGE])?;
        Ok(())
    }
}

static INSERT: std::sync::LazyLock<String> = std::sync::LazyLock::new(|| {
    let marks = vec!["?"; COLUMNS.len()].join(", ");
    format!("INSERT INTO audit ({}) VALUES ({marks})", sql::column_list())
});

impl Sink for Writer {
    fn append(&mut self, rows: &[Box<Row>]) -> Result<(), StoreError> {
        self.insert(rows).map_err(|error| StoreError::failed("write", &self.place, error))?;
        let last = rows.iter().map(|row| row.seq.cast_signed()).max().unwrap_or_default();
        self.next = self.next.max(last.saturating_add(1));
        Ok(())
    }

    fn finish(&mut self) -> Result<(), StoreError> {
        self.give_back().map_err(|error| StoreError::failed("write", &self.place, error))?;
        // A log that nobody writes is one plain file, which can be read where nothing can be written.
        // If another process has it open, that one will see to it.
        let _ = self.connection.busy_timeout(Duration::ZERO);
        let _ = self.connection.pragma_update(None, "journal_mode", "delete");
        Ok(())
    }
}

impl ToSql for Value<'_> {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(ToSqlOutput::Borrowed(match self {
            Self::Null => ValueRef::Null,
            Self::Int(value) => ValueRef::Integer(*value),
            Self::Bool(value) => ValueRef::Integer((*value).into()),
            Self::Text(text) => ValueRef::Text(text.as_bytes()),
        }))
    }
}

struct Reader {
    connection: Connection,
    place: String,
}

impl Reader {
    /// Opens a log that is there; nothing is made.
    fn open(path: &Path) -> Result<Self, StoreError> {
        if !path.exists() {
            return Err(StoreError::Missing(path.to_owned()));
        }
        let place = path.display().to_string();
        let failed = |error: rusqlite::Error| match error.sqlite_error_code() {
            Some(rusqlite::ErrorCode::NotADatabase) => {
                StoreError::NotALog { place: place.clone(), why: "it is no SQLite database".into() }
            }
            _ => StoreError::failed("open", &place, error),
        };
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(path, flags).map_err(failed)?;
        connection.busy_timeout(BUSY).map_err(failed)?;
        let has_table = connection.table_exists(None, "audit_schema_version").map_err(failed)?;
        if !has_table {
            return Err(StoreError::NotALog {
                place,
                why: "it has no table of an audit log".into(),
            });
        }
        check_version(version(&connection).map_err(failed)?, &place)?;
        Ok(Self { connection, place })
    }

    fn visit(&self, query: &sql::Query, visit: Visit<'_>) -> rusqlite::Result<()> {
        let mut statement = self.connection.prepare(&query.text)?;
        let mut found = statement.query(params_from_iter(query.parameters.iter()))?;
        while let Some(row) = found.next()? {
            if let ControlFlow::Break(()) = visit(read(row)?) {
                break;
            }
        }
        Ok(())
    }

    fn failed(&self, error: rusqlite::Error) -> StoreError {
        StoreError::failed("read", &self.place, error)
    }
}

fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<Row> {
    let mut values = [const { Value::Null }; COLUMNS.len()];
    for (at, value) in values.iter_mut().enumerate() {
        *value = match row.get_ref(at)? {
            ValueRef::Integer(value) => Value::Int(value),
            ValueRef::Text(text) => Value::Text(String::from_utf8_lossy(text)),
            ValueRef::Null | ValueRef::Real(_) | ValueRef::Blob(_) => Value::Null,
        };
    }
    Ok(columns::row(values))
}

impl Source for Reader {
    fn each(&mut self, filter: &Filter, visit: Visit<'_>) -> Result<(), StoreError> {
        self.visit(&sql::select(filter, POSITION), visit).map_err(|error| self.failed(error))
    }

    fn since(
        &mut self,
        place: Place,
        filter: &Filter,
        visit: Visit<'_>,
    ) -> Result<Place, StoreError> {
        let end = self.end()?;
        let (after, until) = (place.0.cast_signed(), end.0.cast_signed());
        let query = sql::select_between(after, until, filter, POSITION);
        self.visit(&query, visit).map_err(|error| self.failed(error))?;
        Ok(end)
    }

    fn end(&mut self) -> Result<Place, StoreError> {
        let end = self.connection.query_row("SELECT max(id) FROM audit", [], |row| row.get(0));
        let end: Option<i64> = end.map_err(|error| self.failed(error))?;
        Ok(Place(end.unwrap_or_default().cast_unsigned()))
    }
}
