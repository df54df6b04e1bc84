//! What is told before anything is started, and what is not.

use crate::suite::Suite;

/// What is told and the hint; nothing where the suite is sound.
fn told(text: &str) -> Option<(String, String)> {
    let error = Suite::parse(text, "s.yml", &|_| None).err()?;
    Some((error.to_string(), error.hint.unwrap_or_default()))
}

fn assert_sound(text: &str) {
    assert_eq!(told(text), None, "{text}");
}

/// A suite with these servers, of which a test names none, or one.
fn with_servers(servers: &str, server: &str) -> String {
    format!("servers: {servers}\ntools:\n  - {{name: t, tool: echo{server}}}\n")
}

#[test]
fn a_server_is_named_unless_there_is_only_one() {
    assert_sound(&with_servers("{a: {mock: {}}}", ""));
    assert_sound(&with_servers("{a: {mock: {}}, b: {mock: {}}}", ", server: b"));
    for (servers, server, error, hint) in [
        ("{}", "", "`tools[0].server`: it is missing", "declare one under `servers`"),
        (
            "{a: {mock: {}}, b: {mock: {}}}",
            "",
            "`tools[0].server`: it is missing",
            "name one of a, b",
        ),
        ("{}", ", server: x", "`tools[0].server`: there is no server `x`", ""),
        (
            "{alpha: {mock: {}}}",
            ", server: zzzzzzz",
            "`tools[0].server`: there is no server `zzzzzzz`",
            "there are alpha",
        ),
    ] {
        let (seen, given) = told(&with_servers(servers, server)).expect(error);
        assert!(seen.ends_with(error), "{seen}");
        assert_eq!(given, hint, "{seen}");
    }
}

#[test]
fn a_mock_is_told_what_it_cannot_be() {
    for sound in ["{tools_from: t.yml}", "{tools: [{name: x}]}", "{fault: ['slow:5', hang]}"] {
        assert_sound(&with_servers(&format!("{{a: {{mock: {sound}}}}}"), ""));
    }
    for (mock, error, hint) in [
        (
            "{fault: ['slow:5', hung]}",
            "`servers.a.mock.fault[1]`: there is no fault `hung`",
            "hang",
        ),
        (
            "{fault: [noise]}",
            "`servers.a.mock.fault[0]`: fault `noise` is not possible over http",
            "",
        ),
    ] {
        let (seen, given) =
            told(&with_servers(&format!("{{a: {{mock: {mock}}}}}"), "")).expect(error);
        assert!(seen.contains(error), "{seen}");
        assert!(given.contains(hint), "{given}");
    }
    for (entry, key) in [("command: ['']", "command"), ("url: 'ftp://h'", "url")] {
        let (seen, _) = told(&with_servers(&format!("{{a: {{{entry}}}}}"), "")).expect(key);
        assert!(seen.contains(&format!("`servers.a.{key}`")), "{seen}");
    }
}

#[test]
fn a_load_is_checked_like_a_configuration() {
    let load = |scenario: &str, more: &str| {
        format!(
            "servers: {{a: {{mock: {{}}}}}}\nloads:\n  - {{name: l, scenario: {{{scenario}}}{more}}}\n"
        )
    };
    let usual = "type: sustained, concurrent: 5, duration: 2s, tool: echo";
    assert_sound(&load(usual, ""));
    for (text, part) in [
        (load(&format!("{usual}, spike_multiplier: 3"), ""), "spike_multiplier"),
        (load("type: sustained, concurrent: 0, tool: echo", ""), "concurrent"),
        (load(usual, ", thresholds: {error_rate: 7}"), "error_rate"),
        (load(usual, ", skip: ' '"), "`loads[0].skip`: says why"),
        (load(usual, ", server: b"), "`loads[0].server`: there is no server `b`"),
    ] {
        let (seen, _) = told(&text).expect(part);
        assert!(seen.contains(part), "{seen}");
    }
}

