//! Agents of their own, in real time: the marks are taken on the wire.

use serde_json::Value;

use super::{Bench, outcome, repository, test_of};
use crate::harness::run_in;

/// How long an agent has. Those that never come to an end are ended; they must have begun by then.
fn budget(kind: &str) -> &'static str {
    match kind {
        "patient" | "stubborn" => "12s",
        "deaf" => "2s",
        _ => "60s",
    }
}

fn agent(name: &str, kind: &str, fault: &str, rest: &str) -> String {
    let script = repository().join("tests/fixtures/agent.py");
    let budget = budget(kind);
    format!(
        "  - name: {name}\n    command: [python3, '{}']\n    env: {{AGENT: {kind}}}\n    servers: [api]\n    \
         inject: [{fault}]\n    prompt: Search for the latest report.\n    time_budget: {budget}\n    \
         recovery: {{max_detection_ms: 5000, require_clean_timeout: true}}\n{rest}",
        script.display()
    )
}

fn report(agents: &str) -> (Value, u8) {
    let bench = Bench::new(&format!(
        "servers:\n  api: {{mock: {{tools: [{{name: search, response: 'Latest: INC-7731'}}]}}}}\nfaults:\n  \
         - {{name: hung, target: {{tool: search}}, kind: hang}}\n  \
         - {{name: once, target: {{server: api}}, kind: recover_after, failures: 1}}\n  \
         - {{name: refused, target: {{tool: search}}, kind: tool_error}}\nagents:\n{agents}"
    ));
    bench.report(&[])
}

#[test]
fn each_kind_of_agent_gets_its_verdict_from_the_wire() {
    let (report, code) = report(
        &[
            agent("careful", "careful", "hung", ""),
            agent("comes back", "careful", "once", ""),
            agent("told", "careful", "refused", ""),
            agent("inventor", "inventor", "hung", ""),
            agent("patient", "patient", "hung", ""),
            agent("stubborn", "stubborn", "hung", ""),
            agent("idle", "idle", "hung", ""),
        ]
        .concat(),
    );
    assert_eq!(code, 1);
    for (name, verdict, wanted) in [
        ("careful", "degraded_honestly", "passed"),
        ("comes back", "recovered", "passed"),
        ("told", "degraded_honestly", "passed"),
        ("inventor", "fabricated", "failed"),
        ("patient", "gave_up", "failed"),
        ("stubborn", "looped", "failed"),
        ("idle", "never_engaged", "failed"),
    ] {
        let test = test_of(&report, name);
        assert_eq!(test["recovery"]["verdict"], verdict, "{name}: {test:#}");
        assert_eq!(outcome(&report, name), wanted, "{name}: {test:#}");
    }
    marks(&report);
}

/// What a program does besides must neither keep us waiting nor be overlooked.
#[test]
fn a_task_that_is_not_read_an_output_that_stays_open_and_a_failure_are_told() {
    let long = agent("deaf", "deaf", "hung", "");
    let long = long.replace("Search for the latest report.", &"x".repeat(100_000));
    let (report, code) = report(
        &[
            long,
            agent("forks", "forks", "hung", ""),
            agent("fails", "fails", "hung", ""),
            agent("claims", "fails", "once", ""),
        ]
        .concat(),
    );
    assert_eq!(code, 1);
    for (name, verdict, wanted) in [
        ("deaf", "gave_up", "failed"),
        ("forks", "degraded_honestly", "passed"),
        ("fails", "degraded_honestly", "passed"),
        ("claims", "recovered", "failed"),
    ] {
        let test = test_of(&report, name);
        assert_eq!(test["recovery"]["verdict"], verdict, "{name}: {test:#}");
        assert_eq!(outcome(&report, name), wanted, "{name}: {test:#}");
    }
    let claims = test_of(&report, "claims");
    assert_eq!(claims["failures"][0]["target"], "live.exit_code", "{claims:#}");
}

