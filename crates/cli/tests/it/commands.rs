//! Good input.

use serde_json::Value;

use crate::harness::{mock, run, run_in};

#[test]
fn a_broken_server_is_caught_and_a_healthy_one_passes() {
    let quick = ["--hang-threshold", "500ms", "--grace-period", "1s", "--concurrent", "5"];
    let broken = mock("mock-broken.py");
    let ran = run(&[&["deadlock-probe", "-s", &broken], quick.as_slice()].concat());
    assert_eq!(ran.code, 1, "{}", ran.err);
    assert!(ran.out.starts_with("CRITICAL"), "{}", ran.out);
    assert!(ran.out.contains("DEADLOCK DETECTED: 5 of 5 calls"), "{}", ran.out);
    let ran = run(&["deadlock-probe", "-s", &mock("mock-normal.py")]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    // Where the machine is busy the first call may take long, which is told and is no failure.
    let is_late = ran.out.contains("lazy_init_cliff");
    let told = if is_late { "WARNING    1 warning" } else { "PASS" };
    assert!(ran.out.starts_with(told), "{}", ran.out);
}

#[test]
fn a_slow_server_is_slow_and_not_deadlocked() {
    let slow = mock("mock-slow.py");
    let ran = run(&[
        "deadlock-probe",
        "-s",
        &slow,
        "--env",
        "MOCK_THREADED=1",
        "--hang-threshold",
        "500ms",
        "--grace-period",
        "60s",
        "--concurrent",
        "4",
        "--steady-calls",
        "0",
        "--json",
    ]);
    let summary: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((ran.code, &summary["verdict"]), (0, &"WARNING".into()), "{summary:#}");
    assert_eq!((&summary["deadlock_count"], &summary["hang_count"]), (&0.into(), &4.into()));
}

#[test]
fn json_prints_the_summary_alone() {
    let dir = tempfile::tempdir().unwrap();
    let ran = run_in(
        dir.path(),
        &[
            "run",
            "-s",
            &mock("mock-normal.py"),
            "--duration",
            "500ms",
            "--tool",
            "echo",
            "--trace",
            "full",
            "--json",
        ],
    );
    assert_eq!(ran.code, 0, "{}", ran.err);
    let summary: Value = serde_json::from_str(&ran.out).unwrap();
    let schema = mcp_loadtest_core::report::summary::schema();
    assert!(jsonschema::validator_for(&schema).unwrap().is_valid(&summary), "{summary:#}");
    let run_dir = summary["run_dir"].as_str().unwrap();
    let again = run_in(dir.path(), &["report", run_dir, "--from-trace", "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&again.out).unwrap(), summary);
    let page = run_in(dir.path(), &["report", run_dir, "--format", "markdown"]);
    assert_eq!(page.out, std::fs::read_to_string(format!("{run_dir}/report.md")).unwrap());
}

#[test]
fn a_trace_with_holes_is_refused_and_the_run_is_still_told_in_every_form() {
    let dir = tempfile::tempdir().unwrap();
    let server = mock("mock-normal.py");
    let flags = ["--duration", "300ms", "--tool", "echo", "--trace", "errors", "--json"];
    let forms = ["--format", "hlog", "--format", "openmetrics", "--format", "json"];
    let ran = run_in(dir.path(), &[["run", "-s", &server].as_slice(), &flags, &forms].concat());
    assert_eq!(ran.code, 0, "{}", ran.err);
    let summary: Value = serde_json::from_str(&ran.out).unwrap();
    let run_dir = summary["run_dir"].as_str().unwrap();
    let refused = run_in(dir.path(), &["report", run_dir, "--from-trace"]);
    assert_eq!((refused.code, refused.out.as_str()), (2, ""));
    let told = format!("{} calls were left out", summary["ok"]);
    assert!(refused.err.contains("has holes") && refused.err.contains(&told), "{}", refused.err);
    for (form, file) in [("hlog", "latency.hlog"), ("openmetrics", "metrics.prom")] {
        let again = run_in(dir.path(), &["report", run_dir, "--format", form]);
        assert_eq!(again.out, std::fs::read_to_string(format!("{run_dir}/{file}")).unwrap());
    }
}

#[test]
fn a_soak_that_will_not_tell_of_memory_says_so_first() {
    let dir = tempfile::tempdir().unwrap();
    let server = mock("mock-normal.py");
    let soak = ["run", "-s", &server, "--tool", "echo", "--scenario", "soak", "--duration", "1s"];
    let told = |interval: &str| {
        let ran = run_in(dir.path(), &[&soak[..], &["--leak-check-interval", interval]].concat());
        assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
        ran.err.contains("note: whether memory leaks will not be told")
    };
    assert_eq!((told("200ms"), told("50ms")), (true, false));
}

#[test]
fn an_export_comes_in_addition_to_the_usual_forms() {
    let dir = tempfile::tempdir().unwrap();
    let server = mock("mock-normal.py");
    let load = ["run", "-s", &server, "--tool", "echo", "--duration", "300ms"];
    let ran = run_in(dir.path(), &[&load[..], &["--format", "hlog"]].concat());
    assert!(ran.code == 0 && ran.out.starts_with("PASS"), "{}{}", ran.out, ran.err);
    let run = std::fs::read_dir(dir.path().join("runs")).unwrap().next().unwrap().unwrap().path();
    for file in ["latency.hlog", "report.md", "report.html", "metrics.json"] {
        assert!(run.join(file).exists(), "{file}");
    }
}

#[test]
fn the_demo_comes_out_as_it_must() {
    let dir = tempfile::tempdir().unwrap();
    let ran = run_in(dir.path(), &["demo", "--duration", "500ms"]);
    assert_eq!(ran.code, 0, "{}{}", ran.out, ran.err);
    assert!(ran.out.contains("DEADLOCK DETECTED"), "{}", ran.out);
    let path = ran.out.lines().rev().find_map(|line| line.strip_prefix("Report: ")).unwrap();
    let report = std::fs::read_to_string(path).unwrap();
    // The second where the machine is busy, and the first call takes long.
    assert!(report.contains("PASS") || report.contains("lazy_init_cliff"), "{report}");
}

#[test]
fn probe_tells_era_revision_and_every_tool() {
    let ran = run(&["probe", "-s", &mock("mock-modern.py"), "--json"]);
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(
        (ran.code, &report["era"], &report["revision"]),
        (0, &"modern".into(), &"2026-07-28".into())
    );
    assert_eq!(report["tools"][0]["verdict"], "ok");
    let schema = serde_json::from_str(&run(&["schema", "probe"]).out).unwrap();
    assert!(jsonschema::validator_for(&schema).unwrap().is_valid(&report), "{report:#}");
    let ran = run(&["probe", "-s", &mock("mock-normal.py"), "--protocol", "2025-06-18", "--json"]);
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!(report["revision"], "2025-06-18");
}

#[test]
fn a_configuration_file_runs_and_flags_win_over_it() {
    let dir = tempfile::tempdir().unwrap();
    let command = mock("mock-normal.py");
    let script = command.strip_prefix("python3 ").unwrap();
    let text = format!(
        "[server]\ncommand = \"python3\"\nargs = [\"{script}\"]\n[scenario]\ntype = \"sustained\"\nduration = \"600s\"\nconcurrent = 4\n\
         [[scenario.tool_call]]\nname = \"echo\"\nargs = {{ text = \"x\" }}\n[thresholds]\nerror_rate = 0.0\n[output]\nformats = [\"json\"]\n"
    );
    std::fs::write(dir.path().join("bench.toml"), text).unwrap();
    let ran =
        run_in(dir.path(), &["run", "--config", "bench.toml", "--duration", "300ms", "--json"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let summary: Value = serde_json::from_str(&ran.out).unwrap();
    let run_dir = std::path::PathBuf::from(summary["run_dir"].as_str().unwrap());
    assert!(run_dir.join("metrics.json").is_file() && !run_dir.join("report.md").exists());
}

#[test]
fn a_server_is_found_by_its_name_in_a_clients_file() {
    let dir = tempfile::tempdir().unwrap();
    let command = mock("mock-normal.py");
    let script = command.strip_prefix("python3 ").unwrap();
    let entry =
        serde_json::json!({"mcpServers": {"my-mock": {"command": "python3", "args": [script]}}});
    std::fs::write(dir.path().join(".mcp.json"), entry.to_string()).unwrap();
    let ran = run_in(dir.path(), &["probe", "--name", "my-mock", "--json"]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    assert!(ran.err.contains(".mcp.json"), "{}", ran.err);
    let ran = run_in(dir.path(), &["probe", "--name", "my-mok"]);
    assert_eq!(ran.code, 2);
    assert!(ran.err.contains("my-mock"), "{}", ran.err);
}

#[test]
fn a_clients_file_that_cannot_be_read_is_told_and_nobody_is_tested_in_its_place() {
    let dir = tempfile::tempdir().unwrap();
    let near = dir.path().join("near");
    std::fs::create_dir(&near).unwrap();
    // Nobody listens there: it is enough that it is tried.
    let entry = serde_json::json!({"mcpServers": {"my-mock": {"url": "http://127.0.0.1:1/mcp"}}});
    let write = |first: &[u8], second: &[u8]| {
        std::fs::write(near.join(".mcp.json"), first).unwrap();
        std::fs::write(dir.path().join(".mcp.json"), second).unwrap();
    };
    let good = entry.to_string();
    for broken in [b"{ \"mcpServers\": {".as_slice(), b"\xff\xfe"] {
        write(good.as_bytes(), broken);
        let ran = run_in(&near, &["probe", "--name", "my-mock"]);
        assert!(ran.err.contains("using `my-mock` from "), "{}", ran.err);
        let file = dir.path().join(".mcp.json");
        let warning = format!("warning: {}: cannot be read: ", file.display());
        assert!(ran.err.contains(&warning), "{}", ran.err);
        let ran = run_in(&near, &["probe", "--name", "other"]);
        let error = format!("error: {}: cannot be read: ", file.display());
        assert!(ran.code == 2 && ran.err.contains(&error), "{}", ran.err);
        write(broken, good.as_bytes());
        let ran = run_in(&near, &["probe", "--name", "my-mock"]);
        let error = format!("error: {}: cannot be read: ", near.join(".mcp.json").display());
        assert!(ran.code == 2 && ran.err.contains(&error), "{}", ran.err);
        assert!(!ran.err.contains("using `"), "{}", ran.err);
    }
    write(good.as_bytes(), good.as_bytes());
    let ran = run_in(&near, &["probe", "--name", "my-mock"]);
    assert!(ran.err.contains("using `my-mock` from "), "{}", ran.err);
    assert!(!ran.err.contains("warning: "), "{}", ran.err);
}

#[test]
fn times_of_flags_win_over_those_of_a_probe_in_a_file() {
    let dir = tempfile::tempdir().unwrap();
    let mock = mock("mock-slow.py");
    let script = mock.strip_prefix("python3 ").unwrap();
    let file = format!(
        "[server]\ncommand = \"python3\"\nargs = [{script:?}]\nenv = {{ MOCK_DELAY_S = \"1\" }}\n\
         [scenario]\ntype = \"deadlock_probe\"\ntool = \"echo\"\nconcurrent = 1\nsteady_calls = 0\n\
         hang_threshold = \"100ms\"\ngrace_period = \"100ms\"\n"
    );
    std::fs::write(dir.path().join("bench.toml"), file).unwrap();
    let counts = |flags: &[&str]| {
        let ran = run_in(dir.path(), &[&["run", "-c", "bench.toml", "--json"], flags].concat());
        let summary: Value =
            serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}", ran.err));
        (summary["deadlock_count"].clone(), summary["hang_count"].clone())
    };
    let (none, one) = (Value::from(0), Value::from(1));
    assert_eq!(counts(&[]).0, one);
    assert_eq!(counts(&["--grace-period", "60s"]), (none.clone(), one));
    assert_eq!(counts(&["--hang-timeout", "60s"]), (none.clone(), none.clone()));
    assert_eq!(counts(&["--hang-threshold", "60s"]), (none.clone(), none));
}

#[test]
fn a_clients_file_may_name_any_transport() {
    let dir = tempfile::tempdir().unwrap();
    let entry = serde_json::json!({"mcpServers": {
        "old": {"type": "sse", "url": "http://127.0.0.1:1/sse"},
        "socket": {"type": "ws", "url": "ws://127.0.0.1:1/ws"},
        "unsaid": {"url": "http://127.0.0.1:1/sse"},
    }});
    std::fs::write(dir.path().join(".mcp.json"), entry.to_string()).unwrap();
    for args in [
        ["probe", "--name", "old"].as_slice(),
        &["probe", "--name", "socket"],
        &["probe", "--name", "unsaid", "--transport", "sse"],
    ] {
        let ran = run_in(dir.path(), args);
        assert_eq!(ran.code, 2);
        // It was tried: nobody listens there.
        assert!(ran.err.contains("127.0.0.1:1"), "{}", ran.err);
        assert!(ran.err.contains("refused"), "{}", ran.err);
    }
}

#[test]
fn every_command_explains_itself() {
    let cli = mcp_loadtest_cli::command();
    for command in cli.get_subcommands() {
        explains_itself(&[command.get_name()]);
        for inner in command.get_subcommands() {
            explains_itself(&[command.get_name(), inner.get_name()]);
        }
    }
}

fn explains_itself(command: &[&str]) {
    let ran = run(&[command, &["--explain"]].concat());
    assert_eq!(ran.code, 0, "{command:?}: {}", ran.err);
    assert!(ran.out.len() > 60, "{command:?}: {}", ran.out);
    assert_eq!(run(&[command, &["--help"]].concat()).code, 0, "{command:?}");
}

#[test]
fn what_is_printed_for_machines_is_complete() {
    for shell in ["bash", "zsh", "fish", "powershell", "elvish"] {
        assert!(run(&["completions", shell]).out.contains("deadlock-probe"), "{shell}");
    }
    assert!(run(&["man"]).out.contains("mcp\\-loadtest"));
    let dir = tempfile::tempdir().unwrap();
    run_in(dir.path(), &["man", "--dir", "man"]);
    assert!(dir.path().join("man/mcp-loadtest-deadlock-probe.1").is_file());
    let list: Value = serde_json::from_str(&run(&["list-scenarios", "--json"]).out).unwrap();
    let all = mcp_loadtest_core::scenario::ScenarioName::ALL;
    assert_eq!(list.as_array().unwrap().len(), all.len());
}

#[test]
fn a_server_that_does_not_begin_is_told_with_the_file_that_holds_its_stderr() {
    let dir = tempfile::tempdir().unwrap();
    let server = "sh -c 'echo no key was given >&2; exit 3'";
    let ran = run_in(dir.path(), &["run", "-s", server, "--tool", "echo"]);
    assert_eq!(ran.code, 2, "{}", ran.out);
    let file = ran.err.lines().find_map(|line| line.split_once("its stderr is in "));
    let (_, file) = file.unwrap_or_else(|| panic!("{}", ran.err));
    let log = std::fs::read_to_string(dir.path().join(file)).unwrap();
    assert!(log.contains("no key was given"), "{log}");
}

#[test]
fn what_a_flag_writes_is_refused_as_a_form_with_the_flag() {
    let ran = run(&["run", "-s", &mock("mock-normal.py"), "--format", "junit"]);
    assert_eq!(ran.code, 2, "{}", ran.out);
    assert!(ran.err.contains("`--junit FILE` writes it"), "{}", ran.err);
    let ran = run(&["run", "-s", &mock("mock-normal.py"), "--format", "pdf"]);
    assert!(ran.err.contains("use markdown, html, json"), "{}", ran.err);
}

#[test]
fn a_tool_that_is_not_there_is_no_pass() {
    let ran =
        run(&["probe", "-s", &mock("mock-normal.py"), "--tool", "ech", "--only", "oversized"]);
    assert_eq!(ran.code, 2, "{}", ran.out);
    assert!(ran.err.contains("did you mean `echo`?"), "{}", ran.err);
}

#[test]
fn a_file_that_cannot_be_written_costs_nobody_the_report() {
    let server = mock("mock-normal.py");
    let probe = ["probe", "-s", &server, "--only", "unknown_tool"];
    let ran = run(&[probe.as_slice(), &["--junit", "/no/such/folder/probe.xml"]].concat());
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.out.starts_with("PASS mock"), "{}", ran.out);
    assert!(ran.err.contains("/no/such/folder/probe.xml"), "{}", ran.err);
    let dir = tempfile::tempdir().unwrap();
    let files = ["--junit", "probe.xml", "--sarif", "probe.sarif"];
    assert_eq!(run_in(dir.path(), &[probe.as_slice(), &files].concat()).code, 0);
    let xml = std::fs::read_to_string(dir.path().join("probe.xml")).unwrap();
    assert!(xml.contains(" classname=\"mcp-loadtest.negative_path\""), "{xml}");
    let sarif = std::fs::read(dir.path().join("probe.sarif")).unwrap();
    let sarif: Value = serde_json::from_slice(&sarif).unwrap();
    assert_eq!(sarif["version"], "2.1.0");
}

#[test]
fn another_revision_warns_and_fails_only_when_strict() {
    let server = mock("mock-normal.py");
    let old = [
        "probe",
        "-s",
        &server,
        "--env",
        "MOCK_REVISION=2024-11-05",
        "--protocol",
        "2025-11-25",
        "--only",
        "unknown_tool",
        "--json",
    ];
    let ran = run(&old);
    let report: Value = serde_json::from_str(&ran.out).unwrap();
    assert_eq!((ran.code, &report["revision"]), (0, &"2024-11-05".into()), "{}", ran.err);
    assert_eq!(report["findings"][0]["id"], "revision_mismatch");
    let ran = run(&[old.as_slice(), &["--strict-protocol"]].concat());
    assert_eq!(ran.code, 2, "{}", ran.out);
    assert!(
        ran.err.contains("asked for 2025-11-25") && ran.err.contains("2024-11-05"),
        "{}",
        ran.err
    );
}
