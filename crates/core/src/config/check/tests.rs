use super::*;
use crate::{seed::Seed, thresholds::ToolThresholds};
use serde_json::json;

fn key(result: Result<(), ConfigError>) -> String {
    result.unwrap_err().key.to_string()
}

#[test]
fn servers_that_cannot_be_reached_are_refused() {
    assert_eq!(key(server(&Server::stdio(" ").build())), "[server] command");
    assert_eq!(key(server(&Server::stdio("x").env("A=B", "").build())), "[server] env.A=B");
    for url in [
        "",
        "h/mcp",
        "ws://h",
        "http://",
        "http:///mcp",
        "http://:80",
        "http://a b",
        "http://h/\r\nX: y",
    ] {
        assert_eq!(key(server(&Server::http(url).build())), "[server] url", "{url:?}");
    }
    assert_eq!(server(&Server::http("http://[::1]:80?x").build()), Ok(()));
    assert_eq!(
        key(server(&Server::http("http://h").header("X", "a\r\nY: b").build())),
        "[server] headers.X"
    );
    assert_eq!(
        key(server(&Server::http("http://h").startup_timeout(Duration::ZERO).build())),
        "[server] startup_timeout"
    );
    assert_eq!(server(&Server::websocket("wss://h/ws").build()), Ok(()));
    assert_eq!(key(server(&Server::websocket("http://h/ws").build())), "[server] url");
    assert_eq!(key(server(&Server::sse("ws://h/sse").build())), "[server] url");
    let started = Server::sse("http://h/sse").started_by(" ").build();
    assert_eq!(key(server(&started)), "[server] command");
    assert_eq!(key(server(&Server::http("http://h").pid(0).build())), "[server] pid");
    let both = Server { pid: Some(7), ..Server::stdio("x").build() };
    assert_eq!(key(server(&both)), "[server] pid");
}

#[test]
fn a_search_wants_a_limit_that_trials_can_tell_and_others_want_none() {
    let limit = |limits: Thresholds| search_has_a_goal(&Scenario::capacity().build(), &limits);
    assert_eq!(key(limit(Thresholds::default())), "[thresholds]");
    let p95_latency = Duration::from_millis(5);
    assert_eq!(limit(Thresholds { p95_latency, ..Thresholds::default() }), Ok(()));
    assert_eq!(limit(Thresholds { error_rate: 0.1, ..Thresholds::default() }), Ok(()));
    let of_tool = |tool| limit(Thresholds { tool: vec![tool], ..Thresholds::default() });
    let echo = || ToolThresholds::new("echo");
    assert_eq!(of_tool(ToolThresholds { p95_latency, ..echo() }), Ok(()));
    assert_eq!(of_tool(ToolThresholds { error_rate: 0.1, ..echo() }), Ok(()));
    assert_eq!(key(of_tool(echo())), "[thresholds]", "it limits nothing");
    let grows = Thresholds { memory_growth_mb: 9.0, ..Thresholds::default() };
    assert_eq!(key(limit(grows)), "[thresholds]", "memory is judged at the end");
    let load = Scenario::sustained().abort_on_fail(true).build();
    assert_eq!(search_has_a_goal(&load, &Thresholds::default()), Ok(()));
    let endless = Scenario::capacity().abort_on_fail(true).build();
    let limits = Thresholds { error_rate: 0.1, ..Thresholds::default() };
    assert_eq!(key(search_has_a_goal(&endless, &limits)), "[scenario] abort_on_fail");
}

#[test]
fn a_search_is_asked_for_no_rate() {
    let search = |limits: &Thresholds| search_has_a_goal(&Scenario::capacity().build(), limits);
    let all = Thresholds { error_rate: 0.1, min_rps: 50.0, ..Thresholds::default() };
    let refused = search(&all).unwrap_err();
    assert_eq!(refused.key.to_string(), "[thresholds] min_rps");
    assert!(refused.to_string().contains("chooses the rate itself"), "{refused}");
    let slowest = ToolThresholds { min_rps: 5.0, ..ToolThresholds::new("echo") };
    let one = Thresholds { min_rps: 0.0, tool: vec![slowest], ..all.clone() };
    assert_eq!(key(search(&one)), "[thresholds] tool[0].min_rps");
    assert_eq!(search_has_a_goal(&Scenario::sustained().build(), &all), Ok(()));
}

