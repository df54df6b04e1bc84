//! Arguments with placeholders, compiled once to bytes and holes.

use std::fmt;

use serde_json::Value;
use thiserror::Error;

use super::{
    cells::Cells,
    placeholder::{Fault, Hole, PLAIN_BRACES, RowHole, end_of, escaped},
    rows::{Rows, RowsError},
    turn::Turn,
};
use crate::{
    config::{KeyPath, Step},
    hint::Hint,
};

/// A placeholder that cannot be used. Shown as ``at `filters[0].name`, column 4: …``.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub struct TemplateError {
    /// Where in the arguments.
    pub at: KeyPath,
    /// The column in that text, in characters from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
    /// What to try.
    pub hint: Option<String>,
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("at `")?;
        for (depth, step) in self.at.steps().iter().enumerate() {
            match step {
                Step::Key(name) if depth == 0 => write!(f, "{name}")?,
                Step::Key(name) => write!(f, ".{name}")?,
                Step::Index(index) => write!(f, "[{index}]")?,
            }
        }
        write!(f, "`, column {}: {}", self.column, self.message)
    }
}

impl Hint for TemplateError {
    fn hint(&self) -> Option<String> {
        self.hint.clone()
    }
}

/// JSON with holes. Filling them appends bytes: no value is built and nothing is checked again.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Template {
    pieces: Vec<Piece>,
    tail: Box<[u8]>,
    columns: Vec<Wanted>,
    /// The cells of each wanted column, as they are written; empty until there are rows.
    cells: Vec<Cells>,
    has_nonce: bool,
}

/// Bytes that stay as they are, and the hole after them.
#[derive(Debug, Clone, PartialEq)]
struct Piece {
    before: Box<[u8]>,
    hole: Fill,
}

#[derive(Debug, Clone, PartialEq)]
enum Fill {
    Hole(Hole),
    /// The cell of this wanted column.
    Column(usize),
}

/// A column that the template uses.
#[derive(Debug, Clone, PartialEq)]
struct Wanted {
    hole: RowHole,
    form: Form,
    at: KeyPath,
    column: usize,
}

/// How a cell is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// As a JSON value.
    Value,
    /// As part of a JSON string.
    Text,
}

impl Template {
    /// Compiles arguments. `at` is where they stand, for errors.
    pub(crate) fn parse(arguments: &Value, at: &KeyPath) -> Result<Self, TemplateError> {
        let mut compiler = Compiler::default();
        compiler.value(arguments, at)?;
        let has_nonce = compiler.pieces.iter().any(|piece| piece.hole == Fill::Hole(Hole::Nonce));
        Ok(Self {
            pieces: compiler.pieces,
            tail: compiler.text.into(),
            columns: compiler.columns,
            cells: Vec::new(),
            has_nonce,
        })
    }

    /// The bytes, when they are the same for every call.
    pub(super) fn fixed(&self) -> Option<&[u8]> {
        self.pieces.is_empty().then_some(&self.tail)
    }

    /// Whether it holds `{{nonce}}`.
    pub(super) fn has_nonce(&self) -> bool {
        self.has_nonce
    }

    /// Whether it uses rows.
    pub(crate) fn wants_rows(&self) -> bool {
        !self.columns.is_empty()
    }

    /// Refuses a template that uses rows, where there are none.
    pub(crate) fn without_rows(self) -> Result<Self, TemplateError> {
        match self.columns.first() {
            None => Ok(self),
            Some(wanted) => {
                let fault = Fault::new(format!("there is no row for `{}`", wanted.hole.column));
                Err(wanted.error(fault.with_hint("name a CSV or JSONL file with `args_file`")))
            }
        }
    }

    /// Takes the cells that it uses out of the rows.
    pub(super) fn over(mut self, rows: &Rows) -> Result<Self, OverError> {
        for wanted in &self.columns {
            if let Some(fault) = rows.lacks(&wanted.hole.column) {
                return Err(OverError::Template(wanted.error(fault)));
            }
        }
        let columns: Vec<_> = self.columns.iter().map(|w| (&w.hole, w.form)).collect();
        self.cells = rows.columns(&columns).map_err(OverError::Rows)?;
        Ok(self)
    }

    /// Appends the arguments of one call. `row` is read only by a template with rows.
    pub(super) fn render(&self, turn: &mut Turn, row: usize, out: &mut Vec<u8>) {
        for piece in &self.pieces {
            out.extend_from_slice(&piece.before);
            match &piece.hole {
                Fill::Hole(hole) => hole.write(turn, out),
                Fill::Column(index) => out.extend_from_slice(self.cells[*index].get(row)),
            }
        }
        out.extend_from_slice(&self.tail);
    }
}

/// Why a template and rows do not go together.
#[derive(Debug)]
pub(super) enum OverError {
    Template(TemplateError),
    Rows(RowsError),
}

impl Wanted {
    fn error(&self, fault: Fault) -> TemplateError {
        let Fault { message, hint } = fault;
        TemplateError { at: self.at.clone(), column: self.column, message, hint }
    }
}

