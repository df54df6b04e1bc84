//! What the SQL stores share: their tables, and a filter as SQL.
//!
//! Both number their parameters as `$1`. The tables have no indexes: they would cost more to keep
//! than all the rest of a row, and a log is read by scanning it.

use std::fmt::Write as _;

use super::columns::{COLUMNS, Value};
use crate::audit::filter::{Filter, Keep};

/// One step each from a schema to the next; the number of a schema is how many have been taken.
/// `{id}` is the type of a number that counts rows in the order in which they are recorded.
///
/// What has been published never changes: a change is a further step.
pub(super) const MIGRATIONS: &[&str] = &["
    CREATE TABLE audit (
        id {id},
        seq BIGINT NOT NULL,
        ts BIGINT NOT NULL,
        kind TEXT NOT NULL,
        transport TEXT,
        era TEXT,
        revision TEXT,
        session TEXT,
        rpc_id TEXT,
        method TEXT,
        tool TEXT,
        arguments TEXT,
        arguments_truncated BOOLEAN NOT NULL,
        http_verb TEXT,
        http_path TEXT,
        headers TEXT,
        http_status BIGINT,
        error_code BIGINT,
        error_message TEXT,
        error_category TEXT,
        success BOOLEAN NOT NULL,
        cancelled BOOLEAN NOT NULL,
        fault TEXT,
        attempt BIGINT NOT NULL,
        bytes_in BIGINT NOT NULL,
        bytes_out BIGINT NOT NULL,
        duration_us BIGINT NOT NULL,
        events TEXT,
        event_count BIGINT NOT NULL,
        client TEXT,
        note TEXT
    );
    CREATE TABLE audit_sequence (next BIGINT NOT NULL);
    INSERT INTO audit_sequence VALUES (1);
"];

/// The table with the number of the schema.
pub(super) const CREATE_VERSION: &str = "
    CREATE TABLE IF NOT EXISTS audit_schema_version (version BIGINT NOT NULL)";
pub(super) const READ_VERSION: &str = "SELECT max(version) FROM audit_schema_version";

/// The latest schema.
pub(super) const LATEST: i64 = MIGRATIONS.len() as i64;

/// How many numbers a writer takes for its rows when it opens a log. Several may write at a time, as
/// the servers of a test with many sessions over stdio do: each numbers its rows from a range of its
/// own, and gives back what it has not used if nobody came after it.
pub(super) const RANGE: i64 = 1_000_000_000_000;

/// A condition, and what its parameters stand for.
#[derive(Debug)]
pub(super) struct Query {
    pub(super) text: String,
    pub(super) parameters: Vec<Value<'static>>,
}

/// Rows in the order of arrival. `position` is the function that finds a text in another.
pub(super) fn select(filter: &Filter, position: &str) -> Query {
    let mut query = Query { text: String::new(), parameters: Vec::new() };
    let (columns, order) = match filter.keep {
        Keep::First => (column_list(), "ASC"),
        // The last ones are found from the end and then turned round.
        Keep::Last => (column_list() + ", id", "DESC"),
    };
    query.push(&format!("SELECT {columns} FROM audit"));
    query.push_conditions(filter, position);
    query.push(&format!(" ORDER BY seq {order}, id {order}"));
    if let Some(limit) = filter.limit {
        query.push(" LIMIT ");
        query.push_parameter(Value::Int(limit.try_into().unwrap_or(i64::MAX)));
    }
    if filter.keep == Keep::Last {
        query.text =
            format!("SELECT {} FROM ({}) AS latest ORDER BY seq, id", column_list(), query.text);
    }
    query
}

/// Rows that were recorded after one place and up to another, in that order.
pub(super) fn select_between(after: i64, end: i64, filter: &Filter, position: &str) -> Query {
    let mut query = Query { text: String::new(), parameters: Vec::new() };
    query.push(&format!("SELECT {} FROM audit", column_list()));
    query.push_conditions(filter, position);
    query.condition("id > ", Value::Int(after));
    query.condition("id <= ", Value::Int(end));
    query.push(" ORDER BY id");
    query
}

/// The names of all columns.
pub(super) fn column_list() -> String {
    COLUMNS.map(|(name, _)| name).join(", ")
}

impl Query {
    fn push(&mut self, text: &str) {
        self.text.push_str(text);
    }

    fn push_parameter(&mut self, value: Value<'static>) {
        self.parameters.push(value);
        let _ = write!(self.text, "${}", self.parameters.len());
    }

    fn condition(&mut self, text: &str, value: Value<'static>) {
        self.push(if self.text.contains(" WHERE ") { " AND " } else { " WHERE " });
        self.push(text);
        self.push_parameter(value);
    }

    fn push_conditions(&mut self, filter: &Filter, position: &str) {
        let text = |text: &String| Value::Text(text.clone().into());
        let numbers = [
            ("ts >= ", filter.from.map(|from| from.0)),
            ("ts < ", filter.to.map(|to| to.0)),
            ("seq > ", filter.after.map(|after| after.try_into().unwrap_or(i64::MAX))),
        ];
        for (condition, value) in numbers {
            value.into_iter().for_each(|value| self.condition(condition, Value::Int(value)));
        }
        let kind = filter.kind.map(|kind| kind.as_str().to_owned());
        let words = [
            ("tool = ", &filter.tool),
            ("method = ", &filter.method),
            ("session = ", &filter.session),
            ("error_category = ", &filter.category),
            ("kind = ", &kind),
        ];
        for (condition, value) in words {
            value.iter().for_each(|value| self.condition(condition, text(value)));
        }
        if let Some(success) = filter.success {
            self.condition("success = ", Value::Bool(success));
        }
        if let Some(q) = &filter.q {
            // The same text twice, because SQLite gives `$1` the number of its first use.
            self.condition(&format!("({position}(coalesce(arguments, ''), "), text(q));
            self.push(&format!(") > 0 OR {position}(coalesce(error_message, ''), "));
            self.push_parameter(text(q));
            self.push(") > 0)");
        }
    }
}
