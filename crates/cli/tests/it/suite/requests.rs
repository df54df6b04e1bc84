//! Tools, resources and prompts; bad input; loads.

use serde_json::json;

use super::{Bench, outcome, outcomes, test_of};
use crate::harness::{mock, run};

#[test]
fn each_kind_of_request_passes_and_fails() {
    let bench = Bench::new(
        "servers:\n  api:\n    mock:\n      tools:\n        - {name: search, response: 'INC-7731'}\n      \
         resources: [{uri: 'note://1', name: n, text: hello}]\n      \
         prompts: [{name: greet, arguments: [{name: who}], text: 'Hello ${args.who}'}]\n\
         tools:\n  - name: tool good\n    tool: search\n    expect: [{target: 'result.content[0].text', \
         matcher: {exact: INC-7731}}]\n  - name: tool bad\n    tool: search\n    expect: [{target: \
         'result.content[0].text', matcher: {exact: INC-1}}]\n  - {name: tool missing, tool: nope}\n  \
         - name: tool missing as expected\n    tool: nope\n    expect: [{target: error.code, matcher: \
         {less-than: 0}}]\n\
         resources:\n  - name: resource good\n    uri: note://1\n    expect: [{target: \
         'result.contents[0].text', matcher: {contains: ell}}]\n  - {name: resource bad, uri: 'note://2'}\n\
         prompts:\n  - name: prompt good\n    prompt: greet\n    args: {who: Ada}\n    expect: [{target: \
         'result.messages[0].content.text', matcher: {exact: Hello Ada}}]\n  - {name: prompt bad, prompt: no}\n",
    );
    let (report, code) = bench.report(&[]);
    for (name, outcome) in outcomes(&report) {
        let wanted =
            if name.contains("bad") || name == "tool missing" { "failed" } else { "passed" };
        assert_eq!(outcome, wanted, "{name}");
    }
    assert_eq!(code, 1);
    let bad = test_of(&report, "tool bad");
    assert_eq!(bad["failures"][0]["message"], "got \"INC-7731\", wanted exact \"INC-1\"");
    assert_eq!(bad["line"], 12);
}

#[test]
fn a_tool_that_fails_fails_the_test_unless_that_is_spoken_of() {
    let bench = Bench::new(
        "servers: {api: {mock: {fault: [tool-error]}}}\ntools:\n  - {name: silent, tool: echo, args: \
         {message: x}}\n  - name: spoken of\n    tool: echo\n    args: {message: x}\n    expect: \
         [{target: result.isError, matcher: {exact: true}}]\n  - name: only time\n    tool: echo\n    \
         args: {message: x}\n    expect: [{target: duration_ms, matcher: {less-than: 60000}}]\n  - name: \
         no error\n    tool: echo\n    args: {message: x}\n    expect: [{target: error, matcher: {exact: \
         null}}]\n",
    );
    let (report, _) = bench.report(&[]);
    assert_eq!(outcome(&report, "silent"), "failed");
    assert_eq!(outcome(&report, "spoken of"), "passed");
    assert_eq!(outcome(&report, "only time"), "failed");
    assert_eq!(outcome(&report, "no error"), "failed", "what it says is a result, and no error");
}

#[test]
fn a_deadline_is_kept_and_the_server_is_told() {
    let bench = Bench::new(
        "servers:\n  slow: {command: [PROGRAM, mock, --fault, hang, --audit, 'jsonl:calls.jsonl']}\n\
         tools:\n  - {name: hangs, tool: echo, args: {message: x}, timeout_ms: 200}\n",
    );
    // Servers are started where we are: the log must not be written there.
    let log = bench.path().join("calls.jsonl");
    bench.write(
        "suite.yml",
        &format!(
            "servers:\n  slow: {{command: [PROGRAM, mock, --fault, hang, --audit, 'jsonl:{}']}}\n\
             tools:\n  - {{name: hangs, tool: echo, args: {{message: x}}, timeout_ms: 200}}\n",
            log.display()
        ),
    );
    let (report, code) = bench.report(&[]);
    let test = test_of(&report, "hangs");
    assert_eq!((code, test["outcome"].as_str().unwrap()), (1, "failed"));
    assert_eq!(test["document"]["error"]["category"], "Timeout");
    let took = test["document"]["duration_ms"].as_f64().unwrap();
    assert!((200.0..30_000.0).contains(&took), "{took}");
    let log = std::fs::read_to_string(log).unwrap();
    assert!(log.contains("notifications/cancelled"), "{log}");
}

