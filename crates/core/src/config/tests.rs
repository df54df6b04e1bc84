//! The configuration as a whole: the text of the design, errors with their places, and round trips.
//!
//! One file, because each test reads the same example and the order is that of the sections.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::{
    fuzz::Payload,
    mcp::revision::Revision,
    pace::{Level, Rate, Shape, ThinkTime},
    scenario::{
        ColdStart, DeadlockProbe, ErrorBehavior, Fuzzer, RaceCheck, Reconnect, ScenarioKind,
        ScenarioName, Sequence, SequenceStep, StageSettings, Sustained, ToolCall,
    },
    seed::Seed,
    server::{InheritEnv, ProtocolChoice},
    thresholds::ToolThresholds,
};

/// Section 7 of the design, word for word.
const DESIGN: &str = r#"[server]
command = "python"
args = ["-m", "my_mcp"]
env.LOG_LEVEL = "warn"
working_dir = "/path/to/proj"
transport = "stdio"           # stdio | http | sse | ws
startup_timeout = "10s"       # how long to wait for initialize response

[scenario]
type = "sustained"            # cold_start | sustained | spike | ramp | soak | pattern | deadlock_probe | race_check | fuzzer
duration = "60s"
concurrent = 50

# scenario-specific knobs
ramp_from = 1                 # ramp only
ramp_to = 100                 # ramp only
spike_at = "30s"              # spike only
spike_multiplier = 10         # spike only
leak_check_interval = "10s"   # leak only

# What to call. Multiple entries → weighted random selection.
[[scenario.tool_call]]
name = "get_market_data"
args = { ticker = "AAPL" }
weight = 1.0

[[scenario.tool_call]]
name = "analyze_options"
args = { ticker = "SPY", expiry = "2026-06-19" }
weight = 0.3

[thresholds]
p50_latency = "100ms"
p99_latency = "500ms"
error_rate = 0.01             # fraction; 0.01 = 1%
hang_timeout = "5s"           # call considered hung if no response in this long
memory_growth_mb = 50         # fail if RSS grows by more than this MB during run

[output]
report_dir = "./runs"
formats = ["markdown", "json", "terminal"]
"#;

#[test]
fn the_text_of_the_design_is_understood() {
    let config = Config::parse(DESIGN, "bench.toml").unwrap();
    let ServerSource::Here(server) = config.server.source().unwrap() else { panic!() };
    assert_eq!(server.to_string(), "python -m my_mcp");
    assert_eq!(server.env["LOG_LEVEL"], "warn");
    assert_eq!(server.startup_timeout, Duration::from_secs(10));
    let scenario = config.to_scenario().unwrap();
    let expected =
        Sustained { concurrent: 50, duration: Duration::from_secs(60), ..Default::default() };
    assert_eq!(scenario.kind, ScenarioKind::Sustained(expected));
    assert_eq!(
        scenario.tool_calls[1],
        ToolCall::new("analyze_options")
            .args(json!({"ticker": "SPY", "expiry": "2026-06-19"}))
            .weight(0.3)
    );
    assert_eq!(config.thresholds.p99_latency, Duration::from_millis(500));
    assert_eq!(config.thresholds.memory_growth_mb, 50.0);
    // The design was written before there was a page with plots.
    let formats = vec![Format::Markdown, Format::Json, Format::Terminal];
    assert_eq!(config.output, OutputConfig { formats, ..OutputConfig::default() });
}

