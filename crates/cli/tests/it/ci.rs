//! What CI servers get: annotations, summaries, outputs, code quality; and the examples for them.

use std::{
    fs,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Output},
};

use serde_json::Value;

use crate::{harness::mock, process::binary};

/// Runs a command as a step of GitHub Actions would, and gives its code, stderr, summary and outputs.
fn step(dir: &Path, args: &[&str]) -> (Option<i32>, String, String, String) {
    let (summary, outputs) = (dir.join("summary.md"), dir.join("outputs"));
    let ran = binary()
        .args(args)
        .args(["--github", "--code-quality", "quality.json"])
        .current_dir(dir)
        .env("GITHUB_STEP_SUMMARY", &summary)
        .env("GITHUB_OUTPUT", &outputs)
        .output()
        .unwrap();
    let read = |path: &Path| fs::read_to_string(path).unwrap_or_default();
    let stderr = String::from_utf8(ran.stderr).unwrap();
    (ran.status.code(), stderr, read(&summary), read(&outputs))
}

fn quality(dir: &Path) -> Vec<Value> {
    let text = fs::read(dir.join("quality.json")).unwrap();
    let entries: Vec<Value> = serde_json::from_slice(&text).unwrap();
    for entry in &entries {
        for key in ["description", "check_name", "fingerprint", "severity"] {
            assert!(entry[key].is_string(), "{key}: {entry:#}");
        }
        assert!(entry["location"]["lines"]["begin"].as_u64().unwrap() > 0, "{entry:#}");
    }
    entries
}

#[test]
fn a_run_that_fails_is_annotated_and_one_that_passes_is_not() {
    let dir = tempfile::tempdir().unwrap();
    // So slow that nobody takes a call that a busy machine sends late for the reason.
    let server = format!("{} mock --fault slow:1000", env!("CARGO_BIN_EXE_mcp-loadtest"));
    let run = ["run", "-s", &server, "--tool", "echo", "--concurrent", "1", "--duration", "3s"];
    let limits = ["--min-rps", "1000000000", "--error-rate", "1%", "--junit", "run.xml"];
    let impossible = [run.as_slice(), &limits].concat();
    let (code, annotations, summary, outputs) = step(dir.path(), &impossible);
    assert_eq!(code, Some(1), "{annotations}");
    assert!(annotations.contains("::error title=min_rps%3A expected"), "{annotations}");
    assert!(summary.starts_with("# Run ") && summary.contains("min_rps"), "{summary}");
    assert!(outputs.starts_with("passed=false\nverdict=FAIL\nrun-id="), "{outputs}");
    assert!(outputs.contains("p99-ms=") && outputs.contains("run-dir=/"), "{outputs}");
    assert_eq!(quality(dir.path())[0]["check_name"], "min_rps");
    let xml = fs::read_to_string(dir.path().join("run.xml")).unwrap();
    assert!(
        xml.contains("<testcase name=\"error_rate &lt;=1%\" classname=\"mcp-loadtest.threshold\"")
    );
    assert!(xml.contains("failures=\"2\"") && xml.contains("expected &gt;=1000000000/s"), "{xml}");
    let run_dir = outputs.lines().find_map(|line| line.strip_prefix("run-dir=")).unwrap();
    let (code, again, ..) = step(dir.path(), &["report", run_dir]);
    assert_eq!((code, again.as_str()), (Some(1), annotations.as_str()), "told again alike");
    let dir = tempfile::tempdir().unwrap();
    let (code, annotations, summary, outputs) = step(dir.path(), &run);
    assert_eq!(code, Some(0), "{annotations}");
    assert!(!annotations.contains("::error"), "{annotations}");
    assert!(summary.contains("PASS") && outputs.starts_with("passed=true\n"), "{outputs}");
    assert!(quality(dir.path()).iter().all(|entry| entry["severity"] != "critical"));
}

