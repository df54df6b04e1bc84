//! Rows of data for calls: CSV and JSONL, read strictly. The caller reads the file.

use std::{borrow::Cow, collections::BTreeMap, path::Path};

use serde_json::{Value, value::RawValue};
use thiserror::Error;

use super::{
    cells::Cells,
    placeholder::{Cast, Fault, RowHole, escaped},
    template::Form,
};
use crate::{
    display::visible,
    hint::{Hint, nearest},
};

/// The longest text that is read, in bytes. Look at the size of a file before reading it.
pub const MOST_TEXT: usize = 256 << 20;
/// The most rows that are read.
pub const MOST_ROWS: usize = 1_000_000;
/// How much of a cell an error repeats.
const SHOWN: usize = 40;

/// How rows are written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FileKind {
    /// RFC 4180, with a header.
    Csv,
    /// One JSON object a line.
    Jsonl,
}

impl FileKind {
    /// What a file's name says of it: `.csv`, or `.jsonl` and `.ndjson`.
    pub fn of(path: &Path) -> Option<Self> {
        let ending = path.extension()?.to_str()?.to_ascii_lowercase();
        match ending.as_str() {
            "csv" => Some(Self::Csv),
            "jsonl" | "ndjson" => Some(Self::Jsonl),
            _ => None,
        }
    }
}

/// Rows that cannot be used. Shown as `line 7: 3 cells, and the header has 4`.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("{}{message}", line.map(|line| format!("line {line}: ")).unwrap_or_default())]
pub struct RowsError {
    /// The line in the file, from 1; absent when it is about the whole.
    pub line: Option<u64>,
    /// What is wrong.
    pub message: String,
    /// What to try.
    pub hint: Option<String>,
}

impl RowsError {
    pub(super) fn at(line: u64, message: impl Into<String>) -> Self {
        Self { line: Some(line), message: message.into(), hint: None }
    }

    pub(super) fn whole(message: impl Into<String>) -> Self {
        Self { line: None, message: message.into(), hint: None }
    }

    pub(super) fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }
}

impl Hint for RowsError {
    fn hint(&self) -> Option<String> {
        self.hint.clone()
    }
}

/// What a file of rows holds; at least one row.
#[derive(Debug, Clone, PartialEq)]
pub struct Rows {
    pub(super) data: Data,
    /// The line that each row begins in.
    lines: Vec<u32>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum Data {
    /// Row after row, each with a cell for every column.
    Csv { columns: Vec<String>, cells: Cells },
    /// Each row as the text of its object.
    Jsonl(Cells),
}

impl Rows {
    /// Reads the text of a file.
    ///
    /// ```
    /// use mcp_loadtest_core::arguments::{FileKind, Rows};
    ///
    /// let rows = Rows::read(FileKind::Csv, "city,zip\nParis,75001\nBonn,53111\n").unwrap();
    /// assert_eq!(rows.count(), 2);
    /// let error = Rows::read(FileKind::Csv, "city,zip\nParis\n").unwrap_err();
    /// assert_eq!(error.to_string(), "line 2: 1 cell, and the header has 2");
    /// ```
    pub fn read(kind: FileKind, text: &str) -> Result<Self, RowsError> {
        if text.len() > MOST_TEXT {
            let mib = MOST_TEXT >> 20;
            return Err(RowsError::whole(format!("the file is larger than {mib} MiB")));
        }
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let rows = match kind {
            FileKind::Csv => csv_rows(text)?,
            FileKind::Jsonl => jsonl_rows(text)?,
        };
        if rows.lines.is_empty() {
            return Err(RowsError::whole("the file has no rows"));
        }
        Ok(rows)
    }

    /// How many rows there are.
    pub fn count(&self) -> usize {
        self.lines.len()
    }

    /// The line that a row begins in.
    pub(super) fn line(&self, row: usize) -> u64 {
        u64::from(self.lines[row])
    }