#[test]
fn each_scenario_finds_its_own_settings_and_tells_of_the_others() {
    for (name, unused) in [
        (
            "sustained",
            vec!["leak_check_interval", "ramp_from", "ramp_to", "spike_at", "spike_multiplier"],
        ),
        ("spike", vec!["leak_check_interval", "ramp_from", "ramp_to"]),
        ("ramp", vec!["concurrent", "leak_check_interval", "spike_at", "spike_multiplier"]),
        ("soak", vec!["ramp_from", "ramp_to", "spike_at", "spike_multiplier"]),
    ] {
        let text = DESIGN.replace("\"sustained\"", &format!("\"{name}\""));
        let config = Config::parse(&text, "bench.toml").unwrap();
        let told: Vec<_> = config.unused().iter().map(|told| told.key.to_string()).collect();
        let expected: Vec<_> = unused.iter().map(|key| format!("[scenario] {key}")).collect();
        assert_eq!(told, expected, "{name}");
    }
    let fuzzer = "[server]\ncommand = 'x'\n[scenario]\ntype = 'fuzzer'\ntimeout = '1s'\n\
                  [[scenario.tool_call]]\nname = 'a'\nargs = {b = 1}\nweight = 2.0\n";
    let config = Config::parse(fuzzer, "b").unwrap();
    let told: Vec<_> = config.unused().iter().map(ToString::to_string).collect();
    insta::assert_debug_snapshot!(told);
    let config = Config::parse(&DESIGN.replace("\"sustained\"", "\"spike\""), "b").unwrap();
    let ScenarioKind::Spike(spike) = config.to_scenario().unwrap().kind else { panic!() };
    assert_eq!((spike.baseline, spike.spike), (Level::Concurrent(50), Level::Concurrent(500)));
    assert_eq!(spike.spike_at, Duration::from_secs(30));
}

#[test]
fn what_is_asked_for_by_a_flag_is_refused_with_the_flag() {
    let junit = DESIGN.replace("\"terminal\"", "\"junit\"");
    let error = Config::parse(&junit, "bench.toml").unwrap_err();
    assert_eq!(error.to_string(), "bench.toml:41: `[output] formats[2]`: there is no `junit`");
    assert_eq!(error.hint.unwrap(), "it is no form of the result: `--junit FILE` writes it");
}

