//! YAML and JSON files that people write, read strictly: an error says the file, the line, the key
//! and what to write instead.

mod place;

use serde::de::DeserializeOwned;
use serde_saphyr::{Error, options, with_deserializer_from_str_with_options};

use crate::{
    config::{ConfigError, KeyPath},
    hint::nearest,
};

/// Reads a document. `file` is only what errors call it.
///
/// ```
/// #[derive(serde::Deserialize, Debug)]
/// #[serde(deny_unknown_fields)]
/// struct Suite { #[allow(dead_code)] tools: Vec<String> }
///
/// let error = mcp_loadtest_core::yaml::read::<Suite>("\ntoolz: []", "suite.yml").unwrap_err();
/// assert_eq!(error.to_string(), "suite.yml:2: `toolz`: unknown key");
/// assert_eq!(error.hint.unwrap(), "did you mean `tools`?");
/// ```
pub fn read<T: DeserializeOwned>(text: &str, file: &str) -> Result<T, ConfigError> {
    let mut key = KeyPath::default();
    let options = options! { with_snippet: false, strict_booleans: true };
    let read = with_deserializer_from_str_with_options(text, options, |document| {
        let mut track = serde_path_to_error::Track::new();
        let tracked = serde_path_to_error::Deserializer::new(document, &mut track);
        T::deserialize(tracked).inspect_err(|_| key = KeyPath::from(&track.path()))
    });
    read.map_err(|error| {
        let told = told(&error, key, file);
        // What a type says about its own value comes without a place.
        if told.line.is_none() { in_text(told, text, file) } else { told }
    })
}

/// Adds the place to what was found wrong with a value after it was read.
pub fn in_text(mut error: ConfigError, text: &str, file: &str) -> ConfigError {
    let place = place::place(text, &error.key);
    error.file = Some(file.to_owned());
    error.line = place.map(|(line, _)| line);
    error.column = place.map(|(_, column)| column);
    error.key = error.key.plain();
    error
}

fn told(error: &Error, key: KeyPath, file: &str) -> ConfigError {
    let mut told = match error {
        Error::SerdeUnknownField { field, expected, .. } => {
            let error = ConfigError::new(with_last(key, field).plain(), "unknown key");
            error.with_hint(match nearest(field, expected.iter().copied()) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("use one of {}", expected.join(", ")),
            })
        }
        Error::SerdeMissingField { field, .. } => {
            ConfigError::new(with_last(key, field).plain(), "it is missing")
        }
        Error::SerdeUnknownVariant { variant, expected, .. } => {
            let why = format!("there is no `{variant}`");
            match nearest(variant, expected.iter().copied()) {
                Some(near) => {
                    ConfigError::new(key.plain(), why).with_hint(format!("did you mean `{near}`?"))
                }
                None => {
                    let why = format!("{why}; there are {}", expected.join(", "));
                    ConfigError::new(key.plain(), why)
                }
            }
        }
        Error::DuplicateMappingKey { key: Some(twice), .. } => {
            let why = format!("`{twice}` stands here twice");
            ConfigError::new(key.plain(), why).with_hint("leave one of them out")
        }
        other => match misplaced(other) {
            Some((what, hint)) => ConfigError::new(key.plain(), what).with_hint(hint),
            None => ConfigError::new(key.plain(), plain(other)),
        },
    };
    let location = error.location();
    told.file = Some(file.to_owned());
    told.line = location.and_then(|place| u32::try_from(place.line()).ok());
    told.column = location.and_then(|place| u32::try_from(place.column()).ok());
    told
}

/// What is wrong where something of another kind belongs, and what to write.
fn misplaced(error: &Error) -> Option<(&'static str, &'static str)> {
    Some(match error {
        Error::Unexpected { expected: "sequence start", .. } => {
            ("a list is expected here", "write `[a, b]`, or a line `- a` for each")
        }
        Error::Unexpected { expected: "mapping start", .. } => {
            ("keys and values are expected here", "write `key: value`, a line for each")
        }
        Error::Unexpected { expected: "string scalar" | "scalar", .. } => {
            ("one value is expected here", "write it without brackets, dashes and keys")
        }
        Error::NullIntoString { .. } => ("it is empty", "write a text, or `\"\"` for an empty one"),
        Error::MultipleDocuments { .. } => {
            ("a second document begins here", "leave `---` out, or give it a file of its own")
        }
        _ => return None,
    })
}