    /// What to say of a column that no row can have.
    pub(super) fn lacks(&self, column: &str) -> Option<Fault> {
        let Data::Csv { columns, .. } = &self.data else { return None };
        if columns.iter().any(|known| known == column) {
            return None;
        }
        let fault = Fault::new(format!("the file has no column `{}`", visible(column, SHOWN)));
        let known = columns.iter().map(String::as_str);
        Some(match nearest(column, known.clone()) {
            Some(near) => fault.with_hint(format!("did you mean `{{{{row.{near}}}}}`?")),
            None => fault.with_hint(format!("it has {}", known.collect::<Vec<_>>().join(", "))),
        })
    }

    /// The cells of these columns as a template writes them. Each row is read once.
    pub(super) fn columns(&self, wanted: &[(&RowHole, Form)]) -> Result<Vec<Cells>, RowsError> {
        let mut out = vec![Cells::default(); wanted.len()];
        for row in 0..self.count() {
            let members = self.members(row);
            for (cells, (hole, form)) in out.iter_mut().zip(wanted) {
                let name = visible(&hole.column, SHOWN);
                let cell = members.get(hole.column.as_str()).ok_or_else(|| {
                    let error = RowsError::at(self.line(row), format!("has no `{name}`"));
                    match nearest(&hole.column, members.keys().map(AsRef::as_ref)) {
                        Some(near) => error.with_hint(format!("did you mean `{near}`?")),
                        None => error,
                    }
                })?;
                let written = write_cell(cell, hole.cast, *form)
                    .map_err(|why| RowsError::at(self.line(row), format!("`{name}` {why}")))?;
                cells.push(written.as_bytes());
            }
        }
        Ok(out.into_iter().map(Cells::shrunk).collect())
    }

    /// The cells of a row by their names.
    fn members(&self, row: usize) -> BTreeMap<Cow<'_, str>, Cell<'_>> {
        match &self.data {
            Data::Csv { columns, cells } => {
                let cell =
                    |column| String::from_utf8_lossy(cells.get(row * columns.len() + column));
                let named = columns.iter().enumerate();
                named.map(|(at, name)| (name.as_str().into(), Cell::Text(cell(at)))).collect()
            }
            Data::Jsonl(objects) => {
                let members: BTreeMap<String, &RawValue> =
                    serde_json::from_slice(objects.get(row)).unwrap_or_default();
                let read = |value: &'_ RawValue| match serde_json::from_str::<String>(value.get()) {
                    Ok(text) => Cell::Text(text.into()),
                    Err(_) => Cell::Json(value.get().to_owned()),
                };
                members.into_iter().map(|(name, value)| (name.into(), read(value))).collect()
            }
        }
    }
}

/// A cell: text, or JSON that is something else than text.
enum Cell<'r> {
    Text(Cow<'r, str>),
    Json(String),
}

impl Cell<'_> {
    fn content(&self) -> &str {
        match self {
            Self::Text(text) => text,
            Self::Json(json) => json,
        }
    }
}

/// A cell as it stands in the arguments, or what is wrong with it.
fn write_cell(cell: &Cell<'_>, cast: Cast, form: Form) -> Result<String, String> {
    let content = cell.content();
    let content = if cast == Cast::AsIs { content } else { content.trim() };
    let said = || visible(content, SHOWN);
    let bare = match cast {
        Cast::AsIs => matches!(cell, Cell::Json(_)),
        Cast::Number if is_number(content) => true,
        Cast::Number => return Err(format!("is `{}`, which is not a number", said())),
        Cast::Json => serde_json::from_str::<Value>(content)
            .map(|_| true)
            .map_err(|error| format!("is `{}`, which is not JSON: {error}", said()))?,
    };
    Ok(match form {
        Form::Value if bare => one_line(content),
        Form::Value => Value::from(content).to_string(),
        Form::Text => {
            String::from_utf8(escaped(content).into()).expect("escaping keeps text what it is")
        }
    })
}

fn is_number(text: &str) -> bool {
    matches!(serde_json::from_str(text), Ok(Value::Number(_)))
}

