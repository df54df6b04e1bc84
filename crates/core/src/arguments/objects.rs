//! Rows that are the arguments themselves. A CSV cell is text, unless the tool's schema says that
//! its argument is something else.

use serde_json::Value;

use super::{
    cells::Cells,
    rows::{Data, Rows, RowsError},
};
use crate::display::visible;

/// What the arguments of all rows together may take, in bytes. A CSV header is repeated in each.
const MOST_BYTES: usize = 1 << 30;
/// How much of a cell an error repeats.
const SHOWN: usize = 40;

/// The arguments of each row.
pub(super) fn objects(rows: &Rows, schema: &Value) -> Result<Cells, RowsError> {
    match &rows.data {
        Data::Jsonl(objects) => Ok(objects.clone()),
        Data::Csv { columns, cells } => {
            let kinds: Vec<Kinds<'_>> =
                columns.iter().map(|name| Kinds::of(schema, name)).collect();
            let mut out = Cells::default();
            for row in 0..rows.count() {
                let first = row * columns.len();
                let cell = |column: usize| String::from_utf8_lossy(cells.get(first + column));
                let members = kinds.iter().enumerate().map(|(index, kind)| {
                    let value = kind.value(&cell(index)).map_err(|why| {
                        let name = visible(&columns[index], SHOWN);
                        RowsError::at(rows.line(row), format!("`{name}` {why}"))
                    });
                    value.map(|value| (&columns[index], value))
                });
                let members = members.collect::<Result<Vec<_>, _>>()?;
                out.push_with(|out| write_object(&members, out));
                if out.bytes() > MOST_BYTES {
                    let message = "the arguments of all rows take more than 1 GiB";
                    return Err(RowsError::at(rows.line(row), message));
                }
            }
            Ok(out.shrunk())
        }
    }
}

fn write_object(members: &[(&String, Option<Value>)], out: &mut Vec<u8>) {
    let present = members.iter().filter_map(|(name, value)| Some((*name, value.as_ref()?)));
    out.push(b'{');
    for (index, (name, value)) in present.enumerate() {
        if index > 0 {
            out.push(b',');
        }
        serde_json::to_writer(&mut *out, name).expect("a text, written to memory");
        out.push(b':');
        serde_json::to_writer(&mut *out, value).expect("a value, written to memory");
    }
    out.push(b'}');
}

/// The types that a schema allows for one argument. None: it does not say, and text will do.
#[derive(Debug, PartialEq)]
struct Kinds<'s> {
    types: Vec<&'s str>,
    required: bool,
}

impl<'s> Kinds<'s> {
    fn of(schema: &'s Value, name: &str) -> Self {
        let property = schema.get("properties").and_then(|all| all.get(name));
        let mut types = Vec::new();
        if let Some(property) = property {
            add_types(property, &mut types);
            // `Optional[int]` of Python is written as a choice.
            for choice in ["anyOf", "oneOf"] {
                let branches = property.get(choice).and_then(Value::as_array);
                branches.into_iter().flatten().for_each(|branch| add_types(branch, &mut types));
            }
        }
        let required = schema.get("required").and_then(Value::as_array);
        let required = required.is_some_and(|all| all.iter().any(|one| one == name));
        Self { types, required }
    }

    fn has(&self, kind: &str) -> bool {
        self.types.contains(&kind)
    }

    /// The value of a cell; nothing when the argument is left out.
    fn value(&self, cell: &str) -> Result<Option<Value>, String> {
        if self.types.iter().all(|kind| *kind == "null") || self.has("string") {
            return Ok(Some(cell.into()));
        }
        let text = cell.trim();
        match text {
            "" if self.has("null") => Ok(Some(Value::Null)),
            "" if !self.required => Ok(None),
            _ => match self.read(text) {
                Some(value) => Ok(Some(value)),
                None => {
                    let types = self.types.join(" or ");
                    Err(format!("is `{}`, and the schema wants {types}", visible(text, SHOWN)))
                }
            },
        }
    }