/// The first line of what the reader says, without the place, which we tell ourselves.
fn plain(error: &Error) -> String {
    let text = error.to_string();
    if text.starts_with("budget breached") {
        return "it repeats or nests itself more than is safe; write repeated parts out".into();
    }
    let first = text.lines().next().unwrap_or_default();
    let cut = first.find(" at line ").or_else(|| first.find(" (line ")).unwrap_or(first.len());
    let text = first[..cut].trim_end_matches([':', ',']);
    text.strip_prefix("error: ").unwrap_or(text).to_owned()
}

/// The path to the key itself: some readers stop at the map that holds it.
fn with_last(key: KeyPath, name: &str) -> KeyPath {
    if key.last_key() == Some(name) { key } else { key.key(name) }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::Value;

    use super::*;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct File {
        tools: Vec<Tool>,
    }

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Tool {
        name: String,
        #[serde(default)]
        delay_ms: u64,
        #[serde(default)]
        args: Value,
    }

    fn error(text: &str) -> ConfigError {
        read::<File>(text, "s.yml").unwrap_err()
    }

    #[test]
    fn yaml_and_json_are_read_alike() {
        let yaml = "tools:\n  - name: a\n    delay_ms: 5\n    args: {x: [1, yes, n, null]}\n";
        let json =
            r#"{"tools": [{"name": "a", "delay_ms": 5, "args": {"x": [1, "yes", "n", null]}}]}"#;
        for text in [yaml, json] {
            let file: File = read(text, "f").unwrap();
            assert_eq!((&*file.tools[0].name, file.tools[0].delay_ms), ("a", 5));
            assert_eq!(file.tools[0].args["x"], serde_json::json!([1, "yes", "n", null]));
        }
    }

    #[test]
    fn errors_say_where() {
        let unknown = error("tools:\n  - name: a\n    dely_ms: 5\n");
        assert_eq!(
            (unknown.line, unknown.hint.as_deref()),
            (Some(3), Some("did you mean `delay_ms`?"))
        );
        assert_eq!(unknown.to_string(), "s.yml:3: `tools[0].dely_ms`: unknown key");
        let wrong = error("tools:\n  - name: a\n    delay_ms: soon\n");
        assert_eq!(wrong.line, Some(3), "{wrong}");
        assert!(wrong.to_string().contains("delay_ms"), "{wrong}");
        let twice = error("tools:\n  - name: a\n    delay_ms: 1\n    delay_ms: 2\n");
        assert_eq!(twice.to_string(), "s.yml:4: `tools[0]`: `delay_ms` stands here twice");
        assert_eq!(twice.hint.unwrap(), "leave one of them out");
        let missing = error("tools:\n  - delay_ms: 1\n");
        assert!(missing.to_string().contains("`tools[0].name`: it is missing"), "{missing}");
        let broken = error("tools: [\n");
        assert!(broken.line.is_some(), "{broken}");
    }

    #[test]
    fn what_is_of_another_kind_is_told_in_words_of_the_file() {
        for (text, line, said, hint) in [
            ("tools: a b\n", 1, "`tools`: a list is expected here", "[a, b]"),
            ("tools:\n  a: {name: b}\n", 2, "`tools`: a list is expected here", "- a"),
            ("tools:\n  - a\n", 2, "`tools[0]`: keys and values are expected here", "key: value"),
            ("- a\n", 1, "keys and values are expected here", "key: value"),
            ("tools:\n  - name: [a]\n", 2, "`tools[0].name`: one value is expected", "brackets"),
            ("tools:\n  - name:\n", 2, "`tools[0].name`: it is empty", "\"\""),
            ("tools: []\n---\ntools: []\n", 3, "a second document begins here", "---"),
        ] {
            let told = error(text);
            assert_eq!(told.line, Some(line), "{text}: {told}");
            assert!(told.to_string().contains(said), "{text}: {told}");
            assert!(told.hint.as_deref().unwrap_or_default().contains(hint), "{text}: {told:?}");
        }
    }

    #[test]
    fn hostile_documents_are_given_up() {
        let bomb = "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\n\
                    c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c]\n\
                    e: &e [*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: &f [*e,*e,*e,*e,*e,*e,*e,*e,*e]\n\
                    g: [*f,*f,*f,*f,*f,*f,*f,*f,*f]\n";
        let told = read::<Value>(bomb, "bomb").unwrap_err();
        assert!(told.message.contains("more than is safe"), "{told}");
        assert!(read::<Value>(&"[".repeat(100_000), "deep").is_err());
    }
}
