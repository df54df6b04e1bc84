//! Every matcher with a value that it must take and one that it must not.

use serde_json::{Value, json};

use super::{pattern::Pattern, *};
use crate::secrets::Secrets;

fn judged(matcher: &Value, document: &Value) -> Vec<Mismatch> {
    let assertion = json!([{ "target": "v", "matcher": matcher }]);
    let expect: Expect = serde_json::from_value(assertion).unwrap();
    Judge { test: "t", snapshots: &mut Store::default(), secrets: &Secrets::default() }
        .judge(&expect, document)
}

#[test]
fn every_matcher_takes_one_value_and_refuses_another() {
    let table = [
        (json!({"exact": {"a": [1]}}), json!({"a": [1.0]}), json!({"a": [1], "b": 2})),
        (json!({"exact": null}), json!(null), json!(0)),
        (json!({"contains": "ell"}), json!("hello"), json!("HELLO")),
        (json!({"contains": 2}), json!([1, 2]), json!([1, 3])),
        (json!({"contains": 40}), json!(-32401), json!(-32601)),
        (json!({"icontains": "ELL"}), json!("hello"), json!("help")),
        (json!({"contains-all": ["a", "b"]}), json!("cab"), json!("cat")),
        (json!({"contains-any": ["a", "b"]}), json!("cat"), json!("dog")),
        (json!({"starts-with": "he"}), json!("hello"), json!("ahe")),
        (json!({"regex": "^INC-\\d+$"}), json!("INC-7"), json!("INC-x")),
        (json!({"subset": {"a": {"b": 1}}}), json!({"a": {"b": 1, "c": 2}}), json!({"a": {}})),
        (json!({"subset": [{"a": 1}]}), json!([{"z": 0}, {"a": 1, "b": 2}]), json!([{"a": 2}])),
        (json!({"schema": {"type": "integer"}}), json!(3), json!("3")),
        (json!("is-json"), json!("{\"a\": 1}"), json!("{a}")),
        (json!({"less-than": 5}), json!(4.9), json!(5)),
        (json!({"greater-than": 5}), json!(6), json!(5)),
        (json!({"one-of": [1, "x"]}), json!("x"), json!("y")),
        (json!({"oneOf": [1]}), json!(1), json!(2)),
        (json!({"not": {"contains": "boom"}}), json!("fine"), json!("a boom")),
        (json!({"not": {"exact": null}}), json!(1), json!(null)),
        (json!({"all-of": [{"greater-than": 1}, {"less-than": 3}]}), json!(2), json!(3)),
        (json!({"any-of": [{"exact": 1}, {"exact": 2}]}), json!(2), json!(3)),
    ];
    for (matcher, good, bad) in table {
        assert_eq!(judged(&matcher, &json!({ "v": good })), [], "{matcher} of {good}");
        assert_eq!(judged(&matcher, &json!({ "v": bad })).len(), 1, "{matcher} of {bad}");
    }
}

#[test]
fn what_is_not_there_passes_nothing_but_null() {
    for matcher in [
        json!({"not": {"contains": "x"}}),
        json!({"all-of": [{"not": {"exact": 1}}]}),
        json!({"any-of": [{"less-than": 5}, {"not": {"regex": "x"}}]}),
        json!({"schema": {}}),
        json!({"contains-any": ["x"]}),
        json!("snapshot"),
        json!({"not": {"exact": null}}),
    ] {
        assert_eq!(judged(&matcher, &json!({})).len(), 1, "{matcher}");
    }
    assert_eq!(judged(&json!({"exact": null}), &json!({})), []);
}

#[test]
fn numbers_are_no_texts_for_limits_and_lists_no_texts_at_all() {
    for (matcher, value) in [
        (json!({"less-than": 5}), json!("4")),
        (json!({"contains": "a"}), json!({"a": 1})),
        (json!({"regex": "."}), json!(["a"])),
        (json!("is-json"), json!(null)),
    ] {
        assert_eq!(judged(&matcher, &json!({ "v": value })).len(), 1, "{matcher} of {value}");
    }
}

