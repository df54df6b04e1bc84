//! Commands that serve: `mock`, `llm`, `proxy`, `gateway`, `serve`.

use super::Flag;
use crate::{
    effects::{
        bench::Bench,
        proof::{
            Proof::{Pair, Tested},
            tried,
        },
    },
    gateway::free_port,
    process::{Listening, binary},
};

const EXPLAINED: &[&str] = &["cli commands::every_command_explains_itself"];
const ADMIN: &[&str] = &[
    "mock admin::faults_are_switched_while_it_runs",
    "cli effects::flags::servers::a_server_can_be_controlled",
];
const GUARDED: &[&str] = &[
    "mock admin::guard::tests::other_machines_need_leave_and_a_token",
    "mock admin::guard::tests::a_token_is_asked_of_everybody",
];
const HEALTHY: &[&str] = &["probe", "--only", "unknown_tool", "-s", "{mock}"];

pub(super) const MOCK: &[Flag] = &[
    Flag(
        "--transport",
        "pigeon",
        Tested(&[
            "cli mock::a_crash_over_http_ends_the_process_with_its_code",
            "cli effects::server::each_has_an_effect_on_run",
        ]),
    ),
    Flag(
        "--listen",
        "nowhere",
        Tested(&["cli abuse::ours::a_port_that_is_taken_is_told_and_a_free_one_is_printed_first"]),
    ),
    Flag(
        "--fault",
        "gremlins",
        Tested(&["cli mock::a_crash_over_stdio_ends_the_process_with_its_code"]),
    ),
    Flag(
        "--seed",
        "x",
        Tested(&["cli effects::flags::servers::the_seed_of_a_mock_chooses_the_calls_that_fail"]),
    ),
    Flag(
        "--audit",
        "mysql://x",
        Pair(
            HEALTHY,
            &["probe", "--only", "unknown_tool", "-s", "{mock} --audit jsonl:{here}/a.jsonl"],
            "file a.jsonl",
        ),
    ),
    Flag(
        "--audit-mask",
        "",
        Pair(
            &[
                "deadlock-probe",
                "--tool",
                "echo",
                "--args",
                r#"{"message":"plain"}"#,
                "-s",
                "{mock} --audit jsonl:{here}/a.jsonl",
            ],
            &[
                "deadlock-probe",
                "--tool",
                "echo",
                "--args",
                r#"{"message":"plain"}"#,
                "-s",
                "{mock} --audit jsonl:{here}/a.jsonl --audit-mask message",
            ],
            r#"\"message\":\"***\""#,
        ),
    ),
    Flag(
        "--tools-from",
        "",
        Pair(
            HEALTHY,
            &["probe", "--only", "unknown_tool", "-s", "{mock} --tools-from {here}/tools.yml"],
            "special",
        ),
    ),
    Flag(
        "--without",
        "x",
        Pair(
            &["probe", "--only", "unknown_tool", "--tool", "lorem", "-s", "{mock}"],
            &["probe", "--only", "unknown_tool", "--tool", "lorem", "-s", "{mock} --without data"],
            "no tool `lorem`",
        ),
    ),
    Flag(
        "--conformance",
        "",
        Pair(HEALTHY, &["probe", "--only", "unknown_tool", "-s", "{mock} --conformance"], "test_"),
    ),
    Flag(
        "--always-stream",
        "",
        Tested(&["cli effects::flags::servers::a_lone_reply_may_be_a_stream"]),
    ),
    Flag("--admin", "nowhere", Tested(ADMIN)),
    Flag("--admin-token", "", Tested(GUARDED)),
    Flag("--allow-remote", "", Tested(GUARDED)),
    Flag("--explain", "", Tested(EXPLAINED)),
];

const TRIED_OUT: &[&str] = &["cli llm_command::an_app_is_tried_out_and_judged"];
const RECORDED: &[&str] = &["cli llm_command::a_recording_is_told_again"];
const APP: &[&str] = &["llm", "--fixtures", "fixtures.yml", "--", "python3", "app.py"];