/// A suite with an agent on these servers, into whose calls a fault of this kind is injected.
fn agent(servers: &str, names: &str, fault: &str, more: &str) -> String {
    format!(
        "servers: {servers}\nfaults: [{{name: f, {fault}}}]\nagents:\n  - name: t\n    \
         servers: {names}\n    inject: [f]\n    prompt: Do it.\n    {more}\n"
    )
}

#[test]
fn a_fault_must_be_possible_with_one_of_the_servers_that_it_is_aimed_at() {
    let both = "{a: {command: [x]}, b: {mock: {}}}";
    let http = "target: {tool: t}, kind: http";
    let aimed = |server: &str| format!("target: {{server: {server}}}, kind: http");
    let model = "model: scripted:careful";
    assert_sound(&agent(both, "[a, b]", http, model));
    assert_sound(&agent(both, "[a, b]", &aimed("b"), model));
    assert_sound(&agent("{a: {url: 'http://h'}}", "[a]", http, model));
    for (servers, names, fault, part) in [
        (both, "[a]", http.to_owned(), "over stdio"),
        (both, "[a, b]", aimed("a"), "over stdio"),
        ("{a: {url: 'ws://h'}}", "[a]", http.to_owned(), "over ws"),
    ] {
        let (seen, _) = told(&agent(servers, names, &fault, model)).expect(part);
        assert!(seen.contains("`agents[0].inject[0]`") && seen.contains(part), "{seen}");
    }
}

#[test]
fn a_tool_that_no_server_has_is_told_where_all_tools_are_written() {
    let mocked = "{a: {mock: {tools: [{name: search, response: x}]}}}";
    let rules = |tool: &str| format!("recovery: {{max_detection_ms: 1, non_idempotent: [{tool}]}}");
    let search = "target: {tool: search}, kind: hang";
    assert_sound(&agent(mocked, "[a]", search, &rules("search")));
    assert_sound(&agent("{a: {mock: {}}}", "[a]", "target: {tool: serach}, kind: hang", ""));
    for (text, key) in [
        (agent(mocked, "[a]", "target: {tool: serach}, kind: hang", ""), "`agents[0].inject[0]`"),
        (agent(mocked, "[a]", search, &rules("serach")), "`agents[0].recovery.non_idempotent[0]`"),
    ] {
        let (seen, hint) = told(&text).expect(key);
        assert!(seen.contains(key) && seen.contains("no tool `serach`"), "{seen}");
        assert_eq!(hint, "did you mean `search`?");
    }
}

#[test]
fn an_agent_has_what_its_kind_can_have() {
    let hang = "target: {tool: t}, kind: hang";
    let of = |more: &str| agent("{a: {mock: {}}}", "[a]", hang, more);
    let fixtures = "models: [{name: m, fixtures: f.yml, provider: openai}]";
    assert_sound(&of(""));
    assert_sound(&of("command: [x]\n    env: {A: b}"));
    assert_sound(&of(&format!("command: [x]\n    model: m\n{fixtures}")));
    assert_sound(&of("command: [x]\n    expect: [{target: live.retries, matcher: {exact: 0}}]"));
    assert_sound(&of("expect: [{target: recovery.detections, matcher: {exact: 0}}]"));
    assert_sound(&of("recovery: {max_detection_ms: 1, evidence: INC-1}"));
    for (more, part) in [
        ("env: {A: b}", "`agents[0].env`: only a `command` has an environment"),
        ("recovery: {max_detection_ms: 1, evidence: ' '}", "proves nothing"),
        ("recovery: {max_detection_ms: 1, evidence: 'DO IT'}", "proves nothing"),
        ("skip: ''", "`agents[0].skip`: says why"),
        ("expect: [{target: result, matcher: {exact: 0}}]", "`agents[0].expect[0].target`"),
        ("command: [x]\n    model: n\nmodels: [{name: n, provider: openai}]", "`fixtures`"),
    ] {
        let (seen, _) = told(&of(more)).expect(part);
        assert!(seen.contains(part), "{seen}");
    }
}

