//! The flags that name a server, each tried with every command that has them.

use super::{Flag, bench::Bench, proof::Proof};
use crate::process::binary;

/// The commands, with as little to do as they let us ask for.
const COMMANDS: &[(&str, &[&str])] = &[
    ("doctor", &["doctor", "--only", "server"]),
    ("probe", &["probe", "--only", "unknown_tool"]),
    ("negative-path", &["negative-path", "--checks", "unknown_tool"]),
    ("deadlock-probe", &["deadlock-probe", "--concurrent", "2"]),
    ("run", &["run", "--scenario", "deadlock_probe", "--concurrent", "2"]),
    ("replay", &["replay", "case.json"]),
];

/// Each of them as it stands in the tables of the commands.
pub(super) const FLAGS: &[Flag] = &[
    Flag("--server", "'unclosed", Proof::OfServers),
    Flag("--url", "ftp://x", Proof::OfServers),
    Flag("--transport", "carrier-pigeon", Proof::OfServers),
    Flag("--header", "nonsense", Proof::OfServers),
    Flag("--ca-cert", "", Proof::OfServers),
    Flag("--pid", "0", Proof::OfServers),
    Flag("--name", "", Proof::OfServers),
    Flag("--mcp-config", "", Proof::OfServers),
    Flag("--input", "", Proof::OfServers),
    Flag("--env", "nonsense", Proof::OfServers),
    Flag("--inherit-env", "", Proof::OfServers),
    Flag("--working-dir", "", Proof::OfServers),
    Flag("--protocol", "2025-11-24", Proof::OfServers),
    Flag("--strict-protocol", "", Proof::OfServers),
    Flag("--startup-timeout", "5", Proof::OfServers),
    Flag("--shutdown-timeout", "5", Proof::OfServers),
    Flag("--max-message", "5 apples", Proof::OfServers),
    Flag("--tee-stderr", "", Proof::OfServers),
];

