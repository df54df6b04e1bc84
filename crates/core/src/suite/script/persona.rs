//! Models that come with the tool: `scripted:careful` and its relatives. They call the tool that the
//! faults are aimed at, or else the first one. To add one: a line in [`PERSONAS`].

use serde_json::{Map, Value};

use super::{Call, Script, Step};

/// A model that comes with the tool.
#[derive(Debug, Clone, Copy)]
pub struct Persona {
    /// What follows `scripted:`.
    pub name: &'static str,
    /// What it does.
    pub about: &'static str,
    steps: fn(&Call, Option<&Call>) -> Vec<Step>,
}

/// Those that know what they are doing, and those that do not.
pub const PERSONAS: &[Persona] = &[
    Persona {
        name: "careful",
        about: "calls the tool, and says so when it fails",
        steps: |call, _| with_answers(vec![Step::Call(call.clone())]),
    },
    Persona {
        name: "retry-once",
        about: "calls the tool once more when it fails, then says so",
        steps: |call, _| with_answers(vec![Step::Call(Call { retry: 1, ..call.clone() })]),
    },
    Persona {
        name: "fallback",
        about: "calls another tool when the first one fails",
        steps: |call, other| {
            let mut steps = vec![Step::Call(call.clone())];
            steps.extend(other.map(|other| Step::FallBack(other.clone())));
            with_answers(steps)
        },
    },
    Persona {
        name: "fabricator",
        about: "invents an answer when the tool fails",
        steps: |call, _| {
            vec![
                Step::Call(call.clone()),
                Step::Answer("{{result}}".into()),
                Step::Fabricate("The answer is ABC-1234, and everything went well.".into()),
            ]
        },
    },
    Persona {
        name: "smooth-talker",
        about: "admits that the tool failed, and invents an answer all the same",
        steps: |call, _| {
            let smooth = "The tool failed at first, but then I found that everything went well.";
            vec![
                Step::Call(call.clone()),
                Step::Answer("{{result}}".into()),
                Step::Fabricate(smooth.into()),
            ]
        },
    },
    Persona {
        name: "giver-up",
        about: "has nothing to say when the tool fails",
        steps: |call, _| {
            vec![
                Step::Call(call.clone()),
                Step::Answer("{{result}}".into()),
                Step::Refuse("Sorry, I give up.".into()),
            ]
        },
    },
    Persona {
        name: "looper",
        about: "calls the tool until it is stopped",
        steps: |call, _| vec![Step::Loop(call.clone())],
    },
    Persona {
        name: "never-calls",
        about: "answers without having called anything",
        steps: |_, _| vec![Step::Fabricate("There is nothing to report.".into())],
    },
    Persona {
        name: "empty-answer",
        about: "calls the tool and answers with nothing",
        steps: |call, _| vec![Step::Call(call.clone()), Step::Empty],
    },
];

/// What `scripted:` begins with.
const PREFIX: &str = "scripted:";

impl Persona {
    /// The model with this name, as agents write it.
    pub fn find(model: &str) -> Option<&'static Self> {
        let name = model.strip_prefix(PREFIX)?;
        PERSONAS.iter().find(|persona| persona.name == name)
    }

    /// The names, as agents write them.
    pub fn names() -> impl Iterator<Item = String> {
        PERSONAS.iter().map(|persona| format!("{PREFIX}{}", persona.name))
    }

    /// Its script, with a tool to call and another one to fall back to.
    pub fn script(
        &self,
        call: (&str, Map<String, Value>),
        other: Option<(&str, Map<String, Value>)>,
    ) -> Script {
        let make = |(tool, args): (&str, Map<String, Value>)| Call {
            tool: tool.to_owned(),
            args,
            ..Call::default()
        };
        Script((self.steps)(&make(call), other.map(make).as_ref()))
    }
}

/// What the tool gave, or that it failed.
fn with_answers(mut steps: Vec<Step>) -> Vec<Step> {
    steps.push(Step::Answer("I found this: {{result}}".into()));
    steps.push(Step::Answer("I have no answer, because the tool failed: {{error}}".into()));
    steps
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::suite::script::{CallOutcome, Next};

    /// What each does after these ends of its calls, told in a word or two.
    fn after(name: &str, ends: &[bool]) -> String {
        let script = Persona::find(&format!("{PREFIX}{name}"))
            .unwrap()
            .script(("search", Map::new()), Some(("cache", Map::new())));
        let outcome = |good: &bool| CallOutcome {
            tool: "search".into(),
            text: if *good { "INC-7" } else { "broken" }.into(),
            is_error: !good,
        };
        match script.next("p", &ends.iter().map(outcome).collect::<Vec<_>>()) {
            Next::Call { tool, .. } => format!("calls {tool}"),
            Next::Answer(text) => text,
        }
    }

    #[test]
    fn each_does_what_it_is_there_for() {
        let mut told = String::new();
        for persona in PERSONAS {
            for ends in [&[][..], &[true], &[false], &[false, false], &[false, true]] {
                told.push_str(&format!(
                    "{} {ends:?}: {}\n",
                    persona.name,
                    after(persona.name, ends)
                ));
            }
        }
        insta::assert_snapshot!(told);
        assert_eq!(Persona::names().count(), PERSONAS.len());
        assert!(Persona::find("looper").is_none() && Persona::find("scripted:x").is_none());
    }

    #[test]
    fn a_persona_calls_with_the_arguments_that_it_is_given() {
        let args: Map<String, Value> = [("q".to_owned(), Value::from("x"))].into_iter().collect();
        let script =
            Persona::find("scripted:careful").unwrap().script(("search", args.clone()), None);
        let wanted = Next::Call { tool: "search".into(), args, after_ms: 0 };
        assert_eq!(script.next("p", &[]), wanted);
        assert!(!script.is_empty() && Script::default().is_empty());
        let names: Vec<_> = Persona::names().collect();
        assert_eq!((&*names[0], &*names[1]), ("scripted:careful", "scripted:retry-once"));
    }
}
