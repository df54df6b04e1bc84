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
