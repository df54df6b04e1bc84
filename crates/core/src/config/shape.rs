//! Compares a document with the schema before it is read: unknown keys and unknown words, each
//! found at its place and answered with the nearest known name.

use serde_json::Value;
use toml::{
    Spanned,
    de::{DeTable, DeValue},
};

use super::{elsewhere, error::ConfigError, path::KeyPath, schema};
use crate::hint::nearest;

/// The first thing in the text that the schema does not allow, with its offset.
pub(super) fn inspect(document: &DeTable<'_>, schema: &Value) -> Option<(usize, ConfigError)> {
    let mut found = Vec::new();
    Inspection { root: schema, found: &mut found }.table(document, schema, &KeyPath::default());
    found.into_iter().min_by_key(|(offset, _)| *offset)
}

struct Inspection<'a> {
    root: &'a Value,
    found: &'a mut Vec<(usize, ConfigError)>,
}

impl Inspection<'_> {
    fn table(&mut self, table: &DeTable<'_>, schema: &Value, path: &KeyPath) {
        for (key, value) in table.iter() {
            let path = path.key(key.get_ref().as_ref());
            match schema::part(schema, &KeyPath::default().key(key.get_ref().as_ref())) {
                Some(part) => self.value(value, part, &path),
                None => self.found.push((key.span().start, self.unknown_key(&path, schema))),
            }
        }
    }

    fn value(&mut self, value: &Spanned<DeValue<'_>>, schema: &Value, path: &KeyPath) {
        if is_free(schema) {
            return self.free(value, path);
        }
        match value.get_ref() {
            DeValue::Table(table) if schema["type"] == "object" => self.table(table, schema, path),
            DeValue::Array(list) if schema["type"] == "array" => {
                for (index, item) in list.iter().enumerate() {
                    self.value(item, &schema["items"], &path.index(index));
                }
            }
            DeValue::String(word) => self.word(word, value.span().start, schema, path),
            // Whatever has the wrong type is refused by the reader.
            _ => {}
        }
    }

    fn word(&mut self, word: &str, offset: usize, schema: &Value, path: &KeyPath) {
        let Some(known) = schema::words(schema).filter(|known| !known.contains(&word)) else {
            return;
        };
        let error = ConfigError::new(path.clone(), format!("there is no `{word}`"));
        let hint = elsewhere::hint(path, word).unwrap_or_else(|| did_you_mean(word, &known));
        let error = error.with_hint(hint);
        self.found.push((offset, error));
    }

    /// Tool arguments become JSON, which has no dates and no NaN.
    fn free(&mut self, value: &Spanned<DeValue<'_>>, path: &KeyPath) {
        let problem = match value.get_ref() {
            DeValue::Table(table) => {
                return table
                    .iter()
                    .for_each(|(key, value)| self.free(value, &path.key(key.get_ref().as_ref())));
            }
            DeValue::Array(list) => {
                return list
                    .iter()
                    .enumerate()
                    .for_each(|(index, item)| self.free(item, &path.index(index)));
            }
            DeValue::Datetime(_) => "a date",
            DeValue::Float(number) if number.as_str().ends_with(['n', 'f']) => "this number",
            _ => return,
        };
        let error = ConfigError::new(path.clone(), format!("{problem} has no JSON form"));
        self.found
            .push((value.span().start, error.with_hint("put it in quotes to send it as text")));
    }

    fn unknown_key(&self, path: &KeyPath, schema: &Value) -> ConfigError {
        let what = if path.steps().len() == 1 { "unknown section" } else { "unknown key" };
        let error = ConfigError::new(path.clone(), what);
        let name = path.last_key().unwrap_or_default();
        let known = schema::keys(schema).unwrap_or_default();
        match (nearest(name, known.iter().copied()), self.home_of(name)) {
            (Some(near), _) => error.with_hint(format!("did you mean `{near}`?")),
            (None, Some(section)) => error.with_hint(format!("`{name}` belongs in `[{section}]`")),
            (None, None) => error.with_hint(format!("known here: {}", known.join(", "))),
        }
    }

    /// The section that does have a key of this name.
    fn home_of(&self, name: &str) -> Option<&str> {
        let sections = self.root["properties"].as_object()?;
        let has = |section: &Value| schema::keys(section).is_some_and(|keys| keys.contains(&name));
        sections.iter().find(|(_, section)| has(section)).map(|(title, _)| title.as_str())
    }
}

/// Whether any JSON may stand here: the schema names neither keys nor items.
fn is_free(schema: &Value) -> bool {
    schema["type"].as_array().is_some_and(|types| types.contains(&Value::from("object")))
}

fn did_you_mean(word: &str, known: &[&str]) -> String {
    match nearest(word, known.iter().copied()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("use one of {}", known.join(", ")),
    }
}