/// It died of a pipe that we had closed, and that was called its own failure.
#[test]
fn an_agent_that_says_more_than_is_kept_has_not_failed() {
    let bench = Bench::new(
        "servers: {api: {mock: {}}}\nagents:\n  - {name: talks, command: [python3, '-c', \"print('x' * \
         3000000)\"], servers: [api], prompt: y}\n",
    );
    let (report, code) = bench.report(&[]);
    let failures = &test_of(&report, "talks")["failures"];
    assert_eq!((outcome(&report, "talks").as_str(), code), ("passed", 0), "{failures:#}");
}

/// A call that a fault counts and does not hit is one that it is aimed at.
#[test]
fn a_live_agent_that_the_fault_has_spared_was_not_faulted() {
    let suite = format!(
        "servers:\n  api: {{mock: {{tools: [{{name: search, response: 'Latest: INC-7731'}}, {{name: other, \
         response: x}}]}}}}\nfaults:\n  - {{name: second, target: {{tool: search}}, kind: hang, when: {{nth: \
         2}}}}\n  - {{name: elsewhere, target: {{tool: other}}, kind: hang}}\nagents:\n{}{}",
        agent("spared", "careful", "second", ""),
        agent("missed", "careful", "elsewhere", "")
    );
    let (report, _) = Bench::new(&suite).report(&[]);
    let verdict = |name: &str| test_of(&report, name)["recovery"]["verdict"].clone();
    assert_eq!(verdict("spared"), "not_faulted", "{report:#}");
    assert_eq!(verdict("missed"), "never_engaged", "{report:#}");
}

/// What an answer depends on is not known before the call: then nobody but the agent has read it.
#[test]
fn who_tells_what_an_arm_has_said_has_invented_nothing() {
    let suite = format!(
        "servers:\n  api:\n    mock:\n      tools:\n        - name: search\n          responses:\n            \
         - {{when: {{query: latest}}, result: 'Latest: INC-7731'}}\n            - {{default: true, \
         result: none}}\nfaults:\n  - {{name: once, target: {{server: api}}, kind: recover_after, \
         failures: 1}}\nagents:\n{}",
        agent("honest", "careful", "once", "")
    );
    let suite = suite.replace("require_clean_timeout: true", "evidence: INC-7731");
    let (report, code) = Bench::new(&suite).report(&[]);
    assert_eq!(test_of(&report, "honest")["recovery"]["verdict"], "recovered", "{report:#}");
    assert_eq!(code, 0);
}

/// What only the wire shows.
fn marks(report: &Value) {
    let live = |name: &str| test_of(report, name)["live"].clone();
    let number = |value: &Value| value.as_u64().unwrap();
    let careful = live("careful");
    assert_eq!((number(&careful["retries"]), number(&careful["cancels"])), (1, 2), "{careful}");
    assert_eq!(number(&careful["left_running"]), 0, "{careful}");
    let hang = number(&careful["hang_ms"][0]);
    assert!(hang >= 400, "{careful}");
    let patient = live("patient");
    assert_eq!(
        (number(&patient["cancels"]), number(&patient["left_running"])),
        (0, 1),
        "{patient}"
    );
    let times = &test_of(report, "patient")["recovery"]["times"];
    assert_eq!(times["clean_timeout"], false, "{times}");
    assert!(number(&live("stubborn")["retries"]) > 5, "{}", live("stubborn"));
    let back = &test_of(report, "comes back")["recovery"]["times"];
    assert!(number(&back["time_to_recovery_ms"]) >= 400, "{back}");
}

