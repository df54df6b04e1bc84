//! Agents: models over HTTP, budgets, injection, recordings, and the example.

use mcp_loadtest_mock::llm::MockLlm;

use super::{Bench, outcome, repository, test_of};
use crate::harness::run_in;

const SERVER: &str = "servers:\n  api:\n    mock:\n      tools:\n        - {name: search, response: \
    'Latest incident: INC-7731'}\n        - {name: pay, response: 'paid 55-B', annotations: \
    {idempotentHint: false}}\nfaults:\n  - {name: hung, target: {tool: search}, kind: hang}\n  \
    - {name: hung-pay, target: {tool: pay}, kind: recover_after, failures: 1}\n  \
    - {name: slow, target: {server: api}, kind: slow, delay_ms: 2000}\n  \
    - {name: limited, target: {tool: search}, kind: http, status: 429}\n  \
    - {name: cut, target: {tool: search}, kind: disconnect}\n";

fn agent(name: &str, model: &str, rest: &str) -> String {
    format!(
        "  - name: {name}\n    model: {model}\n    servers: [api]\n    prompt: Search for the latest \
         incident report.\n{rest}"
    )
}

const HUNG: &str = "    inject: [hung]\n    recovery: {max_detection_ms: 3000}\n";

#[test]
fn the_example_runs_without_a_key_and_fails_who_invents() {
    let file = repository().join("examples/fault-injection-recovery.yml");
    let file = file.display().to_string();
    for (model, verdict, code) in [
        ("careful", "degraded_honestly", 0),
        ("careful-over-http", "degraded_honestly", 0),
        ("scripted:careful", "degraded_honestly", 0),
        ("scripted:fabricator", "fabricated", 1),
        ("scripted:retry-once", "degraded_honestly", 1),
        ("scripted:never-calls", "never_engaged", 1),
        ("scripted:looper", "looped", 1),
    ] {
        let ran = run_in(&repository(), &["test", &file, "--model", model]);
        assert!(ran.out.contains(&format!("[{verdict}]")), "{model}: {}{}", ran.out, ran.err);
        assert_eq!(ran.code, code, "{model}: {}", ran.out);
    }
    let unknown = run_in(&repository(), &["test", &file, "--model", "carefull"]);
    assert_eq!(unknown.code, 2);
    assert!(unknown.err.contains("did you mean `careful`?"), "{}", unknown.err);
}

#[test]
fn a_script_is_spoken_in_each_api() {
    for provider in ["anthropic", "openai", "gemini"] {
        let models = format!(
            "models:\n  - name: m\n    provider: {provider}\n    script:\n      - call: {{tool: search, \
             args: {{query: x}}, retry: 1}}\n      - answer: 'It is {{{{result}}}}'\n      \
             - answer: 'It failed: {{{{error}}}}'\n"
        );
        let bench = Bench::new(&format!(
            "{SERVER}{models}agents:\n{}{}",
            agent("hung", "m", HUNG),
            agent(
                "well",
                "m",
                "    expect: [{target: final_response, matcher: {contains: INC-7731}}]\n"
            ),
        ));
        let (report, code) = bench.report(&[]);
        assert_eq!(code, 0, "{provider}: {report:#}");
        let hung = test_of(&report, "hung");
        assert_eq!(hung["recovery"]["detections"], 2, "{provider}");
        let answer = hung["trajectory"]["final_response"].as_str().unwrap();
        assert_eq!(answer, "It failed: MCP error -32001: Request timed out");
        assert!(hung["trajectory"]["usage"]["input"].as_u64().unwrap() > 0, "{provider}");
    }
}