#[test]
fn gateways_and_clients_of_models_are_told_like_runs() {
    let dir = tempfile::tempdir().unwrap();
    let script = mock("gateway.py");
    let script = script.strip_prefix("python3 ").unwrap();
    for (fault, code, passed) in
        [("floats", Some(1), "false\nverdict=BROKEN"), ("", Some(0), "true\nverdict=KEPT")]
    {
        let dir = tempfile::tempdir().unwrap();
        let command = format!("exec python3 {script} {{upstream}} {fault}");
        // What is checked stands after `--`, so that the flags come before.
        let (summary, outputs) = (dir.path().join("summary.md"), dir.path().join("outputs"));
        let ran = binary()
            .args(["gateway", "--github", "--junit", "g.xml", "--only", "arguments", "--"])
            .args(["sh", "-c", &command])
            .current_dir(dir.path())
            .env("GITHUB_STEP_SUMMARY", &summary)
            .env("GITHUB_OUTPUT", &outputs)
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&ran.stderr);
        assert_eq!(
            (ran.status.code(), said.contains("::error")),
            (code, code == Some(1)),
            "{said}"
        );
        assert_eq!(fs::read_to_string(&outputs).unwrap(), format!("passed={passed}\n"));
        let xml = fs::read_to_string(dir.path().join("g.xml")).unwrap();
        assert_eq!(xml.contains("<failure message=\"broken: "), code == Some(1), "{xml}");
    }
    fs::write(dir.path().join("none.jsonl"), "").unwrap();
    let (code, _, summary, outputs) =
        step(dir.path(), &["llm", "verdict", "none.jsonl", "--junit", "v.xml"]);
    assert_eq!((code, outputs.as_str()), (Some(1), "passed=false\nverdict=INVALID\n"));
    assert!(summary.contains("mcp-loadtest llm verdict"), "{summary}");
    let xml = fs::read_to_string(dir.path().join("v.xml")).unwrap();
    assert!(xml.contains("<failure message=\"INVALID: there was no request"), "{xml}");
}

#[test]
fn a_probe_is_annotated_in_the_file_of_the_server() {
    let dir = tempfile::tempdir().unwrap();
    let fixture = mock("mock-broken.py");
    let script = Path::new(fixture.strip_prefix("python3 ").unwrap());
    let folder = script.parent().unwrap();
    let server = format!(
        "import runpy, sys\nsys.path.insert(0, {folder:?})\nrunpy.run_path({script:?}, run_name='__main__')\n"
    );
    fs::write(dir.path().join("server.py"), server).unwrap();
    let probe = ["probe", "-s", "python3 server.py", "--quick"];
    let quick = ["--hang-threshold", "500ms", "--grace-period", "500ms"];
    let (code, annotations, summary, outputs) = step(dir.path(), &[probe, quick].concat());
    assert_eq!(code, Some(1), "{annotations}");
    assert!(annotations.contains("::error file=server.py,title="), "{annotations}");
    assert!(annotations.lines().filter(|line| line.starts_with("::")).count() <= 10);
    assert!(summary.starts_with("## ❌ mcp-loadtest probe: "), "{summary}");
    assert_eq!(outputs, "passed=false\nverdict=CRITICAL\n");
    assert!(quality(dir.path()).iter().any(|entry| entry["location"]["path"] == "server.py"));
}

#[test]
fn a_call_that_hangs_fails_the_junit_file_of_a_probe() {
    let dir = tempfile::tempdir().unwrap();
    let program = env!("CARGO_BIN_EXE_mcp-loadtest");
    let server = format!("{program} mock --fault hang@tool=echo");
    let probe = ["probe", "--quick", "-s", &server, "--junit", "probe.xml"];
    let quick = ["--hang-threshold", "500ms", "--grace-period", "500ms"];
    let (code, told, ..) = step(dir.path(), &[probe.as_slice(), &quick].concat());
    assert_eq!(code, Some(1), "{told}");
    let xml = fs::read_to_string(dir.path().join("probe.xml")).unwrap();
    assert!(
        xml.contains("<testcase name=\"deadlock\" classname=\"mcp-loadtest.finding\""),
        "{xml}"
    );
    assert!(xml.contains("failures=\"2\"") && xml.contains("the verdict is CRITICAL"), "{xml}");

    let healthy = format!("{program} mock");
    let probe = ["probe", "--only", "unknown_tool", "-s", &healthy, "--junit", "probe.xml"];
    let (code, told, ..) = step(dir.path(), &probe);
    assert_eq!(code, Some(0), "{told}");
    let xml = fs::read_to_string(dir.path().join("probe.xml")).unwrap();
    assert!(xml.contains("failures=\"0\"") && xml.contains("the verdict is PASS"), "{xml}");
}

