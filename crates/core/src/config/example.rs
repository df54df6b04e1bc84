//! The commented example that `example-config` prints.

/// A complete example configuration: every key there is, with those that have defaults commented
/// out.
pub const EXAMPLE: &str = include_str!("example.toml");

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        config::{Config, Format, schema},
        scenario::ScenarioName,
    };
    use serde_json::Value;

    /// `section.key` of every key in the schema.
    fn keys(schema: &Value, section: &str, found: &mut Vec<String>) {
        for (name, part) in schema["properties"].as_object().into_iter().flatten() {
            let path = if section.is_empty() { name.clone() } else { format!("{section}.{name}") };
            let inner = if part["type"] == "array" { &part["items"] } else { part };
            // A step is short enough to be shown on one line with its sequence.
            if inner.get("properties").is_some() && name != "steps" {
                keys(inner, &path, found);
            } else {
                found.push(path);
            }
        }
    }

    /// The lines of the example with their section; a line that is commented out counts.
    fn lines() -> Vec<(String, String)> {
        let mut section = String::new();
        let mut lines = Vec::new();
        for line in EXAMPLE.lines() {
            let line =
                line.strip_prefix("#").filter(|rest| !rest.starts_with([' ', '#'])).unwrap_or(line);
            if let Some(name) = line.strip_prefix('[') {
                section = name.trim_start_matches('[').split(']').next().unwrap().to_owned();
            } else if let Some((key, _)) = line.split_once('=').filter(|_| !line.starts_with('#')) {
                let key = key.trim().split('.').next().unwrap();
                lines.push((format!("{section}.{key}"), line.to_owned()));
            }
        }
        lines
    }

    #[test]
    fn the_example_is_valid() {
        Config::parse(EXAMPLE, "example").unwrap();
    }

    #[test]
    fn the_example_shows_every_key() {
        let mut expected = Vec::new();
        keys(&schema(), "", &mut expected);
        let shown: Vec<String> = lines().into_iter().map(|(key, _)| key).collect();
        for key in expected {
            assert!(shown.contains(&key), "`{key}` is missing from config/example.toml");
        }
    }

    #[test]
    fn the_example_names_every_scenario_and_every_form() {
        let (_, output) = EXAMPLE.split_once("\n[output]\n").unwrap();
        let words = output.split(|c: char| !c.is_alphanumeric() && c != '_');
        for format in Format::ALL.map(Format::as_str) {
            let is_there = words.clone().any(|word| word == format);
            assert!(is_there, "`{format}` is missing above `formats` in config/example.toml");
        }
        for name in ScenarioName::ALL {
            let is_there = EXAMPLE.lines().any(|line| line.starts_with(&format!("# {name} ")));
            assert!(is_there, "`{name}` is missing above `type` in config/example.toml");
        }
    }

    #[test]
    fn every_line_of_the_example_can_be_read() {
        for (path, line) in lines() {
            let section = path.rsplit_once('.').unwrap().0;
            let needed: &[&str] = match section {
                "scenario.tool_call" | "thresholds.tool" => &["name = 'x'"],
                "scenario.stage" => &["duration = '1s'", "load = 1"],
                "scenario.sequence" => &["name = 'x'", "steps = []"],
                _ => &[],
            };
            let key = line.split('=').next().unwrap();
            let others: Vec<_> = needed.iter().filter(|other| !other.starts_with(key)).collect();
            let others = others.into_iter().fold(String::new(), |all, line| all + line + "\n");
            let text = match needed {
                [] => format!("[{section}]\n{line}"),
                _ => format!("[[{section}]]\n{others}{line}"),
            };
            Config::read(&text, "line").unwrap_or_else(|error| panic!("{line}: {error}"));
        }
    }
}
