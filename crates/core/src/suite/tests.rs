//! Suites that can be read, and suites that are told what is wrong with them.

use super::*;
use crate::config::ConfigError;

fn parse(text: &str) -> Result<Suite, ConfigError> {
    let vars = |name: &str| match name {
        "TOKEN" => Some("t0p".to_owned()),
        "EMPTY" => Some(String::new()),
        _ => None,
    };
    Suite::parse(text, "suite.yml", &vars)
}

/// What is told, and the hint.
fn error(text: &str) -> (String, String) {
    let error = parse(text).unwrap_err();
    (error.to_string(), error.hint.unwrap_or_default())
}

/// The example of the reference, with a server and a model to run it with.
const RECOVERY: &str = "\
servers:
  faulty: {mock: {tools: [{name: search, response: 'Latest: INC-7731'}]}}
faults:
  - name: hung-search
    target: { tool: search }
    kind: hang
agents:
  - name: recovers from a hung search tool
    model: claude-sonnet-4-5
    servers: [faulty]
    inject: [hung-search]
    prompt: Search for the latest incident report.
    recovery:
      max_detection_ms: 3000
      max_recovery_ms: 5000
      require_clean_timeout: true
";

#[test]
fn the_keys_of_the_reference_are_read() {
    let suite = parse(RECOVERY).unwrap();
    assert_eq!(suite.faults[0].kind().name, "hang");
    let recovery = suite.agents[0].recovery.as_ref().unwrap();
    assert_eq!((recovery.max_detection_ms, recovery.max_recovery_ms), (3_000, Some(5_000)));
    assert!(recovery.require_clean_timeout);
    let negative = parse(
        "servers: {api: {command: [server]}}\n\
         tools:\n  - name: search rejects bad requests\n    server: api\n    tool: search\n    \
         args: { query: \"anthropic\" }\n    negative_path:\n      \
         checks: [unknown_tool, missing_required, wrong_type]\n",
    );
    assert_eq!(negative.unwrap().tools[0].negative_path.as_ref().unwrap().checks.len(), 3);
}

#[test]
fn servers_are_a_map_or_a_list() {
    let map = "servers:\n  a: {command: [x, -y], env: {K: v}}\n";
    let list = "servers:\n  - {name: a, command: [x, -y], env: {K: v}}\n";
    let test = "tools: [{name: t, tool: echo}]\n";
    let (map, list) = (parse(&(map.to_owned() + test)), parse(&(list.to_owned() + test)));
    let (map, list) = (map.unwrap(), list.unwrap());
    assert_eq!(map.servers.0["a"].command, list.servers.0["a"].command);
    let args = ["-y".to_owned()];
    assert_eq!(map.servers.0["a"].way().unwrap(), Way::Command("x", &args));
}

#[test]
fn variables_are_filled_in_and_missing_ones_are_told() {
    let suite = parse(
        "servers:\n  api:\n    url: http://h/${PATH_:-mcp}\n    headers: {A: 'Bearer ${TOKEN}', \
         B: {env: TOKEN}}\ntools: [{name: t, tool: echo, args: {x: ['${TOKEN}', 1, '${args.x}']}}]\n",
    )
    .unwrap();
    let server = &suite.servers.0["api"];
    assert_eq!(server.url.as_deref(), Some("http://h/mcp"));
    assert_eq!(server.headers["A"], HeaderValue::Text("Bearer t0p".into()));
    assert_eq!(server.headers["B"], HeaderValue::Env("TOKEN".into()));
    assert_eq!(suite.tools[0].args["x"], serde_json::json!(["t0p", 1, "${args.x}"]));
    for name in ["MISSING", "EMPTY"] {
        let (told, hint) = error(&format!(
            "servers: {{a: {{mock: {{}}}}}}\ntools:\n  - name: t\n    tool: '${{{name}}}'\n"
        ));
        assert_eq!(told, format!("suite.yml:4: `tools[0].tool`: the variable `{name}` is not set"));
        assert!(hint.contains(":-default"), "{hint}");
    }
}