#[test]
fn a_gate_that_nothing_was_tried_for_says_why_it_fails() {
    let dir = tempfile::tempdir().unwrap();
    let program = env!("CARGO_BIN_EXE_mcp-loadtest");
    let server = format!("{program} mock --fault error:-32050@tool=echo");
    let gate = ["negative-path", "-s", &server, "--tool", "echo", "--junit", "gate.xml"];
    let (code, annotations, summary, outputs) = step(dir.path(), &gate);
    assert_eq!((code, outputs.as_str()), (Some(1), "passed=false\nverdict=UNDECIDED\n"));
    let why = "no tool took good arguments";
    assert!(annotations.contains("::error") && annotations.contains(why), "{annotations}");
    assert!(summary.starts_with("## ❌ ") && summary.contains(why), "{summary}");
    assert_eq!(quality(dir.path())[0]["check_name"], "verdict");
    let xml = fs::read_to_string(dir.path().join("gate.xml")).unwrap();
    assert!(xml.contains(&format!("<failure message=\"the verdict is UNDECIDED: {why}")), "{xml}");
}

#[test]
fn a_regression_is_annotated() {
    let dir = tempfile::tempdir().unwrap();
    let program = env!("CARGO_BIN_EXE_mcp-loadtest");
    let slow = |ms: u32| format!("{program} mock --fault slow:{ms}");
    for (name, server) in [("before", slow(100)), ("after", slow(1000))] {
        let run = ["run", "-s", &server, "--tool", "echo", "--duration", "7s", "-o", name];
        let ran = binary().args(run).current_dir(dir.path()).output().unwrap();
        assert_eq!(ran.status.code(), Some(0), "{}", String::from_utf8_lossy(&ran.stdout));
    }
    let only = |name: &str| {
        let path = dir.path().join(name).read_dir().unwrap().next().unwrap().unwrap().path();
        path.display().to_string()
    };
    let (before, after) = (only("before"), only("after"));
    let (code, annotations, summary, outputs) = step(dir.path(), &["compare", &before, &after]);
    assert_eq!(code, Some(1), "{annotations}");
    assert!(annotations.starts_with("::error title=REGRESSION%3A "), "{annotations}");
    assert!(summary.contains("REGRESSION"), "{summary}");
    assert_eq!(outputs, "passed=false\nverdict=REGRESSION\n");
    assert_eq!(quality(dir.path())[0]["check_name"], "regression");
    // A busy machine leaves response times undecided even against themselves; failures it does not.
    let steady = ["compare", &before, &before, "--p99", "off", "--throughput", "off"];
    let (code, annotations, ..) = step(dir.path(), &steady);
    assert_eq!((code, annotations.as_str()), (Some(0), ""));
}