/// A matcher that never holds of such a value must not pass for one that does not hold this time.
#[test]
fn what_cannot_be_asked_is_not_turned_round() {
    let calls = json!([{"name": "delete_all", "args": {}}]);
    let objects = "its elements are objects; look into them with `subset: [{name: …}]`";
    for (inner, value, told) in [
        (json!({"contains": "delete_all"}), calls.clone(), objects),
        (json!({"contains-any": ["delete_all", {"name": "x"}]}), calls.clone(), objects),
        (json!({"contains-all": [{"name": "x"}]}), json!(["x"]), "of another kind"),
        (json!({"contains": "1"}), json!([1, 2]), "of another kind"),
        (json!({"contains": ["a"]}), json!("a"), "whose parts are texts"),
        (json!({"contains": "a"}), json!({"a": 1}), "look at one of its keys"),
        (json!({"contains": "a"}), json!(null), "`any-of: [{exact: null}, …]`"),
        (json!({"icontains": "a"}), json!(["a"]), "such as `[0]`"),
        (json!({"starts-with": "a"}), json!(["a"]), "such as `[0]`"),
        (json!({"regex": "a"}), json!(["a"]), "such as `[0]`"),
        (json!({"regex": "a"}), json!(null), "nothing is there"),
        (json!("is-json"), json!({}), "look at one of its keys"),
        (json!({"less-than": 5}), json!("4"), "its `length` is a number"),
        (json!({"greater-than": 5}), json!(true), "write `exact`"),
        (json!({"greater-than": 5}), json!(null), "nothing is there"),
        (json!({"less-than": 5}), json!([4]), "at its `length`"),
        (json!({"subset": {"name": "delete_all"}}), calls.clone(), "write `subset: [{…}]`"),
        (json!({"subset": [{"a": 1}]}), json!({"a": 1}), "it is no list"),
        (json!({"subset": {"a": 1}}), json!("a"), "it is no object"),
        (json!({"subset": {"a": 1}}), json!(null), "nothing is there"),
        (json!({"all-of": [{"exact": 1}, {"regex": "a"}]}), calls.clone(), "such as `[0]`"),
        (json!({"any-of": [{"exact": 1}, {"regex": "a"}]}), calls.clone(), "such as `[0]`"),
        (json!({"not": {"regex": "a"}}), calls.clone(), "such as `[0]`"),
    ] {
        let wrong = judged(&json!({ "not": inner }), &json!({ "v": value }));
        assert_eq!(wrong.len(), 1, "not {inner} of {value}");
        let message = &wrong[0].message;
        assert!(message.contains("cannot be asked of") && message.contains(told), "{message}");
    }
}

#[test]
fn what_can_be_asked_is_turned_round_as_ever() {
    let calls = json!([{"name": "search"}]);
    for (inner, value) in [
        (json!({"contains": "x"}), json!([])),
        (json!({"contains": "x"}), json!(["a", 1])),
        (json!({"contains": null}), json!(["a"])),
        (json!({"contains": {"name": "x"}}), calls.clone()),
        (json!({"contains": 7}), json!("a")),
        (json!({"subset": [{"name": "delete_all"}]}), calls.clone()),
        (json!({"subset": 1}), json!("a")),
        (json!({"exact": []}), json!("a")),
        (json!({"one-of": ["a"]}), json!(null)),
        (json!({"schema": {"type": "string"}}), json!([1])),
        (json!({"regex": "a"}), json!(7)),
        (json!("is-json"), json!("{a}")),
        (json!({"less-than": 5}), json!(6)),
    ] {
        assert_eq!(
            judged(&json!({ "not": inner }), &json!({ "v": value })),
            [],
            "{inner} of {value}"
        );
    }
    let may_be_missing = json!({"any-of": [{"exact": null}, {"not": {"contains": "boom"}}]});
    for (document, count) in [
        (json!({}), 0),
        (json!({"v": null}), 0),
        (json!({"v": "ok"}), 0),
        (json!({"v": "boom"}), 1),
    ] {
        assert_eq!(judged(&may_be_missing, &document).len(), count, "{document}");
    }
}