/// A text, what its error says, and a part of the hint.
const WRONG: &[(&str, &str, &str)] = &[
    ("[server\n", "b:1: ", ""),
    ("x = 1", "b:1: `[x]`: unknown section", "known here"),
    ("[thresholdz]", "b:1: `[thresholdz]`: unknown section", "did you mean `thresholds`?"),
    (
        "[thresholds]\n\np99_latencyy = '1s'",
        "b:3: `[thresholds] p99_latencyy`: unknown key",
        "did you mean `p99_latency`?",
    ),
    ("[thresholds]\nerror_rate = { x = 1 }", "b:2: `[thresholds] error_rate`: invalid type", ""),
    ("[output]\nformats = { x = 1 }", "b:2: `[output] formats`: invalid type", ""),
    ("[thresholds]\nerror_rate = [1]", "b:2: `[thresholds] error_rate`: invalid type", ""),
    (
        "[thresholds]\nduration = '1s'",
        "b:2: `[thresholds] duration`: unknown key",
        "`duration` belongs in `[scenario]`",
    ),
    (
        "[scenario]\ntype = 'sustaind'",
        "b:2: `[scenario] type`: there is no `sustaind`",
        "did you mean `sustained`?",
    ),
    (
        "[scenario]\ntype = 'sustained'\nduration = 60",
        "b:3: `[scenario] duration`: invalid type: integer `60`, expected a string",
        "write for example `duration = \"500ms\"`",
    ),
    (
        "[scenario]\ntype = 'sustained'\nduration = '60'",
        "b:3: `[scenario] duration`: `60` is not a duration",
        "duration = ",
    ),
    (
        "[scenario]\ntype = 'sustained'\nconcurrent = -1",
        "b:3: `[scenario] concurrent`: invalid value",
        "",
    ),
    (
        "[server]\nprotocol = '2025-11-26'",
        "b:2: `[server] protocol`: there is no `2025-11-26`",
        "did you mean `2025-11-25`?",
    ),
    ("[server]\nenv.PORT = 80", "b:2: `[server] env.PORT`: invalid type", ""),
    ("[server]\nargs = 'x'", "b:2: `[server] args`: invalid type", ""),
    (
        "[[scenario.tool_call]]\nargs = {}",
        "b:1: `[scenario] tool_call[0]`: missing field `name`",
        "",
    ),
    (
        "[[scenario.tool_call]]\nname = 'x'\nargs = { day = 2026-06-19 }",
        "b:3: `[scenario] tool_call[0].args.day`: a date has no JSON form",
        "quotes",
    ),
    (
        "[[scenario.tool_call]]\nname = 'x'\nargs = { n = [1, nan] }",
        "b:3: `[scenario] tool_call[0].args.n[1]`: this number has no JSON form",
        "",
    ),
    (
        "[[scenario.tool_call]]\nname = 'x'\nargs = '[]'",
        "b:3: `[scenario] tool_call[0].args`: tool arguments are",
        "",
    ),
    (
        "[output]\ntrace = 'on'",
        "b:2: `[output] trace`: there is no `on`",
        "use one of full, sampled, errors, off",
    ),
    // From here on the text can be read but not be meant.
    ("", "b: `[scenario] type`: no scenario to run", "cold_start"),
    ("[scenario]\ntype = 'sustained'", "b: `[server]`: no server to test", "`command`"),
    (
        "[server]\nmcp_config = 'x'\n[scenario]\ntype = 'sustained'",
        "b:2: `[server] mcp_config`: says where",
        "`name`",
    ),
    (
        "[server]\ncommand = 'x'\nname = 'y'\n[scenario]\ntype = 'sustained'",
        "b:3: `[server] name`: a server that is taken by `name` has neither",
        "",
    ),
    (
        "[server]\ncommand = 'x'\nurl = 'http://h'\ntransport = 'stdio'\n[scenario]\ntype = 'sustained'",
        "b:4: `[server] transport`: `stdio` needs no `url`",
        "",
    ),
    (
        "[server]\ncommand = 'x'\nurl = 'http://h'\npid = 1\n[scenario]\ntype = 'sustained'",
        "b:4: `[server] pid`: a server that is started is known",
        "",
    ),
    (
        "[server]\ncommand = 'x'\nca_cert = 'ca.pem'\n[scenario]\ntype = 'sustained'",
        "b:3: `[server] ca_cert`: pipes are not encrypted",
        "",
    ),
    (
        "[server]\nurl = 'http://h'\ntransport = 'ws'\n[scenario]\ntype = 'sustained'",
        "b:2: `[server] url`: `http://h` is not a WebSocket address",
        "ws://127.0.0.1",
    ),
    (
        "[server]\nurl = 'http://h'\ntransport = 'sse'\nprotocol = '2026-07-28'\n[scenario]\ntype = 'sustained'",
        "b:4: `[server] protocol`: 2026-07-28 is not spoken over `sse`",
        "auto",
    ),
    (
        "[server]\ncommand = 'x'\ntransport = 'sse'\n[scenario]\ntype = 'sustained'",
        "b:3: `[server] transport`: `sse` needs a `url`",
        "",
    ),
    (
        "[server]\ncommand = 'x'\nmcp_config = 'y'\n[scenario]\ntype = 'sustained'",
        "b:3: `[server] mcp_config`: belongs to a server that is taken by `name`",
        "",
    ),
    (
        "[server]\nname = 'x'\nargs = ['y']\n[scenario]\ntype = 'sustained'",
        "b:3: `[server] args`: stands in the client's file",
        "",
    ),
    (
        "[server]\ncommand = 'x'\nheaders.A = 'b'\n[scenario]\ntype = 'sustained'",
        "b:3: `[server] headers`: pipes carry no headers",
        "",
    ),
    (
        "[server]\nurl = 'http://h'\nenv.A = 'b'\n[scenario]\ntype = 'sustained'",
        "b:3: `[server] env`: belongs to a server that is started",
        "",
    ),
    (
        "[server]\nurl = 'http://h'\nargs = ['b']\n[scenario]\ntype = 'sustained'",
        "b:3: `[server] args`: belongs to a server that is started",
        "",
    ),
    (
        "[server]\nurl = 'http://h'\ntransport = 'stdio'\n[scenario]\ntype = 'sustained'",
        "b:3: `[server] transport`: `stdio` needs a `command`",
        "",
    ),
    (
        "[server]\ncommand = 'x'\ntransport = 'http'\n[scenario]\ntype = 'sustained'",
        "b:3: `[server] transport`: `http` needs a `url`",
        "",
    ),
    (
        "[server]\ncommand = ''\n[scenario]\ntype = 'sustained'",
        "b:2: `[server] command`: is empty",
        "",
    ),
    (
        "[server]\ncommand = 'x'\n[scenario]\ntype = 'sustained'\nconcurrent = 0",
        "b:5: `[scenario] concurrent`: must be at least 1",
        "",
    ),
    (
        "[server]\ncommand = 'x'\n[scenario]\ntype = 'sustained'\ntool = ''",
        "b:5: `[scenario] tool`: is empty",
        "",
    ),
    (
        "[server]\ncommand = 'x'\n[scenario]\ntype = 'sustained'\nargs = {}",
        "b:5: `[scenario] args`: are for no tool",
        "`tool`",
    ),
    (
        "[server]\ncommand = 'x'\n[scenario]\ntype = 'sustained'\ntool = 'a'\n[[scenario.tool_call]]\nname = 'b'",
        "b:5: `[scenario] tool`: the calls are listed",
        "",
    ),
    (
        "[server]\ncommand = 'x'\n[scenario]\ntype = 'sustained'\n[[scenario.tool_call]]\nname = 'b'\nweight = -1",
        "b:7: `[scenario] tool_call[0].weight`: must be a number above 0, not -1",
        "",
    ),
    (
        "[server]\ncommand = 'x'\n[scenario]\ntype = 'sustained'\n[thresholds]\nerror_rate = 5",
        "b:6: `[thresholds] error_rate`: must be a fraction",
        "0.05",
    ),
    (
        "[server]\nurl = 'http://h'\n[scenario]\ntype = 'sustained'\n[thresholds]\nmemory_growth_mb = 5",
        "b:6: `[thresholds] memory_growth_mb`: needs a server",
        "",
    ),
];

