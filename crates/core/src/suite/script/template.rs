//! What stands for results in the answer of a script.

use super::CallOutcome;

/// The text with everything filled in; nothing when something is lacking.
pub(super) fn fill(text: &str, prompt: &str, outcomes: &[CallOutcome]) -> Option<String> {
    let mut filled = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, after)) = rest.split_once("{{") {
        let (name, after) = after.split_once("}}")?;
        filled.push_str(before);
        filled.push_str(value(name.trim(), prompt, outcomes)?);
        rest = after;
    }
    filled.push_str(rest);
    Some(filled)
}

fn value<'a>(name: &str, prompt: &'a str, outcomes: &'a [CallOutcome]) -> Option<&'a str> {
    let last = |wanted: &dyn Fn(&CallOutcome) -> bool| {
        outcomes.iter().rev().find(|outcome| wanted(outcome)).map(|outcome| outcome.text.as_str())
    };
    match name {
        "prompt" => Some(prompt),
        "result" => last(&|outcome| !outcome.is_error),
        "error" => last(&|outcome| outcome.is_error),
        name => {
            let tool = name.strip_prefix("results.")?;
            last(&|outcome| !outcome.is_error && outcome.tool == tool)
        }
    }
}

/// The names that stand in a text and that nothing is known by.
pub(crate) fn unknown_names(text: &str) -> Vec<String> {
    let names = text.split("{{").skip(1).filter_map(|part| Some(part.split_once("}}")?.0.trim()));
    let known =
        |name: &str| matches!(name, "prompt" | "result" | "error") || name.starts_with("results.");
    names.filter(|name| !known(name)).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(tool: &str, text: &str, is_error: bool) -> CallOutcome {
        CallOutcome { tool: tool.into(), text: text.into(), is_error }
    }

    #[test]
    fn names_stand_for_the_last_that_is_meant() {
        let outcomes = [
            outcome("search", "one", false),
            outcome("cache", "two", false),
            outcome("search", "three", true),
            outcome("cache", "four", true),
        ];
        for (text, filled) in [
            ("no name", Some("no name")),
            ("{{ prompt }}!", Some("task!")),
            ("{{result}}, {{error}}", Some("two, four")),
            ("{{results.search}}", Some("one")),
            ("{{results.cache}}", Some("two")),
            ("{{results.other}}", None),
            ("{{other}}", None),
            ("{{result", None),
        ] {
            assert_eq!(fill(text, "task", &outcomes).as_deref(), filled, "{text}");
        }
        assert_eq!(fill("{{result}}", "task", &outcomes[2..]), None);
        assert_eq!(fill("{{error}}", "task", &outcomes[..2]), None);
    }

    #[test]
    fn only_names_that_nothing_is_known_by_are_unknown() {
        let text = "{{prompt}} {{result}} {{error}} {{results.x}} {{ reslt }} {{x}} {{open";
        assert_eq!(unknown_names(text), ["reslt", "x"]);
    }
}