pub(super) const LLM: &[Flag] = &[
    Flag("--fixtures", "", Pair(&["llm", "--", "python3", "app.py"], APP, "good morning")),
    Flag(
        "--listen",
        "nowhere",
        Tested(&["cli abuse::ours::a_port_that_is_taken_is_told_and_a_free_one_is_printed_first"]),
    ),
    Flag(
        "--watch",
        "",
        Tested(&["cli llm_command::changed_files_are_read_again_and_bad_ones_are_not"]),
    ),
    Flag("--validate", "", Tested(&["cli llm_command::a_good_file_is_said_to_be_good"])),
    Flag(
        "--seed",
        "x",
        Tested(&[
            "mock llm::determinism::a_thousand_runs_are_the_same",
            "cli effects::flags::servers::the_seed_of_a_model_chooses_the_requests_that_fail",
        ]),
    ),
    Flag(
        "--journal",
        "",
        Pair(
            APP,
            &[
                "llm",
                "--fixtures",
                "fixtures.yml",
                "--journal",
                "j.jsonl",
                "--",
                "python3",
                "app.py",
            ],
            "file j.jsonl",
        ),
    ),
    Flag("--record", "", Tested(RECORDED)),
    Flag("--to", "", Tested(RECORDED)),
    Flag(
        "--replay-speed",
        "-1",
        Tested(&[
            "mock llm::recorded::recordings_are_told_again_to_the_same_request_only",
            "cli llm_command::a_recording_is_told_again",
        ]),
    ),
    Flag(
        "--admin",
        "nowhere",
        Pair(
            APP,
            &[
                "llm",
                "--fixtures",
                "fixtures.yml",
                "--admin",
                "127.0.0.1:0",
                "--",
                "python3",
                "app.py",
            ],
            r#""admin":"http"#,
        ),
    ),
    Flag("--admin-token", "", Tested(GUARDED)),
    Flag("--allow-remote", "", Tested(GUARDED)),
    Flag("--verdict", "", Tested(TRIED_OUT)),
    Flag("COMMAND", "", Tested(TRIED_OUT)),
    Flag("--explain", "", Tested(EXPLAINED)),
];

const JUDGED: &[&str] = &["cli llm_command::a_client_that_retries_badly_fails_the_verdict"];

pub(super) const LLM_VERDICT: &[Flag] = &[
    Flag("JOURNAL", "missing.jsonl", Tested(JUDGED)),
    Flag(
        "--most-tries",
        "x",
        Tested(&["cli effects::flags::servers::a_verdict_keeps_to_its_limits"]),
    ),
    Flag(
        "--shortest-wait-ms",
        "x",
        Tested(&["cli effects::flags::servers::a_verdict_keeps_to_its_limits"]),
    ),
    Flag(
        "--strict",
        "",
        Tested(&["cli effects::flags::servers::a_warning_fails_whoever_is_strict"]),
    ),
    Flag("--json", "", Tested(JUDGED)),
    Flag("--github", "", Tested(&["cli ci::gateways_and_clients_of_models_are_told_like_runs"])),
    Flag("--junit", "", Tested(&["cli ci::gateways_and_clients_of_models_are_told_like_runs"])),
    Flag(
        "--code-quality",
        "",
        Tested(&["cli effects::flags::servers::a_verdict_keeps_to_its_limits"]),
    ),
    Flag("--explain", "", Tested(EXPLAINED)),
];

const BEHIND: &[&str] = &["probe", "--only", "unknown_tool", "-s", "{bin} proxy -- {mock}"];