#[test]
fn errors_say_what_and_where_and_what_to_try() {
    for (text, message, hint) in WRONG {
        let error = Config::parse(text, "b").expect_err(text);
        assert!(error.to_string().starts_with(message), "{text}\n  {error}\n  {message}");
        assert!(
            error.hint.clone().unwrap_or_default().contains(hint),
            "{text}\n  {:?}",
            error.hint
        );
    }
}

#[test]
fn columns_count_characters() {
    let error = Config::parse("[server]\nenv = { 'ü' = 'x', b = 1 }", "b").unwrap_err();
    assert_eq!((error.line, error.column), (Some(2), Some(24)), "{error}");
}

#[test]
fn a_probe_takes_its_times_from_the_thresholds() {
    let text = "[server]\nname = 'x'\n[scenario]\ntype = 'deadlock_probe'\ngrace_period = '1s'\n[thresholds]\nhang_timeout = '2s'";
    let config = Config::parse(text, "b").unwrap();
    let ScenarioKind::DeadlockProbe(probe) = config.to_scenario().unwrap().kind else { panic!() };
    assert_eq!(
        (probe.hang_threshold, probe.grace_period),
        (Duration::from_secs(2), Duration::from_secs(1)),
    );
    assert_eq!(config.server.source(), Ok(ServerSource::Client { file: None, name: "x".into() }));
}

#[test]
fn a_file_may_be_completed_by_flags() {
    let mut config = Config::read("[scenario]\ntype = 'sustained'\nconcurrent = 0", "b").unwrap();
    config.server.command = Some("x".into());
    let error =
        config.check().unwrap_err().in_text("[scenario]\ntype = 'sustained'\nconcurrent = 0", "b");
    assert_eq!(error.line, Some(3));
    config.scenario.concurrent = Some(5);
    assert_eq!(config.check(), Ok(()));
}

#[test]
fn what_a_section_adds_is_laid_over_a_named_server() {
    let section = ServerConfig {
        name: Some("x".into()),
        env: [("A".into(), "2".into())].into(),
        startup_timeout: Some(Duration::from_secs(9)),
        ..Default::default()
    };
    let named = Server::stdio("c").env("A", "1").env("B", "1").build();
    let server = section.lay_over(named).unwrap();
    assert_eq!((server.env["A"].as_str(), server.env["B"].as_str()), ("2", "1"));
    assert_eq!(server.startup_timeout, Duration::from_secs(9));
    assert!(section.lay_over(Server::http("http://h").build()).is_err());
}