#[test]
fn the_modern_era_is_not_spoken_over_sse() {
    use crate::mcp::Revision;
    let sse = |revision| server(&Server::sse("http://h/sse").protocol(revision).build());
    assert_eq!(sse(Revision::V2024_11_05), Ok(()));
    assert_eq!(sse(Revision::NEWEST_LEGACY), Ok(()));
    assert_eq!(key(sse(Revision::NEWEST_MODERN)), "[server] protocol");
    assert_eq!(server(&Server::sse("http://h/sse").build()), Ok(()));
    let ws = Server::websocket("ws://h").protocol(Revision::NEWEST_MODERN).build();
    assert_eq!(server(&ws), Ok(()));
}

#[test]
fn scenarios_that_measure_nothing_are_refused() {
    let second = Duration::from_secs(1);
    let cases: [(Scenario, &str); 13] = [
        (Scenario::sustained().concurrent(0).build(), "[scenario] concurrent"),
        (Scenario::sustained().duration(Duration::ZERO).build(), "[scenario] duration"),
        (Scenario::sustained().rate_limit(0).build(), "[scenario] rate_limit"),
        (Scenario::sustained().sessions(0).build(), "[scenario] sessions"),
        (Scenario::sustained().concurrent(2).sessions(3).build(), "[scenario] sessions"),
        (Scenario::sustained().timeout(Duration::ZERO).build(), "[scenario] timeout"),
        (Scenario::sustained().seed(Seed(u64::MAX)).build(), "[scenario] seed"),
        (Scenario::sustained().args(json!({})).build(), "[scenario] tool_call[0].name"),
        (Scenario::sustained().tool("x").args(json!([])).build(), "[scenario] tool_call[0].args"),
        (Scenario::cold_start().iterations(0).build(), "[scenario] iterations"),
        (Scenario::cold_start().iterations(1).build(), "[scenario] iterations"),
        (
            Scenario::deadlock_probe().concurrent(0).grace_period(second).build(),
            "[scenario] concurrent",
        ),
        (
            Scenario::deadlock_probe().hang_threshold(Duration::ZERO).build(),
            "[scenario] hang_threshold",
        ),
    ];
    for (wrong, expected) in cases {
        assert_eq!(key(scenario(&wrong)), expected);
    }
    for weight in [0.0, -1.0, f64::NAN, f64::INFINITY] {
        let wrong =
            Scenario::sustained().tool("a").tool_call(ToolCall::new("x").weight(weight)).build();
        assert_eq!(key(scenario(&wrong)), "[scenario] tool_call[1].weight");
    }
}

#[test]
fn limits_that_cannot_be_meant_are_refused() {
    for rate in [-0.1, 1.5, 5.0, f64::NAN, f64::NEG_INFINITY] {
        let wrong = Thresholds { error_rate: rate, ..Default::default() };
        assert_eq!(key(thresholds(&wrong)), "[thresholds] error_rate");
    }
    for growth in [-1.0, f64::NAN] {
        let wrong = Thresholds { memory_growth_mb: growth, ..Default::default() };
        assert_eq!(key(thresholds(&wrong)), "[thresholds] memory_growth_mb");
    }
    let second = Duration::from_secs(1);
    let swapped = Thresholds { p50_latency: second * 2, p99_latency: second, ..Default::default() };
    assert_eq!(key(thresholds(&swapped)), "[thresholds] p50_latency");
    assert_eq!(
        thresholds(&Thresholds { p95_latency: second, p99_latency: second, ..Default::default() }),
        Ok(())
    );
}

#[test]
fn memory_is_only_limited_where_it_can_be_seen() {
    let limits = Thresholds { memory_growth_mb: 50.0, ..Default::default() };
    let load = Scenario::sustained().build();
    assert_eq!(
        key(all(&Server::http("http://h").build(), &load, &limits)),
        "[thresholds] memory_growth_mb"
    );
    assert_eq!(all(&Server::stdio("x").build(), &load, &limits), Ok(()));
    assert_eq!(all(&Server::http("http://h").pid(1).build(), &load, &limits), Ok(()));
    let started = Server::http("http://h").started_by("x").build();
    assert_eq!(all(&started, &load, &limits), Ok(()));
}

#[test]
fn a_mask_in_the_place_of_a_secret_is_refused_with_what_to_give() {
    for (masked, place, flag) in [
        (Server::http("http://h?key=***").build(), "[server] url", "--url …"),
        (
            Server::http("http://h").header("A", "***").build(),
            "[server] headers.A",
            "--header 'A: …'",
        ),
        (Server::stdio("x").env("A", "***").build(), "[server] env.A", "--env A=…"),
        (Server::stdio("x").env("A", "http://***@h").build(), "[server] env.A", "--env A=…"),
        (Server::stdio("x").args(["-p", "--token", "***"]).build(), "[server] args[2]", "-s 'x …'"),
    ] {
        let error = server(&masked).expect_err(place);
        assert_eq!(error.key.to_string(), place);
        assert_eq!(error.message, "is `***`: the secret was kept out of the file");
        assert_eq!(error.hint, Some(format!("give it again: `{flag}`")));
    }
    let told = Server::stdio("x").env("A", "http://u:p@h").args(["--token", "a"]).build();
    assert_eq!(server(&told), Ok(()));
    assert_eq!(server(&Server::http("http://h?key=a").header("A", "b").build()), Ok(()));
}