pub(super) const PROXY: &[Flag] = &[
    Flag("--fault", "gremlins", Tested(&["cli proxy::stdio::calls_that_a_fault_answers"])),
    Flag("--seed", "x", Tested(&["cli proxy::waiting::chance_is_the_same_for_the_same_seed"])),
    Flag(
        "--audit",
        "mysql://x",
        Pair(
            BEHIND,
            &[
                "probe",
                "--only",
                "unknown_tool",
                "-s",
                "{bin} proxy --audit jsonl:{here}/a.jsonl -- {mock}",
            ],
            "file a.jsonl",
        ),
    ),
    Flag("--explain", "", Tested(EXPLAINED)),
    Flag(
        "--upstream",
        "",
        Tested(&["cli proxy::http::without_a_fault_bodies_and_headers_are_those_of_the_server"]),
    ),
    Flag(
        "--listen",
        "nowhere",
        Tested(&["cli abuse::ours::a_port_that_is_taken_is_told_and_a_free_one_is_printed_first"]),
    ),
    Flag(
        "--transport",
        "pigeon",
        Tested(&["cli proxy::http::the_old_transport_leads_through_the_proxy"]),
    ),
    Flag("--ca-cert", "", Tested(&["cli proxy::waiting::a_server_behind_tls"])),
    Flag("--admin", "nowhere", Tested(ADMIN)),
    Flag("--admin-token", "", Tested(GUARDED)),
    Flag("--allow-remote", "", Tested(GUARDED)),
    Flag("COMMAND", "", Tested(&["cli proxy::stdio::without_a_fault_not_a_byte_is_changed"])),
];

const LISTENING: &[&str] = &["cli gateway::faults::so_does_one_that_listens"];
const GATEWAY_WORDS: &[&str] = &[
    "gateway",
    "--only",
    "tool_error",
    "--",
    "python3",
    "{fixtures}/gateway.py",
    "{upstream}",
    "none",
];

pub(super) const GATEWAY: &[Flag] = &[
    Flag("--gateway", "", Tested(LISTENING)),
    Flag("--upstream-port", "0", Tested(LISTENING)),
    Flag(
        "--header",
        "",
        Tested(&[
            "cli gateway::faults::headers_that_pass_are_told_from_those_that_do_not",
            "cli effects::flags::servers::a_gateway_is_sent_a_header",
        ]),
    ),
    Flag(
        "--protocol",
        "2025-11-24",
        Tested(&["cli gateway::ours::it_keeps_everything_over_http_in_the_legacy_era"]),
    ),
    Flag(
        "--startup-timeout",
        "0s",
        Pair(
            &[
                "gateway",
                "--only",
                "tool_error",
                "--",
                "sh",
                "-c",
                "sleep 2; exec python3 {fixtures}/gateway.py {upstream} none",
            ],
            &[
                "gateway",
                "--only",
                "tool_error",
                "--startup-timeout",
                "100ms",
                "--",
                "sh",
                "-c",
                "sleep 2; exec python3 {fixtures}/gateway.py {upstream} none",
            ],
            "exit 2",
        ),
    ),
    Flag("--patience", "0s", Tested(&["cli gateway::faults::each_fault_is_noticed_by_its_check"])),
    Flag(
        "--only",
        "cancle",
        Pair(
            GATEWAY_WORDS,
            &[
                "gateway",
                "--only",
                "order",
                "--",
                "python3",
                "{fixtures}/gateway.py",
                "{upstream}",
                "none",
            ],
            "order",
        ),
    ),
    Flag(
        "--skip",
        "cancle",
        Pair(
            &[
                "gateway",
                "--only",
                "tool_error,order",
                "--skip",
                "tool_error",
                "--",
                "python3",
                "{fixtures}/gateway.py",
                "{upstream}",
                "none",
            ],
            &[
                "gateway",
                "--only",
                "tool_error,order",
                "--skip",
                "order",
                "--",
                "python3",
                "{fixtures}/gateway.py",
                "{upstream}",
                "none",
            ],
            "tool_error",
        ),
    ),
    Flag("--github", "", Tested(&["cli ci::gateways_and_clients_of_models_are_told_like_runs"])),
    Flag("--junit", "", Tested(&["cli ci::gateways_and_clients_of_models_are_told_like_runs"])),
    Flag(
        "--html",
        "",
        Tested(&["cli browser::the_page_of_a_gateway_shows_the_delay_of_each_event"]),
    ),
    Flag(
        "--code-quality",
        "",
        Pair(
            GATEWAY_WORDS,
            &[
                "gateway",
                "--only",
                "tool_error",
                "--code-quality",
                "q.json",
                "--",
                "python3",
                "{fixtures}/gateway.py",
                "{upstream}",
                "none",
            ],
            "file q.json",
        ),
    ),
    Flag("--quiet", "", Tested(&["cli live::quiet::progress_is_shown_unless_it_is_not_wanted"])),
    Flag(
        "--env",
        "",
        Pair(
            GATEWAY_WORDS,
            &[
                "gateway",
                "--only",
                "tool_error",
                "--env",
                "SEEN=yes",
                "--",
                "sh",
                "-c",
                "echo seen-$SEEN > {here}/env; exec python3 {fixtures}/gateway.py {upstream} none",
            ],
            "seen-yes",
        ),
    ),
    Flag(
        "--inherit-env",
        "",
        Pair(
            &[
                "gateway",
                "--only",
                "tool_error",
                "--",
                "sh",
                "-c",
                "env > {here}/env; exec python3 {fixtures}/gateway.py {upstream} none",
            ],
            &[
                "gateway",
                "--only",
                "tool_error",
                "--inherit-env",
                "--",
                "sh",
                "-c",
                "env > {here}/env; exec python3 {fixtures}/gateway.py {upstream} none",
            ],
            "CARGO_MANIFEST_DIR=",
        ),
    ),
    Flag(
        "--tee-stderr",
        "",
        Tested(&["cli gateway::usage::an_interrupt_ends_the_gateway_and_tells_what_was_found"]),
    ),
    Flag(
        "--json",
        "",
        Pair(
            GATEWAY_WORDS,
            &[
                "gateway",
                "--only",
                "tool_error",
                "--json",
                "--",
                "python3",
                "{fixtures}/gateway.py",
                "{upstream}",
                "none",
            ],
            "mcp-loadtest/gateway/v1",
        ),
    ),
    Flag("--explain", "", Tested(EXPLAINED)),
    Flag("COMMAND", "", Tested(&["cli gateway::faults::a_gateway_that_is_well_keeps_everything"])),
];