#[test]
fn a_transport_is_laid_over_a_named_server_with_its_headers() {
    let section = ServerConfig {
        transport: Some(TransportName::Sse),
        headers: [("B".into(), "2".into())].into(),
        ..Default::default()
    };
    let named = Server::http("http://h").header("A", "1").header("B", "1").build();
    let expected = Server::sse("http://h").header("A", "1").header("B", "2").build();
    assert_eq!(section.lay_over(named), Ok(expected));
}

#[test]
fn an_address_says_what_it_speaks() {
    for (url, name) in [
        ("http://h", "http"),
        ("https://h", "http"),
        ("ws://h", "ws"),
        ("WSS://h", "ws"),
        ("h", "http"),
    ] {
        assert_eq!(TransportName::of_url(url).as_str(), name, "{url}");
    }
    for name in TransportName::ALL {
        assert_eq!(serde_json::to_value(name).unwrap(), name.as_str());
    }
}

#[test]
fn times_of_the_probe_are_said_elsewhere_for_other_scenarios() {
    let text =
        "[scenario]\ntype = 'sustained'\nhang_threshold = '1s'\ngrace_period = '1s'\nramp_to = 5";
    let config = Config::read(text, "b").unwrap();
    let hints: Vec<_> = config.unused().into_iter().map(|told| told.hint).collect();
    let expected = ["set `grace_period` in `[thresholds]`", "set `hang_timeout` in `[thresholds]`"];
    let [grace, hang] = expected.map(|hint| Some(hint.to_owned()));
    assert_eq!(hints, [grace, hang, None]);
}

#[test]
fn a_rate_and_calls_in_flight_are_two_models() {
    for (settings, expected) in [
        ("rate = '5/s'\nconcurrent = 5", Some("[scenario] concurrent")),
        ("rate = '5/s'\nmax_in_flight = 5", None),
        ("rate = '5/s'", None),
        ("concurrent = 5\nmax_in_flight = 5", Some("[scenario] max_in_flight")),
        ("max_in_flight = 5", Some("[scenario] max_in_flight")),
        ("concurrent = 5", None),
    ] {
        let text = format!("[scenario]\ntype = 'soak'\n{settings}");
        let scenario = Config::read(&text, "b").unwrap().to_scenario();
        let key = scenario.err().map(|error| error.key.to_string());
        assert_eq!(key.as_deref(), expected, "{settings}");
    }
}

#[test]
fn an_error_gives_its_hint_away_and_its_key_another_name() {
    use crate::hint::Hint;
    let error = ConfigError::new("scenario.tool_call[0].args.a[1]", "x").with_hint("y");
    assert_eq!(Hint::hint(&error).as_deref(), Some("y"));
    let renamed = error.renamed("scenario.tool_call[0].args", "scenario.args");
    assert_eq!(renamed.to_string(), "`[scenario] args.a[1]`: x");
    assert_eq!(renamed.clone().renamed("server", "x").key, renamed.key);
    assert_eq!(ConfigError::new(KeyPath::default(), "x").to_string(), "x");
}

fn validator() -> jsonschema::Validator {
    jsonschema::validator_for(&schema()).unwrap()
}

fn as_json(text: &str) -> Option<Value> {
    serde_json::to_value(toml::from_str::<toml::Table>(text).ok()?).ok()
}

#[test]
fn the_schema_agrees_with_the_parser() {
    let validator = validator();
    for text in [DESIGN, EXAMPLE] {
        let errors: Vec<String> =
            validator.iter_errors(&as_json(text).unwrap()).map(|error| error.to_string()).collect();
        assert_eq!(errors, [] as [String; 0]);
    }
    // Whatever the schema refuses the parser refuses; the parser also knows what belongs together.
    for (text, message, _) in WRONG {
        let Some(document) = as_json(text) else { continue };
        assert!(Config::parse(text, "b").is_err());
        let by_shape = ["unknown", "invalid type", "missing field", "there is no", "no scenario"];
        if by_shape.iter().any(|part| message.contains(part)) {
            assert!(!validator.is_valid(&document), "{text}");
        }
    }
    for (text, good) in [
        ("1.5s", true),
        ("1m30s", true),
        ("0", true),
        (" 5 s ", true),
        ("5", false),
        ("", false),
        ("-1s", false),
        ("1d", false),
    ] {
        let toml =
            format!("[server]\ncommand = 'x'\n[scenario]\ntype = 'sustained'\ntimeout = '{text}'");
        assert_eq!(validator.is_valid(&as_json(&toml).unwrap()), good, "{text:?}");
        assert_eq!(Config::read(&toml, "b").is_ok(), good, "{text:?}");
    }
}