#[test]
fn what_leads_nowhere_is_told_with_its_place_and_the_nearest_name() {
    let server = "servers: {api: {mock: {}}}\n";
    let with = |rest: &str| format!("{server}{rest}");
    let table = [
        (with("tols: []"), "suite.yml:2: `tols`: unknown key", "did you mean `tools`?"),
        (
            with("tools:\n  - name: t\n    tol: echo\n"),
            "suite.yml:4: `tools[0].tol`: unknown key",
            "did you mean `tool`?",
        ),
        (
            with("tools:\n  - {name: t, server: apy, tool: echo}\n"),
            "suite.yml:3: `tools[0].server`: there is no server `apy`",
            "did you mean `api`?",
        ),
        (
            RECOVERY.replace("inject: [hung-search]", "inject: [hung-serch]"),
            "suite.yml:11: `agents[0].inject[0]`: there is no fault `hung-serch`",
            "did you mean `hung-search`?",
        ),
        (
            RECOVERY.replace("servers: [faulty]", "servers: [fauly]"),
            "suite.yml:10: `agents[0].servers[0]`: there is no server `fauly`",
            "did you mean `faulty`?",
        ),
        (
            RECOVERY.replace("claude-sonnet-4-5", "cloude-sonnet"),
            "suite.yml:9: `agents[0].model`: there is no model `cloude-sonnet`",
            "there are scripted:",
        ),
        (
            RECOVERY.replace("claude-sonnet-4-5", "scripted:carefull"),
            "suite.yml:9: `agents[0].model`: there is no model `scripted:carefull`",
            "did you mean `scripted:careful`?",
        ),
        (
            RECOVERY.replace("{ tool: search }", "{ server: fault }"),
            "suite.yml:5: `faults[0].target.server`: there is no server `fault`",
            "did you mean `faulty`?",
        ),
        (
            with(
                "tools:\n  - name: t\n    tool: echo\n    negative_path: {checks: [wrong_tipe]}\n",
            ),
            "suite.yml:5: `tools[0].negative_path.checks[0]`: there is no check `wrong_tipe`",
            "did you mean `wrong_type`?",
        ),
        (
            with(
                "tools:\n  - name: t\n    tool: echo\n    expect:\n      \
                  - {target: reslt.x, matcher: {exact: 1}}\n",
            ),
            "suite.yml:6: `tools[0].expect[0].target`: there is no target `reslt`",
            "did you mean `result`?",
        ),
        (
            with(
                "tools:\n  - name: t\n    tool: echo\n    expect:\n      \
                  - {target: result.x, matcher: {contain: 1}}\n",
            ),
            "suite.yml:6: `tools[0].expect[0].matcher`: there is no `contain`",
            "did you mean `contains`?",
        ),
    ];
    for (text, told, hint) in table {
        let (seen, given) = error(&text);
        assert_eq!(seen, told);
        assert!(given.starts_with(hint), "{told}: {given}");
    }
}

