//! A row as the columns of a table, the same in every SQL store.

use std::borrow::Cow;

use mcp_loadtest_core::{config::TransportName, mcp::Era};

use crate::audit::{
    headers::Headers,
    row::{Row, SentEvent},
    time::Timestamp,
    word::Word,
};

/// The columns in the order in which [`values`] gives them.
pub(super) const COLUMNS: [(&str, Type); 30] = [
    ("seq", Type::Int),
    ("ts", Type::Int),
    ("kind", Type::Text),
    ("transport", Type::Text),
    ("era", Type::Text),
    ("revision", Type::Text),
    ("session", Type::Text),
    ("rpc_id", Type::Text),
    ("method", Type::Text),
    ("tool", Type::Text),
    ("arguments", Type::Text),
    ("arguments_truncated", Type::Bool),
    ("http_verb", Type::Text),
    ("http_path", Type::Text),
    ("headers", Type::Text),
    ("http_status", Type::Int),
    ("error_code", Type::Int),
    ("error_message", Type::Text),
    ("error_category", Type::Text),
    ("success", Type::Bool),
    ("cancelled", Type::Bool),
    ("fault", Type::Text),
    ("attempt", Type::Int),
    ("bytes_in", Type::Int),
    ("bytes_out", Type::Int),
    ("duration_us", Type::Int),
    ("events", Type::Text),
    ("event_count", Type::Int),
    ("client", Type::Text),
    ("note", Type::Text),
];

/// What a column holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Type {
    Int,
    Bool,
    Text,
}

/// What stands in a column.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Value<'a> {
    Null,
    Int(i64),
    Bool(bool),
    Text(Cow<'a, str>),
}

/// The columns of a row.
pub(super) fn values(row: &Row) -> [Value<'_>; COLUMNS.len()] {
    [
        count(row.seq),
        Value::Int(row.ts.0),
        word(row.kind.as_str()),
        row.transport.map_or(Value::Null, |it| word(it.as_str())),
        row.era.map_or(Value::Null, |it| word(era_word(it))),
        text(row.revision.as_deref()),
        text(row.session.as_deref()),
        text(row.rpc_id.as_deref()),
        text(row.method.as_deref()),
        text(row.tool.as_deref()),
        text(row.arguments.as_deref()),
        Value::Bool(row.arguments_truncated),
        text(row.http_verb.as_deref()),
        text(row.http_path.as_deref()),
        text(Some(row.headers.as_str()).filter(|lines| !lines.is_empty())),
        row.http_status.map_or(Value::Null, |it| Value::Int(it.into())),
        row.error_code.map_or(Value::Null, Value::Int),
        text(row.error_message.as_deref()),
        text(row.error_category.as_deref()),
        Value::Bool(row.success),
        Value::Bool(row.cancelled),
        text(row.fault.as_deref()),
        Value::Int(row.attempt.into()),
        count(row.bytes_in),
        count(row.bytes_out),
        count(row.duration_us),
        events(&row.events),
        Value::Int(row.event_count.into()),
        text(row.client.as_deref()),
        text(row.note.as_deref()),
    ]
}

/// The row that has these columns.
pub(super) fn row(values: [Value<'_>; COLUMNS.len()]) -> Row {
    let [
        seq,
        ts,
        kind,
        transport,
        era,
        revision,
        session,
        rpc_id,
        method,
        tool,
        arguments,
        arguments_truncated,
        http_verb,
        http_path,
        headers,
        http_status,
        error_code,
        error_message,
        error_category,
        success,
        cancelled,
        fault,
        attempt,
        bytes_in,
        bytes_out,
        duration_us,
        events,
        event_count,
        client,
        note,
    ] = values;
    Row {
        seq: seq.count(),
        ts: Timestamp(ts.int().unwrap_or_default()),
        kind: kind.string().and_then(|it| it.parse().ok()).unwrap_or_default(),
        transport: transport
            .string()
            .and_then(|it| TransportName::ALL.into_iter().find(|name| name.as_str() == it)),
        era: era.string().and_then(|it| ERAS.into_iter().find(|era| era_word(*era) == it)),
        revision: revision.word(),
        session: session.string(),
        rpc_id: rpc_id.string(),
        method: method.word(),
        tool: tool.word(),
        arguments: arguments.string(),
        arguments_truncated: arguments_truncated.is_true(),
        http_verb: http_verb.word(),
        http_path: http_path.word(),
        headers: Headers::from_lines(headers.string().unwrap_or_default()),
        http_status: http_status.int().and_then(|it| it.try_into().ok()),
        error_code: error_code.int(),
        error_message: error_message.string(),
        error_category: error_category.word(),
        success: success.is_true(),
        cancelled: cancelled.is_true(),
        fault: fault.string(),
        attempt: attempt.small(),
        bytes_in: bytes_in.count(),
        bytes_out: bytes_out.count(),
        duration_us: duration_us.count(),
        events: events.string().and_then(|it| serde_json::from_str(&it).ok()).unwrap_or_default(),
        event_count: event_count.small(),
        client: client.string(),
        note: note.string(),
    }
}

const ERAS: [Era; 2] = [Era::Legacy, Era::Modern];

const fn era_word(era: Era) -> &'static str {
    match era {
        Era::Legacy => "legacy",
        Era::Modern => "modern",
    }
}

fn word(word: &'static str) -> Value<'static> {
    Value::Text(Cow::Borrowed(word))
}

fn text(text: Option<&str>) -> Value<'_> {
    text.map_or(Value::Null, |text| Value::Text(Cow::Borrowed(text)))
}

/// SQL has no unsigned numbers; nothing that is counted here comes near the difference.
fn count(count: u64) -> Value<'static> {
    Value::Int(i64::try_from(count).unwrap_or(i64::MAX))
}

fn events(events: &[SentEvent]) -> Value<'static> {
    if events.is_empty() {
        return Value::Null;
    }
    serde_json::to_string(events).map_or(Value::Null, |text| Value::Text(Cow::Owned(text)))
}

impl Value<'_> {
    fn int(&self) -> Option<i64> {
        match self {
            Self::Int(value) => Some(*value),
            _ => None,
        }
    }

    fn count(&self) -> u64 {
        self.int().and_then(|value| value.try_into().ok()).unwrap_or_default()
    }

    fn small(&self) -> u32 {
        self.int().and_then(|value| value.try_into().ok()).unwrap_or_default()
    }

    /// SQLite keeps truth as a number.
    fn is_true(&self) -> bool {
        match self {
            Self::Bool(value) => *value,
            Self::Int(value) => *value != 0,
            Self::Null | Self::Text(_) => false,
        }
    }

    fn string(self) -> Option<String> {
        match self {
            Self::Text(text) => Some(text.into_owned()),
            _ => None,
        }
    }

    fn word(self) -> Option<Word> {
        self.string().map(Cow::Owned)
    }
}