#[test]
fn several_servers_fail_where_a_run_does_and_not_where_one_is_slower() {
    let program = env!("CARGO_BIN_EXE_mcp-loadtest");
    let slow = |ms: u32| format!("{program} mock --fault slow:{ms}");
    let (ours, theirs) = (slow(100), slow(1000));
    let servers = ["run", "-s", &ours, "-s", &theirs, "--label", "ours", "--label", "theirs"];
    // Three rounds are enough: on a busy machine one or two may not count.
    let load = ["--tool", "echo", "--concurrent", "1", "--repeat", "5", "--duration", "2s"];
    for (limit, code, outputs, told) in [
        (&[][..], Some(0), "passed=true\nverdict=PASS\n", "::notice title=REGRESSION"),
        (
            &["--p50-latency", "500ms"],
            Some(1),
            "passed=false\nverdict=FAIL\n",
            "::error title=FAIL%3A theirs in round ",
        ),
    ] {
        let dir = tempfile::tempdir().unwrap();
        let run = [servers.as_slice(), &load, limit, &["-o", "runs"]].concat();
        let (ended, annotations, _, written) = step(dir.path(), &run);
        assert_eq!((ended, written.as_str()), (code, outputs), "{annotations}");
        assert!(annotations.contains(told), "{annotations}");
        assert_eq!(annotations.contains("::error"), code == Some(1), "{annotations}");
        fs::remove_file(dir.path().join("outputs")).unwrap();
        let runs = dir.path().join("runs").read_dir().unwrap().next().unwrap().unwrap().path();
        let (ended, again, _, written) = step(dir.path(), &["report", runs.to_str().unwrap()]);
        assert_eq!((ended, written.as_str()), (code, outputs), "{again}");
        assert!(again.contains(told), "{again}");
    }
}

/// The linter, with the schemas that it brings along: nothing is fetched.
fn lint(schema: &str, file: &str) -> (bool, String) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let home = std::env::var_os("TESTENV_HOME").map_or(root.join("target/testenv"), PathBuf::from);
    let program = home.join("ci-lint/bin/check-jsonschema");
    assert!(program.exists(), "{} is not there: run `make env`", program.display());
    let ran = Command::new(program)
        .args(["--no-cache", "--builtin-schema", schema])
        .arg(root.join(file))
        .output()
        .unwrap();
    (ran.status.success(), String::from_utf8_lossy(&ran.stdout).into_owned())
}

#[test]
fn the_action_and_the_examples_are_what_the_servers_expect() {
    for (schema, file) in [
        ("vendor.github-actions", "action.yml"),
        ("vendor.github-workflows", "examples/workflows/github.yml"),
        ("vendor.github-workflows", ".github/workflows/ci.yml"),
        ("vendor.gitlab-ci", "examples/workflows/gitlab-ci.yml"),
    ] {
        let (good, told) = lint(schema, file);
        assert!(good, "{file}: {told}");
    }
    let (good, _) = lint("vendor.github-workflows", "action.yml");
    assert!(!good, "the linter looks");
}

/// The script of the step of action.yml that has this name.
fn script_of_action(step: &str) -> String {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let action = fs::read_to_string(root.join("action.yml")).unwrap();
    let (_, after) = action.split_once(&format!("- name: {step}\n")).unwrap();
    let (_, script) = after.split_once("run: |\n").unwrap();
    let lines = script.lines().map_while(|line| line.strip_prefix("        "));
    lines.collect::<Vec<_>>().join("\n")
}

/// Does what the action does with these arguments, and with this as our program.
fn act(dir: &Path, program: &Path, args: &str, github: &str) -> Output {
    let bin = dir.join("bin");
    fs::create_dir_all(&bin).unwrap();
    let link = bin.join("mcp-loadtest");
    let _ = fs::remove_file(&link);
    std::os::unix::fs::symlink(program, link).unwrap();
    let script = script_of_action("Test");
    let shell = ["--noprofile", "--norc", "-e", "-o", "pipefail", "-c"];
    let mut bash = Command::new("bash");
    bash.args(shell).arg(script).current_dir(dir);
    bash.env("ROOT", dir).env("ARGS", args).env("ADD_GITHUB", github);
    bash.env("GITHUB_OUTPUT", dir.join("outputs"));
    bash.output().unwrap()
}

#[test]
fn the_action_passes_its_arguments_on_as_they_are() {
    let dir = tempfile::tempdir().unwrap();
    let program = Path::new(env!("CARGO_BIN_EXE_mcp-loadtest"));
    let run = |args: &str| act(dir.path(), program, args, "true");
    let ran = run(&format!("probe\n--server\n{}\n--only\nunknown_tool\n", mock("mock-normal.py")));
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let outputs = fs::read_to_string(dir.path().join("outputs")).unwrap();
    assert_eq!(outputs, "passed=true\nverdict=PASS\n");
    let hostile = run("probe\n--server\n$(touch forged); `touch forged`");
    assert_eq!(hostile.status.code(), Some(2));
    assert!(!dir.path().join("forged").exists(), "no shell reads the arguments");
    // A command that has no `--github` is carried out all the same.
    let doctor = run("doctor\n--only\nclock\n--json");
    assert!(doctor.status.success(), "{}", String::from_utf8_lossy(&doctor.stderr));
}