#[test]
fn a_server_that_dies_is_one_failure_and_is_started_again() {
    let tests: String = (0..12)
        .map(|at| {
            let tool = if at == 5 { "lorem" } else { "echo" };
            let args = if at == 5 { "{words: 3}" } else { "{message: x}" };
            format!("  - {{name: t{at}, tool: {tool}, args: {args}}}\n")
        })
        .collect();
    let bench = Bench::new(&format!(
        "servers:\n  m: {{command: [PROGRAM, mock, --fault, 'crash:3@tool=lorem']}}\n\
         run_options: {{parallel: 2}}\ntools:\n{tests}"
    ));
    let (report, code) = bench.report(&[]);
    let failed: Vec<_> =
        outcomes(&report).into_iter().filter(|(_, outcome)| outcome != "passed").collect();
    assert_eq!(failed, [("t5".to_owned(), "failed".to_owned())]);
    assert_eq!(code, 1);
    assert_eq!(test_of(&report, "t5")["document"]["error"]["category"], "Crash");
}

/// Whether its death shows before the next test, in it or while the same test is repeated.
#[test]
fn who_dies_after_the_answer_is_blamed_for_it() {
    let server = "import sys, json, os, time\n\
        for line in sys.stdin:\n    m = json.loads(line)\n    if 'id' not in m: continue\n    \
        if m['method'] == 'initialize': r = {'protocolVersion': '2025-06-18', 'capabilities': \
        {'tools': {}}, 'serverInfo': {'name': 's', 'version': '1'}}\n    \
        elif m['method'] == 'tools/call': r = {'content': []}\n    \
        else:\n        print(json.dumps({'jsonrpc': '2.0', 'id': m['id'], 'error': {'code': -32601, \
        'message': 'no'}}), flush=True)\n        continue\n    \
        name = m.get('params', {}).get('name')\n    \
        if name == 'pause': time.sleep(2)\n    \
        print(json.dumps({'jsonrpc': '2.0', 'id': m['id'], 'result': r}), flush=True)\n    \
        if name == 'last': os._exit(7)\n";
    let bench = Bench::new("");
    bench.write("server.py", server);
    let command = format!("{{command: [python3, '{}']}}", bench.path().join("server.py").display());
    // Of another server, so that the first one is dead for long when it is asked again.
    let pause = "  - {name: pause, server: t, tool: pause}\n";
    let after = "  - {name: after, server: s, tool: a}\n";
    let paused = [pause, after].concat();
    // Nobody asks the server of the last test anything, nor one that only one test has.
    let (shared, own) = ("per_run", "per_test");
    for (policy, behind, flags) in [
        (shared, after, &[][..]),
        (shared, &paused, &[]),
        (shared, &paused, &["--repeat", "2"]),
        (shared, "", &[]),
        (shared, "", &["--name", "killer"]),
        (own, after, &[]),
    ] {
        bench.write(
            "suite.yml",
            &format!(
                "servers:\n  s: {command}\n  t: {command}\nrun_options: {{parallel: false, restart_policy: \
                 {policy}}}\ntools:\n  - {{name: before, server: s, tool: a}}\n  - {{name: killer, \
                 server: s, tool: last}}\n{behind}"
            ),
        );
        let (report, code) = bench.report(flags);
        let tried = format!("{policy} {behind}{flags:?}");
        assert_eq!(code, 1, "{tried} {report:#}");
        for test in report["tests"].as_array().unwrap() {
            let wanted = if test["name"] == "killer" { "failed" } else { "passed" };
            let is_chosen = test["outcome"] != "skipped";
            assert!(!is_chosen || test["outcome"] == wanted, "{tried} {test:#}");
        }
        let killer = test_of(&report, "killer");
        assert_eq!(killer["failures"].as_array().unwrap().len(), 1, "{tried} {killer:#}");
        let never = flags.contains(&"--repeat").then_some(0);
        assert_eq!(killer["repeats"]["passed"].as_u64(), never, "{tried} {killer:#}");
        let failure = &killer["failures"][0];
        assert_eq!(failure["target"], "server", "{killer:#}");
        assert!(failure["message"].as_str().unwrap().contains("code 7"), "{killer:#}");
    }
}

