//! Every matcher with a value that it must take and one that it must not.

use serde_json::{Value, json};

use super::*;
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
