//! Rows in the binary form of `COPY`: one message for a whole batch.
//!
//! A signature, then for each row the number of its fields and each field with its length before it,
//! then -1. See the chapter on COPY in the manual of PostgreSQL.

use std::io::Cursor;

use super::super::columns::{self, COLUMNS, Value};
use crate::audit::row::Row;

const SIGNATURE: &[u8] = b"PGCOPY\n\xff\r\n\0";
const NULL: i32 = -1;

pub(super) fn encode(rows: &[Box<Row>]) -> Cursor<Vec<u8>> {
    let mut out = SIGNATURE.to_vec();
    // No flags, no further header.
    out.extend_from_slice(&[0; 8]);
    for row in rows {
        out.extend_from_slice(&(COLUMNS.len() as i16).to_be_bytes());
        columns::values(row).iter().for_each(|value| field(&mut out, value));
    }
    out.extend_from_slice(&(-1_i16).to_be_bytes());
    Cursor::new(out)
}

fn field(out: &mut Vec<u8>, value: &Value<'_>) {
    match value {
        Value::Null => out.extend_from_slice(&NULL.to_be_bytes()),
        Value::Int(value) => sized(out, &value.to_be_bytes()),
        Value::Bool(value) => sized(out, &[u8::from(*value)]),
        // A text of PostgreSQL cannot have a NUL in it, and a client that sends one must not be able
        // to end the log.
        Value::Text(text) if text.contains('\0') => {
            sized(out, text.replace('\0', "\u{fffd}").as_bytes());
        }
        Value::Text(text) => sized(out, text.as_bytes()),
    }
}

fn sized(out: &mut Vec<u8>, bytes: &[u8]) {
    // A row is bounded far below this; what is not would be refused by the server.
    let length = i32::try_from(bytes.len()).unwrap_or(i32::MAX);
    out.extend_from_slice(&length.to_be_bytes());
    out.extend_from_slice(bytes);
}