#[test]
fn what_contradicts_itself_or_tests_nothing_is_told() {
    let test = "tools: [{name: t, tool: echo}]\n";
    let server = "servers: {api: {mock: {}}}\n";
    let table = [
        (format!("servers: {{api: {{}}}}\n{test}"), "only one of them"),
        (format!("servers: {{api: {{url: http://h, command: [x]}}}}\n{test}"), "only one of them"),
        (format!("servers: {{api: {{mock: {{}}, env: {{A: b}}}}}}\n{test}"), "environment"),
        (
            format!("servers: {{api: {{command: [x], auth: {{bearer_token_env: T}}}}}}\n{test}"),
            "auth",
        ),
        (format!("servers: {{api: {{mock: {{fault: [hung]}}}}}}\n{test}"), "no fault `hung`"),
        (format!("servers: {{api: {{url: 'ftp://h'}}}}\n{test}"), "servers.api.url"),
        (
            format!(
                "servers: {{api: {{url: 'http://h', auth: {{bearer_token_env: NO}}}}}}\n{test}"
            ),
            "the variable `NO` is not set",
        ),
        (server.to_owned(), "there is no test"),
        (format!("{server}tools: [{{name: t, tool: a}}, {{name: t, tool: b}}]\n"), "two tests"),
        (format!("{server}tools: [{{name: t, tool: a, skip: ''}}]\n"), "reason"),
        (format!("{server}tools: [{{name: t, tool: a, timeout_ms: 0}}]\n"), "at least 1"),
        (
            format!(
                "{server}tools:\n  - name: t\n    tool: a\n    expect: [{{target: fuzz.cases, \
                     matcher: {{exact: 1}}}}]\n"
            ),
            "does not have",
        ),
        (RECOVERY.replace("kind: hang", "kind: noise"), "`noise` cannot be injected"),
        (RECOVERY.replace("kind: hang", "kind: none"), "`none` cannot be injected"),
        (
            RECOVERY.replace("kind: hang", "kind: http").replace(
                "{mock: {tools: [{name: search, response: 'Latest: INC-7731'}]}}",
                "{command: [x]}",
            ),
            "`agents[0].inject[0]`: fault `http` is not possible over stdio",
        ),
        (RECOVERY.replace("kind: hang", "kind: slow"), "delay_ms"),
        (RECOVERY.replace("{ tool: search }", "{}"), "`tool` or `server` is needed"),
        (RECOVERY.replace("require_clean_timeout: true", "evidence: incident"), "proves nothing"),
        (RECOVERY.replace("require_clean_timeout: true", "accept: []"), "lets nothing pass"),
        (RECOVERY.replace("require_clean_timeout: true", "accept: [fine]"), "no `fine`"),
        (
            format!("{RECOVERY}models: [{{name: m, script: [{{answer: '{{{{reslt}}}}'}}]}}]\n"),
            "there is no `{{reslt}}`",
        ),
        (format!("{RECOVERY}models: [{{name: m}}]\n"), "`script`, `fixtures` or `provider`"),
        (format!("{RECOVERY}models: [{{name: m, fixtures: f.yml}}]\n"), "whose API"),
        (
            format!("{RECOVERY}models: [{{name: m, fixtures: f.yml, script: [{{answer: a}}]}}]\n"),
            "stands beside `script`",
        ),
        (format!("{RECOVERY}models: [{{name: m, provider: responses}}]\n"), "agents speak openai"),
        (
            format!(
                "{RECOVERY}models: [{{name: m, script: [{{answer: a}}], base_url: 'http://h'}}]\n"
            ),
            "`models[0].base_url`: only a model of a provider has one",
        ),
        (
            format!("{RECOVERY}models: [{{name: m, script: [{{answer: a}}], api_key_env: K}}]\n"),
            "`models[0].api_key_env`: only a model of a provider has one",
        ),
        (
            format!("{RECOVERY}models: [{{name: m, script: [{{answer: a}}], id: x}}]\n"),
            "has no other name",
        ),
        (
            format!(
                "{RECOVERY}models:\n  - {{name: m, provider: openai}}\n  - {{name: m, provider: gemini}}\n"
            ),
            "two models are called `m`",
        ),
        (RECOVERY.replace("  - name: hung-search\n    target", "  - target"), "it is missing"),
        (
            RECOVERY.replace(
                "    kind: hang\n",
                "    kind: hang\n  - {name: hung-search, target: {tool: a}, kind: hang}\n",
            ),
            "two faults are called `hung-search`",
        ),
        (format!("{server}fuzz: 1\n{test}"), "unknown"),
        (
            format!("servers: {{a: {{mock: {{}}}}, b: {{mock: {{}}}}}}\n{test}"),
            "server`: it is missing",
        ),
        (
            format!(
                "{server}tools: [{{name: t, tool: a, expect: [{{target: duration_ms, matcher: {{contains: ''}}}}]}}]\n"
            ),
            "an empty text is in every text",
        ),
        (format!("{server}tools: [{{name: '', tool: a}}]\n"), "it is empty"),
        (format!("{server}tools: [{{name: t, tool: a, fuzz: {{cases: 0}}}}]\n"), "at least 1"),
        (format!("{server}resources: [{{name: t, uri: 'a://b', timeout_ms: 0}}]\n"), "at least 1"),
        (format!("{server}prompts: [{{name: t, prompt: p, timeout_ms: 0}}]\n"), "at least 1"),
        (
            format!("servers: {{api: {{mock: {{}}, headers: {{A: b}}}}}}\n{test}"),
            "only a server with a `url` is sent headers",
        ),
        (
            format!("servers: {{api: {{url: 'http://h', working_dir: /}}}}\n{test}"),
            "only a server with a `command` is started somewhere",
        ),
        (
            format!("servers: {{api: {{command: [x], headers: {{A: b}}}}}}\n{test}"),
            "only a server with a `url` is sent headers",
        ),
        (format!("servers: [{{mock: {{}}}}]\n{test}"), "`servers.name`: it is missing"),
        (
            format!("servers: [{{name: a, mock: {{}}}}, {{name: a, mock: {{}}}}]\n{test}"),
            "two servers are called `a`",
        ),
        (format!("servers: {{a: {{name: b, mock: {{}}}}}}\n{test}"), "it has two names"),
        (
            format!(
                "servers: {{a: {{mock: {{tools_from: t.yml, tools: [{{name: x}}]}}}}}}\n{test}"
            ),
            "stands beside what it would bring",
        ),
        (format!("{server}loads: [{{name: l, scenario: {{concurrent: 5}}}}]\n"), "type"),
        (format!("{server}run_options: {{parallel: 0}}\n{test}"), "a number from 1"),
    ];
    for (text, part) in table {
        let (told, _) = error(&text);
        assert!(told.contains(part), "{told} has no `{part}`");
        assert!(told.starts_with("suite.yml:"), "{told}");
    }
}