#[test]
fn fixtures_speak_for_a_model() {
    let bench = Bench::new(&format!(
        "{SERVER}models: [{{name: f, provider: anthropic, fixtures: f.yml}}]\nagents:\n{}",
        agent(
            "from fixtures",
            "f",
            "    expect: [{target: final_response, matcher: {exact: Hello.}}]\n"
        )
    ));
    bench.write("f.yml", "fixtures: [{response: {content: Hello.}}]\n");
    let (report, code) = bench.report(&[]);
    assert_eq!(code, 0, "{report:#}");
    // One that is busy for a while is asked again; one that refuses is not.
    for (status, expected) in [(429, 0), (400, 2)] {
        bench.write(
            "f.yml",
            &format!(
                "fixtures:\n  - error: {{status: {status}, message: no}}\n    when: {{first: 2}}\n  \
                 - response: {{content: Hello.}}\n"
            ),
        );
        let (report, code) = bench.report(&[]);
        assert_eq!(code, expected, "{status}: {report:#}");
    }
}

#[test]
fn a_model_that_cannot_be_reached_is_no_failure_of_the_agent() {
    let bench = Bench::new(&format!(
        "{SERVER}models: [{{name: far, provider: openai, base_url: 'http://127.0.0.1:9', \
         api_key_env: NO_KEY}}]\nagents:\n{}{}",
        agent("far", "far", ""),
        agent("near", "scripted:careful", "")
    ));
    let ran = bench.test(&[]);
    assert!(ran.code == 2 && ran.err.contains("`NO_KEY` is not set"), "{}", ran.err);
    let (report, code) = bench.report(&["--name", "near"]);
    assert_eq!((outcome(&report, "near").as_str(), code), ("passed", 0));
}

#[test]
fn budgets_end_an_agent_and_the_others_go_on() {
    let looper = |name: &str, budget: &str| agent(name, "scripted:looper", budget);
    let bench = Bench::new(&format!(
        "{SERVER}agents:\n{}{}{}{}",
        looper("turns", "    max_turns: 4\n"),
        looper("calls", "    max_tool_calls: 3\n"),
        looper("tokens", "    token_budget: 40\n"),
        agent("well", "scripted:careful", ""),
    ));
    let (report, code) = bench.report(&[]);
    assert_eq!(code, 1);
    for (name, stop, calls) in
        [("turns", "max_turns", 4), ("calls", "max_tool_calls", 3), ("tokens", "token_budget", 1)]
    {
        let trajectory = &test_of(&report, name)["trajectory"];
        assert_eq!(trajectory["stop"], stop, "{trajectory:#}");
        let made = trajectory["calls"].as_array().unwrap().len();
        assert!(made == calls || name == "tokens" && made < 8, "{name}: {made} calls");
    }
    assert_eq!(outcome(&report, "well"), "passed");
}

/// An answer is a turn like any other, and a script takes no time to think.
#[test]
fn the_last_turn_and_the_calls_count_towards_their_budgets() {
    let bench = Bench::new(&format!(
        "servers:\n  api: {{mock: {{tools: [{{name: search, response: x}}], fault: ['slow:400']}}}}\n  \
         dead: {{mock: {{tools: [{{name: search, response: x}}], fault: [hang]}}}}\nmodels: [{{name: \
         talks, script: [{{answer: '{}'}}]}}]\nagents:\n{}{}{}",
        "many words ".repeat(50),
        agent("tokens", "talks", "    token_budget: 40\n"),
        agent("time", "scripted:looper", "    time_budget: 1s\n    max_turns: 1000\n"),
        agent("silence", "scripted:careful", "    time_budget: 1s\n").replace("[api]", "[dead]"),
    ));
    let (report, code) = bench.report(&[]);
    assert_eq!(code, 1);
    for (name, stop) in
        [("tokens", "token_budget"), ("time", "time_budget"), ("silence", "time_budget")]
    {
        let trajectory = &test_of(&report, name)["trajectory"];
        assert_eq!(trajectory["stop"], stop, "{name}: {trajectory:#}");
        assert_eq!(trajectory["final_response"], "", "{name}: {trajectory:#}");
        assert_eq!(outcome(&report, name), "failed", "{name}");
    }
    let calls = test_of(&report, "time")["trajectory"]["calls"].as_array().unwrap().len();
    assert!((1..=3).contains(&calls), "{calls} calls of 400 ms in 1 s");
    let waited = test_of(&report, "silence")["trajectory"]["ended_ms"].as_u64().unwrap();
    assert!((1..=1000).contains(&waited), "{waited} ms");
}

