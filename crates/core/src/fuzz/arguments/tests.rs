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

/// The place `/{name}` of arguments that have this value there, with the schema that holds for it.
fn with_site<T>(name: &str, part: &Value, value: &Value, look: impl Fn(&Site<'_>) -> T) -> T {
    let schema = json!({"type": "object", "properties": {name: part}});
    let sites = sites(&schema, &json!({name: value}));
    look(sites.iter().find(|site| site.at == format!("/{name}")).expect("it is a place"))
}

/// The edits at `/v`: what they are called, the value they set, what they are meant to be, and
/// whether they are heavy.
fn edits_at(name: &str, part: Value, value: Value) -> Vec<(String, Value, Option<Intent>, bool)> {
    let told = |edit: Edit| {
        let edit::What::Set(set) = edit.what else { panic!("{}", edit.label) };
        let label = edit.label.trim_start_matches(&format!("/{name}: ")).to_owned();
        (label, set, edit.meant, edit.heavy)
    };
    with_site(name, &part, &value, |site| site.edits().into_iter().map(told).collect())
}

const RIGHT: Option<Intent> = Some(Intent::Positive);
const WRONG: Option<Intent> = Some(Intent::Negative);

#[test]
fn a_small_tool_is_tried_with_this() {
    let range = range(json!({"type": "object", "required": ["v"], "additionalProperties": false,
        "properties": {"v": {"type": "boolean"}}}));
    assert_eq!(range.good(), &json!({"v": false}));
    let told = |index| {
        let made = range.make(index, &mut Seed(1).dice(index));
        (made.label, made.intent)
    };
    let kinds = |place: &str, kinds: [&str; 5]| {
        kinds.map(|kind| (format!("{place}: {kind} in place of its type"), WRONG))
    };
    let extra = ["mcp_loadtest_extra", "", "__proto__", "constructor", "a\0b", "\u{1f600}"]
        .map(|name| (format!("arguments: a member {name:?} too many"), WRONG));
    let mut expected = vec![("good arguments".to_owned(), RIGHT)];
    expected.extend(kinds("arguments", ["null", "boolean", "integer", "string", "array"]));
    expected.push(("arguments: v missing".to_owned(), WRONG));
    expected.extend(extra);
    expected.push(("arguments: 60 objects deep".to_owned(), WRONG));
    expected.extend(kinds("/v", ["null", "integer", "string", "array", "object"]));
    let made: Vec<_> = (0..expected.len() as u64).map(told).collect();
    assert_eq!(made, expected);
    for index in 100..400 {
        assert!(!told(index).0.is_empty(), "{index}");
    }
    assert_eq!(range.discarded(), 0);
}

#[test]
fn what_is_not_as_meant_is_thrown_away_and_counted() {
    // Numbers are listed, and only texts are allowed.
    let range = range(json!({"type": "object", "required": ["v"],
        "properties": {"v": {"type": "string", "enum": ["a", 5, 7]}}}));
    assert_eq!(range.discarded(), 2);
    let labels: Vec<_> =
        (1..40).map(|index| range.make(index, &mut Seed(1).dice(index)).label).collect();
    assert_eq!(labels.iter().filter(|label| *label == "/v: a listed value").count(), 1);
    for index in 1_000..1_500 {
        range.make(index, &mut Seed(1).dice(index));
    }
    assert!(range.discarded() > 2);
}

#[test]
fn good_arguments_are_not_too_large() {
    let text = |length: u64| json!({"type": "string", "minLength": length});
    let list = |items: Value, count: u64| json!({"items": items, "minItems": count});
    for (part, is_made) in [
        (text(4096), true),
        (text(4097), false),
        (list(text(4000), 10), true),
        (list(text(4000), 20), false),
        (list(json!({"const": 1}), 600), true),
        (list(json!({"const": 1}), 2_001), false),
    ] {
        let range = range(json!({"properties": {"v": part}, "required": ["v"]}));
        assert_eq!(range.good().get("v").is_some(), is_made, "{part}");
    }
}

#[test]
fn a_schema_is_believed_unless_it_is_too_large() {
    for (length, expected) in [(10, RIGHT), (2_000, RIGHT), (300_000, None)] {
        let schema = json!({"type": "object", "description": "x".repeat(length)});
        assert_eq!(Oracle::new(&schema).intent(&json!({})), expected, "{length}");
    }
}

#[test]
fn places_are_neither_too_many_nor_too_deep() {
    let wide: serde_json::Map<_, _> = (0..60).map(|n| (n.to_string(), json!(n))).collect();
    let deep = (0..10).fold(json!(1), |inner, _| json!({"a": inner}));
    for (arguments, expected) in [
        (Value::Object(wide), 48),
        (deep, 7),
        (json!({"a": [1, 2, 3]}), 4),
        (json!({"a": {"b": 1}}), 3),
        (json!({}), 1),
    ] {
        assert_eq!(sites(&json!({}), &arguments).len(), expected, "{arguments}");
    }
}

#[test]
fn the_keywords_of_a_place_are_those_of_all_schemas_that_lead_there() {
    let many: Vec<Value> = (0..100).map(|n| json!({"title": n})).collect();
    for (part, value, place, keyword, expected) in [
        (json!({"items": {"title": "x"}}), json!([1]), "/v/0", "title", 1),
        (json!({"items": [{"title": "x"}]}), json!([1]), "/v/0", "title", 0),
        (
            json!({"prefixItems": [{"title": "x"}], "items": {"title": "y"}}),
            json!([1, 2]),
            "/v/1",
            "title",
            1,
        ),
        (
            json!({"additionalProperties": {"title": "x"}}),
            json!({"a~/b": 1}),
            "/v/a~0~1b",
            "title",
            1,
        ),
        (
            json!({"title": "x", "anyOf": [{"title": "y"}, {"title": "z"}]}),
            json!(1),
            "/v",
            "title",
            3,
        ),
        (json!({"title": "x", "else": {"title": "y"}}), json!(1), "/v", "title", 2),
        // A schema that leads to itself is read once, and of many only the first.
        (json!({"title": "x", "$ref": "#/properties/v"}), json!(1), "/v", "title", 1),
        (json!({"allOf": many}), json!(1), "/v", "title", 63),
    ] {
        let schema = json!({"properties": {"v": part}});
        let found = sites(&schema, &json!({"v": value}));
        let site = found.iter().find(|site| site.at == place).expect("it is a place");
        assert_eq!(site.each(keyword).count(), expected, "{part} at {place}");
    }
}

#[test]
fn a_value_of_every_other_type_is_tried() {
    let all = ["null", "boolean", "integer", "string", "array", "object"];
    for (name, kinds, expected) in [
        ("v", json!("boolean"), &["null", "integer", "string", "array", "object"][..]),
        ("v", json!("number"), &["null", "boolean", "string", "array", "object"]),
        ("v", json!(["integer", "null"]), &["boolean", "string", "array", "object"]),
        ("seconds", json!("boolean"), &["null", "string", "array", "object"]),
        ("v", json!(all), &[]),
    ] {
        let edits = edits_at(name, json!({"type": kinds}), json!(true));
        let labels: Vec<_> = edits.iter().map(|(label, ..)| label.as_str()).collect();
        let told = expected.iter().map(|kind| format!("{kind} in place of its type"));
        assert_eq!(labels, told.collect::<Vec<_>>(), "{name} {kinds}");
        assert!(edits.iter().all(|(_, _, meant, _)| *meant == WRONG), "{name} {kinds}");
    }
    let values = edits_at("v", json!({}), json!(true)).into_iter();
    let values: Vec<_> = values.map(|(_, value, meant, _)| (value, meant)).collect();
    let of_all =
        [json!(null), json!(true), json!(7), json!("seven"), json!([7]), json!({"seven": 7})];
    assert_eq!(values, of_all.map(|value| (value, None)));
}

#[test]
fn a_closed_list_is_tried_and_left() {
    let not_listed = ("a value that is not listed".to_owned(), WRONG);
    let listed = ("a listed value".to_owned(), RIGHT);
    for (part, expected) in [
        (json!({"enum": [true, false]}), vec![listed.clone(), listed, not_listed.clone()]),
        (json!({"const": true}), vec![not_listed]),
        (json!({"title": "x"}), vec![]),
    ] {
        let edits = edits_at("v", part.clone(), json!(true)).into_iter();
        let seen: Vec<_> = edits
            .filter(|(label, ..)| !label.ends_with("its type"))
            .map(|(label, _, meant, _)| (label, meant))
            .collect();
        assert_eq!(seen, expected, "{part}");
    }
}

#[test]
fn lists_are_tried_at_their_limits() {
    let lists = |part: Value| -> Vec<(String, usize, Option<Intent>, bool)> {
        let edits = edits_at("v", part, json!([1])).into_iter();
        let edits = edits.filter(|(label, ..)| !label.ends_with("its type"));
        edits
            .map(|(label, set, meant, heavy)| {
                (label, set.as_array().map_or(0, Vec::len), meant, heavy)
            })
            .collect()
    };
    let told = |label: &str, length, meant, heavy| (label.to_owned(), length, meant, heavy);
    let always =
        [told("1000 items", 1_000, None, true), told("items of all types", 5, None, false)];
    for (part, expected) in [
        (json!({}), vec![]),
        (
            json!({"minItems": 3, "maxItems": 5, "uniqueItems": true}),
            vec![
                told("minItems exactly", 3, None, false),
                told("minItems -1", 2, WRONG, false),
                told("maxItems exactly", 5, None, false),
                told("maxItems +1", 6, WRONG, false),
                told("the same item twice", 2, WRONG, false),
            ],
        ),
        (
            json!({"minItems": 0, "uniqueItems": false}),
            vec![told("minItems exactly", 0, None, false)],
        ),
        (
            json!({"maxItems": 500}),
            vec![told("maxItems exactly", 500, None, false), told("maxItems +1", 501, WRONG, true)],
        ),
        (
            json!({"minItems": 9_999, "maxItems": 9_999}),
            vec![
                told("minItems exactly", 9_999, None, true),
                told("minItems -1", 9_998, WRONG, true),
                told("maxItems exactly", 9_999, None, true),
                told("maxItems +1", 10_000, WRONG, true),
            ],
        ),
        (json!({"minItems": 10_000, "maxItems": 10_000}), vec![]),
    ] {
        let mut all = vec![told("empty", 0, None, false), told("one item", 1, None, false)];
        all.extend(expected);
        all.extend(always.clone());
        assert_eq!(lists(part.clone()), all, "{part}");
    }
}

#[test]
fn numbers_are_tried_at_their_limits() {
    let part = json!({"minimum": 3, "maximum": 9, "exclusiveMinimum": 2, "exclusiveMaximum": 10,
        "multipleOf": 4});
    let edits = edits_at("v", part, json!(5)).into_iter();
    let seen: Vec<_> = edits.skip(6).map(|(label, set, meant, _)| (label, set, meant)).collect();
    let expected = [
        ("minimum exactly", json!(3), RIGHT),
        ("minimum -1", json!(2), WRONG),
        ("maximum exactly", json!(9), RIGHT),
        ("maximum +1", json!(10), WRONG),
        ("exclusiveMinimum exactly", json!(2), WRONG),
        ("exclusiveMinimum +1", json!(3), None),
        ("exclusiveMaximum exactly", json!(10), WRONG),
        ("exclusiveMaximum -1", json!(9), None),
        ("twice multipleOf", json!(8), None),
        ("between multiples", json!(6.0), WRONG),
        ("zero", json!(0), None),
        ("minus zero", json!(-0.0), None),
        ("minus one", json!(-1), None),
        ("one as 1.0", json!(1.0), None),
        ("one and a half", json!(1.5), None),
        ("2^53 - 1", json!(9_007_199_254_740_991_i64), None),
        ("2^53 + 1", json!(9_007_199_254_740_993_i64), None),
        ("-(2^53 + 1)", json!(-9_007_199_254_740_993_i64), None),
        ("2^63 - 1", json!(9_223_372_036_854_775_807_i64), None),
        ("2^64 - 1", json!(18_446_744_073_709_551_615_u64), None),
        ("1e308", json!(1e308), None),
        ("5e-324", json!(5e-324), None),
    ];
    assert_eq!(seen, expected.map(|(label, value, meant)| (label.to_owned(), value, meant)));
}

#[test]
fn numbers_are_whole_and_heavy_from_where_they_should_be() {
    let exact = 9_007_199_254_740_992.0_f64;
    for (part, label, value, heavy) in [
        (json!({"minimum": 10_000}), "minimum exactly", Some(json!(10_000)), false),
        (json!({"maximum": 10_000}), "maximum +1", Some(json!(10_001)), true),
        (json!({"maximum": -10_001}), "maximum exactly", Some(json!(-10_001)), true),
        (json!({"maximum": exact}), "maximum exactly", Some(json!(exact)), true),
        (json!({"minimum": exact}), "minimum -1", Some(json!(9_007_199_254_740_991_i64)), true),
        (json!({"minimum": 0.5}), "minimum exactly", Some(json!(0.5)), false),
        (json!({"multipleOf": 0}), "twice multipleOf", None, false),
        (json!({"multipleOf": -2}), "twice multipleOf", None, false),
        (json!({"multipleOf": 1e308}), "twice multipleOf", Some(json!(0)), false),
    ] {
        let edits = edits_at("v", part.clone(), json!(5)).into_iter();
        let named = edits.filter(|(name, ..)| name == label);
        let found = named.map(|(_, set, _, heavy)| (set, heavy)).next_back();
        assert_eq!(found, value.map(|value| (value, heavy)), "{part} {label}");
    }
}

#[test]
fn a_tool_is_not_made_to_wait_or_to_repeat_without_an_end() {
    for (name, value, expected) in [
        // A word of the generator, a word of ours, a word that counts, and none of these.
        ("delay", 1, true),
        ("delay", 2, false),
        ("timeout", 1, true),
        ("timeout", -2, false),
        ("copies", 1_000, true),
        ("copies", 1_001, false),
        ("port", 1_001, true),
    ] {
        let edits = edits_at(name, json!({"maximum": value}), json!(0));
        let found = edits.iter().any(|(label, ..)| label == "maximum exactly");
        assert_eq!(found, expected, "{name} {value}");
    }
}

#[test]
fn numbers_by_chance_are_of_all_sizes_and_never_harmful() {
    let drawn = |name: &str, count: u64| -> Vec<Value> {
        let draw = |seed| {
            let edit = with_site(name, &json!({}), &json!(5), |site| {
                number::chance(site, &mut Seed(seed).dice(0))
            });
            let edit::What::Set(set) = edit.what else { panic!("{}", edit.label) };
            set
        };
        (0..count).map(draw).collect()
    };
    let all = drawn("v", 10_000);
    assert!(all.iter().all(Value::is_number));
    let small = all.iter().filter(|value| value.as_u64().is_some_and(|n| n > 1 && n < 1_000));
    assert!(small.count() > 100);
    assert!(all.iter().filter(|value| value.as_u64().is_some_and(|n| n > 1 << 40)).count() > 100);
    assert!(all.iter().filter(|value| value.as_i64().is_some_and(|n| n < 0)).count() > 1_000);
    assert!(all.iter().filter(|value| value.is_f64()).count() > 1_000);
    assert!(drawn("delay", 300).iter().all(|value| value.as_f64().is_some_and(|n| n.abs() <= 1.0)));
}

#[test]
fn texts_are_tried_at_their_limits() {
    for (part, label, expected) in [
        (json!({"minLength": 3}), "minLength exactly", Some((3, RIGHT, false))),
        (json!({"minLength": 3}), "minLength -1", Some((2, WRONG, false))),
        (json!({"minLength": 0}), "minLength -1", None),
        (json!({"maxLength": 9}), "maxLength exactly", Some((9, RIGHT, false))),
        (json!({"maxLength": 9}), "maxLength +1", Some((10, WRONG, false))),
        (json!({"maxLength": 9, "pattern": "^a"}), "maxLength exactly", Some((9, None, false))),
        (json!({"maxLength": 9, "pattern": "^a"}), "not of the pattern", Some((2, None, false))),
        (json!({"maxLength": 65_535}), "maxLength exactly", Some((65_535, RIGHT, false))),
        (json!({"maxLength": 65_535}), "maxLength +1", Some((65_536, WRONG, true))),
        (json!({"maxLength": 131_072}), "maxLength exactly", Some((131_072, RIGHT, true))),
        (json!({"maxLength": 131_072}), "maxLength +1", None),
        (json!({}), "64 KiB", Some((65_536, None, true))),
        (json!({}), "4096 times four bytes", Some((16_384, None, false))),
        (json!({}), "one letter", Some((1, None, false))),
    ] {
        let edits = edits_at("v", part.clone(), json!("x")).into_iter();
        let mut found = edits.filter(|(name, ..)| name == label);
        let told = |(_, set, meant, heavy): (String, Value, Option<Intent>, bool)| {
            (set.as_str().map_or(0, str::len), meant, heavy)
        };
        assert_eq!(found.next().map(told), expected, "{part} {label}");
    }
}

#[test]
fn chance_takes_new_values_for_one_in_three() {
    for (value, label) in
        [(json!(5), "/v: a number by chance"), (json!("x"), "/v: a text by chance")]
    {
        let drawn = (0..300).map(|seed| {
            with_site("v", &json!({}), &value, |site| site.chance(&mut Seed(seed).dice(0)).label)
        });
        let fresh = drawn.filter(|drawn| drawn == label).count();
        assert!((60..150).contains(&fresh), "{label}: {fresh}");
    }
    let all = json!({"type": ["null", "boolean", "integer", "string", "array", "object"]});
    let label = with_site("v", &all, &json!(true), |site| site.chance(&mut Seed(1).dice(0)).label);
    assert_eq!(label, "/v: as it is");
}

#[test]
fn texts_by_chance_are_hostile_foreign_and_plain() {
    let draw = |seed| {
        let edit = with_site("v", &json!({}), &json!("x"), |site| {
            text::chance(site, &mut Seed(seed).dice(0))
        });
        let edit::What::Set(Value::String(set)) = edit.what else { panic!("{}", edit.label) };
        set
    };
    let all: Vec<String> = (0..300).map(draw).collect();
    assert!(all.iter().any(|text| text.contains("../../../../etc/passwd")));
    let is_foreign = |c: char| (0x2_0000..0x10_0000).contains(&u32::from(c));
    assert!(all.iter().any(|text| text.contains(is_foreign)));
    assert!(
        all.iter().any(|text| text.len() > 1 && text.bytes().all(|byte| byte.is_ascii_graphic()))
    );
    assert!(all.iter().any(String::is_empty));
}

#[test]
fn members_are_removed_and_added_at_the_place_of_an_object() {
    let part =
        json!({"type": "object", "required": ["a"], "dependentRequired": {"a": ["b"], "z": ["a"]}});
    let value = json!({"a": 1, "b": 2});
    let edits = with_site("v", &part, &value, |site| site.edits());
    let told = |edit: &Edit| (edit.label.trim_start_matches("/v: ").to_owned(), edit.meant);
    let seen: Vec<_> =
        edits.iter().map(told).filter(|(label, _)| !label.ends_with("its type")).collect();
    assert_eq!(
        seen[..4],
        [
            ("a missing".to_owned(), WRONG),
            ("b missing".to_owned(), None),
            ("a without b".to_owned(), WRONG),
            ("a member \"mcp_loadtest_extra\" too many".to_owned(), None),
        ]
    );
    assert_eq!(seen.last(), Some(&("empty".to_owned(), None)));
    let arguments = json!({"v": value});
    let applied = |label: &str| {
        let edit = edits.iter().find(|edit| edit.label == format!("/v: {label}"));
        edit.expect("there is one").applied(&arguments)
    };
    assert_eq!(applied("a missing"), json!({"v": {"b": 2}}));
    assert_eq!(applied("empty"), json!({"v": {}}));
    assert_eq!(
        applied("a member \"__proto__\" too many"),
        json!({"v": {"a": 1, "b": 2, "__proto__": "extra"}})
    );
}
