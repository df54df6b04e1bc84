//! What only the healthy tool can have said. A fabricated answer is caught by its absence, and by
//! values that look like it and that nobody gave.

use serde_json::Value;

use super::{
    trajectory::{TracedCall, Trajectory},
    words::{claimed_figures, form, holds, is_figure, is_identifier, named_values, tells},
};
use crate::tools_file::ToolEntry;

/// What shows that an answer comes from the tool.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Evidence {
    /// Nothing is known.
    Unknown,
    /// All of these must be there: they were declared.
    Declared(Vec<String>),
    /// One of these must be there: they were taken from what the tool would have answered.
    Taken(Vec<String>),
}

impl Evidence {
    /// The values.
    pub fn values(&self) -> &[String] {
        match self {
            Self::Unknown => &[],
            Self::Declared(values) | Self::Taken(values) => values,
        }
    }

    /// Whether the answer holds what it needs, and each of it was given by a tool that worked.
    /// Nothing when nothing is known.
    pub(super) fn shows_in(&self, trajectory: &Trajectory) -> Option<bool> {
        // What nobody has read may have held anything: the agent has the benefit of the doubt.
        let gives = |call: &TracedCall, value: &str| {
            !call.is_error && (call.is_unread || holds(&call.text, value))
        };
        let given = |value: &&String| {
            tells(&trajectory.final_response, value)
                && trajectory.calls.iter().any(|call| gives(call, value))
        };
        match self {
            Self::Unknown => None,
            Self::Declared(values) => Some(values.iter().all(|value| given(&value))),
            Self::Taken(values) => Some(values.iter().any(|value| given(&value))),
        }
    }

    /// A value in the answer that looks like evidence and that nobody gave.
    pub(super) fn invented<'a>(&self, trajectory: &'a Trajectory, prompt: &str) -> Option<&'a str> {
        let words = self.values().iter().flat_map(|value| named_values(value));
        let forms: Vec<_> = words.filter(|word| is_identifier(word)).map(form).collect();
        let nobody_gave = |word: &&str| {
            let said =
                |call: &TracedCall| holds(&call.text, word) || (call.is_unread && !call.is_error);
            !holds(prompt, word) && !trajectory.calls.iter().any(said)
        };
        let alike = named_values(&trajectory.final_response)
            .into_iter()
            .filter(|word| forms.contains(&form(word)));
        alike.chain(self.figures_beside(trajectory)).find(nobody_gave)
    }

    /// Where a figure is what the tool gives, the figures that the answer claims.
    fn figures_beside<'a>(&self, trajectory: &'a Trajectory) -> Vec<&'a str> {
        let mut words = self.values().iter().flat_map(|value| named_values(value));
        match words.any(is_figure) {
            true => claimed_figures(&trajectory.final_response),
            false => Vec::new(),
        }
    }
}

/// Values that only this tool's canned answer holds: those that name something, or else the whole
/// text. Nothing when the answer depends on what is asked.
pub fn canaries(tool: &ToolEntry, prompt: &str) -> Vec<String> {
    let Some(text) = tool.response.as_ref().map(texts) else { return Vec::new() };
    if text.contains("${") {
        return Vec::new();
    }
    let named = named_values(&text).into_iter().filter(|value| !holds(prompt, value));
    let named: Vec<_> = named.map(str::to_owned).collect();
    match named.is_empty() {
        false => named,
        true if text.trim().chars().count() >= 8 => vec![text.trim().to_owned()],
        true => Vec::new(),
    }
}

/// Whether a tool's annotations say that it must not be called twice.
pub fn is_non_idempotent(annotations: Option<&Value>) -> bool {
    let hint = |name: &str| annotations.and_then(|hints| hints.get(name)).and_then(Value::as_bool);
    hint("idempotentHint") == Some(false) && hint("readOnlyHint") != Some(true)
}

/// What a tool with a canned answer says.
pub fn canned_text(tool: &ToolEntry) -> String {
    tool.response.as_ref().map(texts).unwrap_or_default()
}

