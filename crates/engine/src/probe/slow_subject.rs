//! A tool call that takes a while: only such a call can be interrupted, or be in the way of others.
//!
//! Most are found by a parameter that says how long to take. What a name promises is tried once,
//! because many a `timeout` is a limit and no wait.

use std::{rc::Rc, time::Duration};

use mcp_loadtest_core::{generate::words, mcp::Tool, outcome::Outcome};
use serde_json::{Value, json};

use super::bench::{Bench, KnownTool};

/// How long a call should take: long enough to be told from a busy machine, short enough for several.
const AIM: Duration = Duration::from_secs(1);
/// A tool that nobody can tell how long to take must take this long by itself.
const SLOW_BY_ITSELF: Duration = Duration::from_millis(200);
/// So many slow calls are looked at: those of one server differ at most in being threaded or not.
const MOST_FOUND: usize = 3;
/// So many calls are tried in search of them.
const MOST_TRIED: usize = 8;

/// A call that takes a while.
#[derive(Debug, Clone)]
pub(crate) struct SlowSubject {
    pub(crate) tool: Tool,
    pub(crate) arguments: Value,
    /// How long it took when it was alone.
    pub(crate) took: Duration,
    knob: Option<Knob>,
}

/// The parameter that says how long to take.
#[derive(Debug, Clone, PartialEq)]
struct Knob {
    parameter: String,
    per_second: u64,
}

impl SlowSubject {
    /// Arguments to take another time, where it can be told so finely.
    pub(crate) fn taking(&self, time: Duration) -> Option<Value> {
        let knob = self.knob.as_ref()?;
        let value = time.as_secs_f64() * knob.per_second as f64;
        let schema = &self.tool.input_schema["properties"][&knob.parameter];
        (value >= 1.0 && is_allowed(value, schema)).then(|| knob.set(&self.arguments, value))
    }
}

impl Knob {
    fn set(&self, arguments: &Value, value: f64) -> Value {
        let mut arguments = arguments.clone();
        arguments[self.parameter.as_str()] = json!(value as u64);
        arguments
    }
}

impl Bench {
    /// The slow calls of this server, each seen to be slow.
    pub(crate) async fn slow_subjects(&self) -> Rc<[SlowSubject]> {
        let known = self.slow.borrow().clone();
        if let Some(known) = known {
            return known;
        }
        let found: Rc<[SlowSubject]> = self.find_slow().await.into();
        // A tool that is known to be slow and did not answer now may do so later.
        if !found.is_empty() || self.slowest().is_none() {
            *self.slow.borrow_mut() = Some(found.clone());
        }
        found
    }

    async fn find_slow(&self) -> Vec<SlowSubject> {
        let mut found = Vec::new();
        let mut tries = 0;
        for (known, good) in self.every_subject() {
            let tool = &known.tool;
            for (knob, value) in knobs(AIM, tool) {
                if found.len() == MOST_FOUND || tries == MOST_TRIED {
                    return found;
                }
                tries += 1;
                let arguments = knob.set(good, value);
                if let Some(slow) = self.seen_slow(tool, &arguments, AIM / 2).await {
                    found.push(SlowSubject { knob: Some(knob), ..slow });
                    break;
                }
            }
        }
        if found.is_empty()
            && let Some((tool, good)) = self.slowest()
        {
            found.extend(self.seen_slow(tool, good, SLOW_BY_ITSELF).await);
        }
        found
    }

    /// The slowest tool, if it is slow enough.
    fn slowest(&self) -> Option<(&Tool, &Value)> {
        let took = |known: &&KnownTool| {
            let took = known.control.took_ms.filter(|_| known.good_arguments().is_some());
            took.filter(|ms| *ms >= SLOW_BY_ITSELF.as_secs_f64() * 1e3).map_or(0, |ms| ms as u64)
        };
        let slowest = self.tools.iter().max_by_key(took).filter(|known| took(known) > 0)?;
        Some((&slowest.tool, slowest.good_arguments()?))
    }

