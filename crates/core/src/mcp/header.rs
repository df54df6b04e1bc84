//! The HTTP headers of the 2026-07-28 revision: their names, the encoding of values that are not
//! plain ASCII, and the parameters that a tool's schema marks with `x-mcp-header`.

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::Value;

/// The revision of a request.
pub const PROTOCOL_VERSION: &str = "MCP-Protocol-Version";
/// The method of a request.
pub const METHOD: &str = "Mcp-Method";
/// The name, URI or task that a request is about.
pub const NAME: &str = "Mcp-Name";
/// The legacy session.
pub const SESSION_ID: &str = "Mcp-Session-Id";
/// What precedes the name of a marked parameter.
pub const PARAM_PREFIX: &str = "Mcp-Param-";
/// The schema keyword that marks a parameter.
const MARK: &str = "x-mcp-header";

/// A value as a header may carry it: plain when it is printable ASCII without outer blanks,
/// `=?base64?…?=` otherwise, and also when the plain value itself looks like that.
pub fn encode_value(value: &str) -> String {
    let printable = value.bytes().all(|byte| (0x20..=0x7e).contains(&byte));
    let outer_blanks = value.starts_with(' ') || value.ends_with(' ');
    if printable && !outer_blanks && !value.starts_with("=?base64?") {
        value.to_owned()
    } else {
        format!("=?base64?{}?=", STANDARD.encode(value))
    }
}

/// A marked parameter: where its value stands in the arguments, and the header that repeats it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MarkedParameter {
    /// Property names from the arguments' root.
    pub path: Vec<String>,
    /// The full header name.
    pub header: String,
}

/// Reads the marks of a tool's input schema. `Err` says why the tool must not be offered over HTTP.
pub fn marked_parameters(schema: &Value) -> Result<Vec<MarkedParameter>, String> {
    let mut found = Vec::new();
    collect(schema, &mut Vec::new(), &mut found)?;
    if count_marks(schema, 0) != found.len() {
        return Err(format!("`{MARK}` stands where `properties` alone does not lead"));
    }
    for (index, parameter) in found.iter().enumerate() {
        let twice =
            found[..index].iter().any(|other| other.header.eq_ignore_ascii_case(&parameter.header));
        if twice {
            return Err(format!("`{}` is marked twice", parameter.header));
        }
    }
    Ok(found)
}

const DEEPEST: usize = 64;

fn collect(
    schema: &Value,
    path: &mut Vec<String>,
    found: &mut Vec<MarkedParameter>,
) -> Result<(), String> {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else {
        return Ok(());
    };
    if path.len() >= DEEPEST {
        return Err("the schema is nested too deeply".into());
    }
    for (name, property) in properties {
        path.push(name.clone());
        if let Some(mark) = property.get(MARK) {
            check_mark(mark, property)?;
            let header = format!("{PARAM_PREFIX}{}", mark.as_str().unwrap_or_default());
            found.push(MarkedParameter { path: path.clone(), header });
        }
        collect(property, path, found)?;
        path.pop();
    }
    Ok(())
}

fn check_mark(mark: &Value, property: &Value) -> Result<(), String> {
    let name = mark.as_str().ok_or_else(|| format!("`{MARK}` is not a string"))?;
    if name.is_empty() || !name.bytes().all(is_token_byte) {
        return Err(format!("`{MARK}` is not a header name"));
    }
    match property.get("type").and_then(Value::as_str) {
        Some("string" | "integer" | "boolean") => Ok(()),
        other => Err(format!("`{MARK}` marks a parameter of type {}", other.unwrap_or("unknown"))),
    }
}

fn is_token_byte(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte)
}

/// Counts the marks anywhere in the schema, reachable or not.
fn count_marks(value: &Value, depth: usize) -> usize {
    if depth > DEEPEST * 2 {
        return 0;
    }
    match value {
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| {
                usize::from(key == MARK && !value.is_object()) + count_marks(value, depth + 1)
            })
            .sum(),
        Value::Array(items) => items.iter().map(|item| count_marks(item, depth + 1)).sum(),
        _ => 0,
    }
}

