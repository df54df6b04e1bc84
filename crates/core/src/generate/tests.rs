//! The generator as a whole: real schemas, random schemas, hostile schemas.
//!
//! The judge is the `jsonschema` crate, so that a rule misread here is not misread twice.
//!
//! One file, because all tests share the strategies that make schemas.

use proptest::prelude::*;
use serde_json::{Value, json};

use super::{Budget, Fill, Why, arguments};
use crate::seed::Seed;

const FILLS: [Fill; 2] = [Fill::Required, Fill::All];

fn budget(fill: Fill) -> Budget {
    Budget { fill, ..Budget::default() }
}

/// What `format` means to the judge.
#[derive(Clone, Copy, PartialEq)]
enum Formats {
    Checked,
    /// As JSON Schema has it; a `format` inside `if` or `oneOf` then decides nothing.
    Noted,
}

fn assert_valid(schema: &Value, made: &Value, formats: Formats) {
    let options = jsonschema::options().should_validate_formats(formats == Formats::Checked);
    let validator = options.build(schema).unwrap();
    assert!(made.is_object(), "{made}");
    let errors: Vec<_> = validator.iter_errors(made).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}\nvalue {made}\nschema {schema}");
}

/// Schemas as real servers write them: by hand, from Zod, from Pydantic, from `schemars`.
fn real_schemas() -> Vec<Value> {
    vec![
        json!({ "type": "object" }),
        json!({}),
        json!({ "type": "object", "properties": {}, "additionalProperties": false, "$schema": "http://json-schema.org/draft-07/schema#" }),
        // server-filesystem: edit_file, read_text_file.
        json!({
            "type": "object",
            "properties": {
                "path": { "type": "string" },
                "edits": { "type": "array", "items": {
                    "type": "object",
                    "properties": {
                        "oldText": { "type": "string", "description": "Text to search for - must match exactly" },
                        "newText": { "type": "string" },
                    },
                    "required": ["oldText", "newText"],
                    "additionalProperties": false,
                } },
                "dryRun": { "type": "boolean", "default": false },
            },
            "required": ["path", "edits"],
            "additionalProperties": false,
            "$schema": "http://json-schema.org/draft-07/schema#",
        }),
        json!({
            "type": "object",
            "properties": {
                "path": { "type": "string" },
                "tail": { "type": "number", "description": "If provided, returns only the last N lines of the file" },
                "sortBy": { "type": "string", "enum": ["name", "size"], "default": "name" },
            },
            "required": ["path"],
        }),
        // server-time, from Pydantic.
        json!({
            "type": "object",
            "properties": {
                "source_timezone": { "type": "string", "description": "Source IANA timezone name" },
                "time": { "type": "string", "description": "Time to convert in 24-hour format (HH:MM)" },
                "target_timezone": { "type": "string" },
            },
            "required": ["source_timezone", "time", "target_timezone"],
        }),
        // server-memory: create_relations.
        json!({
            "type": "object",
            "properties": { "relations": { "type": "array", "items": {
                "type": "object",
                "properties": { "from": { "type": "string" }, "to": { "type": "string" }, "relationType": { "type": "string" } },
                "required": ["from", "to", "relationType"],
            } } },
            "required": ["relations"],
        }),
        // FastMCP: Optional with a null default, and definitions.
        json!({
            "$defs": {
                "Level": { "enum": ["low", "high"], "title": "Level", "type": "string" },
                "Point": { "properties": { "x": { "type": "number" }, "y": { "type": "number" } }, "required": ["x", "y"], "title": "Point", "type": "object" },
            },
            "properties": {
                "level": { "$ref": "#/$defs/Level" },
                "points": { "items": { "$ref": "#/$defs/Point" }, "minItems": 2, "maxItems": 4, "title": "Points", "type": "array" },
                "limit": { "anyOf": [{ "type": "integer", "minimum": 1, "maximum": 100 }, { "type": "null" }], "default": null },
                "weights": { "additionalProperties": { "type": "number" }, "type": "object" },
            },
            "required": ["level", "points", "weights"],
            "title": "plotArguments",
            "type": "object",
        }),
        // A tagged union, and a tree.
        json!({
            "type": "object",
            "properties": { "shape": { "oneOf": [
                { "type": "object", "properties": { "kind": { "const": "circle" }, "radius": { "type": "number", "exclusiveMinimum": 0 } }, "required": ["kind", "radius"], "additionalProperties": false },
                { "type": "object", "properties": { "kind": { "const": "square" }, "side": { "type": "number", "exclusiveMinimum": 0 } }, "required": ["kind", "side"], "additionalProperties": false },
            ], "discriminator": { "propertyName": "kind" } } },
            "required": ["shape"],
        }),
        json!({
            "type": "object",
            "properties": { "filter": { "$ref": "#/definitions/Filter" } },
            "required": ["filter"],
            "definitions": { "Filter": { "anyOf": [
                { "type": "object", "properties": { "and": { "type": "array", "minItems": 1, "items": { "$ref": "#/definitions/Filter" } } }, "required": ["and"] },
                { "type": "object", "properties": { "not": { "$ref": "#/definitions/Filter" } }, "required": ["not"] },
                { "type": "object", "properties": { "field": { "type": "string", "minLength": 1 }, "equals": {} }, "required": ["field"] },
            ] } },
        }),
        json!({
            "$ref": "#/$defs/Node",
            "$defs": { "Node": { "type": "object", "properties": {
                "name": { "type": "string" },
                "parent": { "anyOf": [{ "$ref": "#/$defs/Node" }, { "type": "null" }] },
                "children": { "type": "array", "items": { "$ref": "#/$defs/Node" } },
                "left": { "$ref": "#/$defs/Node" },
                "right": { "$ref": "#/$defs/Node" },
            }, "required": ["name"] } },
        }),
        // Formats, patterns and limits of every kind.
        json!({
            "type": "object",
            "properties": {
                "date": { "type": "string", "format": "date" },
                "at": { "type": "string", "format": "date-time" },
                "clock": { "type": "string", "format": "time" },
                "mail": { "type": "string", "format": "email", "minLength": 5 },
                "link": { "type": "string", "format": "uri", "pattern": "^https?://" },
                "id": { "type": "string", "format": "uuid" },
                "v4": { "type": "string", "format": "ipv4" },
                "v6": { "type": "string", "format": "ipv6" },
                "host": { "type": "string", "format": "hostname" },
                "slug": { "type": "string", "pattern": "^[a-z0-9]+(?:-[a-z0-9]+)*$", "minLength": 3, "maxLength": 20 },
                "sku": { "type": "string", "pattern": "^[A-Z]{3}-\\d{4}(-[a-f0-9]{8})?$" },
                "page": { "type": "integer", "minimum": 1, "maximum": 1000, "default": 1 },
                "ratio": { "type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1 },
                "even": { "type": "integer", "multipleOf": 2, "minimum": 101 },
                "cents": { "type": "number", "multipleOf": 0.01, "minimum": 0.05, "maximum": 0.5 },
                "tags": { "type": "array", "items": { "type": "string", "minLength": 2, "maxLength": 8 }, "uniqueItems": true, "minItems": 3 },
                "days": { "type": "array", "items": { "enum": ["mon", "tue", "wed"] }, "uniqueItems": true, "minItems": 3 },
                "pair": { "type": "array", "prefixItems": [{ "type": "string" }, { "type": "integer" }], "items": false, "minItems": 2 },
                "either": { "type": ["string", "null"] },
                "map": { "type": "object", "minProperties": 2, "propertyNames": { "pattern": "^[a-z]+$" }, "additionalProperties": { "type": "boolean" } },
                "bad_default": { "type": "integer", "minimum": 5, "default": 1 },
                "given": { "type": "string", "examples": ["abc-1"] },
            },
            "required": ["date", "at", "clock", "mail", "link", "id", "v4", "v6", "host", "slug", "sku", "page", "ratio", "even", "cents", "tags", "days", "pair", "either", "map", "bad_default", "given"],
        }),
        // Composition.
        json!({
            "type": "object",
            "allOf": [
                { "properties": { "a": { "type": "integer", "minimum": 3 } }, "required": ["a"] },
                { "properties": { "a": { "type": "number", "maximum": 4 }, "b": { "type": "string" } }, "required": ["b"] },
            ],
            "unevaluatedProperties": false,
        }),
        json!({
            "type": "object",
            "properties": { "url": { "type": "string" }, "html": { "type": "string" }, "mode": { "enum": ["fast", "slow"] }, "limit": { "type": "integer" } },
            "oneOf": [{ "required": ["url"] }, { "required": ["html"] }],
            "required": ["mode"],
            "if": { "properties": { "mode": { "const": "fast" } } },
            "then": { "required": ["limit"] },
            "not": { "required": ["banned"] },
        }),
        json!({
            "type": "object",
            "properties": { "card": { "type": "string" }, "address": { "type": "string" } },
            "required": ["card"],
            "dependentRequired": { "card": ["address"] },
            "dependentSchemas": { "card": { "properties": { "code": { "type": "integer" } }, "required": ["code"] } },
        }),
    ]
}

#[test]
fn real_schemas_get_valid_arguments() {
    for schema in real_schemas() {
        for fill in FILLS {
            for seed in 0..5 {
                let made = arguments(&schema, &mut Seed(seed).dice(0), &budget(fill));
                let made = made.unwrap_or_else(|error| panic!("{error}\n{schema}"));
                assert_valid(&schema, &made, Formats::Checked);
            }
        }
    }
}

#[test]
fn the_same_dice_give_the_same_arguments() {
    for schema in real_schemas() {
        let [one, two] =
            [0, 0].map(|_| arguments(&schema, &mut Seed(4).dice(2), &budget(Fill::All)));
        assert_eq!(one, two);
    }
}

#[test]
fn names_steer_what_a_schema_leaves_open() {
    let names = ["path", "url", "timezone", "query", "expression", "start_date", "email", "sql"];
    let properties: serde_json::Map<_, _> =
        names.iter().map(|name| ((*name).to_owned(), json!({ "type": "string" }))).collect();
    let schema = json!({ "type": "object", "properties": properties, "required": names });
    assert_eq!(
        arguments(&schema, &mut Seed(0).dice(0), &Budget::default()),
        Ok(json!({
            "path": ".", "url": "http://127.0.0.1/", "timezone": "UTC", "query": "hello",
            "expression": "1+1", "start_date": "2024-01-15", "email": "user@example.com",
            "sql": "select 1",
        }))
    );
}

fn nested(depth: usize) -> Value {
    (0..depth).fold(
        json!({ "type": "string" }),
        |inner, _| json!({ "type": "object", "properties": { "a": inner }, "required": ["a"] }),
    )
}

fn refusal(schema: &Value) -> Why {
    match arguments(schema, &mut Seed(1).dice(0), &budget(Fill::All)) {
        Err(error) => error.why,
        Ok(made) => panic!("{made}"),
    }
}

#[test]
fn hostile_schemas_are_refused() {
    let property = |schema: Value| json!({ "properties": { "a": schema }, "required": ["a"] });
    let many: Vec<Value> = (0..30_000)
        .map(|n| json!({ "const": n, "title": "one of very many, and not a short one" }))
        .collect();
    // Each level asks for the next one twice.
    let mut laughs = serde_json::Map::new();
    for n in 0..40 {
        let next = json!({ "$ref": format!("#/$defs/{}", n + 1) });
        laughs.insert(
            n.to_string(),
            json!({ "properties": { "l": next, "r": next }, "required": ["l", "r"] }),
        );
    }
    laughs.insert("40".to_owned(), json!({}));
    let is =
        |why: &Why, expected: &Why| std::mem::discriminant(why) == std::mem::discriminant(expected);
    let table = [
        (json!(null), Why::NotASchema),
        (json!([1]), Why::NotASchema),
        (json!("object"), Why::NotASchema),
        (json!({ "type": "string" }), Why::NotAnObject),
        (json!(false), Why::NoValue("")),
        (json!({ "$schema": "https://evil.example/dialect" }), Why::Dialect(String::new())),
        (
            property(json!({ "$ref": "http://169.254.169.254/latest" })),
            Why::RemoteReference(String::new()),
        ),
        (property(json!({ "$ref": "file:///etc/passwd" })), Why::RemoteReference(String::new())),
        (property(json!({ "$ref": "#/$defs/none" })), Why::LostReference(String::new())),
        (property(json!({ "$dynamicRef": "#x" })), Why::Unsupported(String::new())),
        (property(json!({ "$ref": "#" })), Why::TooDeep(0)),
        (
            json!({ "$ref": "#/$defs/a", "$defs": { "a": { "$ref": "#/$defs/a" } } }),
            Why::TooDeep(0),
        ),
        (property(json!({ "type": "string", "minLength": 1e12 })), Why::TooLong(0)),
        (property(json!({ "type": "array", "minItems": 1e12 })), Why::TooMuch),
        (property(json!({ "type": "object", "minProperties": u64::MAX })), Why::TooMuch),
        (property(json!({ "anyOf": many })), Why::SchemaTooLarge(0)),
        (nested(100), Why::TooDeep(0)),
        (json!({ "$ref": "#/$defs/0", "$defs": laughs }), Why::TooMuch),
        (property(json!({ "type": "string", "pattern": "(?=x)y" })), Why::Pattern(String::new())),
    ];
    for (schema, expected) in table {
        let why = refusal(&schema);
        assert!(is(&why, &expected), "{why:?} instead of {expected:?}");
    }
}

#[test]
fn large_schemas_end_in_time() {
    let wide = Budget { schema: 1 << 26, ..budget(Fill::All) };
    let many = |count: usize, one: Value| vec![one; count];
    let names: Vec<String> = (0..20_000).map(|n| format!("p{n}")).collect();
    let strings: Vec<Value> =
        (0..1000).map(|_| json!({ "type": "string", "minLength": 60_000 })).collect();
    for (keyword, branches, is_made) in [
        ("anyOf", many(100_000, json!({ "minimum": 1 })), true),
        ("anyOf", many(30_000, json!({ "const": 1, "type": "string" })), false),
        ("oneOf", many(30_000, json!({ "minimum": 1 })), false),
        ("allOf", many(30_000, json!({ "minimum": 1 })), true),
    ] {
        let schema = json!({ "properties": { "a": { keyword: branches } }, "required": ["a"] });
        let made = arguments(&schema, &mut Seed(1).dice(0), &wide);
        assert_eq!(made.is_ok(), is_made, "{keyword} {:?}", made.err());
    }
    let required = json!({ "required": names });
    assert_eq!(arguments(&required, &mut Seed(1).dice(0), &wide), Err(Why::TooMuch.into()));
    let heavy = json!({ "properties": { "a": { "prefixItems": strings, "minItems": 1000 } }, "required": ["a"] });
    let error = arguments(&heavy, &mut Seed(1).dice(0), &wide).unwrap_err();
    assert_eq!(error.why, Why::TooMuch);
}

/// Schemas of the supported subset, for values of any type.
fn any_schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(json!({})),
        Just(json!(true)),
        Just(json!({ "type": ["string", "null"] })),
        Just(json!({ "type": "boolean" })),
        (0_u64..30, 0_u64..30).prop_map(|(low, more)| json!({ "type": "string", "minLength": low, "maxLength": low + more })),
        prop::sample::select(vec!["date", "date-time", "time", "email", "uri", "uuid", "ipv4", "ipv6", "hostname"])
            .prop_map(|format| json!({ "type": "string", "format": format })),
        prop::sample::select(vec!["^[a-z]{2,5}$", "^\\d+$", "^(a|bc)*d?$", "[.]txt$", "^[^/ ]+/\\w+$"])
            .prop_map(|pattern| json!({ "type": "string", "pattern": pattern, "minLength": 1 })),
        (-1000_i64..1000, 0_i64..1000).prop_map(|(low, more)| json!({ "type": "integer", "minimum": low, "maximum": low + more })),
        (-50.0..50.0, 0.001..9.0).prop_map(|(low, more): (f64, f64)| json!({ "type": "number", "exclusiveMinimum": low, "exclusiveMaximum": low + more })),
        (1_u32..40, -500_i64..500).prop_map(|(step, low)| json!({ "type": "number", "multipleOf": f64::from(step) / 4.0, "minimum": low })),
        prop::collection::vec(-5_i64..5, 1..4).prop_map(|values| json!({ "enum": values, "default": 3 })),
        "[a-z]{0,6}".prop_map(|text| json!({ "type": "string", "default": text, "minLength": 3 })),
    ];
    leaf.prop_recursive(4, 40, 4, |inner| {
        let object = prop::collection::btree_map("[a-d]|path|url|query", (inner.clone(), any::<bool>()), 0..4);
        prop_oneof![
            (object, any::<bool>()).prop_map(|(properties, is_open)| object_schema(&properties, is_open)),
            (inner.clone(), 0_u64..4, 0_u64..4).prop_map(|(items, low, more)| {
                json!({ "type": "array", "items": items, "minItems": low, "maxItems": low + more })
            }),
            prop::collection::vec(inner.clone(), 1..3).prop_map(|items| json!({ "type": "array", "prefixItems": items, "items": false })),
            prop::collection::vec(inner.clone(), 1..4).prop_map(|branches| json!({ "anyOf": branches })),
            prop::collection::vec(inner.clone(), 1..3).prop_map(|branches| json!({ "oneOf": branches })),
            prop::collection::vec(inner.clone(), 1..3).prop_map(|branches| json!({ "allOf": branches })),
            (inner.clone(), inner.clone(), inner.clone()).prop_map(|(a, b, c)| json!({ "if": a, "then": b, "else": c })),
            Just(json!({ "$ref": "#/$defs/again" })),
            Just(json!({ "$ref": "#" })),
            inner.prop_map(|items| json!({ "type": "array", "items": items, "uniqueItems": true, "minItems": 2 })),
        ]
    })
}