/// A flag, what stands before it, its value, and what only a run with it shows.
type Trial = (&'static str, &'static [&'static str], &'static str, &'static str);

const TRIALS: &[Trial] = &[
    ("--server", &[], "sh -c 'touch {here}/started; exec {mock}'", "file started"),
    ("--url", &[], "HTTP", r#""method":"tools/list""#),
    ("--transport", &["--url", "SSE"], "sse", r#""method":"tools/list""#),
    ("--header", &["--url", "HTTP"], "X-Seen: by-the-server", "by-the-server"),
    ("--pid", &["--url", "HTTP"], "2000000000", "no process 2000000000"),
    ("--name", &[], "named", "file named"),
    ("--mcp-config", &["--name", "other"], "other.json", "file other"),
    (
        "--input",
        &["--name", "asking", "--mcp-config", "vscode.json"],
        "key=told-by-flag",
        "told-by-flag",
    ),
    ("--env", &["-s", "sh -c 'echo seen-$SEEN > {here}/env; exec {mock}'"], "SEEN=yes", "seen-yes"),
    ("--inherit-env", &["-s", "sh -c 'env > {here}/env; exec {mock}'"], "", "CARGO_MANIFEST_DIR="),
    ("--working-dir", &["-s", "sh -c 'pwd > {here}/pwd; exec {mock}'"], "{here}/sub", "/sub\n"),
    ("--protocol", &["--url", "HTTP"], "2025-03-26", r#""revision":"2025-03-26""#),
    (
        "--strict-protocol",
        &["-s", OLD, "--env", "MOCK_REVISION=2024-11-05", "--protocol", "2025-11-25"],
        "",
        "leave out `--strict-protocol`",
    ),
    (
        "--startup-timeout",
        &["-s", "sh -c 'sleep 3; exec {mock}'"],
        "200ms",
        "no reply within the start-up timeout",
    ),
    (
        "--shutdown-timeout",
        &["-s", "sh -c '{mock}; sleep 10; touch {here}/lived'"],
        "60s",
        "file lived",
    ),
];

const OLD: &str = "python3 {fixtures}/mock-normal.py";

fn problems(command: &str) -> Vec<String> {
    let (_, base) = COMMANDS.iter().find(|known| known.0 == command).unwrap();
    let mut problems = Vec::new();
    for (flag, before, value, sign) in TRIALS {
        let told = |with: &[&str]| {
            let bench = Bench::new();
            bench.transcript(&[base, before, with].concat())
        };
        let with: &[&str] = if value.is_empty() { &[flag] } else { &[flag, value] };
        let (shows, silent) = (told(with), told(&[]));
        if !shows.contains(sign) {
            problems.push(format!("{command} {flag}: no {sign:?} in {shows}"));
        }
        if silent.contains(sign) {
            problems.push(format!("{command} {flag}: {sign:?} without it, too: {silent}"));
        }
    }
    problems
}

fn each_has_an_effect_on(command: &str) {
    let problems = problems(command);
    assert!(problems.is_empty(), "{}", problems.join("\n----\n"));
}

#[test]
fn each_has_an_effect_on_doctor() {
    each_has_an_effect_on("doctor");
}

#[test]
fn each_has_an_effect_on_probe() {
    each_has_an_effect_on("probe");
}

#[test]
fn each_has_an_effect_on_negative_path() {
    each_has_an_effect_on("negative-path");
}

#[test]
fn each_has_an_effect_on_deadlock_probe() {
    each_has_an_effect_on("deadlock-probe");
}

#[test]
fn each_has_an_effect_on_run() {
    each_has_an_effect_on("run");
}

#[test]
fn each_has_an_effect_on_replay() {
    each_has_an_effect_on("replay");
}

/// Every flag is tried above or below.
#[test]
fn no_flag_is_left_out() {
    for Flag(flag, ..) in FLAGS {
        let is_tried = TRIALS.iter().any(|trial| trial.0 == *flag);
        let is_below = ["--ca-cert", "--max-message", "--tee-stderr"].contains(flag);
        assert!(is_tried != is_below, "{flag}");
    }
}

/// What comes on stderr is shown by the process itself.
#[test]
fn the_stderr_of_a_server_is_shown_as_it_comes() {
    for (command, base) in COMMANDS {
        let bench = Bench::new();
        let server =
            format!("sh -c 'echo on-stderr >&2; exec {} mock'", env!("CARGO_BIN_EXE_mcp-loadtest"));
        let told = |more: &[&str]| {
            let mut ours = binary();
            ours.current_dir(bench.path()).args(*base).args(["-s", &server]).args(more);
            String::from_utf8(ours.output().unwrap().stderr).unwrap()
        };
        assert!(told(&["--tee-stderr"]).contains("on-stderr"), "{command}");
        assert!(!told(&[]).contains("on-stderr"), "{command}");
    }
}

#[test]
fn a_further_certificate_is_trusted() {
    for (command, base) in COMMANDS {
        let told = |with: &[&str]| {
            let bench = Bench::new();
            bench.transcript(&[*base, &["--url", "TLS"][..], with].concat())
        };
        assert!(told(&[]).contains("certificate"), "{command}");
        let trusting = told(&["--ca-cert", "{fixtures}/tls/ca.pem"]);
        assert!(!trusting.contains("certificate"), "{command}: {trusting}");
    }
}

/// However short it is, and over whatever it comes: a reply of a few hundred bytes is too long for 64.
#[test]
fn no_longer_message_is_taken_than_allowed() {
    for (command, base) in COMMANDS {
        for server in [["-s", "{mock}"], ["--url", "HTTP"]] {
            let told = |with: &[&str]| {
                let bench = Bench::new();
                bench.transcript(&[*base, &server[..], with].concat())
            };
            let healthy = told(&["--max-message", "1MiB"]);
            assert!(healthy.starts_with("exit 0"), "{command} {server:?}: {healthy}");
            let cut = told(&["--max-message", "64B"]);
            assert!(!cut.starts_with("exit 0"), "{command} {server:?}: {cut}");
        }
    }
}
