//! What the design has and this version has not: refused by name, so that nobody believes it works.

use super::path::KeyPath;

/// Report formats to come.
const FORMATS: &[&str] = &["junit", "csv", "sarif", "github"];

/// Why a word that the schema does not have is refused, when there is more to say than "unknown".
pub(super) fn word(path: &KeyPath, word: &str, known: &[&str]) -> Option<String> {
    let known = known.join(", ");
    match path.dotted().as_str() {
        "output.formats" if FORMATS.contains(&word) => {
            Some(format!("format `{word}` is not built yet; this version writes {known}"))
        }
        _ => None,
    }
}