/// A server over pipes that dies with code 0 of the call after `doom`, does not answer `stall`, and
/// answers everything else.
fn mortal(bench: &Bench) -> String {
    let server = "import sys, json, os, time\nis_doomed = False\n\
        for line in sys.stdin:\n    m = json.loads(line)\n    if 'id' not in m: continue\n    \
        if is_doomed: os._exit(0)\n    \
        if m['method'] == 'initialize': r = {'protocolVersion': '2025-06-18', 'capabilities': \
        {'tools': {}}, 'serverInfo': {'name': 's', 'version': '1'}}\n    \
        elif m['method'] == 'tools/call': r = {'content': []}\n    \
        elif m['method'] == 'tools/list': r = {'tools': [{'name': 'a', 'inputSchema': {'type': \
        'object'}}]}\n    \
        else:\n        print(json.dumps({'jsonrpc': '2.0', 'id': m['id'], 'error': {'code': -32601, \
        'message': 'no'}}), flush=True)\n        continue\n    \
        name = m.get('params', {}).get('name')\n    \
        if name == 'stall': time.sleep(600)\n    \
        print(json.dumps({'jsonrpc': '2.0', 'id': m['id'], 'result': r}), flush=True)\n    \
        is_doomed = name == 'doom'\n";
    bench.write("mortal.py", server);
    let script = bench.path().join("mortal.py");
    format!(
        "servers: {{s: {{command: [python3, '{}']}}}}\nrun_options: {{parallel: 1}}\n",
        script.display()
    )
}

/// The end of a process has its cause in what it was asked last, whatever its exit code, and whoever
/// meets it dead: a request, an agent that lists its tools, or our sign of life.
#[test]
fn a_server_that_leaves_with_code_0_was_killed_as_well() {
    let bench = Bench::new("");
    let head = mortal(&bench);
    let killer = "tools:\n  - {name: killer, tool: doom}\n";
    for behind in [
        "",
        "  - {name: after, tool: a}\n",
        "agents:\n  - {name: after, model: 'scripted:careful', servers: [s], prompt: do it}\n",
    ] {
        bench.write("suite.yml", &format!("{head}{killer}{behind}"));
        let (report, code) = bench.report(&[]);
        assert_eq!((outcome(&report, "killer").as_str(), code), ("failed", 1), "{report:#}");
        let told = test_of(&report, "killer")["failures"][0].to_string();
        assert!(told.contains("exit code 0"), "{told}");
        if !behind.is_empty() {
            assert_eq!(outcome(&report, "after"), "passed", "{report:#}");
        }
    }
}

#[test]
fn nobody_waits_behind_a_call_that_was_given_up() {
    let bench = Bench::new("");
    let tests = "tools:\n  - {name: stalls, tool: stall, timeout_ms: 300}\n  - {name: behind it, tool: a, \
        timeout_ms: 20000}\n";
    bench.write("suite.yml", &format!("{}{tests}", mortal(&bench)));
    let (report, code) = bench.report(&[]);
    assert_eq!((outcome(&report, "stalls").as_str(), code), ("failed", 1));
    assert_eq!(outcome(&report, "behind it"), "passed", "{report:#}");
}

/// Nobody knows that a process died where a connection was cut: it is the fault of who used it.
#[test]
fn who_is_cut_off_has_failed_and_nobody_else() {
    let bench = Bench::new(
        "servers: {m: {mock: {fault: ['disconnect@nth=2']}}}\nrun_options: {parallel: 1}\ntools:\n  \
         - {name: a, tool: echo, args: {message: x}}\n  - {name: b, tool: echo, args: {message: x}}\n",
    );
    let (report, code) = bench.report(&[]);
    let told: Vec<_> = outcomes(&report).into_iter().map(|(_, outcome)| outcome).collect();
    assert_eq!((told, code), (vec!["passed".into(), "failed".to_owned()], 1), "{report:#}");
}

#[test]
fn a_session_that_a_server_forgets_is_nobodys_fault() {
    // The end of the handshake is the first message of a session, and the call of `a` the second.
    let server =
        crate::process::listening_mock("mock-http-server.py", &[("MOCK_SESSION_CALLS", "2")]);
    let bench = Bench::new(&format!(
        "servers: {{far: {{url: '{}'}}}}\nrun_options: {{parallel: 1}}\ntools:\n  - {{name: a, tool: \
         echo}}\n  - {{name: b, tool: echo}}\n",
        server.url
    ));
    let (report, code) = bench.report(&[]);
    assert_eq!(code, 0, "{report:#}");
}

