//! `postgres://…`: a database that a team shares. Several processes may write it and read it at a
//! time. The connection is not encrypted.

use std::ops::ControlFlow;

use futures_util::{SinkExt as _, StreamExt as _};
use tokio_postgres::{Error, types::ToSql};

use super::{
    OpenSource, Opened, Place, Sink, Source, Store, StoreError, Visit,
    columns::{self, COLUMNS, Type, Value},
    sql,
};
use crate::audit::{filter::Filter, row::Row};

mod copy;
mod session;

use session::{Session, block_on};

pub(super) const ENTRY: Store = Store {
    name: "postgres",
    form: "postgres://USER@HOST/DATABASE",
    about: "a PostgreSQL database, for any number of writers",
    is_file: false,
    place: |text| SCHEMES.iter().any(|scheme| text.starts_with(scheme)).then_some(text),
    show,
    open: Some(open),
    read: |url| Ok(Box::new(Reader::open(url)?)),
};

const SCHEMES: [&str; 2] = ["postgres://", "postgresql://"];
const ID: &str = "BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY";
const POSITION: &str = "strpos";
/// Held while rows or tables are written, so that rows become visible in the order of their ids. The
/// number is ours: `audit` in ASCII.
const LOCK: &str = "SELECT pg_advisory_xact_lock(418581342580)";

/// The address with its password masked.
fn show(url: &str) -> String {
    let (rest, query) = url.split_once('?').unwrap_or((url, ""));
    let mut shown = match rest
        .split_once("://")
        .and_then(|(scheme, rest)| Some((scheme, rest.rsplit_once('@')?)))
    {
        Some((scheme, (user, host))) => {
            let (name, password) = user.split_once(':').unwrap_or((user, ""));
            let mask = if password.is_empty() { "" } else { ":***" };
            format!("{scheme}://{name}{mask}@{host}")
        }
        None => rest.to_owned(),
    };
    let pairs = query.split('&').filter(|pair| !pair.is_empty());
    for (at, pair) in pairs.enumerate() {
        shown.push(if at == 0 { '?' } else { '&' });
        shown.push_str(if pair.starts_with("password=") { "password=***" } else { pair });
    }
    shown
}

fn open(url: &str) -> Result<Opened, StoreError> {
    let session = Session::connect(url)?;
    let failed = |error: Error| session::failed("open", url, &error);
    let found = block_on(migrate(&session)).map_err(failed)?;
    check_version(found, url)?;
    let first_seq = block_on(reserve(&session)).map_err(failed)?;
    let read_url = url.to_owned();
    Ok(Opened {
        sink: Box::new(Writer { session, url: url.to_owned(), next: first_seq, first: first_seq }),
        first_seq: first_seq.cast_unsigned(),
        read: OpenSource::new(move || Ok(Box::new(Reader::open(&read_url)?))),
    })
}

/// Brings the tables to the latest schema; tells which one they have.
async fn migrate(session: &Session) -> Result<i64, Error> {
    session.batch_execute("BEGIN").await?;
    session.batch_execute(LOCK).await?;
    session.batch_execute(sql::CREATE_VERSION).await?;
    let found = version(session).await?;
    let missing = sql::MIGRATIONS.get(usize::try_from(found).unwrap_or(usize::MAX)..);
    for step in missing.unwrap_or_default() {
        session.batch_execute(&step.replace("{id}", ID)).await?;
    }
    if found < sql::LATEST {
        let insert = "INSERT INTO audit_schema_version VALUES ($1)";
        session.execute(insert, &[&sql::LATEST]).await?;
    }
    session.batch_execute("COMMIT").await?;
    Ok(found.max(sql::LATEST))
}

async fn version(session: &Session) -> Result<i64, Error> {
    let row = session.query_one(sql::READ_VERSION, &[]).await?;
    Ok(row.try_get::<_, Option<i64>>(0)?.unwrap_or_default())
}

fn check_version(found: i64, url: &str) -> Result<(), StoreError> {
    if found > sql::LATEST {
        return Err(StoreError::Newer { place: show(url), found, known: sql::LATEST });
    }
    Ok(())
}

/// Takes a range of numbers for the rows of this writer.
async fn reserve(session: &Session) -> Result<i64, Error> {
    let take = "UPDATE audit_sequence SET next = next + $1 RETURNING next - $1";
    session.query_one(take, &[&sql::RANGE]).await?.try_get(0)
}

struct Writer {
    session: Session,
    url: String,
    first: i64,
    /// After the largest number that was written.
    next: i64,
}

