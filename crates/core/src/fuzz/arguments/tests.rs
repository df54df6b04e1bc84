use super::*;
use crate::seed::Seed;
use std::collections::BTreeSet;

fn range(schema: Value) -> Range {
    let tool = Tool {
        name: "t".into(),
        description: None,
        input_schema: schema,
        output_schema: None,
        annotations: None,
    };
    Range::new(&tool, &mut Seed(1).dice(0))
}

/// What cases are called: those that must be taken, and those that must be refused.
fn labels(range: &Range) -> (BTreeSet<String>, BTreeSet<String>) {
    let (mut positive, mut negative) = (BTreeSet::new(), BTreeSet::new());
    for made in (0..1_000).map(|index| range.make(index, &mut Seed(1).dice(index))) {
        match made.intent {
            Some(Intent::Positive) => positive.insert(made.label),
            Some(Intent::Negative) => negative.insert(made.label),
            None => false,
        };
    }
    (positive, negative)
}

#[test]
fn every_keyword_has_a_right_and_a_wrong_side() {
    let table = [
        (json!({"type": "integer", "minimum": 3}), "/v: minimum exactly", "/v: minimum -1"),
        (json!({"type": "integer", "maximum": 9}), "/v: maximum exactly", "/v: maximum +1"),
        (
            json!({"type": "number", "exclusiveMinimum": 3}),
            "/v: exclusiveMinimum +1",
            "/v: exclusiveMinimum exactly",
        ),
        (
            json!({"type": "number", "exclusiveMaximum": 3}),
            "/v: exclusiveMaximum -1",
            "/v: exclusiveMaximum exactly",
        ),
        (
            json!({"type": "integer", "multipleOf": 5}),
            "/v: twice multipleOf",
            "/v: between multiples",
        ),
        (json!({"type": "string", "minLength": 3}), "/v: minLength exactly", "/v: minLength -1"),
        (json!({"type": "string", "maxLength": 9}), "/v: maxLength exactly", "/v: maxLength +1"),
        (
            json!({"type": "string", "pattern": "^[a-z]+$"}),
            "/v: one letter",
            "/v: not of the pattern",
        ),
        (json!({"enum": ["a", "b"]}), "/v: a listed value", "/v: a value that is not listed"),
        (
            json!({"type": "array", "items": {"type": "string"}, "minItems": 2}),
            "/v: minItems exactly",
            "/v: minItems -1",
        ),
        (
            json!({"type": "array", "items": {"type": "string"}, "maxItems": 2}),
            "/v: maxItems exactly",
            "/v: maxItems +1",
        ),
        (
            json!({"type": "array", "items": {"type": "integer"}, "uniqueItems": true}),
            "/v: one item",
            "/v: the same item twice",
        ),
        (
            json!({"type": "object", "additionalProperties": false}),
            "/v: empty",
            "/v: a member \"mcp_loadtest_extra\" too many",
        ),
        (json!({"type": "string"}), "/v: NUL", "/v: null in place of its type"),
        (
            json!({"anyOf": [{"type": "integer", "maximum": 5}]}),
            "/v: maximum exactly",
            "/v: maximum +1",
        ),
        (
            json!({"allOf": [{"type": "string"}, {"maxLength": 4}]}),
            "/v: maxLength exactly",
            "/v: maxLength +1",
        ),
        (json!({"$ref": "#/$defs/v"}), "/v: minimum exactly", "/v: minimum -1"),
        (json!({"type": "integer", "not": {"const": 0}}), "/v: minus one", "/v: zero"),
        (
            json!({"type": "integer", "if": {"minimum": 1}, "then": {"maximum": 5}}),
            "/v: maximum exactly",
            "/v: maximum +1",
        ),
    ];
    for (part, right, wrong) in table {
        let schema = json!({
            "type": "object", "properties": {"v": part}, "required": ["v"],
            "$defs": {"v": {"type": "integer", "minimum": 2}},
        });
        let range = range(schema.clone());
        let (positive, negative) = labels(&range);
        assert!(positive.contains(right), "{schema} lacks {right}: {positive:?}");
        assert!(negative.contains(wrong), "{schema} lacks {wrong}: {negative:?}");
        assert!(negative.contains("arguments: v missing"), "{negative:?}");
    }
}

#[test]
fn a_property_that_needs_another_is_sent_without_it() {
    let range = range(
        json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}},
        "dependentRequired": {"a": ["b"]}}),
    );
    assert!(labels(&range).1.contains("arguments: a without b"));
}

#[test]
fn what_is_said_of_arguments_is_what_the_validator_says() {
    let schema = json!({"type": "object", "required": ["n"], "properties": {
        "n": {"type": "integer", "minimum": 1, "maximum": 10},
        "s": {"type": ["string", "null"], "maxLength": 20},
        "o": {"oneOf": [{"type": "string"}, {"type": "array", "items": {"type": "number"}}]},
    }});
    let validator = jsonschema::validator_for(&schema).unwrap();
    let range = range(schema);
    let (mut right, mut wrong) = (0, 0);
    for index in 0..3_000 {
        let made = range.make(index, &mut Seed(5).dice(index));
        let Some(intent) = made.intent else { continue };
        let value: Value = serde_json::from_str(&made.text).unwrap();
        assert_eq!(validator.is_valid(&value), intent == Intent::Positive, "{}", made.text);
        *if intent == Intent::Positive { &mut right } else { &mut wrong } += 1;
    }
    assert!(right > 100 && wrong > 100, "{right} {wrong}");
    assert!(range.discarded() < 300, "{}", range.discarded());
}

#[test]
fn schemas_that_cannot_be_used_do_no_harm() {
    let recursive = json!({"$ref": "#/$defs/n", "$defs": {"n": {"type": "object",
        "properties": {"next": {"$ref": "#/$defs/n"}}}}});
    let odd = [
        json!(null),
        json!(true),
        json!({"type": 7}),
        json!({"$ref": "http://127.0.0.1/x"}),
        json!({"properties": {"a": {"pattern": "(((", "minLength": 1e300}}}),
        json!({"properties": {"a": {"type": "integer", "minimum": 1e300, "multipleOf": 0}}}),
        json!({"$ref": "#"}),
        recursive,
    ];
    for schema in odd {
        let range = range(schema);
        for index in 0..200 {
            range.make(index, &mut Seed(1).dice(index));
        }
    }
}

#[test]
fn half_a_surrogate_pair_is_written_as_such() {
    let range = range(json!({"type": "object", "properties": {"s": {"type": "string"}}}));
    let made = (0..100).map(|index| range.make(index, &mut Seed(1).dice(index)));
    let lone: Vec<Made> = made.filter(|made| made.text.contains("\\ud800")).collect();
    assert!(!lone.is_empty());
    assert!(lone.iter().all(|made| made.intent.is_none() && made.answer == Answer::May));
}