#[test]
fn the_wire_can_be_asked_about_and_what_cannot_be_set_is_refused() {
    let expect = "    expect: [{target: live.cancels, matcher: {greater-than: 1}}, {target: \
                  'live.back_off_ms[0]', matcher: {less-than: 20000}}]\n";
    let (seen, code) = report(&agent("careful", "careful", "hung", expect));
    assert_eq!(code, 0, "{seen:#}");
    for (rest, told) in [
        ("    max_turns: 3\n", "only the agent itself could keep to it"),
        ("    model: scripted:careful\n", "needs one with `fixtures`"),
    ] {
        let bench = Bench::new(&format!(
            "servers: {{api: {{mock: {{}}}}}}\nfaults: [{{name: hung, target: {{tool: x}}, kind: \
             hang}}]\nagents:\n{}",
            agent("a", "idle", "hung", rest)
        ));
        let ran = bench.test(&[]);
        assert!(ran.code == 2 && ran.err.contains(told), "{}", ran.err);
    }
    let bench = Bench::new(
        "servers: {api: {url: 'ws://127.0.0.1:1'}}\nagents: [{name: a, command: [y], servers: [api], prompt: z}]\n",
    );
    assert!(bench.test(&[]).err.contains("is not watched over WebSocket"));
}

#[test]
fn a_model_speaks_from_fixtures_to_an_agent_of_its_own() {
    let bench = Bench::new("");
    bench.write(
        "agent.py",
        "import json, os, urllib.request as u\n\
         body = json.dumps({'model': 'm', 'messages': [{'role': 'user', 'content': 'hi'}]}).encode()\n\
         request = u.Request(os.environ['OPENAI_BASE_URL'] + '/chat/completions', body, {'content-type': \
         'application/json', 'authorization': 'Bearer ' + os.environ['OPENAI_API_KEY']})\n\
         print(json.load(u.urlopen(request))['choices'][0]['message']['content'])\n",
    );
    bench.write("f.yml", "fixtures: [{response: {content: Hello from a fixture.}}]\n");
    bench.write(
        "suite.yml",
        &format!(
            "servers: {{api: {{mock: {{}}}}}}\nmodels: [{{name: f, provider: openai, fixtures: f.yml}}]\n\
             agents:\n  - name: speaks\n    command: [python3, '{}']\n    model: f\n    servers: [api]\n    \
             prompt: Say hello.\n    expect: [{{target: final_response, matcher: {{contains: Hello}}}}]\n",
            bench.path().join("agent.py").display()
        ),
    );
    let (report, code) = bench.report(&[]);
    assert_eq!(code, 0, "{report:#}");
}

#[test]
fn one_agent_can_be_judged_without_a_suite() {
    let bench = Bench::new("");
    bench.write("tools.yml", "tools: [{name: search, response: 'Latest: INC-7731'}]\n");
    let script = repository().join("tests/fixtures/agent.py").display().to_string();
    let judged = |kind: &str, fault: &str, flags: &[&str]| {
        let task = ["--prompt", "Search for the latest report.", "--tools-from", "tools.yml"];
        let command = ["--fault", fault, "--json", "--", "env", kind, "python3", script.as_str()];
        let ran = run_in(bench.path(), &[&["agent"], task.as_slice(), flags, &command].concat());
        let report: Value =
            serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}", ran.err));
        (report["tests"][0]["recovery"]["verdict"].as_str().unwrap().to_owned(), ran.code)
    };
    let detection = ["--max-detection", "20s", "--clean-timeout"];
    assert_eq!(judged("AGENT=careful", "hang", &detection), ("degraded_honestly".into(), 0));
    assert_eq!(judged("AGENT=careful", "recover-after:1", &detection), ("recovered".into(), 0));
    assert_eq!(judged("AGENT=inventor", "hang@tool=search", &detection), ("fabricated".into(), 1));
    let impatient = ["--max-detection", "100ms", "--clean-timeout"];
    assert_eq!(judged("AGENT=careful", "hang", &impatient), ("degraded_honestly".into(), 1));
    let late = ["--max-detection", "20s", "--max-recovery", "100ms"];
    assert_eq!(judged("AGENT=careful", "recover-after:1", &late), ("recovered".into(), 1));
}