#[test]
fn the_schema_describes_every_setting() {
    fn undescribed(schema: &Value, path: &str, found: &mut Vec<String>) {
        for (name, part) in schema["properties"].as_object().into_iter().flatten() {
            if !part["description"].is_string() {
                found.push(format!("{path}.{name}"));
            }
            undescribed(part, name, found);
            undescribed(&part["items"], name, found);
        }
    }
    let (schema, mut found) = (schema(), Vec::new());
    undescribed(&schema, "", &mut found);
    assert_eq!(found, [] as [String; 0]);
    let text = schema.to_string();
    assert!(!text.contains("\"null\"") && !text.contains("$ref"), "{text}");
}

fn duration() -> impl Strategy<Value = Duration> {
    (1_u64..4_000_000_000_000_000).prop_map(Duration::from_nanos)
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        (-1e300..1e300_f64).prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map(any::<String>(), inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

fn arguments() -> impl Strategy<Value = Value> {
    // What opens a placeholder is not plain text; it has tests of its own.
    let plain = |args: &Value| !args.to_string().contains("{{");
    prop::collection::btree_map(any::<String>(), json_value(), 0..4)
        .prop_map(|map| Value::Object(map.into_iter().collect()))
        .prop_filter("placeholders", plain)
}

fn texts(names: &'static str) -> impl Strategy<Value = BTreeMap<String, String>> {
    prop::collection::btree_map(names, "[^\0-\u{1f}\u{7f}-\u{9f}]*", 0..3)
}

fn server() -> impl Strategy<Value = Server> {
    let protocol = prop_oneof![
        Just(ProtocolChoice::Auto),
        prop::sample::select(&Revision::ALL[..]).prop_map(ProtocolChoice::Fixed)
    ];
    let started = (
        "[^\0 ][^\0]*",
        prop::collection::vec("[^\0]*", 0..3),
        texts("[A-Z_.\"']{1,9}"),
        prop::option::of("[^\0]+"),
        any::<bool>(),
    )
        .prop_filter("a command", |(command, ..)| !command.trim().is_empty())
        .prop_map(|(command, args, env, dir, inherit)| Server {
            args,
            env,
            working_dir: dir.map(PathBuf::from),
            inherit_env: InheritEnv::from(inherit),
            ..Server::stdio(command).build()
        })
        .boxed();
    let reached = (
        "[a-z.]{1,9}(/[a-z%]{0,9})?",
        texts("[A-Za-z-]{1,9}"),
        prop::option::of(1_u32..),
        prop::option::of("[^\0]+"),
        0..6,
    )
        .prop_map(|(place, headers, pid, ca_cert, kind)| {
            let server = match kind {
                0 => Server::http(format!("http://{place}")),
                1 => Server::http(format!("https://{place}")),
                2 => Server::sse(format!("http://{place}")),
                3 => Server::sse(format!("https://{place}")),
                4 => Server::websocket(format!("ws://{place}")),
                _ => Server::websocket(format!("wss://{place}")),
            };
            let mut server = server.build();
            server.transport.headers_mut().unwrap().extend(headers);
            (server.pid, server.ca_cert) = (pid, ca_cert.map(PathBuf::from));
            server
        })
        .boxed();
    // What is started and reached is both at once.
    let both = (started.clone(), reached.clone()).prop_map(|(started, reached)| Server {
        transport: reached.transport,
        ca_cert: reached.ca_cert,
        ..started
    });
    (prop_oneof![started, reached, both], protocol, duration(), duration()).prop_map(
        |(server, protocol, startup_timeout, shutdown_timeout)| {
            let sse = matches!(server.transport, crate::server::Transport::Sse { .. });
            let protocol = if sse { ProtocolChoice::Auto } else { protocol };
            Server { protocol, startup_timeout, shutdown_timeout, ..server }
        },
    )
}

fn level() -> impl Strategy<Value = Level> {
    prop_oneof![
        (1_u32..=10_000).prop_map(Level::Concurrent),
        (1_u32..=10_000).prop_map(|rate| Level::Rate(Rate::per_second(f64::from(rate)))),
    ]
}

fn seconds() -> impl Strategy<Value = Duration> {
    (1_u64..10_000).prop_map(Duration::from_secs)
}

/// Settings of every kind: whoever adds one is asked by the compiler how it is written.
fn kind(name: ScenarioName) -> BoxedStrategy<ScenarioKind> {
    match name {
        ScenarioName::ColdStart => (2_u32.., any::<bool>())
            .prop_map(|(iterations, warmup)| ColdStart { iterations, warmup }.into())
            .boxed(),
        ScenarioName::Sustained => prop_oneof![steady(), staged()].boxed(),
        ScenarioName::Spike => (level(), seconds())
            .prop_map(|(load, duration)| {
                let burst = load.with(load.get() * 2.0);
                let scenario = Scenario::spike().levels(load, burst).duration(duration * 4);
                scenario.burst(duration, duration).build().kind
            })
            .boxed(),
        ScenarioName::Ramp => (level(), seconds())
            .prop_map(|(from, duration)| {
                let to = from.with(from.get() * 2.0);
                Scenario::ramp().levels(from, to).duration(duration).build().kind
            })
            .boxed(),
        ScenarioName::Soak => (level(), seconds())
            .prop_map(|(load, duration)| {
                let scenario = Scenario::soak().load(load).duration(duration * 20);
                scenario.sample_interval(duration).build().kind
            })
            .boxed(),
        ScenarioName::Pattern => (level(), seconds())
            .prop_map(|(load, duration)| {
                let scenario = Scenario::pattern().load(load).duration(duration);
                scenario.sequence(sequence(duration)).build().kind
            })
            .boxed(),
        ScenarioName::RaceCheck => (2_u32..=check::MOST_CONCURRENT, 1_u32..)
            .prop_map(|(concurrent, rounds)| RaceCheck { concurrent, rounds }.into())
            .boxed(),
        ScenarioName::SlowMix => (2_u32..=check::MOST_CONCURRENT, duration(), arguments())
            .prop_map(|(concurrent, duration, args)| {
                let slow = ToolCall::new("slow").args(args);
                let scenario = Scenario::slow_mix().concurrent(concurrent).duration(duration);
                scenario.slow(slow).build().kind
            })
            .boxed(),
        ScenarioName::Reconnect => (1_u32..=check::MOST_CONCURRENT, 1_u32..)
            .prop_map(|(concurrent, drops)| Reconnect { concurrent, drops }.into())
            .boxed(),
        ScenarioName::Capacity => (1.0..1e6_f64, duration())
            .prop_map(|(rate, hold)| {
                Scenario::capacity().rates(rate, rate * 2.0).hold(hold).build().kind
            })
            .boxed(),
        ScenarioName::Fuzzer => {
            let payloads = prop::sample::subsequence(Payload::ALL.to_vec(), 1..=Payload::ALL.len());
            (1_u32.., payloads, duration())
                .prop_map(|(iterations, payloads, duration)| {
                    Fuzzer { iterations, payloads, duration }.into()
                })
                .boxed()
        }
        ScenarioName::DeadlockProbe => {
            let calls = (1_u32..=check::MOST_CONCURRENT, any::<u32>());
            (calls, duration(), duration(), any::<bool>())
                .prop_map(
                    |((concurrent, steady_calls), hang_threshold, grace_period, bail_early)| {
                        DeadlockProbe {
                            concurrent,
                            hang_threshold,
                            grace_period,
                            bail_early,
                            steady_calls,
                        }
                        .into()
                    },
                )
                .boxed()
        }
    }
}

fn steady() -> impl Strategy<Value = ScenarioKind> {
    (1_u32..=check::MOST_CONCURRENT, duration(), prop::option::of(1_u32..)).prop_map(
        |(concurrent, duration, rate_limit)| {
            let think_time = ThinkTime::between(duration, duration / 2);
            Sustained { concurrent, duration, rate_limit, think_time, ..Default::default() }.into()
        },
    )
}

fn staged() -> impl Strategy<Value = ScenarioKind> {
    (level(), seconds()).prop_map(|(load, duration)| {
        let stage = StageSettings { duration, load, shape: Shape::Linear };
        Scenario::sustained().stage(stage).stage(stage).build().kind
    })
}

fn sequence(pause: Duration) -> Sequence {
    Sequence {
        name: "s".into(),
        weight: 0.5,
        think_time: ThinkTime::fixed(pause),
        error_behavior: ErrorBehavior::Retry,
        steps: vec![SequenceStep { tool: Some("t".into()), ..Default::default() }],
    }
}

fn scenario() -> impl Strategy<Value = Scenario> {
    let kind = prop::sample::select(ScenarioName::ALL).prop_flat_map(kind);
    let call = ("\\S[^\0]*", arguments(), 1e-9..1e9_f64)
        .prop_map(|(name, args, weight)| ToolCall { name, args, weight, source: None });
    let calls = prop::collection::vec(call, 0..3)
        .prop_filter("names", |calls| calls.iter().all(|call| !call.name.trim().is_empty()));
    (kind, calls, prop::option::of(Just(1)), prop::option::of(duration()), 0..i64::MAX as u64)
        .prop_map(|(kind, tool_calls, sessions, timeout, seed)| {
            let sessions = sessions.filter(|_| kind.name().keys().contains(&"sessions"));
            // The calls of one's own sequences stand in their steps.
            let patterned = kind.name() == ScenarioName::Pattern;
            let tool_calls = if patterned { Vec::new() } else { tool_calls };
            // A search goes beyond its limits on purpose.
            let abort_on_fail = seed % 2 == 0 && !matches!(kind, ScenarioKind::Capacity(_));
            let strict = seed % 3 == 0;
            let seed = Seed(seed);
            Scenario { kind, tool_calls, sessions, timeout, abort_on_fail, strict, seed }
        })
}

fn limits() -> impl Strategy<Value = Thresholds> {
    (prop::option::of(duration()), prop::option::of(0.0..=1.0), duration(), duration()).prop_map(
        |(p99, rate, hang_timeout, grace_period)| Thresholds {
            p99_latency: p99.unwrap_or(crate::thresholds::NO_TIME_LIMIT),
            error_rate: rate.unwrap_or(crate::thresholds::NO_LIMIT),
            hang_timeout,
            grace_period,
            tool: vec![ToolThresholds { p99_latency: grace_period, ..ToolThresholds::new("t") }],
            ..Default::default()
        },
    )
}

fn output() -> impl Strategy<Value = OutputConfig> {
    let formats = prop::sample::subsequence(Format::ALL.to_vec(), 0..=Format::ALL.len());
    let trace = prop::sample::select(Trace::ALL.to_vec());
    ("[^\0]+", formats, trace).prop_map(|(dir, formats, trace)| OutputConfig {
        report_dir: dir.into(),
        formats,
        trace,
        tags: Vec::new(),
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn a_run_described_in_code_reads_back_from_its_file(server in server(), scenario in scenario(), mut limits in limits(), output in output()) {
        if scenario.kind.name() == ScenarioName::Capacity {
            limits.error_rate = limits.error_rate.min(1.0);
        }
        let config = Config { output, ..Config::of_run(&server, &scenario, &limits) };
        let text = config.to_toml().unwrap();
        let read = match Config::parse(&text, "b") {
            Ok(read) => read,
            Err(error) => return Err(TestCaseError::fail(format!("{error}\n{text}"))),
        };
        prop_assert_eq!(&read, &config, "{}", text);
        prop_assert_eq!(read.server.source().unwrap(), ServerSource::Here(Box::new(server)));
        prop_assert_eq!(read.to_scenario().unwrap(), scenario);
    }

    #[test]
    fn no_text_panics(text in "\\PC{0,60}", lines in prop::collection::vec("(\\[server\\]|\\[scenario\\]|\\[\\[scenario.tool_call\\]\\]|[a-z_]{1,9} = [0-9a-z'\"\\[{}\\]]{0,5})", 0..6)) {
        let _ = Config::parse(&text, "b");
        let _ = Config::parse(&lines.join("\n"), "b");
    }
}