#[test]
fn an_agent_that_could_never_be_tested_is_told() {
    let agent = |more: &str| format!("{RECOVERY}    {more}\n");
    let live = |more: &str| agent(more).replace("model: claude-sonnet-4-5", "command: [agent]");
    let table = [
        (RECOVERY.replace("[faulty]", "[]"), "an agent needs at least one server"),
        (RECOVERY.replace("Search for the latest incident report.", "' '"), "the task is empty"),
        (RECOVERY.replace("max_detection_ms: 3000", "max_detection_ms: 0"), "at least 1"),
        (
            RECOVERY
                .replace("{ tool: search }", "{ server: other }")
                .replace("servers:\n", "servers:\n  other: {mock: {}}\n"),
            "is aimed at `other`, which this agent does not have",
        ),
        (agent("runs: 0"), "`agents[0].runs`: it must be at least 1"),
        (agent("max_turns: 0"), "`agents[0].max_turns`: it must be at least 1"),
        (agent("max_tokens: 0"), "`agents[0].max_tokens`: it must be at least 1"),
        (agent("max_tool_calls: 0"), "`agents[0].max_tool_calls`: it must be at least 1"),
        (agent("expect: [{target: live.exit, matcher: {exact: 0}}]"), "looks at `live`"),
        (
            RECOVERY.split("    recovery:").next().unwrap().replace("inject: [hung-search]", "")
                + "    expect: [{target: recovery.detections, matcher: {exact: 0}}]\n",
            "looks at `recovery`, which this agent does not have",
        ),
        (live("max_turns: 2"), "`agents[0].max_turns`: only the agent itself could keep to it"),
        (live("max_tokens: 2"), "`agents[0].max_tokens`: only the agent"),
        (live("token_budget: 2"), "`agents[0].token_budget`: only the agent"),
        (live("max_tool_calls: 2"), "`agents[0].max_tool_calls`: only the agent"),
        (live("system_prompt: x"), "`agents[0].system_prompt`: only the agent"),
        (live("model: gpt-9"), "an agent with a `command` needs one with `fixtures`"),
        (
            live("").replace(
                "{mock: {tools: [{name: search, response: 'Latest: INC-7731'}]}}",
                "{url: 'ws://h'}",
            ),
            "is not watched over WebSocket",
        ),
    ];
    for (text, part) in table {
        let (told, _) = error(&text);
        assert!(told.contains(part), "{told} has no `{part}`");
    }
    assert_eq!(parse(&live("")).err(), None);
    let known = |model: &str| {
        let own = "models:\n  - {name: ours, script: [{answer: a}]}\n";
        parse(&(RECOVERY.replace("claude-sonnet-4-5", model) + own)).err()
    };
    for model in ["ours", "scripted:careful", "gpt-9"] {
        assert_eq!(known(model), None, "{model}");
    }
    let unknown = known("our").unwrap();
    assert!(unknown.to_string().ends_with("there is no model `our`"), "{unknown}");
    assert_eq!(unknown.hint.unwrap(), "did you mean `ours`?");
}