/// Over stdio a frame is one line, so JSON with line ends between its parts is written anew.
fn one_line(json: &str) -> String {
    if !json.contains(['\n', '\r']) {
        return json.to_owned();
    }
    serde_json::from_str::<Value>(json).map_or_else(|_| json.to_owned(), |value| value.to_string())
}

fn csv_rows(text: &str) -> Result<Rows, RowsError> {
    let mut reader = csv::ReaderBuilder::new().flexible(true).from_reader(text.as_bytes());
    let columns: Vec<String> =
        reader.headers().map_err(csv_error)?.iter().map(|name| name.trim().to_owned()).collect();
    check_header(&columns)?;
    let mut cells = Cells::default();
    let mut lines = Vec::new();
    let mut record = csv::StringRecord::new();
    let mut begin = 0;
    while reader.read_record(&mut record).map_err(csv_error)? {
        let position = record.position().map_or((0, 0), |at| (at.byte() as usize, at.line()));
        check_quotes(&text.as_bytes()[begin..position.0], lines.last().map_or(1, |line| *line))?;
        begin = position.0;
        check_row(&record, columns.len(), position.1, lines.len())?;
        record.iter().for_each(|cell| cells.push(cell.as_bytes()));
        lines.push(u32::try_from(position.1).unwrap_or(u32::MAX));
    }
    check_quotes(&text.as_bytes()[begin..], lines.last().map_or(1, |line| *line))?;
    Ok(Rows { data: Data::Csv { columns, cells: cells.shrunk() }, lines })
}

fn csv_error(error: csv::Error) -> RowsError {
    let line = error.position().map(csv::Position::line);
    RowsError { line, message: format!("not CSV: {error}"), hint: None }
}

fn check_header(columns: &[String]) -> Result<(), RowsError> {
    for (index, name) in columns.iter().enumerate() {
        if name.is_empty() {
            let error = RowsError::at(1, format!("column {} has no name", index + 1));
            return Err(error.with_hint("the first line names the columns"));
        }
        if columns[..index].contains(name) {
            let twice = format!("two columns are named `{}`", visible(name, SHOWN));
            return Err(RowsError::at(1, twice));
        }
    }
    Ok(())
}

fn check_row(
    record: &csv::StringRecord,
    width: usize,
    line: u64,
    before: usize,
) -> Result<(), RowsError> {
    if before >= MOST_ROWS {
        return Err(RowsError::at(line, format!("there are more than {MOST_ROWS} rows")));
    }
    if record.len() == width {
        return Ok(());
    }
    let cells = if record.len() == 1 { "cell" } else { "cells" };
    let error =
        RowsError::at(line, format!("{} {cells}, and the header has {width}", record.len()));
    Err(error.with_hint("a cell that holds a comma or a line end stands in quotes"))
}

/// The reader forgives a quote that is never closed, and takes the rest of the file for one cell.
fn check_quotes(record: &[u8], line: u32) -> Result<(), RowsError> {
    if memchr::memchr_iter(b'"', record).count().is_multiple_of(2) {
        return Ok(());
    }
    let error = RowsError::at(u64::from(line), "a quote is never closed");
    Err(error
        .with_hint("a cell that holds a quote stands in quotes, and the quote twice: `\"5\"\"\"`"))
}

fn jsonl_rows(text: &str) -> Result<Rows, RowsError> {
    let mut objects = Cells::default();
    let mut lines = Vec::new();
    for (line, object) in (1_u64..).zip(text.split('\n')) {
        let object = object.trim();
        if object.is_empty() {
            continue;
        }
        if lines.len() >= MOST_ROWS {
            return Err(RowsError::at(line, format!("there are more than {MOST_ROWS} rows")));
        }
        match serde_json::from_str::<Value>(object) {
            Ok(Value::Object(_)) => objects.push(one_line(object).as_bytes()),
            Ok(_) => return Err(RowsError::at(line, "not a JSON object")),
            Err(error) => return Err(json_error(line, &error)),
        }
        lines.push(u32::try_from(line).unwrap_or(u32::MAX));
    }
    Ok(Rows { data: Data::Jsonl(objects.shrunk()), lines })
}

