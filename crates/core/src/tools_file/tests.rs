use serde_json::json;

use super::*;

const WEATHER: &str = "
tools:
  - name: weather
    description: Tells the weather.
    input_schema: {type: object, properties: {city: {type: string}}}
    responses:
      - when: {city: Bonn}
        result: rain
      - when: {city: {regex: '^Ro'}}
        error: {code: -32000, message: too hot, data: {degrees: 40}}
      - default: true
        sequence:
          - result: {temperature: 1}
          - error: {message: gone}
";

fn error(text: &str) -> String {
    let error = ToolsFile::parse(text, "tools.yml").unwrap_err();
    format!("{error} | {}", error.hint.clone().unwrap_or_default())
}

#[test]
fn arms_are_chosen_by_arguments() {
    let file = ToolsFile::parse(WEATHER, "tools.yml").unwrap();
    let chosen = |arguments: Value| {
        file.tools[0].responses.iter().position(|arm| arm.matches(&arguments)).unwrap()
    };
    assert_eq!(chosen(json!({"city": "Bonn"})), 0);
    assert_eq!(chosen(json!({"city": "Rome"})), 1);
    assert_eq!(chosen(json!({"city": "Paris"})), 2);
    assert_eq!(chosen(json!({})), 2);
}

#[test]
fn arguments_match_in_several_ways() {
    for (wanted, argument, matches) in [
        (json!(5), Some(json!(5)), true),
        (json!({"contains": "bc"}), Some(json!("abcd")), true),
        (json!({"contains": "bc"}), Some(json!(5)), false),
        (json!({"one_of": [1, "x"]}), Some(json!("x")), true),
        (json!({"exists": false}), None, true),
        (json!({"exists": true}), None, false),
        (json!({"city": "Bonn"}), Some(json!({"city": "Bonn"})), true),
    ] {
        let accepted = Match::from(wanted.clone()).accepts(argument.as_ref());
        assert_eq!(accepted, matches, "{wanted} {argument:?}");
        assert_eq!(Value::from(Match::from(wanted.clone())), wanted);
    }
    let arm = Arm {
        when: [("filter.tags.0".into(), Match::Equals(json!("a")))].into(),
        ..Arm::default()
    };
    assert!(arm.matches(&json!({"filter": {"tags": ["a"]}})));
}

#[test]
fn a_saved_list_is_read_as_it_is() {
    let list = json!({
        "resultType": "complete", "ttlMs": 0, "cacheScope": "public", "nextCursor": null,
        "tools": [{
            "name": "a", "title": "A", "inputSchema": {"type": "object"},
            "outputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true},
        }],
    });
    let file = ToolsFile::parse(&list.to_string(), "list.json").unwrap();
    assert!(file.tools[0].input_schema.is_some() && file.tools[0].output_schema.is_some());
    assert_eq!(file.tools[0].extra(), *json!({"title": "A"}).as_object().unwrap());
}

#[test]
fn the_keys_may_stand_one_level_down() {
    let inner = "mock_server:\n  name: mine\n  tools: [{name: a}]\n";
    assert_eq!(ToolsFile::parse(inner, "f").unwrap().name.as_deref(), Some("mine"));
    assert!(error("tools: [{name: a}]\nmock_server: {}\n").contains("mock_server"));
}

#[test]
fn bad_files_are_told_where_and_what() {
    let unknown = error("tools:\n  - name: a\n    respons: x\n");
    assert!(unknown.starts_with("tools.yml:3:") && unknown.contains("response"), "{unknown}");
    for (text, word) in [
        ("tools: [{name: a}, {name: a}]", "another tool"),
        ("tools: [{name: a, response: x, responses: [{default: true, result: y}]}]", "beside"),
        ("tools: [{name: a, responses: [{result: y}]}]", "default: true"),
        ("tools: [{name: a, responses: [{default: true}]}]", "exactly one"),
        ("tools: [{name: a, responses: [{when: {x: {regex: '('}}, result: y}]}]", "regular"),
        ("resources: [{uri: a, name: b}]", "blob"),
        ("prompts: [{name: b}]", "messages"),
    ] {
        let told = error(text);
        assert!(told.contains(word), "{text}: {told}");
    }
}

#[test]
fn good_files_of_every_kind_are_read() {
    for text in [
        "tools: [{name: a, response: x}, {name: b, responses: [{default: true, error: {message: y}}]}]",
        "resources: [{uri: a, name: b, text: c}, {uri: d, name: e, blob: Zg==}]",
        "prompts: [{name: b, text: c}, {name: d, messages: []}]",
    ] {
        let file = ToolsFile::parse(text, "tools.yml");
        let file = file.unwrap_or_else(|error| panic!("{text}: {error}"));
        let again = serde_json::to_string(&file).unwrap();
        assert_eq!(ToolsFile::parse(&again, "tools.json").unwrap(), file, "{again}");
    }
    assert!(schema()["properties"]["tools"].is_object());
}

#[test]
fn two_answers_at_once_are_told_with_their_place() {
    let arm = |rest: &str| error(&format!("tools: [{{name: a, responses: [{{{rest}}}]}}]"));
    for (told, place) in [
        (arm("default: true, result: x, error: {message: y}"), "responses[0].result`: exactly one"),
        (arm("default: true, result: x, sequence: [{result: y}]"), "responses[0].result`: exactly"),
        (arm("default: true, when: {a: 1}, result: x"), "responses[0].when`: an answer needs"),
        (arm("default: true, sequence: [{result: x}, {}]"), "sequence[1]`: `result` or `error`"),
        (arm("default: true, sequence: [{result: x, error: {message: y}}]"), "sequence[0]`: `"),
        (error("resources: [{uri: a, name: b, text: c, blob: d}]"), "resources[0].text`: `text`"),
        (error("prompts: [{name: b, text: c, messages: []}]"), "prompts[0].text`: `text` or"),
    ] {
        assert!(told.starts_with("tools.yml:") && told.contains(place), "{place}: {told}");
    }
}

#[test]
fn every_argument_of_an_arm_must_match() {
    let when = [("a".into(), Match::Equals(json!(1))), ("b".into(), Match::Exists(true))];
    let arm = Arm { when: when.into(), ..Arm::default() };
    for (arguments, matches) in [
        (json!({"a": 1, "b": null}), true),
        (json!({"a": 1}), false),
        (json!({"a": 2, "b": 1}), false),
        (json!({}), false),
    ] {
        assert_eq!(arm.matches(&arguments), matches, "{arguments}");
    }
    for (wanted, argument, matches) in [
        (json!({"regex": "^a.c$"}), json!("abc"), true),
        (json!({"regex": "^a.c$"}), json!("abcd"), false),
        (json!({"one_of": [1, 2]}), json!(3), false),
        (json!({"exists": false}), json!(1), false),
        (json!({"exists": 1}), json!({"exists": 1}), true),
        (json!({"contains": "a", "regex": "b"}), json!("ab"), false),
    ] {
        assert_eq!(Match::from(wanted.clone()).accepts(Some(&argument)), matches, "{wanted}");
    }
}