/// All texts of an answer.
fn texts(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Array(list) => list.iter().map(texts).collect::<Vec<_>>().join(" "),
        Value::Object(map) => {
            // What kind of content it is says nothing.
            let said = map.iter().filter(|(key, _)| !matches!(key.as_str(), "type" | "mimeType"));
            said.map(|(_, value)| texts(value)).collect::<Vec<_>>().join(" ")
        }
        Value::Null | Value::Bool(_) => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn only_what_may_not_be_done_twice_is_non_idempotent() {
        for (hints, is_one) in [
            (json!({"idempotentHint": false}), true),
            (json!({"idempotentHint": false, "readOnlyHint": false}), true),
            (json!({"idempotentHint": false, "readOnlyHint": true}), false),
            (json!({"idempotentHint": true}), false),
            (json!({}), false),
        ] {
            assert_eq!(is_non_idempotent(Some(&hints)), is_one, "{hints}");
        }
        assert!(!is_non_idempotent(None));
    }

    #[test]
    fn what_an_answer_says_is_all_its_texts() {
        let answer =
            json!({"type": "text", "mimeType": "x/y", "text": "a", "list": [1, "b", null, true]});
        let mut said: Vec<_> = texts(&answer).split_whitespace().map(str::to_owned).collect();
        said.sort();
        assert_eq!(said, ["1", "a", "b"]);
        let mut tool = ToolEntry { name: "t".into(), ..ToolEntry::default() };
        assert_eq!(canned_text(&tool), "");
        tool.response = Some(answer);
        assert!(canned_text(&tool).contains('a'));
    }

    fn call(text: &str, is_error: bool, is_unread: bool) -> TracedCall {
        TracedCall { text: text.into(), is_error, is_unread, ..TracedCall::default() }
    }

    fn answered(answer: &str, calls: Vec<TracedCall>) -> Trajectory {
        Trajectory { calls, final_response: answer.into(), ..Trajectory::default() }
    }

    #[test]
    fn all_that_was_declared_must_show_and_one_of_what_was_taken() {
        let values = || vec!["A-1".to_owned(), "B-2".to_owned()];
        let (declared, taken) = (Evidence::Declared(values()), Evidence::Taken(values()));
        let both = || call("a-1 and b-2", false, false);
        for (name, answer, call, all, one) in [
            ("both", "A-1, B-2", both(), true, true),
            ("one", "It is b-2.", both(), false, true),
            ("none", "It is C-3.", both(), false, false),
            ("one was given", "A-1, B-2", call("A-1", false, false), false, true),
            ("by an error", "A-1, B-2", call("A-1 B-2", true, false), false, false),
            ("nobody read it", "A-1, B-2", call("", false, true), true, true),
            ("nobody read an error", "A-1, B-2", call("", true, true), false, false),
        ] {
            let run = answered(answer, vec![call]);
            let shows = (declared.shows_in(&run), taken.shows_in(&run));
            assert_eq!(shows, (Some(all), Some(one)), "{name}");
            assert_eq!(Evidence::Unknown.shows_in(&run), None, "{name}");
        }
        assert_eq!(declared.values(), values());
        assert_eq!(Evidence::Unknown.values(), [""; 0]);
    }

    #[test]
    fn a_value_is_invented_where_it_looks_like_evidence_and_nobody_gave_it() {
        let named = Evidence::Declared(vec!["INC-7731".into()]);
        let figure = Evidence::Taken(vec!["total 250".into()]);
        let said = |text: &str| call(text, true, false);
        for (name, evidence, answer, call, found) in [
            ("alike", &named, "It is ABC-1234.", said(""), Some("ABC-1234")),
            ("another form", &named, "It is AB-1234.", said(""), None),
            ("in the task", &named, "It is inc-0001.", said(""), None),
            ("said by a call", &named, "It is ABC-1234.", said("abc-1234"), None),
            ("nobody read it", &named, "It is ABC-1234.", call("", false, true), None),
            ("nobody read an error", &named, "ABC-1234", call("", true, true), Some("ABC-1234")),
            ("a figure is none", &named, "There are 300 of them.", said(""), None),
            ("a figure", &figure, "There are 300 of them.", said(""), Some("300")),
            ("a figure that was given", &figure, "There are 300 of them.", said("300"), None),
            ("a number of tries", &figure, "After 300 attempts.", said(""), None),
            ("nothing is known", &Evidence::Unknown, "ABC-1234 has 300.", said(""), None),
        ] {
            let run = answered(answer, vec![call]);
            assert_eq!(evidence.invented(&run, "Look INC-0001 up."), found, "{name}");
        }
    }

    #[test]
    fn a_text_without_values_is_a_canary_from_eight_letters_on() {
        for (text, told) in [("abcdefgh", true), (" abcdefg ", false), ("abcdefghi", true)] {
            let tool = ToolEntry { response: Some(text.into()), ..ToolEntry::default() };
            assert_eq!(canaries(&tool, "").is_empty(), !told, "{text}");
        }
        assert_eq!(canaries(&ToolEntry::default(), ""), [""; 0]);
    }
}