const CAPPED: &[&str] = &["cli serve::attacks::more_than_the_caps_is_refused"];

pub(super) const SERVE: &[Flag] = &[
    Flag(
        "--mcp",
        "",
        Tested(&["cli serve::usage::what_cannot_be_served_is_told_before_anything_is"]),
    ),
    Flag(
        "--allow-server",
        "",
        Tested(&["cli serve::attacks::what_the_file_says_later_does_not_count"]),
    ),
    Flag(
        "--mcp-config",
        "",
        Tested(&["cli serve::tools::probes_find_what_is_wrong_and_nothing_else"]),
    ),
    Flag(
        "--input",
        "",
        Tested(&["cli effects::flags::servers::an_input_completes_a_server_that_is_allowed"]),
    ),
    Flag("--allow-host", "", Tested(&["cli serve::attacks::urls_lead_to_allowed_hosts_alone"])),
    Flag("--allow-command", "", Tested(&["cli serve::attacks::an_allowed_command_meets_no_shell"])),
    Flag(
        "--allow-destructive",
        "",
        Tested(&["cli serve::attacks::a_tool_that_changes_something_needs_the_operator"]),
    ),
    Flag("--max-concurrent", "0", Tested(CAPPED)),
    Flag("--max-duration", "0s", Tested(CAPPED)),
    Flag("--output-dir", "", Tested(&["cli serve::attacks::runs_are_read_below_their_root_alone"])),
    Flag(
        "--listen",
        "nowhere",
        Tested(&["cli serve::ourselves::our_probe_passes_it_over_http_in_both_eras"]),
    ),
    Flag("--explain", "", Tested(EXPLAINED)),
];