#[test]
fn names_of_all_kinds_of_tests_are_told_apart() {
    let server = "servers: {a: {mock: {}}}\n";
    let expect = "expect: [{target: fuzz.x, matcher: {exact: 0}}]";
    assert_sound(&format!("{server}tools: [{{name: t, tool: x, fuzz: {{cases: 1}}, {expect}}}]\n"));
    for (text, part) in [
        (
            "tools: [{name: t, tool: x}]\nresources: [{name: t, uri: 'a://b'}]\n",
            "`resources[0].name`: two tests are called `t`",
        ),
        (
            "resources: [{name: t, uri: 'a://b'}]\nprompts: [{name: t, prompt: p}]\n",
            "`prompts[0].name`: two tests are called `t`",
        ),
        ("prompts: [{name: ' ', prompt: p}]\n", "`prompts[0].name`: it is empty"),
        (
            "tools: [{name: t, tool: x, fuzz: {expect: [{target: result, matcher: {exact: 0}}]}}]\n",
            "`tools[0].fuzz.expect[0].target`: there is no target `result`",
        ),
        (
            "prompts: [{name: t, prompt: p, expect: [{target: fuzz, matcher: {exact: 0}}]}]\n",
            "`prompts[0].expect[0].target`: there is no target `fuzz`",
        ),
    ] {
        let (seen, _) = told(&format!("{server}{text}")).expect(part);
        assert!(seen.contains(part), "{seen}");
    }
}

#[test]
fn a_variable_may_not_break_what_it_stands_in() {
    let text = "servers: {a: {mock: {}}}\ntools:\n  - name: t\n    tool: x\n    expect:\n      \
                - {target: 'result.${BAD}', matcher: {exact: 0}}\n";
    let vars = |name: &str| (name == "BAD").then(|| "a b".to_owned());
    let error = Suite::parse(text, "s.yml", &vars).unwrap_err();
    assert!(error.to_string().contains("`a b` is no name"), "{error}");
    assert_eq!(error.hint.as_deref(), Some("look at the values of the variables in it"));
}

#[test]
fn the_schema_refuses_what_is_no_form_of_a_value() {
    let validator = jsonschema::validator_for(&Suite::json_schema()).unwrap();
    for (written, is_valid) in [
        (r#"{"servers": {"a": {"mock": {}}}}"#, true),
        (r#"{"servers": [{"name": "a", "mock": {}}]}"#, true),
        (r#"{"servers": 5}"#, false),
        (r#"{"servers": {"a": {"url": "u", "headers": {"A": "b", "C": {"env": "D"}}}}}"#, true),
        (r#"{"servers": {"a": {"url": "u", "headers": {"A": 5}}}}"#, false),
        (r#"{"tools": [{"name": "t", "tool": "x", "expect": []}]}"#, true),
        (r#"{"tools": [{"name": "t", "tool": "x", "expect": {"max_duration_ms": 1}}]}"#, true),
        (r#"{"tools": [{"name": "t", "tool": "x", "expect": 5}]}"#, false),
        (
            r#"{"agents": [{"name": "t", "servers": [], "prompt": "p",
                "recovery": {"max_detection_ms": 1, "evidence": "a", "fallback": ["b"]}}]}"#,
            true,
        ),
        (
            r#"{"agents": [{"name": "t", "servers": [], "prompt": "p",
                "recovery": {"max_detection_ms": 1, "evidence": 5}}]}"#,
            false,
        ),
    ] {
        let document = serde_json::from_str(written).unwrap();
        assert_eq!(validator.is_valid(&document), is_valid, "{written}");
    }
}

#[test]
fn a_suite_knows_its_models() {
    let text = "servers: {a: {mock: {}}}\nmodels: [{name: m, provider: openai}]\n\
                tools: [{name: t, tool: x}]\n";
    let suite = Suite::parse(text, "s.yml", &|_| None).unwrap();
    for name in ["m", "scripted:looper", "gemini-3"] {
        assert_eq!(suite.knows_model(name), Ok(()), "{name}");
    }
    assert!(suite.knows_model("n").is_err());
}