/// The commands that have this flag, as they are written.
fn commands_with(flag: &str, name: &str, command: &clap::Command, found: &mut Vec<String>) {
    if command.get_arguments().any(|arg| arg.get_long() == Some(flag)) {
        found.push(name.to_owned());
    }
    for inner in command.get_subcommands() {
        commands_with(flag, format!("{name} {}", inner.get_name()).trim(), inner, found);
    }
}

#[test]
fn the_action_adds_its_flag_where_there_is_one_and_never_behind_two_dashes() {
    let dir = tempfile::tempdir().unwrap();
    let program = dir.path().join("words");
    fs::write(&program, "#!/bin/sh\nprintf '%s\\n' \"$@\"\n").unwrap();
    fs::set_permissions(&program, PermissionsExt::from_mode(0o700)).unwrap();
    let said = |words: &str| {
        let ran = act(dir.path(), &program, &words.replace(' ', "\n"), "true");
        String::from_utf8(ran.stdout).unwrap().trim_end().replace('\n', " ")
    };
    let everything = mcp_loadtest_cli::command();
    let mut known = Vec::new();
    commands_with("github", "", &everything, &mut known);
    for command in &known {
        assert_eq!(said(command), format!("{command} --github"));
    }
    for command in everything.get_subcommands().map(clap::Command::get_name) {
        let is_known = known.iter().any(|known| known == command);
        assert_eq!(said(command).contains("--github"), is_known, "{command}");
    }
    let gateway = "gateway --only cancel -- my-gateway {upstream} -- --flag";
    let added = "gateway --only cancel --github -- my-gateway {upstream} -- --flag";
    assert_eq!(said(gateway), added);
    assert_eq!(said("llm --verdict -- app verdict"), "llm --verdict -- app verdict");
    let without = act(dir.path(), &program, "probe\n--quick", "false");
    assert_eq!(String::from_utf8_lossy(&without.stdout), "probe\n--quick\n");
}

/// The command lines of the examples, as words.
fn example_commands() -> Vec<Vec<String>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/workflows");
    let read = |name: &str| fs::read_to_string(root.join(name)).unwrap();
    let (github, gitlab) = (read("github.yml"), read("gitlab-ci.yml"));
    let blocks = github.split("args: |\n").skip(1).map(|block| {
        let lines = block.lines().map_while(|line| line.strip_prefix("            "));
        lines.map(str::to_owned).collect()
    });
    let lines = gitlab.lines().filter_map(|line| line.trim().strip_prefix("- mcp-loadtest "));
    let words = lines.map(|line| {
        line.split('"').enumerate().flat_map(|(at, part)| match at % 2 {
            0 => part.split_whitespace().map(str::to_owned).collect(),
            _ => vec![part.to_owned()],
        })
    });
    blocks.chain(words.map(Iterator::collect)).collect()
}

#[test]
fn the_examples_are_command_lines_that_we_take() {
    let dir = tempfile::tempdir().unwrap();
    let config = crate::harness::run(&["example-config"]).out;
    fs::write(dir.path().join("bench.toml"), config).unwrap();
    let commands = example_commands();
    assert_eq!(commands.len(), 4, "{commands:?}");
    for words in commands {
        let words: Vec<_> = words.iter().map(String::as_str).chain(["--explain"]).collect();
        let ran = crate::harness::run_in(dir.path(), &words);
        assert_eq!(ran.code, 0, "{words:?}: {}", ran.err);
    }
}

#[test]
fn the_page_of_licences_is_fresh() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let ran = Command::new("python3").arg(root.join("scripts/licences.py")).arg("--check").output();
    let ran = ran.unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
}