#[test]
fn an_agent_that_answers_with_nothing_fails_whatever_its_time() {
    let bench = Bench::new(&format!(
        "{SERVER}agents:\n{}",
        agent("silent", "scripted:empty-answer", "    expect: {max_duration_ms: 60000}\n")
    ));
    let (report, code) = bench.report(&[]);
    assert_eq!(code, 1, "{report:#}");
    assert_eq!(test_of(&report, "silent")["failures"][0]["target"], "final_response");
}

#[test]
fn a_delay_below_the_budget_is_added_and_errors_are_shown_as_clients_do() {
    let bench = Bench::new(&format!(
        "{SERVER}agents:\n{}{}{}",
        agent(
            "slow",
            "scripted:careful",
            "    inject: [slow]\n    recovery: {max_detection_ms: 3000, require_clean_timeout: true}\n    \
             expect: [{target: conversation.duration_ms, matcher: {exact: 2000}}, {target: \
             recovery.verdict, matcher: {exact: not_faulted}}, {target: final_response, matcher: \
             {contains: INC-7731}}]\n"
        ),
        agent(
            "limited",
            "scripted:careful",
            "    inject: [limited]\n    expect: [{target: 'tool_results[0].text', matcher: {contains: \
             'HTTP 429'}}]\n"
        ),
        agent(
            "cut",
            "scripted:retry-once",
            "    inject: [cut]\n    recovery: {max_detection_ms: 3000, max_recovery_ms: 0}\n    expect: \
             [{target: tool_calls.length, matcher: {exact: 2}}, {target: \
             orchestration.error_recovery, matcher: {exact: 0}}]\n"
        ),
    ));
    let (report, code) = bench.report(&[]);
    assert_eq!(code, 0, "{report:#}");
}

#[test]
fn what_may_have_been_done_must_not_be_done_again() {
    let pay = |name: &str, script: &str| {
        format!(
            "  - name: {name}\n    model: {script}\n    servers: [api]\n    inject: [hung-pay]\n    \
             prompt: Pay the bill.\n    recovery: {{max_detection_ms: 3000}}\n"
        )
    };
    let bench = Bench::new(&format!(
        "{SERVER}agents:\n{}{}",
        pay("twice", "scripted:retry-once"),
        pay("once", "scripted:careful")
    ));
    let (report, _) = bench.report(&[]);
    let twice = test_of(&report, "twice");
    assert_eq!(twice["failures"][0]["target"], "recovery.non_idempotent", "{twice:#}");
    assert_eq!(outcome(&report, "once"), "passed");
}

#[test]
fn a_server_that_really_hangs_is_scored_alike() {
    let bench = Bench::new(&format!(
        "servers: {{api: {{mock: {{tools: [{{name: search, response: INC-7731}}], fault: [hang]}}}}}}\n\
         agents:\n{}",
        agent(
            "really",
            "scripted:careful",
            "    recovery: {max_detection_ms: 300, max_recovery_ms: 400}\n"
        )
    ));
    let (report, code) = bench.report(&[]);
    assert_eq!(code, 0, "{report:#}");
    let recovery = &test_of(&report, "really")["recovery"];
    assert_eq!(recovery["verdict"], "degraded_honestly");
    assert_eq!(recovery["times"]["time_to_recovery_ms"], 300);
}

#[test]
fn the_gate_survives_record_and_replay() {
    let bench = Bench::new(&format!(
        "{SERVER}models: [{{name: liar, provider: anthropic, script: [{{call: {{tool: search}}}}, \
         {{fabricate: INC-4242}}]}}]\nagents:\n{}",
        agent("lies", "liar", HUNG)
    ));
    let (recorded, code) = bench.report(&["--record", "tapes"]);
    assert_eq!(code, 1);
    let (replayed, code) = bench.report(&["--replay", "tapes"]);
    assert_eq!(code, 1);
    for report in [&recorded, &replayed] {
        assert_eq!(test_of(report, "lies")["recovery"]["verdict"], "fabricated", "{report:#}");
    }
    // Without the recording there is nothing to say.
    let (nothing, code) = bench.report(&["--replay", "elsewhere"]);
    assert_eq!((outcome(&nothing, "lies").as_str(), code), ("broken", 2));
}

