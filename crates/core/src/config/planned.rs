//! What the design has and this version has not: refused by name, so that nobody believes it works.

use super::path::KeyPath;
use crate::scenario::{PLANNED, UnknownScenario};

/// Keys of `[scenario]` and the scenario that each belongs to.
const SCENARIO_KEYS: &[(&str, &str)] = &[
    ("ramp_from", "ramp"),
    ("ramp_to", "ramp"),
    ("spike_at", "spike"),
    ("spike_multiplier", "spike"),
    ("leak_check_interval", "soak"),
];

/// Report formats to come.
const FORMATS: &[&str] = &["html", "junit", "csv", "sarif", "github"];

/// Why a key that the schema does not have is refused, when there is more to say than "unknown".
pub(super) fn key(path: &KeyPath) -> Option<String> {
    let dotted = path.dotted();
    let name = dotted.strip_prefix("scenario.")?;
    if name == "rate_limit" {
        return Some("is not built yet; `concurrent` alone sets the load".to_owned());
    }
    let (_, scenario) = SCENARIO_KEYS.iter().find(|(key, _)| *key == name)?;
    Some(format!("belongs to scenario `{scenario}`, which is not built yet"))
}

/// Why a word that the schema does not have is refused, when there is more to say than "unknown".
pub(super) fn word(path: &KeyPath, word: &str, known: &[&str]) -> Option<String> {
    let known = known.join(", ");
    match path.dotted().as_str() {
        "scenario.type" if PLANNED.contains(&word) => {
            Some(UnknownScenario(word.to_owned()).to_string())
        }
        "output.formats" if FORMATS.contains(&word) => {
            Some(format!("format `{word}` is not built yet; this version writes {known}"))
        }
        _ => None,
    }
}
