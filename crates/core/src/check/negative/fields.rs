//! The fields of a tool's arguments: its properties, those of the objects in them, and the first
//! item of each list.

use serde_json::Value;

use crate::generate::{Map, resolve};

/// How deep fields are looked for: a property of an object in a list is at 3.
const DEEPEST: usize = 3;

/// How many fields and keyword maps are looked at; a hostile schema could have any number.
const MOST_FIELDS: usize = 400;
const MOST_MAPS: usize = 64;

/// One place in the arguments, and what the schema says of it.
#[derive(Debug, Clone)]
pub(super) struct Field<'s> {
    /// The way to it; a number is a place in a list.
    pub(super) path: Vec<String>,
    /// Every keyword map that may hold for it, also those of alternatives.
    pub(super) maps: Vec<&'s Map>,
    /// Whether it must be there.
    pub(super) required: bool,
}

impl<'s> Field<'s> {
    /// For people: `` `edits[0].oldText` ``.
    pub(super) fn name(&self) -> String {
        let mut name = String::new();
        for step in &self.path {
            match step.parse::<usize>() {
                Ok(number) => name.push_str(&format!("[{number}]")),
                Err(_) if name.is_empty() => name.push_str(step),
                Err(_) => name.push_str(&format!(".{step}")),
            }
        }
        format!("`{}`", crate::display::visible(&name, 80))
    }

    pub(super) fn pointer(&self) -> String {
        pointer(&self.path)
    }

    /// What is said for one keyword, by any map.
    pub(super) fn each(&self, keyword: &str) -> impl Iterator<Item = &'s Value> {
        self.maps.iter().filter_map(move |map| map.get(keyword))
    }

    /// The types that any map names.
    pub(super) fn types(&self) -> Vec<&'s str> {
        self.each("type")
            .flat_map(|named| match named {
                Value::Array(all) => all.iter().filter_map(Value::as_str).collect(),
                one => one.as_str().into_iter().collect::<Vec<_>>(),
            })
            .collect()
    }
}

/// The pointer of RFC 6901.
pub(super) fn pointer(path: &[String]) -> String {
    path.iter().map(|step| format!("/{}", step.replace('~', "~0").replace('/', "~1"))).collect()
}

/// All fields: those of the arguments first, then what lies in them.
pub(super) fn fields<'s>(root: &'s Value, good: &Value, full: &Value) -> Vec<Field<'s>> {
    let mut found: Vec<Field<'s>> = Vec::new();
    let whole = Field { path: Vec::new(), maps: maps(root, root), required: true };
    let mut todo = vec![whole];
    let mut next = 0;
    while let Some(field) = todo.get(next).cloned() {
        next += 1;
        if field.path.len() < DEEPEST && todo.len() < MOST_FIELDS {
            let place = field.pointer();
            let value = good.pointer(&place).or_else(|| full.pointer(&place));
            todo.extend(within(root, &field, value));
        }
        if !field.path.is_empty() {
            found.push(field);
        }
    }
    found.truncate(MOST_FIELDS);
    found
}

/// The fields one step further in. What lies in a value that nobody can make is left out.
fn within<'s>(root: &'s Value, field: &Field<'s>, value: Option<&Value>) -> Vec<Field<'s>> {
    let step = |name: &str| [field.path.as_slice(), &[name.to_owned()]].concat();
    match value {
        Some(Value::Object(_)) => {
            let required: Vec<_> = required(field).collect();
            let mut found: Vec<Field<'s>> = Vec::new();
            for (name, schema) in field.each("properties").filter_map(Value::as_object).flatten() {
                let path = step(name);
                match found.iter_mut().find(|known| known.path == path) {
                    Some(known) => known.maps.extend(maps(root, schema)),
                    None => found.push(Field {
                        required: required.contains(&name.as_str()),
                        maps: maps(root, schema),
                        path,
                    }),
                }
                if found.len() >= MOST_FIELDS {
                    break;
                }
            }
            found
        }
        Some(Value::Array(items)) if !items.is_empty() => {
            let maps: Vec<_> = field
                .each("items")
                .filter(|items| items.is_object())
                .flat_map(|items| maps(root, items))
                .collect();
            vec![Field { path: step("0"), maps, required: true }]
        }
        _ => Vec::new(),
    }
}

/// The names that a field requires of the object in it.
pub(super) fn required<'s>(field: &Field<'s>) -> impl Iterator<Item = &'s str> {
    field.each("required").filter_map(Value::as_array).flatten().filter_map(Value::as_str)
}

/// Every keyword map that a schema leads to by references and combinations. Which of them hold is
/// not decided here: they only give ideas, and the oracle judges what becomes of them.
fn maps<'s>(root: &'s Value, schema: &'s Value) -> Vec<&'s Map> {
    let mut found: Vec<&Map> = Vec::new();
    let mut todo = vec![schema];
    while let Some(schema) = todo.pop() {
        let Value::Object(map) = schema else { continue };
        if found.len() >= MOST_MAPS || found.iter().any(|known| std::ptr::eq(*known, map)) {
            continue;
        }
        found.push(map);
        for keyword in ["oneOf", "anyOf", "allOf"] {
            if let Some(Value::Array(branches)) = map.get(keyword) {
                todo.extend(branches.iter().take(MOST_MAPS).rev());
            }
        }
        if let Some(reference) = map.get("$ref").and_then(Value::as_str) {
            todo.extend(resolve(root, reference).ok());
        }
    }
    found
}