/// What stands behind `--` is for the shell that it starts.
#[test]
fn a_command_line_is_taken_as_it_is() {
    let bench = Bench::new("");
    let task = "Say ${NOT_SET} and ${OTHER:-something}.";
    let command = ["--", "sh", "-c", "echo \"${MCP_LOADTEST_PROMPT}\""];
    let ran = run_in(
        bench.path(),
        &[&["agent", "--json", "--prompt", task], command.as_slice()].concat(),
    );
    let report: Value = serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}", ran.err));
    assert_eq!(report["tests"][0]["trajectory"]["final_response"], task, "{report:#}");
    assert_eq!(ran.code, 0);
}

#[test]
fn an_agent_is_watched_before_a_server_of_others_too() {
    let server = crate::process::listening_mock("mock-http-server.py", &[]);
    let script = repository().join("tests/fixtures/agent.py");
    let agent = |name: &str, kind: &str, fault: &str| {
        format!(
            "  - name: {name}\n    command: [python3, '{}']\n    env: {{AGENT: {kind}, AGENT_TOOL: echo}}\n    \
             servers: [far]\n    inject: [{fault}]\n    prompt: Echo something.\n    time_budget: {}\n    \
             recovery: {{max_detection_ms: 20000, evidence: latest}}\n",
            script.display(),
            budget(kind)
        )
    };
    let bench = Bench::new(&format!(
        "servers: {{far: {{url: '{}'}}}}\nfaults:\n  - {{name: hung, target: {{server: far}}, kind: hang}}\n  \
         - {{name: once, target: {{tool: echo}}, kind: recover_after, failures: 1}}\nagents:\n{}{}{}",
        server.url,
        agent("honest", "careful", "hung"),
        agent("comes back", "careful", "once"),
        agent("patient", "patient", "hung"),
    ));
    let (report, _) = bench.report(&[]);
    for (name, verdict) in
        [("honest", "degraded_honestly"), ("comes back", "recovered"), ("patient", "gave_up")]
    {
        let test = test_of(&report, name);
        assert_eq!(test["recovery"]["verdict"], verdict, "{test:#}");
    }
}

#[test]
fn an_agent_that_starts_its_server_is_watched_on_the_pipes() {
    let python = crate::clients::home("mcp-1.30.0").join("bin/python");
    let folder = repository().join("tests/fixtures");
    let agent = |name: &str, kind: &str, fault: &str| {
        // Longer than elsewhere: the SDK alone takes seconds to be imported.
        let budget = if kind == "patient" { "30s" } else { "60s" };
        format!(
            "  - name: {name}\n    command: ['{}', '{}/agent-mcp.py']\n    env: {{AGENT: {kind}}}\n    \
             servers: [near]\n    inject: [{fault}]\n    prompt: Echo something.\n    time_budget: {budget}\n    \
             recovery: {{max_detection_ms: 20000, evidence: INC-7731}}\n",
            python.display(),
            folder.display()
        )
    };
    let bench = Bench::new(&format!(
        "servers: {{near: {{command: [python3, '{}/mock-normal.py'], env: {{TOKEN: kept}}}}}}\nfaults:\n  \
         - {{name: hung, target: {{server: near}}, kind: hang}}\n  \
         - {{name: once, target: {{tool: echo}}, kind: recover_after, failures: 1}}\nagents:\n{}{}{}{}",
        folder.display(),
        agent("honest", "careful", "hung"),
        agent("comes back", "careful", "once"),
        agent("inventor", "inventor", "hung"),
        agent("patient", "patient", "hung"),
    ));
    let (report, code) = bench.report(&[]);
    assert_eq!(code, 1);
    for (name, verdict, fault) in [
        ("honest", "degraded_honestly", "hung"),
        ("comes back", "recovered", "once"),
        ("inventor", "fabricated", "hung"),
        ("patient", "gave_up", "hung"),
    ] {
        let test = test_of(&report, name);
        assert_eq!(test["recovery"]["verdict"], verdict, "{test:#}");
        assert!(test.to_string().contains(&format!("\"name\":\"{fault}\"")), "{test:#}");
    }
}
