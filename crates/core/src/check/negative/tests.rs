//! Cases from schemas as servers write them. The oracle is asked again here, so that a slip between
//! what was judged and what is handed out would show.

use serde_json::{Value, json};

use super::*;

const OVERSIZED: usize = 4_096;

/// Every kind of case, by the id of its check.
fn all(subject: &Subject<'_>) -> Vec<(&'static str, Made)> {
    vec![
        ("missing_required", missing_required(subject)),
        ("wrong_type", wrong_type(subject)),
        ("enum_miss", enum_miss(subject)),
        ("out_of_bounds", out_of_bounds(subject)),
        ("extra_field", extra_field(subject)),
        ("oversized", oversized(subject, OVERSIZED)),
    ]
}

fn good(schema: &Value) -> Value {
    generate::arguments(schema, &mut Seed(7).dice(0), &Budget::default()).unwrap()
}

fn labels(made: &Made) -> Vec<&str> {
    made.cases.iter().map(|case| case.label.as_str()).collect()
}

fn of(properties: Value, required: &[&str]) -> Value {
    json!({ "type": "object", "properties": properties, "required": required })
}

/// A schema, and how many cases of each check it must give, in the order of [`all`]; oversized ones
/// are in `all` as well. Nothing may be dropped unless the last number says so.
fn corpus() -> Vec<(Value, [usize; 6], usize)> {
    let n = |missing, wrong, listed, bounds, extra, large| {
        [missing, wrong, listed, bounds, extra, large]
    };
    vec![
        (json!({}), n(0, 0, 0, 0, 1, 0), 0),
        (json!({ "type": "object" }), n(0, 0, 0, 0, 1, 0), 0),
        (json!({ "type": "object", "additionalProperties": false }), n(0, 0, 0, 0, 1, 0), 0),
        (of(json!({ "q": { "type": "string" } }), &["q"]), n(1, 2, 0, 0, 1, 1), 0),
        (of(json!({ "q": { "type": "string" } }), &[]), n(0, 2, 0, 0, 1, 1), 0),
        (of(json!({ "q": {} }), &["q"]), n(1, 0, 0, 0, 1, 0), 0),
        (
            of(json!({ "n": { "type": "integer", "minimum": 1, "maximum": 5 } }), &["n"]),
            n(1, 2, 0, 2, 1, 0),
            0,
        ),
        (
            of(
                json!({ "n": { "type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1.5 } }),
                &[],
            ),
            n(0, 2, 0, 2, 1, 0),
            0,
        ),
        (
            of(json!({ "n": { "type": "integer", "multipleOf": 5, "minimum": 10 } }), &["n"]),
            n(1, 2, 0, 2, 1, 0),
            0,
        ),
        (
            of(json!({ "n": { "type": "number", "multipleOf": 0.25 } }), &["n"]),
            n(1, 2, 0, 1, 1, 0),
            0,
        ),
        (
            of(json!({ "n": { "type": "integer", "maximum": i64::MAX } }), &["n"]),
            n(1, 2, 0, 1, 1, 0),
            0,
        ),
        (
            of(json!({ "n": { "type": "number", "minimum": -1e300 } }), &["n"]),
            n(1, 2, 0, 1, 1, 0),
            0,
        ),
        (of(json!({ "b": { "type": "boolean" } }), &["b"]), n(1, 2, 0, 0, 1, 0), 0),
        (
            of(json!({ "s": { "type": "string", "minLength": 2, "maxLength": 4 } }), &["s"]),
            n(1, 2, 0, 2, 1, 1),
            0,
        ),
        (of(json!({ "s": { "type": "string", "minLength": 0 } }), &["s"]), n(1, 2, 0, 0, 1, 1), 0),
        (
            of(json!({ "s": { "type": "string", "pattern": "^[a-z]{3}$" } }), &["s"]),
            n(1, 2, 0, 1, 1, 1),
            0,
        ),
        // Every text fits: there is nothing to break.
        (of(json!({ "s": { "type": "string", "pattern": ".*" } }), &["s"]), n(1, 2, 0, 0, 1, 1), 1),
        (
            of(json!({ "s": { "type": "string", "enum": ["a", "b"] } }), &["s"]),
            n(1, 2, 1, 0, 1, 0),
            0,
        ),
        (of(json!({ "s": { "enum": [1, 2] } }), &[]), n(0, 0, 1, 0, 1, 0), 0),
        (of(json!({ "s": { "const": true } }), &["s"]), n(1, 0, 1, 0, 1, 0), 0),
        // Pydantic: optional with a limit.
        (
            of(
                json!({ "s": { "anyOf": [{ "type": "string", "maxLength": 3 }, { "type": "null" }], "default": null } }),
                &[],
            ),
            n(0, 1, 0, 1, 1, 1),
            0,
        ),
        (of(json!({ "s": { "type": ["string", "null"] } }), &["s"]), n(1, 1, 0, 0, 1, 1), 0),
        (
            of(json!({ "s": { "oneOf": [{ "type": "integer" }, { "type": "string" }] } }), &["s"]),
            n(1, 2, 0, 0, 1, 1),
            0,
        ),
        // Any value at all, in one of two branches: no type is wrong.
        (
            of(json!({ "s": { "anyOf": [{ "type": "string" }, {}] } }), &["s"]),
            n(1, 0, 0, 0, 1, 1),
            2,
        ),
        (
            of(
                json!({ "tags": { "type": "array", "items": { "type": "string" }, "minItems": 1, "maxItems": 3, "uniqueItems": true } }),
                &["tags"],
            ),
            n(1, 4, 0, 3, 1, 1),
            0,
        ),
        // It may hold an item twice.
        (
            of(json!({ "tags": { "type": "array", "uniqueItems": false } }), &["tags"]),
            n(1, 2, 0, 0, 1, 0),
            0,
        ),
        // What two maps say of one property.
        (
            json!({
                "type": "object", "properties": { "s": { "type": "string" } }, "required": ["s"],
                "allOf": [{ "properties": { "s": { "maxLength": 30 } } }],
            }),
            n(1, 2, 0, 1, 1, 1),
            0,
        ),
        // One level down.
        (
            of(
                json!({ "o": of(json!({ "a": { "type": "string" }, "b": { "type": "integer", "minimum": 0 } }), &["a"]) }),
                &["o"],
            ),
            n(2, 6, 0, 1, 1, 1),
            0,
        ),
        // An object that may be left out, and is put in to break what is in it.
        (
            of(json!({ "o": of(json!({ "a": { "type": "string" } }), &["a"]) }), &[]),
            n(1, 4, 0, 0, 1, 1),
            0,
        ),
        (
            json!({
                "type": "object", "required": ["e"],
                "properties": { "e": { "type": "array", "minItems": 1, "items": { "$ref": "#/$defs/E" } } },
                "$defs": { "E": of(json!({ "name": { "type": "string" } }), &["name"]) },
            }),
            n(2, 6, 0, 1, 1, 1),
            0,
        ),
        // A schema that leads to itself.
        (
            json!({
                "type": "object", "required": ["next"], "properties": { "next": { "$ref": "#/$defs/N" } },
                "$defs": { "N": { "type": "object", "properties": { "next": { "$ref": "#/$defs/N" }, "v": { "type": "integer" } }, "required": ["v"] } },
            }),
            n(2, 6, 0, 0, 1, 0),
            0,
        ),
        (
            json!({
                "$schema": "http://json-schema.org/draft-07/schema#", "type": "object", "additionalProperties": false,
                "properties": { "path": { "type": "string" }, "head": { "type": "number" } }, "required": ["path"],
            }),
            n(1, 4, 0, 0, 1, 1),
            0,
        ),
        (
            json!({ "$schema": "http://json-schema.org/draft-04/schema#", "type": "object", "properties": { "n": { "type": "number", "minimum": 0, "exclusiveMinimum": true } } }),
            n(0, 2, 0, 1, 1, 0),
            0,
        ),
        (
            json!({ "type": "object", "allOf": [of(json!({ "a": { "type": "string" } }), &["a"])], "unevaluatedProperties": false }),
            n(1, 2, 0, 0, 1, 1),
            0,
        ),
        (
            of(
                json!({ "a/b": { "type": "string" }, "c~d": { "type": "boolean" }, "é": { "type": "integer" } }),
                &["a/b"],
            ),
            n(1, 6, 0, 0, 1, 1),
            0,
        ),
    ]
}

#[test]
fn every_forbidden_case_is_forbidden_and_none_is_lost() {
    for (schema, counts, dropped) in corpus() {
        let good = good(&schema);
        let subject = Subject::new(&schema, &good).unwrap();
        let validator =
            jsonschema::options().should_validate_formats(false).build(&schema).unwrap();
        assert!(validator.is_valid(&good), "{good} by {schema}");
        let mut lost = 0;
        for ((id, made), count) in all(&subject).into_iter().zip(counts) {
            assert_eq!(made.cases.len(), count, "{id} of {schema}: {:?}", labels(&made));
            assert_eq!(made.places, made.cases.len() + made.dropped, "{id}");
            lost += made.dropped;
            for case in &made.cases {
                assert_eq!(case.forbidden, !validator.is_valid(&case.arguments), "{case:?}");
                assert_ne!(case.arguments, good, "{id} of {schema}");
                assert!(case.forbidden || matches!(id, "extra_field" | "oversized"), "{case:?}");
            }
        }
        assert_eq!(lost, dropped, "{schema}");
    }
}

#[test]
fn the_same_schema_gives_the_same_cases() {
    for (schema, ..) in corpus() {
        let good = good(&schema);
        let made = || all(&Subject::new(&schema, &good).unwrap());
        assert_eq!(made(), made());
    }
}

#[test]
fn labels_say_what_is_wrong() {
    let schema = of(
        json!({
            "edits": { "type": "array", "minItems": 1, "items": of(json!({ "old": { "type": "string" } }), &["old"]) },
            "mode": { "enum": ["a"] },
        }),
        &["edits"],
    );
    let good = json!({ "edits": [{ "old": "x" }] });
    let subject = Subject::new(&schema, &good).unwrap();
    assert_eq!(labels(&missing_required(&subject)), ["without `edits`", "without `edits[0].old`"]);
    assert_eq!(labels(&enum_miss(&subject)), ["`mode` is none of its values"]);
    assert_eq!(labels(&out_of_bounds(&subject)), ["`edits` with too few items"]);
    let wrong = wrong_type(&subject);
    assert!(labels(&wrong).contains(&"`edits[0].old` as null"), "{:?}", labels(&wrong));
    let bad = &missing_required(&subject).cases[1].arguments;
    assert_eq!(*bad, json!({ "edits": [{}] }));
}

#[test]
fn a_choice_is_spread_evenly() {
    let properties: serde_json::Map<_, _> =
        (0..40).map(|number| (format!("p{number:02}"), json!({ "type": "string" }))).collect();
    let names: Vec<_> = properties.keys().cloned().collect();
    let schema = json!({ "type": "object", "properties": properties, "required": names });
    let good = good(&schema);
    let made = missing_required(&Subject::new(&schema, &good).unwrap());
    let chosen: Vec<_> = made.chosen(4).map(|case| case.label.as_str()).collect();
    assert_eq!(chosen, ["without `p00`", "without `p10`", "without `p20`", "without `p30`"]);
    assert_eq!(made.chosen(100).count(), 40);
    assert_eq!(made.chosen(0).count(), 0);
}

#[test]
fn good_arguments_must_be_good_and_schemas_usable() {
    let schema = of(json!({ "q": { "type": "string" } }), &["q"]);
    assert!(Subject::new(&schema, &json!({})).unwrap_err().contains("forbids"));
    for bad in [
        json!([]),
        json!({ "$schema": "urn:mine" }),
        json!({ "type": 5 }),
        json!({ "properties": { "a": { "$ref": "http://127.0.0.1:9/x.json" } } }),
        json!({ "properties": { "a": { "$ref": "file:///etc/hostname" } } }),
    ] {
        assert!(Subject::new(&bad, &json!({})).is_err(), "{bad}");
        assert_eq!(arguments_problem(&bad, &json!({})), None);
    }
}

#[test]
fn schemas_that_go_round_in_circles_do_not_take_us_along() {
    for schema in [
        json!({ "$ref": "#" }),
        json!({ "allOf": [{ "$ref": "#" }] }),
        json!({ "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "$ref": "#/$defs/a" } }, "$ref": "#/$defs/a" }),
        json!({ "properties": { "a": { "anyOf": [{ "$ref": "#/properties/a" }] } } }),
    ] {
        let _ = Subject::new(&schema, &json!({ "a": 1 })).map(|subject| all(&subject).len());
    }
}

#[test]
fn a_case_differs_from_the_good_arguments_in_one_place_only() {
    let schema = of(
        json!({ "o": of(json!({ "a": { "type": "string" }, "b": { "type": "integer" } }), &["a"]) }),
        &["o"],
    );
    let good = json!({ "o": { "a": "as it was", "b": 1 } });
    let made = wrong_type(&Subject::new(&schema, &good).unwrap());
    let case = made.cases.iter().find(|case| case.label == "`o.b` as null").unwrap();
    assert_eq!(case.arguments, json!({ "o": { "a": "as it was", "b": null } }));
}

#[test]
fn properties_that_exclude_each_other_are_broken_all_the_same() {
    let mut schema = of(json!({ "a": { "type": "string" }, "b": { "type": "string" } }), &[]);
    schema["not"] = json!({ "required": ["a", "b"] });
    let good = json!({});
    let made = wrong_type(&Subject::new(&schema, &good).unwrap());
    let labels = labels(&made);
    assert_eq!(labels, ["`a` as an object", "`a` as null", "`b` as an object", "`b` as null"]);
}

#[test]
fn what_the_good_arguments_leave_out_below_the_top_is_tried_too() {
    let inner = of(json!({ "x": { "type": "string" }, "y": { "type": "string" } }), &["x", "y"]);
    let schema = of(json!({ "o": of(json!({ "p": inner }), &[]) }), &["o"]);
    let made = oversized(&Subject::new(&schema, &json!({ "o": {} })).unwrap(), OVERSIZED);
    assert_eq!((made.places, made.cases.len(), made.dropped), (2, 2, 0));
    let long = |key: &str| {
        made.cases.iter().any(|case| {
            let text = case.arguments["o"]["p"][key].as_str();
            text.is_some_and(|text| text.len() >= OVERSIZED)
        })
    };
    assert!(long("x") && long("y"), "{:?}", labels(&made));
}

#[test]
fn a_problem_is_told_with_its_place() {
    let schema = of(json!({ "n": { "type": "integer" } }), &["n"]);
    let problem = |arguments: Value| arguments_problem(&schema, &arguments);
    assert_eq!(problem(json!({ "n": 1 })), None);
    assert_eq!(
        problem(json!({ "n": "x" })).as_deref(),
        Some("`/n`: \"x\" is not of type \"integer\"")
    );
    assert_eq!(problem(json!({})).as_deref(), Some("\"n\" is a required property"));
}

#[test]
fn values_just_outside_of_a_limit_are_made_from_good_ones() {
    let text = json!({ "type": "string", "minLength": 3, "maxLength": 6 });
    let schema = of(
        json!({ "s": text, "t": { "type": "string", "enum": ["only"], "minLength": 3 } }),
        &["s"],
    );
    let good = json!({ "s": "abcde" });
    let made = out_of_bounds(&Subject::new(&schema, &good).unwrap());
    let cases: Vec<_> =
        made.cases.iter().map(|case| (case.label.as_str(), case.arguments.clone())).collect();
    let expected = [
        ("`s` too short", json!({ "s": "ab" })),
        ("`s` too long", json!({ "s": "abcdeaa" })),
        ("`t` too short", json!({ "s": "abcde", "t": "on" })),
    ];
    assert_eq!(cases, expected);
}

#[test]
fn an_object_that_was_left_out_is_put_in_to_break_what_is_in_it() {
    let schema = of(json!({ "o": of(json!({ "a": { "type": "boolean" } }), &["a"]) }), &[]);
    let good = json!({});
    let made = missing_required(&Subject::new(&schema, &good).unwrap());
    let [case] = made.cases.as_slice() else { panic!("{made:?}") };
    assert_eq!((case.label.as_str(), &case.arguments), ("without `o.a`", &json!({ "o": {} })));
}