#[derive(Default)]
struct Compiler {
    pieces: Vec<Piece>,
    /// Bytes since the last hole.
    text: Vec<u8>,
    columns: Vec<Wanted>,
}

/// A piece of one string.
enum Part {
    Text(String),
    Hole { hole: Hole, column: usize },
}

impl Compiler {
    fn value(&mut self, value: &Value, at: &KeyPath) -> Result<(), TemplateError> {
        match value {
            Value::String(text) => self.string(text, at),
            Value::Array(items) => {
                self.text.push(b'[');
                for (index, item) in items.iter().enumerate() {
                    self.comma(index);
                    self.value(item, &at.index(index))?;
                }
                self.text.push(b']');
                Ok(())
            }
            Value::Object(members) => {
                self.text.push(b'{');
                for (index, (name, member)) in members.iter().enumerate() {
                    self.comma(index);
                    self.plain(&Value::String(name.clone()));
                    self.text.push(b':');
                    self.value(member, &at.key(name))?;
                }
                self.text.push(b'}');
                Ok(())
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {
                self.plain(value);
                Ok(())
            }
        }
    }

    fn comma(&mut self, index: usize) {
        if index > 0 {
            self.text.push(b',');
        }
    }

    fn plain(&mut self, value: &Value) {
        serde_json::to_writer(&mut self.text, value).expect("a value, written to memory");
    }

    fn string(&mut self, text: &str, at: &KeyPath) -> Result<(), TemplateError> {
        let mut parts = parts(text).map_err(|(column, fault)| {
            let Fault { message, hint } = fault;
            TemplateError { at: at.clone(), column, message, hint }
        })?;
        if let [Part::Hole { hole, .. }] = &parts[..]
            && hole.is_value()
        {
            let Some(Part::Hole { hole, column }) = parts.pop() else { return Ok(()) };
            self.hole(hole, Form::Value, at, column);
            return Ok(());
        }
        self.text.push(b'"');
        for part in parts {
            match part {
                Part::Text(text) => self.text.extend_from_slice(&escaped(&text)),
                Part::Hole { hole, column } => self.hole(hole, Form::Text, at, column),
            }
        }
        self.text.push(b'"');
        Ok(())
    }

    fn hole(&mut self, hole: Hole, form: Form, at: &KeyPath, column: usize) {
        let hole = match hole {
            Hole::Row(hole) => {
                self.columns.push(Wanted { hole, form, at: at.clone(), column });
                Fill::Column(self.columns.len() - 1)
            }
            hole => Fill::Hole(hole),
        };
        let before = std::mem::take(&mut self.text).into();
        self.pieces.push(Piece { before, hole });
    }
}

/// Takes a string apart. An error comes with its column.
fn parts(text: &str) -> Result<Vec<Part>, (usize, Fault)> {
    let mut parts = Vec::new();
    let mut plain = String::new();
    let mut at = 0;
    while let Some(open) = text[at..].find("{{").map(|found| at + found) {
        plain.push_str(&text[at..open]);
        let body = &text[open + 2..];
        if body.starts_with("{{") {
            plain.push_str("{{");
            at = open + 4;
            continue;
        }
        let column = 1 + text[..open].chars().count();
        let end = end_of(body)
            .ok_or_else(|| (column, Fault::new("`{{` is never closed").with_hint(PLAIN_BRACES)))?;
        let hole = Hole::parse(&body[..end]).map_err(|fault| (column, fault))?;
        if !plain.is_empty() {
            parts.push(Part::Text(std::mem::take(&mut plain)));
        }
        parts.push(Part::Hole { hole, column });
        at = open + 2 + end + 2;
    }
    plain.push_str(&text[at..]);
    if !plain.is_empty() {
        parts.push(Part::Text(plain));
    }
    Ok(parts)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;
    use serde_json::json;

    fn template(value: &Value) -> Result<Template, TemplateError> {
        Template::parse(value, &KeyPath::default())
    }

    fn rendered(value: Value) -> Value {
        let mut out = b"before".to_vec();
        let mut turn = Turn::new(Seed(1), 7, 3, 2);
        template(&value).unwrap().render(&mut turn, 0, &mut out);
        serde_json::from_slice(&out[6..]).unwrap()
    }

    #[test]
    fn a_number_by_itself_is_a_number_and_inside_text_it_is_text() {
        let value = json!({
            "a": "{{iter}}", "b": "n{{ iter }}", "c": ["{{session}}", {"d": "{{worker}}"}],
            "{{iter}}": "{{random.choice '\"q\"'}}", "e": null, "f": 1.5, "g": " {{iter}}",
        });
        let seen = rendered(value);
        assert_eq!((&seen["a"], &seen["b"]), (&json!(7), &json!("n7")));
        assert_eq!(seen["c"], json!([3, {"d": 2}]));
        assert_eq!(seen["{{iter}}"], json!("\"q\""));
        assert_eq!((&seen["e"], &seen["f"], &seen["g"]), (&json!(null), &json!(1.5), &json!(" 7")));
    }

    #[test]
    fn plain_braces_can_be_written() {
        for (written, meant) in [
            ("{{{{iter}}", "{{iter}}"),
            ("}}", "}}"),
            ("{", "{"),
            ("{{{{{{{{", "{{{{"),
            ("a{b}", "a{b}"),
        ] {
            assert_eq!(rendered(json!({ "t": written }))["t"], meant, "{written}");
        }
        // Only quotes, backslashes and controls are escaped.
        let fixed = template(&json!({"t": "{{{{x}} \"ü\n"})).unwrap();
        assert_eq!(fixed.fixed(), Some(r#"{"t":"{{x}} \"ü\n"}"#.as_bytes()));
        assert_eq!(template(&json!({"t": "{{iter}}"})).unwrap().fixed(), None);
    }

    #[test]
    fn mistakes_are_told_with_their_place() {
        for (text, message, hint) in [
            ("{{itr}}", "column 1: there is no placeholder `itr`", "did you mean `{{iter}}`?"),
            (
                "é {{uuidd}}",
                "column 3: there is no placeholder `uuidd`",
                "did you mean `{{uuid}}`?",
            ),
            (
                "{{random.integer 1 2}}",
                "column 1: there is no placeholder `random.integer`",
                "did you mean `{{random.int}}`?",
            ),
            (
                "{{previous.x}}",
                "column 1: there is no placeholder `previous.x`",
                "there are iter, session, worker, nonce, uuid, random.int, random.float, random.choice, random.string, row.column; for two plain braces write `{{{{`",
            ),
            ("{{", "column 1: `{{` is never closed", "for two plain braces write `{{{{`"),
            ("a {{iter} b", "column 3: `{{` is never closed", "for two plain braces write `{{{{`"),
            ("{{ }}", "column 1: no placeholder is named", "for two plain braces write `{{{{`"),
            ("{{{iter}}}", "column 1: there is no placeholder `{iter`", "did you mean `{{iter}}`?"),
            ("{{iter 5}}", "column 1: `{{iter}}` takes nothing, and `5` follows it", ""),
            (
                "{{now}}",
                "column 1: there is no `{{now}}`: with a clock in it no run could be made again",
                "for a value that grows use `{{iter}}`",
            ),
            (
                "{{env.HOME}}",
                "column 1: there is no `{{env.…}}`: variables are filled in before the run",
                "write `${HOME}` instead",
            ),
            (
                "{{random.int 1}}",
                "column 1: `random.int` takes two numbers, not 1",
                "write for example `{{random.int 1 100}}`",
            ),
            ("{{random.int 1 x}}", "column 1: `x` is not a whole number", ""),
            ("{{random.int 1 2.5}}", "column 1: `2.5` is not a whole number", ""),
            (
                "{{random.int 1 9999999999999999999}}",
                "column 1: `9999999999999999999` is not a whole number",
                "",
            ),
            (
                "{{random.int 5 1}}",
                "column 1: there is nothing between 5 and 1",
                "write the smaller number first",
            ),
            (
                "{{random.float 0 NaN}}",
                "column 1: there is nothing between 0 and NaN",
                "write the smaller number first",
            ),
            ("{{random.float 0 inf}}", "column 1: the range is too large", ""),
            ("{{random.float -1e308 1e308}}", "column 1: the range is too large", ""),
            (
                "{{random.choice}}",
                "column 1: nothing to choose from",
                "write for example `{{random.choice red green}}`",
            ),
            ("{{random.choice 'a b}}", "column 1: a quote is never closed", ""),
            (
                "{{random.string}}",
                "column 1: `` is not a length from 1 to 1048576",
                "write for example `{{random.string 16}}`",
            ),
            (
                "{{random.string 0}}",
                "column 1: `0` is not a length from 1 to 1048576",
                "write for example `{{random.string 16}}`",
            ),
            (
                "{{random.string 9999999}}",
                "column 1: `9999999` is not a length from 1 to 1048576",
                "write for example `{{random.string 16}}`",
            ),
            (
                "{{row.}}",
                "column 1: no column is named",
                "write `{{row.name}}`, with the name of a column",
            ),
            ("{{row}}", "column 1: there is no placeholder `row`", ""),
        ] {
            let error = template(&json!({"a": [{"b": text}]})).unwrap_err();
            assert_eq!(error.to_string(), format!("at `a[0].b`, {message}"), "{text}");
            if !hint.is_empty() {
                assert_eq!(error.hint().as_deref(), Some(hint), "{text}");
            }
        }
    }

    #[test]
    fn a_cell_without_rows_is_refused() {
        let error = template(&json!({"a": "x {{row.city}}"})).unwrap().without_rows().unwrap_err();
        assert_eq!(error.to_string(), "at `a`, column 3: there is no row for `city`");
        assert_eq!(error.hint().unwrap(), "name a CSV or JSONL file with `args_file`");
    }
}