    async fn seen_slow(
        &self,
        tool: &Tool,
        arguments: &Value,
        least: Duration,
    ) -> Option<SlowSubject> {
        let session = self.session().await.ok()?;
        let call = session.prepare_tool_call(&tool.name, arguments, &tool.input_schema);
        let reply = session.call(&call, self.how()).await;
        let took = reply.took();
        (reply.outcome == Outcome::Ok && took >= least).then(|| SlowSubject {
            tool: tool.clone(),
            arguments: arguments.clone(),
            took,
            knob: None,
        })
    }
}

/// Words of a parameter that says how long to take, with how many of its units make a second. Without
/// a unit it is a second first: a thousand of those would never end.
const PER_SECOND: [(&str, &[u64]); 2] = [
    ("ms, millis, millisecond, milliseconds, msec", &[1000]),
    ("second, seconds, sec, secs, delay, duration, interval, sleep, timeout, wait", &[1, 1000]),
];

/// Parameters that may tell the tool to take so long, and their values; the likeliest first.
fn knobs(aim: Duration, tool: &Tool) -> Vec<(Knob, f64)> {
    let Some(properties) = tool.input_schema["properties"].as_object() else { return Vec::new() };
    let mut knobs = Vec::new();
    for (name, schema) in properties.iter().filter(|(_, schema)| is_numeric(schema)) {
        let spoken = words(name);
        let is_named = |(names, _): &&(&str, &[u64])| {
            names.split(", ").any(|name| spoken.iter().any(|word| word == name))
        };
        let Some((_, scales)) = PER_SECOND.iter().find(is_named) else { continue };
        for per_second in scales.iter().copied() {
            let value = aim.as_secs_f64() * per_second as f64;
            if is_allowed(value, schema) {
                knobs.push((Knob { parameter: name.clone(), per_second }, value));
            }
        }
    }
    knobs
}

fn is_numeric(schema: &Value) -> bool {
    let is_number = |kind: &Value| matches!(kind.as_str(), Some("integer" | "number"));
    let kind = &schema["type"];
    is_number(kind)
        || kind.as_array().is_some_and(|kinds| kinds.iter().any(is_number))
        || schema["anyOf"].as_array().is_some_and(|any| any.iter().any(is_numeric))
}

fn is_allowed(value: f64, schema: &Value) -> bool {
    schema["maximum"].as_f64().is_none_or(|most| value <= most)
        && schema["exclusiveMaximum"].as_f64().is_none_or(|most| value < most)
        && schema["minimum"].as_f64().is_none_or(|least| value >= least)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ways(properties: Value) -> Vec<Value> {
        let tool = Tool {
            name: "t".into(),
            description: None,
            input_schema: json!({ "type": "object", "properties": properties }),
            output_schema: None,
            annotations: None,
        };
        let good = json!({ "text": "x" });
        knobs(AIM, &tool).into_iter().map(|(knob, value)| knob.set(&good, value)).collect()
    }

    #[test]
    fn the_unit_is_told_from_the_name() {
        let number = json!({ "type": "integer" });
        assert_eq!(ways(json!({ "ms": number })), [json!({ "text": "x", "ms": 1000 })]);
        assert_eq!(
            ways(json!({ "sleepMillis": number })),
            [json!({ "text": "x", "sleepMillis": 1000 })]
        );
        let either =
            [json!({ "text": "x", "duration": 1 }), json!({ "text": "x", "duration": 1000 })];
        assert_eq!(ways(json!({ "duration": number })), either);
    }

    #[test]
    fn a_limit_is_kept_and_what_is_no_number_is_no_time() {
        let limited = json!({ "type": "number", "maximum": 500 });
        assert_eq!(ways(json!({ "ms": limited })), [] as [Value; 0]);
        assert_eq!(ways(json!({ "delay": limited })), [json!({ "text": "x", "delay": 1 })]);
        assert_eq!(ways(json!({ "delay": { "type": "string" } })), [] as [Value; 0]);
        assert_eq!(ways(json!({ "items": { "type": "integer" } })), [] as [Value; 0]);
        let optional = json!({ "anyOf": [{ "type": "integer" }, { "type": "null" }] });
        assert_eq!(ways(json!({ "ms": optional })).len(), 1);
    }
}
