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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn names(schema: &Value, good: &Value) -> Vec<String> {
        fields(schema, good, &json!({})).iter().map(Field::name).collect()
    }

    #[test]
    fn fields_are_looked_for_three_steps_deep() {
        let text = json!({"type": "string"});
        let object = |name: &str, inner: Value| json!({"properties": {name: inner}});
        let schema = object("a", object("b", object("c", object("d", text))));
        let good = json!({"a": {"b": {"c": {"d": "x"}}}});
        assert_eq!(names(&schema, &good), ["`a`", "`a.b`", "`a.b.c`"]);
    }

    #[test]
    fn no_more_fields_than_the_most_are_looked_at() {
        for (properties, inner, found) in [
            (MOST_FIELDS - 2, "that is looked into", MOST_FIELDS - 1),
            (MOST_FIELDS - 1, "that is not looked into any more", MOST_FIELDS - 1),
            (MOST_FIELDS + 50, "beyond the most", MOST_FIELDS),
        ] {
            let mut all: Map = (0..properties).map(|at| (format!("p{at:04}"), json!({}))).collect();
            all["p0000"] = json!({"properties": {"inner": {}}});
            let schema = json!({ "properties": all });
            let names = names(&schema, &json!({"p0000": {"inner": 1}}));
            assert_eq!(names.len(), found, "an object {inner}");
        }
    }

    #[test]
    fn a_list_has_a_first_item_where_one_is_there() {
        let schema = json!({"properties": {"l": {"items": {"type": "string"}}}});
        assert_eq!(names(&schema, &json!({"l": ["x"]})), ["`l`", "`l[0]`"]);
        assert_eq!(names(&schema, &json!({"l": []})), ["`l`"]);
    }

    #[test]
    fn what_several_maps_say_of_a_property_belongs_to_one_field() {
        let schema = json!({
            "properties": {"s": {"type": "string"}, "t": {}},
            "allOf": [{"properties": {"s": {"maxLength": 3}}, "required": ["t"]}],
        });
        let fields = fields(&schema, &json!({"s": "x"}), &json!({}));
        let told: Vec<_> =
            fields.iter().map(|field| (field.name(), field.maps.len(), field.required)).collect();
        assert_eq!(told, [("`s`".to_owned(), 2, false), ("`t`".to_owned(), 1, true)]);
        assert_eq!(fields[0].each("maxLength").collect::<Vec<_>>(), [&json!(3)]);
    }

    #[test]
    fn each_map_is_found_once_and_not_too_many_are() {
        let circle = json!({"$ref": "#", "anyOf": [{"$ref": "#"}, {"type": "string"}]});
        assert_eq!(maps(&circle, &circle).len(), 3);
        let wide = |count: usize| json!({"anyOf": vec![json!({}); count]});
        for (count, found) in [(10, 11), (MOST_MAPS - 1, MOST_MAPS), (MOST_MAPS + 9, MOST_MAPS)] {
            let schema = wide(count);
            assert_eq!(maps(&schema, &schema).len(), found, "{count} branches");
        }
    }
}