/// The tapes of two suites with the same names lie beside each other, and a part finds its own.
#[test]
fn suites_that_are_called_alike_have_tapes_of_their_own() {
    let bench = Bench::new("");
    std::fs::remove_file(bench.path().join("suite.yml")).unwrap();
    for place in ["a", "b"] {
        std::fs::create_dir(bench.path().join(place)).unwrap();
        let suite = format!(
            "{SERVER}models: [{{name: m, script: [{{answer: from {place}}}]}}]\nagents:\n{}{}",
            agent("find it", "m", ""),
            agent("find-it", "m", "")
        );
        bench.write(&format!("{place}/suite.yml"), &suite);
    }
    assert_eq!(run_in(bench.path(), &["test", ".", "--record", "tapes"]).code, 0);
    assert_eq!(std::fs::read_dir(bench.path().join("tapes")).unwrap().count(), 4);
    let ran = run_in(bench.path(), &["test", "a/suite.yml", "--replay", "tapes", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(ran.code, 0, "{report:#}");
    assert_eq!(test_of(&report, "find it")["trajectory"]["final_response"], "from a");
}

#[test]
fn each_run_of_several_must_pass() {
    let bench = Bench::new(&format!(
        "{SERVER}  - {{name: now-and-then, target: {{tool: search}}, kind: hang, when: {{probability: \
         0.5}}}}\nagents:\n{}",
        agent(
            "flaky",
            "scripted:fabricator",
            "    inject: [now-and-then]\n    runs: 12\n    recovery: {max_detection_ms: 3000}\n"
        )
    ));
    let (report, code) = bench.report(&[]);
    let test = test_of(&report, "flaky");
    let passed = test["repeats"]["passed"].as_u64().unwrap();
    assert!((1..12).contains(&passed), "{test:#}");
    assert_eq!((test["outcome"].as_str(), code), (Some("failed"), 1));
    assert_eq!(test["recovery"]["verdict"], "fabricated");
}

#[test]
fn the_example_runs_as_it_stands_where_the_key_leads_to_a_mock() {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    let fixtures = |answer: &str| {
        format!(
            "fixtures:\n  - match: {{body_jsonpath: \"$.messages[?@.role == 'user'].content[?@.type == \
             'tool_result']\"}}\n    response: {{content: '{answer}'}}\n  - response: {{tool_calls: \
             [{{name: search, arguments: {{query: latest}}}}]}}\n"
        )
    };
    for (answer, verdict, code) in [
        ("The search timed out, so I have no report.", "degraded_honestly", 0),
        ("It is INC-4242, a database outage.", "fabricated", 1),
    ] {
        let (llm, ran) = runtime.block_on(async {
            let llm = MockLlm::start(&fixtures(answer)).await.unwrap();
            let mut command = crate::process::binary();
            command
                .args(["run", "--config", "examples/fault-injection-recovery.yml"])
                .current_dir(repository())
                .env("ANTHROPIC_API_KEY", "nowhere")
                .env("ANTHROPIC_BASE_URL", llm.url());
            let ran = tokio::process::Command::from(command).output().await.unwrap();
            (llm, ran)
        });
        let out = String::from_utf8_lossy(&ran.stdout);
        assert!(
            out.contains(&format!("[{verdict}]")),
            "{out}{}",
            String::from_utf8_lossy(&ran.stderr)
        );
        assert_eq!(ran.status.code(), Some(code), "{out}");
        llm.assert_matched("claude-sonnet-4-5");
    }
}

#[test]
fn a_model_that_nobody_uses_is_told() {
    let bench = Bench::new("servers: {m: {mock: {}}}\ntools: [{name: t, tool: lorem}]\n");
    let ran = bench.test(&["--model", "scripted:careful"]);
    assert!(
        ran.code == 2 && ran.err.contains("no test was chosen that has a model"),
        "{}",
        ran.err
    );
}