#[test]
fn repeats_that_never_ran_are_not_counted() {
    let bench = Bench::new(
        "servers: {none: {command: [/no/such/program]}}\ntools: [{name: t, tool: echo}]\n",
    );
    let (report, code) = bench.report(&["--repeat", "5"]);
    let repeats = &test_of(&report, "t")["repeats"];
    assert_eq!((repeats["runs"].as_u64(), repeats["passed"].as_u64(), code), (Some(1), Some(0), 2));
}

#[test]
fn what_cannot_be_reached_is_no_failure_of_the_test() {
    let bench = Bench::new(
        "servers:\n  gone: {url: 'http://127.0.0.1:9/mcp'}\n  none: {command: [/no/such/program]}\n  \
         well: {mock: {}}\ntools:\n  - {name: a, server: gone, tool: echo}\n  - {name: b, server: none, \
         tool: echo}\n  - {name: c, server: well, tool: echo, args: {message: x}}\n",
    );
    let (report, code) = bench.report(&[]);
    assert_eq!(code, 2);
    for (name, wanted) in [("a", "broken"), ("b", "broken"), ("c", "passed")] {
        assert_eq!(outcome(&report, name), wanted, "{report:#}");
    }
}

#[test]
fn bad_input_is_refused_by_a_good_server_and_taken_by_a_bad_one() {
    let suite = |fixture: &str| {
        let command: Vec<_> = mock(fixture).split(' ').map(|word| format!("'{word}'")).collect();
        Bench::new(&format!(
            "servers: {{s: {{command: [{}]}}}}\ntools:\n  - name: refuses\n    tool: search\n    \
             args: {{query: x, range: {{from: 1}}}}\n    negative_path: {{checks: [unknown_tool, missing_required, \
             wrong_type]}}\n  - name: as it is\n    tool: search\n    args: {{query: x, range: {{from: 1}}}}\n    \
             negative_path:\n      checks: [missing_required]\n      expect: [{{target: \
             negative_path.checks_run, matcher: {{exact: 1}}}}]\n  - name: closed\n    tool: search\n    \
             args: {{query: x, range: {{from: 1}}}}\n    negative_path: {{checks: [extra_field]}}\n",
            command.join(", ")
        ))
    };
    let (good, code) = suite("good-strict.py").report(&[]);
    assert_eq!((outcome(&good, "refuses").as_str(), code), ("passed", 0), "{good:#}");
    let (bad, code) = suite("bad-missing-required.py").report(&[]);
    let test = test_of(&bad, "refuses");
    assert_eq!((test["outcome"].as_str().unwrap(), code), ("failed", 1));
    assert_eq!(test["failures"][0]["target"], "negative_path.failures", "{test:#}");
    assert!(test["cases"].as_array().unwrap().iter().any(|case| case["verdict"] == "accepted"));
    assert_eq!(outcome(&bad, "as it is"), "passed");
    // For the command it is a warning: whole SDKs do so. Whoever writes the check down wants it kept.
    let (bad, code) = suite("bad-extra-field.py").report(&[]);
    let test = test_of(&bad, "closed");
    assert_eq!((test["outcome"].as_str().unwrap(), code), ("failed", 1), "{test:#}");
    assert!(
        test["failures"][0]["message"].as_str().unwrap().starts_with("1 of 1 check"),
        "{test:#}"
    );
}

/// A tool that must not be called unasked is called with the arguments of its test, be they none.
#[test]
fn bad_input_is_tried_beside_no_arguments_or_is_told_to_be_untried() {
    let bench = Bench::new(
        "servers:\n  m:\n    mock:\n      tools:\n        - name: wipe\n          input_schema: {type: \
         object, properties: {mode: {type: string}}, additionalProperties: false}\n          \
         annotations: {destructiveHint: true}\n          response: done\ntools:\n  - {name: tried, \
         tool: wipe, negative_path: {checks: [extra_field]}}\n  - {name: untried, tool: wipe, \
         negative_path: {checks: [extra_field, enum_miss]}}\n",
    );
    let (report, code) = bench.report(&[]);
    assert_eq!((outcome(&report, "tried").as_str(), code), ("passed", 1), "{report:#}");
    let failures = test_of(&report, "untried")["failures"].as_array().unwrap();
    assert_eq!(failures.len(), 1, "{report:#}");
    assert_eq!(
        failures[0]["message"],
        "`enum_miss` could not be tried: no tool lists the values of an argument"
    );
}