#[test]
fn a_snapshot_is_written_compared_and_missed() {
    let expect: Expect =
        serde_json::from_value(json!([{"target": "v", "matcher": "snapshot"}])).unwrap();
    let mut store = Store::Update(Snapshots::new());
    let (seen, other) = (json!({"v": [1]}), json!({"v": [2]}));
    assert_eq!(
        Judge { test: "t", snapshots: &mut store, secrets: &Secrets::default() }
            .judge(&expect, &seen),
        []
    );
    let mut kept = Store::Compare(Store::parse(&store.text(), "s.json").unwrap());
    assert_eq!(
        Judge { test: "t", snapshots: &mut kept, secrets: &Secrets::default() }
            .judge(&expect, &seen),
        []
    );
    let wrong = Judge { test: "t", snapshots: &mut kept, secrets: &Secrets::default() }
        .judge(&expect, &other);
    assert_eq!(wrong[0].message, "got [2], the snapshot says [1]");
    let missed = Judge { test: "u", snapshots: &mut kept, secrets: &Secrets::default() }
        .judge(&expect, &seen);
    assert!(missed[0].message.contains("--update"), "{missed:?}");
}

#[test]
fn time_is_limited_and_messages_are_told() {
    let expect: Expect = serde_json::from_value(json!({
        "assertions": [{"target": "v", "matcher": {"exact": 1}, "message": "one is wanted"}],
        "max_duration_ms": 100,
    }))
    .unwrap();
    let mut store = Store::default();
    let mut judge = Judge { test: "t", snapshots: &mut store, secrets: &Secrets::default() };
    assert_eq!(judge.judge(&expect, &json!({"v": 1, "duration_ms": 100.0})), []);
    let wrong = judge.judge(&expect, &json!({"v": 2, "duration_ms": 101}));
    assert_eq!(wrong[0].message, "one is wanted (got 2, wanted exact 1)");
    assert_eq!(wrong[1].target, "max_duration_ms");
    let again: Expect = serde_json::from_value(serde_json::to_value(&expect).unwrap()).unwrap();
    assert_eq!(again, expect);
}

#[test]
fn bad_patterns_and_empty_lists_are_told_when_they_are_read() {
    for wrong in [json!({"regex": "("}), json!({"schema": {"type": 5}}), json!({"contain": 1})] {
        assert!(serde_json::from_value::<Matcher>(wrong.clone()).is_err(), "{wrong}");
    }
    for idle in [
        json!({"all-of": []}),
        json!({"contains-all": []}),
        json!({"contains": ""}),
        json!({"not": {"icontains": ""}}),
        json!({"not": "snapshot"}),
    ] {
        let matcher: Matcher = serde_json::from_value(idle.clone()).unwrap();
        assert!(matcher.problem().is_some(), "{idle}");
    }
    for sound in [
        json!({"all-of": [{"contains": "a"}]}),
        json!({"any-of": ["is-json"]}),
        json!({"contains-all": ["a"]}),
        json!({"contains-any": ["a"]}),
        json!({"one-of": [1]}),
        json!({"contains": "a"}),
        json!({"icontains": "a"}),
        json!({"starts-with": "a"}),
        json!({"less-than": 1}),
        json!({"greater-than": 1}),
        json!({"not": {"exact": 1}}),
        json!("snapshot"),
    ] {
        let matcher: Matcher = serde_json::from_value(sound.clone()).unwrap();
        assert_eq!(matcher.problem(), None, "{sound}");
    }
}

#[test]
fn lists_and_objects_are_the_same_in_length_and_content() {
    for (wanted, other) in [
        (json!([1]), json!([2])),
        (json!([1]), json!([1, 2])),
        (json!([1, 2]), json!([1])),
        (json!({"a": 1}), json!({"a": 2})),
        (json!({"a": 1}), json!({"b": 1})),
        (json!({"a": 1}), json!({"a": 1, "b": 2})),
        (json!("a"), json!("b")),
        (json!(1), json!("1")),
    ] {
        let exact = json!({ "exact": wanted });
        assert_eq!(judged(&exact, &json!({ "v": wanted })), [], "{wanted}");
        assert_eq!(judged(&exact, &json!({ "v": other })).len(), 1, "{wanted} and {other}");
    }
}