    fn read(&self, text: &str) -> Option<Value> {
        // Spreadsheets and Python have their own ways to write these.
        if self.has("boolean") {
            for value in [true, false] {
                if text.eq_ignore_ascii_case(&value.to_string()) {
                    return Some(value.into());
                }
            }
        }
        let value: Value = serde_json::from_str(text).ok()?;
        let fits = match &value {
            Value::Number(number) => {
                let whole = !number.is_f64() || number.as_f64().is_some_and(|n| n.fract() == 0.0);
                self.has("number") || self.has("integer") && whole
            }
            Value::Array(_) => self.has("array"),
            Value::Object(_) => self.has("object"),
            Value::Null => self.has("null"),
            Value::Bool(_) | Value::String(_) => false,
        };
        fits.then_some(value)
    }
}

fn add_types<'s>(schema: &'s Value, types: &mut Vec<&'s str>) {
    match schema.get("type") {
        Some(Value::String(one)) => types.push(one),
        Some(Value::Array(several)) => types.extend(several.iter().filter_map(Value::as_str)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::arguments::rows::FileKind;
    use serde_json::json;

    fn schema() -> Value {
        json!({"properties": {
            "name": {"type": "string"}, "limit": {"type": "integer"}, "ratio": {"type": "number"},
            "deep": {"type": "boolean"}, "page": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "tags": {"type": ["array", "null"]},
        }, "required": ["limit"]})
    }

    fn first(csv: &str) -> Result<Value, String> {
        let rows = Rows::read(FileKind::Csv, csv).unwrap();
        let cells = objects(&rows, &schema()).map_err(|error| error.to_string())?;
        Ok(serde_json::from_slice(cells.get(0)).unwrap())
    }

    #[test]
    fn cells_get_the_types_of_the_schema() {
        assert_eq!(
            first("name,limit,ratio,deep,page,tags,other\n7,7,7.5,TRUE,7,\"[1,\"\"a\"\"]\",7\n"),
            Ok(json!({"name": "7", "limit": 7, "ratio": 7.5, "deep": true, "page": 7,
                      "tags": [1, "a"], "other": "7"}))
        );
        assert_eq!(
            first("name,limit,ratio,deep,page\n,3,,,\n"),
            Ok(json!({"name": "", "limit": 3, "page": null})),
            "an empty cell leaves an optional argument out"
        );
    }

    #[test]
    fn cells_that_do_not_fit_the_schema_are_refused() {
        for (csv, message) in [
            ("limit\nmany\n", "line 2: `limit` is `many`, and the schema wants integer"),
            ("limit\n1.5\n", "line 2: `limit` is `1.5`, and the schema wants integer"),
            ("limit,name\n,x\n", "line 2: `limit` is ``, and the schema wants integer"),
            ("deep\n1\n", "line 2: `deep` is `1`, and the schema wants boolean"),
            (
                "page\n\"\"\"7\"\"\"\n",
                "line 2: `page` is `\"7\"`, and the schema wants integer or null",
            ),
            ("tags\n{}\n", "line 2: `tags` is `{}`, and the schema wants array or null"),
        ] {
            assert_eq!(first(csv), Err(message.to_owned()));
        }
    }

    #[test]
    fn json_lines_stay_as_they_are() {
        let rows = Rows::read(FileKind::Jsonl, "{\"limit\": \"{{iter}}\"}\n").unwrap();
        let cells = objects(&rows, &schema()).unwrap();
        assert_eq!(cells.get(0), br#"{"limit": "{{iter}}"}"#);
    }

    #[test]
    fn a_number_without_a_fraction_is_whole_however_it_is_written() {
        assert_eq!(first("limit\n2.0\n"), Ok(json!({"limit": 2.0})));
        assert_eq!(first("limit\n3e2\n"), Ok(json!({"limit": 300.0})));
        assert_eq!(first("ratio,limit\n2,-4\n"), Ok(json!({"ratio": 2, "limit": -4})));
    }
}