/// The line is ours to tell; the reader saw only one.
fn json_error(line: u64, error: &serde_json::Error) -> RowsError {
    let message = error.to_string();
    let what = message.split(" at line ").next().unwrap_or_default();
    let error = RowsError::at(line, format!("not JSON: {what} (column {})", error.column()));
    error.with_hint("each line holds one whole JSON object")
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn csv(text: &str) -> Vec<Vec<String>> {
        let rows = Rows::read(FileKind::Csv, text).unwrap();
        let Data::Csv { columns, cells } = &rows.data else { unreachable!() };
        let cell = |index| String::from_utf8(cells.get(index).to_vec()).unwrap();
        let width = columns.len();
        let row = |row| (row * width..(row + 1) * width).map(cell).collect();
        [columns.clone()].into_iter().chain((0..rows.count()).map(row)).collect()
    }

    #[test]
    fn csv_is_read_as_rfc_4180_says() {
        for (text, expected) in [
            ("a,b\n1,2\n", vec![vec!["a", "b"], vec!["1", "2"]]),
            ("\u{feff}a,b\r\n1,2", vec![vec!["a", "b"], vec!["1", "2"]]),
            ("a\n\"x,\ny\"\"z\"\n", vec![vec!["a"], vec!["x,\ny\"z"]]),
            ("a,b\n,\n\n\"\", \n", vec![vec!["a", "b"], vec!["", ""], vec!["", " "]]),
            (" a , b\nü,007\n", vec![vec!["a", "b"], vec!["ü", "007"]]),
        ] {
            assert_eq!(csv(text), expected, "{text:?}");
        }
    }

    #[test]
    fn what_cannot_be_used_is_told_with_its_line() {
        use FileKind::{Csv, Jsonl};
        for (kind, text, message) in [
            (Csv, "", "the file has no rows"),
            (Csv, "a,b\n", "the file has no rows"),
            (Csv, "a,b\n1,2\n3\n", "line 3: 1 cell, and the header has 2"),
            (Csv, "a,b\n\"1\n\",2\n3,4,5\n", "line 4: 3 cells, and the header has 2"),
            (Csv, "a,b,a\n1,2,3\n", "line 1: two columns are named `a`"),
            (Csv, "a,,b\n1,2,3\n", "line 1: column 2 has no name"),
            (Csv, "a\n1\n\"2\n3\n", "line 3: a quote is never closed"),
            (Csv, "a\n5\" disk\n2\n", "line 2: a quote is never closed"),
            (Csv, "\"a\n1\n", "line 1: a quote is never closed"),
            (Jsonl, "\n \n", "the file has no rows"),
            (Jsonl, "{\"a\":1}\n\n[1]\n", "line 3: not a JSON object"),
            (Jsonl, "{\"a\":1}\r\n{\"a\":}\r\n", "line 2: not JSON: expected value (column 6)"),
            (Jsonl, "{\"a\":\n1}", "line 1: not JSON: EOF while parsing a value (column 5)"),
            (Jsonl, "{} {}", "line 1: not JSON: trailing characters (column 4)"),
        ] {
            let error = Rows::read(kind, text).unwrap_err();
            assert_eq!(error.to_string(), message, "{text:?}");
        }
    }

    #[test]
    fn too_much_is_refused() {
        let long = "x".repeat(MOST_TEXT + 1);
        let error = Rows::read(FileKind::Jsonl, &long).unwrap_err();
        assert_eq!(error.to_string(), "the file is larger than 256 MiB");
        let error = Rows::read(FileKind::Jsonl, &long[1..]).unwrap_err();
        assert_eq!(error.to_string(), "line 1: not JSON: expected value (column 1)", "it is read");
        let many = "a\n".repeat(MOST_ROWS + 2);
        let error = Rows::read(FileKind::Csv, &many).unwrap_err();
        assert_eq!(error.to_string(), "line 1000002: there are more than 1000000 rows");
        let many = "{}\n".repeat(MOST_ROWS + 1);
        let error = Rows::read(FileKind::Jsonl, &many).unwrap_err();
        assert_eq!(error.to_string(), "line 1000001: there are more than 1000000 rows");
    }

    #[test]
    fn cells_are_read_as_the_placeholder_says() {
        use Cast::{AsIs, Json, Number};
        let text = |text: &'static str| Cell::Text(text.into());
        let json = |text: &str| Cell::Json(text.into());
        for (cell, cast, value, inside) in [
            (text("7\n\""), AsIs, r#""7\n\"""#, r#"7\n\""#),
            (text(" 7.50 "), Number, "7.50", "7.50"),
            (text("[1,\n2]"), Json, "[1,2]", r"[1,\n2]"),
            (text("\"q\""), Json, "\"q\"", "\\\"q\\\""),
            (json("{\"a\": 1}"), AsIs, "{\"a\": 1}", r#"{\"a\": 1}"#),
            (
                json("12345678901234567890123"),
                Number,
                "12345678901234567890123",
                "12345678901234567890123",
            ),
            (json("null"), Json, "null", "null"),
        ] {
            assert_eq!(write_cell(&cell, cast, Form::Value).as_deref(), Ok(value));
            assert_eq!(write_cell(&cell, cast, Form::Text).as_deref(), Ok(inside));
        }
        for (cell, cast, message) in [
            (text("007"), Number, "is `007`, which is not a number"),
            (text(""), Number, "is ``, which is not a number"),
            (json("true"), Number, "is `true`, which is not a number"),
            (
                text("{a}"),
                Json,
                "is `{a}`, which is not JSON: key must be a string at line 1 column 2",
            ),
        ] {
            assert_eq!(write_cell(&cell, cast, Form::Value), Err(message.to_owned()));
        }
    }

    #[test]
    fn columns_that_are_missing_are_told() {
        let rows = Rows::read(FileKind::Csv, "city,zip\nBonn,53111\n").unwrap();
        assert_eq!(rows.lacks("city"), None);
        let fault = rows.lacks("citty").unwrap();
        assert_eq!(fault.message, "the file has no column `citty`");
        assert_eq!(fault.hint.unwrap(), "did you mean `{{row.city}}`?");
        assert_eq!(rows.lacks("country").unwrap().hint.unwrap(), "it has city, zip");
        let rows = Rows::read(FileKind::Jsonl, "{\"a\":\r1}\n\n{\"b\":1}").unwrap();
        let Data::Jsonl(objects) = &rows.data else { unreachable!() };
        assert_eq!(objects.get(0), b"{\"a\":1}", "one line whatever ends it");
        let hole = RowHole { column: "a".into(), cast: Cast::AsIs };
        let error = rows.columns(&[(&hole, Form::Value)]).unwrap_err();
        assert_eq!(error.to_string(), "line 3: has no `a`");
    }

    #[test]
    fn the_kind_of_a_file_is_in_its_name() {
        let of = |path: &str| FileKind::of(Path::new(path));
        assert_eq!(of("a/b.CSV"), Some(FileKind::Csv));
        assert_eq!((of("b.jsonl"), of("b.ndjson")), (Some(FileKind::Jsonl), Some(FileKind::Jsonl)));
        assert_eq!((of("b.json"), of("csv")), (None, None));
    }

    proptest! {
        #[test]
        fn what_was_written_as_csv_is_read_back(
            rows in prop::collection::vec(prop::collection::vec("[a \",\r\n\u{e9}]{0,5}", 3), 1..6),
        ) {
            let quoted = |cell: &String| format!("\"{}\"", cell.replace('"', "\"\""));
            let line = |row: &Vec<String>| row.iter().map(quoted).collect::<Vec<_>>().join(",");
            let text: String = rows.iter().map(|row| line(row) + "\r\n").collect();
            prop_assert_eq!(&csv(&format!("x,y,z\r\n{text}"))[1..], &rows);
        }

        #[test]
        fn no_text_makes_the_readers_panic(text in "[a\",\r\n{}:1\u{feff}]{0,40}") {
            let _ = Rows::read(FileKind::Csv, &text);
            let _ = Rows::read(FileKind::Jsonl, &text);
        }
    }
}