fn object_schema(
    properties: &std::collections::BTreeMap<String, (Value, bool)>,
    is_open: bool,
) -> Value {
    let required: Vec<_> =
        properties.iter().filter(|(_, (_, needed))| *needed).map(|(name, _)| name).collect();
    let schemas: serde_json::Map<_, _> =
        properties.iter().map(|(name, (schema, _))| (name.clone(), schema.clone())).collect();
    json!({ "type": "object", "properties": schemas, "required": required, "additionalProperties": is_open })
}

/// Any JSON that uses the words of JSON Schema, rightly or not.
fn any_json() -> impl Strategy<Value = Value> {
    let words = vec![
        "type",
        "properties",
        "required",
        "items",
        "prefixItems",
        "anyOf",
        "oneOf",
        "allOf",
        "not",
        "if",
        "then",
        "$ref",
        "$defs",
        "enum",
        "const",
        "default",
        "examples",
        "minLength",
        "maxLength",
        "pattern",
        "format",
        "minimum",
        "maximum",
        "exclusiveMinimum",
        "multipleOf",
        "minItems",
        "maxItems",
        "uniqueItems",
        "contains",
        "minProperties",
        "propertyNames",
        "patternProperties",
        "additionalProperties",
        "dependentRequired",
        "object",
        "array",
        "string",
        "integer",
        "number",
        "null",
        "a",
        "#",
        "#/$defs/a",
        "#/properties/a",
        "uuid",
    ];
    let word = prop::sample::select(words);
    let leaf = prop_oneof![
        4 => word.clone().prop_map(|word| json!(word)),
        1 => any::<i64>().prop_map(|n| json!(n)),
        1 => any::<f64>().prop_map(|n| json!(n)),
        1 => any::<u64>().prop_map(|n| json!(n)),
        1 => any::<bool>().prop_map(|flag| json!(flag)),
        1 => ".{0,6}".prop_map(|text| json!(text)),
    ];
    leaf.prop_recursive(6, 60, 6, move |inner| {
        prop_oneof![
            1 => prop::collection::vec(inner.clone(), 0..6).prop_map(Value::Array),
            3 => prop::collection::btree_map(word.clone().prop_map(str::to_owned), inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_made_is_valid(inner in any_schema(), again in any_schema(), seed: u64) {
        let schema = json!({
            "type": "object", "properties": { "value": inner }, "required": ["value"],
            "$defs": { "again": again },
        });
        for fill in FILLS {
            if let Ok(made) = arguments(&schema, &mut Seed(seed).dice(0), &budget(fill)) {
                assert_valid(&schema, &made, Formats::Noted);
            }
        }
    }

    #[test]
    fn nothing_makes_us_panic(schema in any_json(), seed: u64) {
        for fill in FILLS {
            let _ = arguments(&schema, &mut Seed(seed).dice(0), &budget(fill));
        }
    }
}

#[test]
fn a_schema_is_looked_at_before_it_is_used() {
    assert_eq!(super::admit(&json!(null)), Err(Why::NotASchema));
    assert_eq!(super::admit(&json!(false)), Ok(()));
    let dialect = super::admit(&json!({ "$schema": "urn:mine" }));
    assert_eq!(dialect, Err(Why::Dialect("urn:mine".into())));
}