#[test]
fn how_many_tests_run_at_once() {
    for (word, number, again) in [
        ("auto", 4, r#""auto""#),
        ("true", 4, r#""auto""#),
        ("false", 1, "1"),
        ("1", 1, "1"),
        ("7", 7, "7"),
    ] {
        let text = format!("{RECOVERY}run_options: {{parallel: {word}}}\n");
        let parallel = parse(&text).unwrap().run_options.parallel;
        assert_eq!(parallel.number(), number, "{word}");
        assert_eq!(serde_json::to_string(&parallel).unwrap(), again, "{word}");
    }
    let (told, _) = error(&format!("{RECOVERY}run_options: {{parallel: many}}\n"));
    assert!(told.contains("`auto`, `false`, or a number from 1"), "{told}");
}

#[test]
fn a_suite_is_known_by_its_content() {
    assert!(Suite::is_suite(RECOVERY) && Suite::is_suite("{\"servers\": {}}"));
    assert!(Suite::is_suite("# a comment\ntools :\n"));
    assert!(!Suite::is_suite(crate::config::EXAMPLE));
    assert!(!Suite::is_suite("{\"name\": \"package\"}") && !Suite::is_suite("{"));
    for (text, is_suite) in [
        ("{servers: {m: {mock: {}}}, tools: [{name: t, tool: echo}]}\n", true),
        ("{\"servers\": {}, \"tools\": [],}", true),
        ("\"servers\": {}\n", true),
        ("{name: x, tool: y}\n", false),
        ("a:\n  tools: []\n", false),
        ("- tools: []\n", false),
        ("", false),
        // What cannot be read is told by whoever reads it.
        ("servers: {m: [}\n", true),
        ("{\"servers\": {\"m\": [}}", true),
        ("{'tools' : [}", true),
        ("{\"my_tools\": [}", false),
        ("a: [\n  tools: 1\n", false),
        ("{a: \"tools\", b: [}", false),
    ] {
        assert_eq!(Suite::is_suite(text), is_suite, "{text}");
    }
    assert!(!Suite::is_suite("[server]\ncommand = \"x\"\n") && !Suite::is_suite(""));
}

#[test]
fn loads_have_the_keys_of_a_configuration() {
    let suite = parse(
        "servers: {api: {mock: {}}}\nloads:\n  - name: l\n    scenario: {type: sustained, \
         concurrent: 5, duration: 2s, tool: echo}\n    thresholds: {p99_latency: 200ms}\n",
    );
    let load = &suite.unwrap().loads[0];
    assert_eq!(load.thresholds.p99_latency.as_millis(), 200);
    assert!(load.scenario.to_scenario(&load.thresholds).is_ok());
}

#[test]
fn what_is_read_keeps_to_the_schema() {
    let validator = jsonschema::validator_for(&Suite::json_schema()).unwrap();
    let document: serde_json::Value = crate::yaml::read(RECOVERY, "s").unwrap();
    if let Err(error) = validator.validate(&document) {
        panic!("{error}");
    }
    assert!(!validator.is_valid(&serde_json::json!({"tols": []})));
    let filled = serde_json::to_value(parse(RECOVERY).unwrap()).unwrap();
    assert_eq!(serde_json::from_value::<Suite>(filled).unwrap(), parse(RECOVERY).unwrap());
}