#[test]
fn the_fuzzer_passes_what_survives_and_fails_what_dies() {
    let suite = |fixture: &str| {
        let command: Vec<_> = mock(fixture).split(' ').map(|word| format!("'{word}'")).collect();
        Bench::new(&format!(
            "servers: {{s: {{command: [{}]}}}}\ntools:\n  - name: survives\n    tool: search\n    \
             args: {{query: x, range: {{from: 1}}}}\n    fuzz: {{cases: 24, seed: 3, max_call_ms: 1000}}\n  \
             - {{name: not there, tool: nope, fuzz: {{}}}}\n",
            command.join(", ")
        ))
    };
    let (good, code) = suite("good-strict.py").report(&[]);
    assert_eq!(outcome(&good, "survives"), "passed", "{good:#}");
    assert_eq!((outcome(&good, "not there").as_str(), code), ("failed", 1), "{good:#}");
    let (bad, _) = suite("bad-dies-of-bad-arguments.py").report(&[]);
    let failures = &test_of(&bad, "survives")["failures"];
    assert_eq!(failures[0]["target"], "fuzz.failures", "{bad:#}");
}

#[test]
fn loads_are_gates() {
    let load = |fault: &str, thresholds: &str| {
        let bench = Bench::new(&format!(
            "servers: {{m: {{mock: {{fault: [{fault}]}}}}}}\nloads:\n  - name: load\n    scenario: \
             {{type: sustained, duration: 300ms, concurrent: 2, tool: echo, args: {{message: x}}}}\n    \
             thresholds: {{{thresholds}}}\n"
        ));
        bench.report(&[])
    };
    let (report, code) = load("none", "error_rate: 0.0");
    assert_eq!((outcome(&report, "load").as_str(), code), ("passed", 0), "{report:#}");
    let (report, code) = load("slow:1000", "p50_latency: 100ms");
    assert_eq!(code, 1);
    let failures = &test_of(&report, "load")["failures"];
    assert_eq!(failures[0]["target"], json!("thresholds.p50_latency"), "{failures}");
}

#[test]
fn each_test_can_have_a_server_of_its_own() {
    let count = |policy: &str| {
        let bench = Bench::new(&format!(
            "servers: {{m: {{mock: {{fault: ['tool-error@nth=2']}}}}}}\nrun_options: {{parallel: 1, \
             restart_policy: {policy}}}\ntools:\n  - {{name: a, tool: echo, args: {{message: x}}}}\n  \
             - {{name: b, tool: echo, args: {{message: x}}}}\n"
        ));
        bench.report(&[]).0["totals"]["passed"].as_u64().unwrap()
    };
    assert_eq!((count("per_run"), count("per_test")), (1, 2));
}

#[test]
fn parameters_that_http_repeats_in_headers_are_repeated() {
    let bench = Bench::new(
        "servers:\n  m:\n    mock:\n      tools:\n        - name: query\n          input_schema: {type: object, \
         properties: {region: {type: string, x-mcp-header: Region}}}\n          response: done\n\
         tools:\n  - {name: marked, tool: query, args: {region: eu}}\n",
    );
    let (report, code) = bench.report(&[]);
    assert_eq!(code, 0, "{report:#}");
}

#[test]
fn the_example_passes_as_it_is_printed() {
    let printed = run(&["example-config", "--suite"]);
    assert_eq!(printed.code, 0, "{}", printed.err);
    let bench = Bench::new(&printed.out.replace("command: [mcp-loadtest,", "command: [PROGRAM,"));
    let ran = bench.test(&[]);
    assert!(ran.code == 0 && ran.out.contains("3 passed, 0 failed"), "{}{}", ran.out, ran.err);
}

#[test]
fn without_a_name_the_schemas_are_listed() {
    let listed = run(&["schema"]);
    assert!(
        listed.code == 0 && listed.out.contains("suite        A suite of tests\n"),
        "{}",
        listed.out
    );
}