async fn insert(session: &Session, rows: &[Box<Row>]) -> Result<(), Error> {
    session.batch_execute("BEGIN").await?;
    session.batch_execute(LOCK).await?;
    let statement = format!("COPY audit ({}) FROM STDIN BINARY", sql::column_list());
    let mut sink = std::pin::pin!(session.copy_in(&statement).await?);
    sink.send(copy::encode(rows)).await?;
    sink.as_mut().finish().await?;
    session.batch_execute("COMMIT").await
}

impl Sink for Writer {
    fn append(&mut self, rows: &[Box<Row>]) -> Result<(), StoreError> {
        block_on(insert(&self.session, rows))
            .map_err(|error| session::failed("write", &self.url, &error))?;
        let last = rows.iter().map(|row| row.seq.cast_signed()).max().unwrap_or_default();
        self.next = self.next.max(last.saturating_add(1));
        Ok(())
    }

    /// Gives back the numbers that were not used, unless somebody has taken later ones.
    fn finish(&mut self) -> Result<(), StoreError> {
        let give = "UPDATE audit_sequence SET next = $1 WHERE next = $2";
        let end = self.first + sql::RANGE;
        let given = block_on(self.session.execute(give, &[&self.next, &end]));
        given.map(|_| ()).map_err(|error| session::failed("write", &self.url, &error))
    }
}

struct Reader {
    session: Session,
    url: String,
}

impl Reader {
    /// Opens a log that is there; nothing is made.
    fn open(url: &str) -> Result<Self, StoreError> {
        let session = Session::connect(url)?;
        let failed = |error: Error| session::failed("open", url, &error);
        let find = "SELECT to_regclass('audit_schema_version') IS NOT NULL";
        let row = block_on(session.query_one(find, &[])).map_err(failed)?;
        if !row.try_get::<_, bool>(0).map_err(failed)? {
            let why = "it has no table of an audit log".into();
            return Err(StoreError::NotALog { place: show(url), why });
        }
        check_version(block_on(version(&session)).map_err(failed)?, url)?;
        Ok(Self { session, url: url.to_owned() })
    }

    async fn visit(&self, query: &sql::Query, visit: Visit<'_>) -> Result<(), Error> {
        let parameters = query.parameters.iter().map(parameter);
        let found = self.session.query_raw(&query.text, parameters).await?;
        let mut found = std::pin::pin!(found);
        while let Some(row) = found.next().await {
            if let ControlFlow::Break(()) = visit(read(&row?)?) {
                break;
            }
        }
        Ok(())
    }

    fn failed(&self, error: &Error) -> StoreError {
        session::failed("read", &self.url, error)
    }
}

fn parameter(value: &Value<'static>) -> Box<dyn ToSql + Sync + Send> {
    match value {
        Value::Null => Box::new(None::<String>),
        Value::Int(value) => Box::new(*value),
        Value::Bool(value) => Box::new(*value),
        Value::Text(text) => Box::new(text.clone().into_owned()),
    }
}

fn read(row: &tokio_postgres::Row) -> Result<Row, Error> {
    let mut values = [const { Value::Null }; COLUMNS.len()];
    for (at, (value, (_, kind))) in values.iter_mut().zip(COLUMNS).enumerate() {
        *value = match kind {
            Type::Int => row.try_get::<_, Option<i64>>(at)?.map_or(Value::Null, Value::Int),
            Type::Bool => row.try_get::<_, Option<bool>>(at)?.map_or(Value::Null, Value::Bool),
            Type::Text => row
                .try_get::<_, Option<String>>(at)?
                .map_or(Value::Null, |text| Value::Text(text.into())),
        };
    }
    Ok(columns::row(values))
}

impl Source for Reader {
    fn each(&mut self, filter: &Filter, visit: Visit<'_>) -> Result<(), StoreError> {
        let query = sql::select(filter, POSITION);
        block_on(self.visit(&query, visit)).map_err(|error| self.failed(&error))
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
        block_on(self.visit(&query, visit)).map_err(|error| self.failed(&error))?;
        Ok(end)
    }

    fn end(&mut self) -> Result<Place, StoreError> {
        let row = block_on(self.session.query_one("SELECT max(id) FROM audit", &[]));
        let end = row.and_then(|row| row.try_get::<_, Option<i64>>(0));
        let end = end.map_err(|error| self.failed(&error))?;
        Ok(Place(end.unwrap_or_default().cast_unsigned()))
    }
}