#[test]
fn a_mismatch_says_what_was_got_and_what_was_wanted() {
    for (matcher, document, told) in [
        (json!({"exact": 1}), json!({}), "there is nothing"),
        (json!({"not": {"exact": null}}), json!({}), "got null, wanted not {\"exact\":null}"),
        (json!("is-json"), json!({"v": "{a}"}), "got \"{a}\", wanted is-json"),
        (
            json!({"any-of": [{"exact": 1}, {"less-than": 2}]}),
            json!({"v": 3}),
            "none of 2: got 3, wanted exact 1; got 3, wanted less-than 2.0",
        ),
        (
            json!({"all-of": [{"less-than": 9}, {"greater-than": 4}]}),
            json!({"v": 3}),
            "got 3, wanted greater-than 4.0",
        ),
        (json!({"all-of": ["snapshot"]}), json!({"v": 3}), "a snapshot stands by itself"),
        (
            json!({"schema": {"properties": {"a": {"type": "integer"}}}}),
            json!({"v": {"a": "x"}}),
            "\"x\" is not of type \"integer\" at `/a`",
        ),
        (json!({"schema": {"type": "null"}}), json!({"v": 3}), "3 is not of type \"null\""),
    ] {
        let wrong = judged(&matcher, &document);
        assert_eq!(wrong, [Mismatch::new("v", told)], "{matcher}");
    }
}

#[test]
fn a_matcher_is_called_as_it_is_written() {
    for written in [
        json!({"exact": 1}),
        json!({"contains": "a"}),
        json!({"icontains": "a"}),
        json!({"contains-all": ["a"]}),
        json!({"contains-any": ["a"]}),
        json!({"starts-with": "a"}),
        json!({"regex": "a+"}),
        json!({"subset": {}}),
        json!({"schema": {"type": "null"}}),
        json!("is-json"),
        json!({"less-than": 1.0}),
        json!({"greater-than": 1.0}),
        json!({"one-of": [1]}),
        json!({"not": "is-json"}),
        json!({"all-of": ["is-json"]}),
        json!({"any-of": ["is-json"]}),
        json!("snapshot"),
    ] {
        let matcher: Matcher = serde_json::from_value(written.clone()).unwrap();
        let key = written.as_object().and_then(|map| map.keys().next().cloned());
        let name = key.or_else(|| written.as_str().map(str::to_owned));
        assert_eq!(Some(matcher.name()), name.as_deref());
        assert_eq!(serde_json::to_value(&matcher).unwrap(), written, "it is written back");
    }
    let pattern = |text: &str| Matcher::Regex(Pattern::try_from(text.to_owned()).unwrap());
    assert_eq!(pattern("a+"), pattern("a+"));
    assert_ne!(pattern("a+"), pattern("b+"));
}

#[test]
fn what_would_always_or_never_hold_says_why() {
    let list = "an empty list tests nothing";
    let text = "an empty text is in every text";
    for (matcher, why) in [
        (Matcher::ContainsAny(vec![]), list),
        (Matcher::OneOf(vec![]), list),
        (Matcher::AnyOf(vec![]), list),
        (Matcher::AllOf(vec![Matcher::IsJson, Matcher::AnyOf(vec![])]), list),
        (Matcher::Not(Box::new(Matcher::Snapshot)), "a snapshot cannot be turned round"),
        (Matcher::LessThan(f64::NAN), "the limit is no number"),
        (Matcher::GreaterThan(f64::INFINITY), "the limit is no number"),
        (Matcher::StartsWith(String::new()), text),
        (Matcher::Icontains(String::new()), text),
        (Matcher::Contains("".into()), text),
    ] {
        assert_eq!(matcher.problem(), Some(why), "{matcher:?}");
    }
}

#[test]
fn an_expectation_is_empty_without_assertions_and_a_limit() {
    let read = |written: Value| serde_json::from_value::<Expect>(written);
    for (written, is_empty) in [
        (json!([]), true),
        (json!(null), true),
        (json!({}), true),
        (json!({"max_duration_ms": 5}), false),
        (json!([{"target": "v.x", "matcher": "is-json"}]), false),
    ] {
        assert_eq!(read(written.clone()).unwrap().is_empty(), is_empty, "{written}");
    }
    let looks = read(json!([{"target": "v.x", "matcher": "is-json"}])).unwrap();
    assert!(looks.looks_at("v") && !looks.looks_at("x"));
    let told = read(json!(5)).unwrap_err().to_string();
    assert!(told.contains("a list of assertions, or an object with `assertions`"), "{told}");
}