#[test]
fn a_mock_and_a_proxy_show_their_flags() {
    tried("mock", MOCK);
    tried("proxy", PROXY);
}

#[test]
fn a_model_shows_its_flags() {
    tried("llm", LLM);
}

#[test]
fn a_gateway_shows_its_flags() {
    tried("gateway", GATEWAY);
}

/// Which of twenty calls fail, as the mock wrote it down.
fn failing(seed: &str) -> Vec<usize> {
    let bench = Bench::new();
    let server = format!("{{mock}} --fault flaky:0.5 --seed {seed} --audit jsonl:{{here}}/a.jsonl");
    let burst = [
        "deadlock-probe",
        "--tool",
        "echo",
        "--concurrent",
        "1",
        "--steady-calls",
        "19",
        "-s",
        &server,
    ];
    bench.transcript(&burst);
    let log = std::fs::read_to_string(bench.path().join("a.jsonl")).unwrap();
    let calls = log.lines().filter(|line| line.contains(r#""tool":"echo""#)).enumerate();
    calls.filter(|(_, line)| line.contains(r#""success":false"#)).map(|(at, _)| at).collect()
}

#[test]
fn the_seed_of_a_mock_chooses_the_calls_that_fail() {
    let first = failing("1");
    assert!(!first.is_empty());
    assert_eq!(first, failing("1"));
    assert_ne!(first, failing("2"));
}

#[test]
fn the_seed_of_a_model_chooses_the_requests_that_fail() {
    let bench = Bench::new();
    bench.write("half.yml", "fixtures:\n  - when: {probability: 0.5}\n    response: {content: heads}\n  - response: {content: tails}\n");
    let tossed = |seed: &str| {
        let many = "for i in 1 2 3 4 5 6 7 8 9 10 11 12; do python3 app.py; done";
        let words = ["llm", "--fixtures", "half.yml", "--seed", seed, "--", "sh", "-c", many];
        let told = bench.transcript(&words);
        let sides = told
            .match_indices("\"content\"")
            .map(|(at, _)| told[at..].contains("heads") && told[at..at + 24].contains("heads"));
        sides.collect::<Vec<_>>()
    };
    let first = tossed("1");
    assert_eq!(first.len(), 12);
    assert_eq!(first, tossed("1"));
    assert!((2..6).any(|seed| tossed(&seed.to_string()) != first));
}

/// Begins a session and asks for the tools; tells the form of the last reply.
const ASKING: &str = "
import json, sys, urllib.request as u
head = {'content-type': 'application/json', 'accept': 'application/json, text/event-stream'}
def post(message):
    return u.urlopen(u.Request(sys.argv[1], json.dumps(message).encode(), head))
hello = {'protocolVersion': '2025-06-18', 'capabilities': {}, 'clientInfo': {'name': 'x', 'version': '1'}}
first = post({'jsonrpc': '2.0', 'id': 1, 'method': 'initialize', 'params': hello})
head['mcp-session-id'] = first.headers['mcp-session-id']
post({'jsonrpc': '2.0', 'method': 'notifications/initialized'})
call = {'name': 'echo', 'arguments': {}}
print(post({'jsonrpc': '2.0', 'id': 2, 'method': 'tools/call', 'params': call}).headers['content-type'])
";

#[test]
fn a_lone_reply_may_be_a_stream() {
    let form = |flags: &[&str]| {
        let mock = Listening::start(&[&["mock", "--transport", "http"], flags].concat());
        let asked = std::process::Command::new("python3").args(["-c", ASKING, &mock.url]).output();
        String::from_utf8(asked.unwrap().stdout).unwrap()
    };
    assert!(form(&["--always-stream"]).contains("text/event-stream"));
    assert!(form(&[]).contains("application/json"));
}

#[test]
fn a_server_can_be_controlled() {
    let run = |words: &[&str]| {
        let mut ours = binary();
        let child = ours.args(words).stdin(std::process::Stdio::null()).output().unwrap();
        String::from_utf8_lossy(&child.stderr).into_owned()
    };
    let program = env!("CARGO_BIN_EXE_mcp-loadtest");
    assert!(run(&["mock", "--admin", "127.0.0.1:0"]).contains("\"admin\":\"http"));
    assert!(!run(&["mock"]).contains("admin"));
    assert!(
        run(&["proxy", "--admin", "127.0.0.1:0", "--", program, "mock"])
            .contains("\"admin\":\"http")
    );
    assert!(!run(&["proxy", "--", program, "mock"]).contains("admin"));
}

#[test]
fn a_gateway_is_sent_a_header() {
    let mock = Listening::start(&["mock", "--transport", "http"]);
    let bench = Bench::new();
    let heard = format!("jsonl:{}", bench.path().join("heard.jsonl").display());
    let ours = Listening::start(&["proxy", "--upstream", &mock.url, "--audit", &heard]);
    let port = free_port();
    let words = [
        "gateway",
        "--gateway",
        &ours.url,
        "--upstream-port",
        &port,
        "--only",
        "tool_error",
        "--header",
        "X-Seen: by-the-gateway",
    ];
    bench.transcript(&words);
    ours.stop();
    let log = std::fs::read_to_string(bench.path().join("heard.jsonl")).unwrap();
    assert!(log.contains("by-the-gateway"), "{log}");
}

#[test]
fn a_verdict_keeps_to_its_limits() {
    let bench = Bench::new();
    // Twice refused and then answered, with a fifth of a second between the tries.
    bench.write(
        "twice.yml",
        "fixtures:\n  - when: {first: 2}\n    error: {status: 503, message: down}\n  - response: {content: fine}\n",
    );
    let tries = "for i in 1 2 3; do python3 app.py 2>/dev/null; sleep 0.2; done";
    let words = ["llm", "--fixtures", "twice.yml", "--journal", "j.jsonl", "--", "sh", "-c", tries];
    let told = bench.transcript(&words);
    assert!(told.contains("3 requests answered"), "{told}");
    let judge = |flags: &[&str]| {
        let told = bench.transcript(&[&["llm", "verdict", "j.jsonl"], flags].concat());
        told.split("\nfile ").next().unwrap().to_owned()
    };
    assert!(judge(&[]).starts_with("exit 0\n"), "{}", judge(&[]));
    assert!(judge(&["--most-tries", "1"]).contains("retry_storm"));
    assert!(judge(&["--shortest-wait-ms", "600000"]).contains("no_backoff"));
    judge(&["--code-quality", "quality.json"]);
    assert!(bench.path().join("quality.json").exists());
}

#[test]
fn an_input_completes_a_server_that_is_allowed() {
    let bench = Bench::new();
    let serve = |flags: &[&str]| {
        let mut ours = binary();
        ours.current_dir(bench.path()).args([
            "serve",
            "--mcp",
            "--mcp-config",
            "vscode.json",
            "--allow-server",
            "asking",
        ]);
        ours.args(flags).output().unwrap().status.code()
    };
    assert_eq!(serve(&[]), Some(2));
    assert_eq!(serve(&["--input", "key=told"]), Some(0), "its input ends at once");
}

/// Equal requests that nothing says to be one call: a warning.
#[test]
fn a_warning_fails_whoever_is_strict() {
    let bench = Bench::new();
    bench.write("bad.yml", "fixtures:\n  - error: {status: 400, message: no}\n");
    let twice = "python3 app.py 2>/dev/null; python3 app.py 2>/dev/null";
    let words = ["llm", "--fixtures", "bad.yml", "--journal", "j.jsonl", "--", "sh", "-c", twice];
    bench.transcript(&words);
    let judge =
        |flags: &[&str]| bench.transcript(&[&["llm", "verdict", "j.jsonl"], flags].concat());
    assert!(judge(&[]).starts_with("exit 0\nWARNING"), "{}", judge(&[]));
    assert!(judge(&["--strict"]).starts_with("exit 1\nWARNING"), "{}", judge(&["--strict"]));
}