#[test]
fn what_would_break_a_command_or_a_request_is_refused() {
    for (wrong, place) in [
        (Server::stdio("x\0").build(), "[server] command"),
        (Server::stdio("x").arg("a\0").build(), "[server] args"),
        (Server::stdio("x").env("A", "b\0").build(), "[server] env.A"),
        (Server::stdio("x").env("", "b").build(), "[server] env."),
        (Server::http("http://h").header("a b", "c").build(), "[server] headers.a b"),
        (Server::http("http://h").header("", "c").build(), "[server] headers."),
        (Server::http("http://h").header("A", "\u{7f}").build(), "[server] headers.A"),
    ] {
        assert_eq!(key(server(&wrong)), place);
    }
    let good = Server::http("http://h").header("X-a.1~", "a\tb").build();
    assert_eq!(server(&good), Ok(()));
    for (wrong, example) in [
        (Server::http("h").build(), "http://127.0.0.1:8000/mcp"),
        (Server::sse("h").build(), "http://127.0.0.1:8000/sse"),
        (Server::websocket("h").build(), "ws://127.0.0.1:8000/ws"),
    ] {
        let hint = server(&wrong).expect_err(example).hint;
        assert_eq!(hint, Some(format!("write it in full, for example `{example}`")));
    }
}

#[test]
fn calls_and_sessions_have_their_limits() {
    let calls = |calls| scenario(&Scenario::sustained().concurrent(calls).build());
    assert_eq!(calls(MOST_CONCURRENT), Ok(()));
    assert_eq!(key(calls(MOST_CONCURRENT + 1)), "[scenario] concurrent");
    for sessions in [1, 2] {
        let shared = Scenario::sustained().concurrent(2).sessions(sessions).build();
        assert_eq!(scenario(&shared), Ok(()), "{sessions}");
    }
    let last = Scenario::sustained().seed(Seed(i64::MAX as u64)).build();
    assert_eq!(scenario(&last), Ok(()));
    let tiny = Scenario::sustained().tool_call(ToolCall::new("x").weight(1e-9)).build();
    assert_eq!(scenario(&tiny), Ok(()));
}

#[test]
fn each_limit_is_judged_by_its_name() {
    let zero = Duration::ZERO;
    for (name, wrong) in [
        ("p50_latency", Thresholds { p50_latency: zero, ..Default::default() }),
        ("p95_latency", Thresholds { p95_latency: zero, ..Default::default() }),
        ("p99_latency", Thresholds { p99_latency: zero, ..Default::default() }),
        ("p999_latency", Thresholds { p999_latency: zero, ..Default::default() }),
        ("hang_timeout", Thresholds { hang_timeout: zero, ..Default::default() }),
        ("min_rps", Thresholds { min_rps: -1.0, ..Default::default() }),
        ("min_rps", Thresholds { min_rps: f64::NAN, ..Default::default() }),
        ("min_rps", Thresholds { min_rps: f64::INFINITY, ..Default::default() }),
    ] {
        assert_eq!(key(thresholds(&wrong)), format!("[thresholds] {name}"));
    }
    for (error_rate, memory_growth_mb, min_rps) in [(0.0, 0.0, 0.0), (1.0, 0.5, 0.5)] {
        let good = Thresholds { error_rate, memory_growth_mb, min_rps, ..Default::default() };
        assert_eq!(thresholds(&good), Ok(()));
    }
}

#[test]
fn a_tool_is_limited_once_and_by_something() {
    let fast = |name: &str| ToolThresholds { min_rps: 1.0, ..ToolThresholds::new(name) };
    let of = |tool| thresholds(&Thresholds { tool, ..Default::default() });
    assert_eq!(of(vec![fast("a"), fast("b")]), Ok(()));
    for (tools, place) in [
        (vec![fast("a"), fast("a")], "[thresholds] tool[1].name"),
        (vec![fast(" ")], "[thresholds] tool[0].name"),
        (vec![ToolThresholds::new("a")], "[thresholds] tool[0]"),
        (vec![ToolThresholds { error_rate: 2.0, ..fast("a") }], "[thresholds] tool[0].error_rate"),
    ] {
        assert_eq!(key(of(tools)), place);
    }
}