/// The headers that repeat the marked parameters of these arguments. Absent and null ones are left out.
pub fn parameter_headers(marks: &[MarkedParameter], arguments: &Value) -> Vec<(String, String)> {
    marks
        .iter()
        .filter_map(|mark| {
            let value = mark.path.iter().try_fold(arguments, |value, name| value.get(name))?;
            let text = match value {
                Value::String(text) => text.clone(),
                Value::Bool(_) | Value::Number(_) => value.to_string(),
                Value::Null | Value::Array(_) | Value::Object(_) => return None,
            };
            Some((mark.header.clone(), encode_value(&text)))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_that_are_not_plain_ascii_are_encoded() {
        assert_eq!(encode_value("us-east1"), "us-east1");
        assert_eq!(encode_value("Zürich"), "=?base64?WsO8cmljaA==?=");
        assert_eq!(encode_value(" x"), "=?base64?IHg=?=");
        assert!(encode_value("=?base64?eA==?=").starts_with("=?base64?PT9i"));
        assert!(encode_value("a\nb").starts_with("=?base64?"));
    }

    #[test]
    fn marks_are_read_at_any_depth_of_properties() {
        let schema = json!({"properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "deep": {"type": "object", "properties": {"n": {"type": "integer", "x-mcp-header": "N"}}},
        }});
        let marks = marked_parameters(&schema).unwrap();
        let headers = parameter_headers(&marks, &json!({"region": "eu", "deep": {"n": 3}}));
        assert!(headers.contains(&("Mcp-Param-Region".into(), "eu".into())));
        assert!(headers.contains(&("Mcp-Param-N".into(), "3".into())));
    }

    #[test]
    fn invalid_marks_disqualify_the_tool() {
        for bad in [
            json!({"properties": {"a": {"type": "string", "x-mcp-header": ""}}}),
            json!({"properties": {"a": {"type": "string", "x-mcp-header": "a b"}}}),
            json!({"properties": {"a": {"type": "number", "x-mcp-header": "A"}}}),
            json!({"properties": {"a": {"type": "string", "x-mcp-header": "A"},
                                   "b": {"type": "string", "x-mcp-header": "a"}}}),
            json!({"properties": {"a": {"type": "array", "items": {"type": "string", "x-mcp-header": "A"}}}}),
        ] {
            assert!(marked_parameters(&bad).is_err(), "{bad}");
        }
    }

    /// A parameter that lies so many names deep.
    fn marked_at(depth: usize) -> Value {
        let mark = json!({"type": "string", "x-mcp-header": "A"});
        (0..depth).fold(mark, |inner, _| json!({"type": "object", "properties": {"p": inner}}))
    }

    #[test]
    fn marks_are_read_down_to_the_deepest_name() {
        let marks = marked_parameters(&marked_at(64)).unwrap();
        assert_eq!(
            marks,
            [MarkedParameter { path: vec!["p".into(); 64], header: "Mcp-Param-A".into() }]
        );
        let error = marked_parameters(&marked_at(65)).unwrap_err();
        assert_eq!(error, "the schema is nested too deeply");
    }

    #[test]
    fn a_mark_in_a_list_of_schemas_is_found_and_a_property_of_that_name_is_none() {
        let listed = json!({"anyOf": [{"type": "string", "x-mcp-header": "A"}]});
        assert!(marked_parameters(&listed).unwrap_err().contains("`properties` alone"));
        let named = json!({"properties": {"x-mcp-header": {"type": "string"}}});
        assert_eq!(marked_parameters(&named), Ok(vec![]));
    }

    #[test]
    fn only_plain_values_that_are_there_become_headers() {
        let mark = |name: &str| MarkedParameter { path: vec![name.into()], header: name.into() };
        let marks = ["text", "flag", "none", "list", "map", "absent"].map(mark);
        let arguments = json!({"text": "x ", "flag": true, "none": null, "list": [1], "map": {}});
        assert_eq!(
            parameter_headers(&marks, &arguments),
            [("text".into(), "=?base64?eCA=?=".into()), ("flag".into(), "true".into())]
        );
    }
}
