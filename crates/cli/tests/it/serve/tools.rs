//! Each tool, its result under its schema, progress and cancellation.

use serde_json::{Value, json};

use super::{BOTH, peer::Peer, processes_with, wait_until_gone, workplace};

/// The result of a tool that went well; it must be valid under the tool's own schema.
fn checked(peer: &mut Peer, tool: &str, arguments: Value) -> Value {
    let listed = peer.ask("tools/list", json!({}));
    let tools = listed["result"]["tools"].as_array().unwrap();
    let described = tools.iter().find(|listed| listed["name"] == tool).unwrap();
    let asked = jsonschema::validator_for(&described["inputSchema"]).unwrap();
    assert!(asked.is_valid(&arguments), "{tool}: {arguments}");
    let result = peer.call(tool, arguments);
    assert_eq!(result["isError"], false, "{tool}: {result:#}");
    let structured = result["structuredContent"].clone();
    let given = jsonschema::validator_for(&described["outputSchema"]).unwrap();
    let problems: Vec<_> = given.iter_errors(&structured).map(|error| error.to_string()).collect();
    assert!(problems.is_empty(), "{tool}: {problems:?}\n{structured:#}");
    // For clients that know texts only.
    let text = result["content"][1]["text"].as_str().unwrap();
    assert_eq!(serde_json::from_str::<Value>(text).unwrap(), structured);
    assert!(result["content"][0]["text"].as_str().unwrap().len() > 10, "{result:#}");
    structured
}

#[test]
fn a_deadlock_is_found_and_a_healthy_server_has_none() {
    let dir = workplace();
    let mut peer = Peer::start(dir.path(), BOTH);
    let limits = json!({ "server": "deadlocked", "tool": "echo", "concurrent": 5,
        "hang_threshold_secs": 0.3, "grace_period_secs": 0.3 });
    let found = checked(&mut peer, "deadlock_probe", limits);
    assert_eq!((&found["passed"], &found["verdict"]), (&json!(false), &json!("CRITICAL")));
    assert_eq!(found["deadlock_count"], 5, "{found:#}");
    assert_eq!(found["hung_for_ms"].as_array().unwrap().len(), 5, "{found:#}");
    assert!(found["findings"].to_string().contains("deadlock"), "{found:#}");
    assert!(found["untrusted"]["findings"][0]["message"].is_string(), "{found:#}");

    let healthy = json!({ "server": "healthy", "tool": "echo", "args": { "text": "x" } });
    let none = checked(&mut peer, "deadlock_probe", healthy);
    assert_eq!((&none["passed"], &none["deadlock_count"]), (&json!(true), &json!(0)), "{none:#}");
    assert!(peer.leave().success());
}

#[test]
fn a_load_is_measured_told_listed_and_compared() {
    let dir = tempfile::tempdir().unwrap();
    // It sleeps most of the time, so that a busy machine does not make the generator the limit.
    let slow = format!("{} mock --fault slow:500", env!("CARGO_BIN_EXE_mcp-loadtest"));
    super::write_config(dir.path(), &[("slow", &slow)]);
    let mut peer = Peer::start(dir.path(), &["--allow-server", "slow"]);
    let load = json!({ "server": "slow", "tool": "echo", "args": { "message": "{{uuid}}" },
        "concurrent": 2, "duration_secs": 2.5, "max_error_rate": 0 });
    let first = checked(&mut peer, "sustained_load", load.clone());
    assert_eq!((&first["passed"], &first["error_rate"]), (&json!(true), &json!(0.0)), "{first:#}");
    assert!(first["p99_ms"].as_f64() >= first["p50_ms"].as_f64(), "{first:#}");
    assert!(first["requests_per_sec"].as_f64() > Some(0.0), "{first:#}");

    let told: Vec<_> = peer.notifications.iter().map(|told| &told["params"]).collect();
    assert!(told.len() > 1 && told[0]["progressToken"].is_string(), "{told:?}");
    let steps: Vec<_> = told.iter().map(|step| step["progress"].as_f64().unwrap()).collect();
    assert!(steps.is_sorted_by(|a, b| a < b), "{steps:?}");

    let second = checked(&mut peer, "sustained_load", load);
    let runs = checked(&mut peer, "list_recent_runs", json!({ "limit": 1 }));
    assert_eq!((&runs["total"], &runs["runs"][0]["run_id"]), (&json!(2), &second["run_id"]));
    assert_eq!(runs["runs"].as_array().unwrap().len(), 1);

    let report = checked(&mut peer, "report_summary", json!({ "run_dir": first["run_dir"] }));
    assert!(report["untrusted"]["markdown"].as_str().unwrap().contains("# "), "{report:#}");
    let both =
        json!({ "baseline_run_dir": first["run_dir"], "current_run_dir": second["run_dir"] });
    let compared = checked(&mut peer, "compare_runs", both);
    assert!(compared["is_regression"].is_boolean(), "{compared:#}");
    let figures = &compared["untrusted"]["comparison"]["candidates"][0]["figures"];
    assert!(figures.to_string().contains("p99"), "{figures:#}");

    // Each figure may be allowed to be worse, or not be judged at all.
    let mut judged = json!({ "baseline_run_dir": first["run_dir"],
        "current_run_dir": second["run_dir"], "p99": "off", "throughput": "off",
        "error_rate": "off", "allow_deadlocks": true, "undecided": "fail" });
    let compared = checked(&mut peer, "compare_runs", judged.clone());
    assert_eq!((&compared["verdict"], &compared["passed"]), (&json!("PASS"), &json!(true)));
    judged["p99"] = json!("much");
    peer.refused("compare_runs", judged);
}

#[test]
fn a_comparison_that_is_undecided_fails_where_that_is_asked_for() {
    let dir = workplace();
    let mut peer = Peer::start(dir.path(), BOTH);
    // A run of less than a second decides nothing.
    let load = json!({ "server": "healthy", "tool": "echo", "duration_secs": 0.3 });
    let run = checked(&mut peer, "sustained_load", load)["run_dir"].clone();
    for (undecided, passed) in [("pass", true), ("fail", false)] {
        let both = json!({ "baseline_run_dir": run, "current_run_dir": run,
            "undecided": undecided });
        let compared = checked(&mut peer, "compare_runs", both.clone());
        assert_eq!(compared["verdict"], "UNDECIDED", "{compared:#}");
        assert_eq!(compared["passed"], passed, "{compared:#}");
        let told = peer.call("compare_runs", both)["content"][0]["text"].to_string();
        assert_eq!(told.contains("The gate fails."), !passed, "{told}");
    }
}

#[test]
fn probes_find_what_is_wrong_and_nothing_else() {
    let dir = workplace();
    let strict = crate::harness::mock("bad-wrong-type.py");
    super::write_config(
        dir.path(),
        &[("bad", &strict), ("good", &crate::harness::mock("good-strict.py"))],
    );
    let mut peer = Peer::start(dir.path(), &["--mcp-config", ".mcp.json"]);
    let only = |server: &str| json!({ "server": server, "only": ["wrong_type", "unknown_tool"] });
    let bad = checked(&mut peer, "probe", only("bad"));
    assert_eq!(bad["passed"], false, "{bad:#}");
    let good = checked(&mut peer, "probe", only("good"));
    assert_eq!((&good["passed"], &good["findings"]), (&json!(true), &json!([])), "{good:#}");
    let checks = |server: &str| json!({ "server": server, "checks": ["wrong_type"] });
    let bad = checked(&mut peer, "negative_path", checks("bad"));
    assert_eq!(bad["negative_path"]["gate_passed"], 0, "{bad:#}");
    let good = checked(&mut peer, "negative_path", checks("good"));
    assert_eq!((&good["passed"], &good["negative_path"]["gate_passed"]), (&json!(true), &json!(1)));
    let is_told =
        |check: &str| peer.notifications.iter().any(|told| told["params"]["message"] == check);
    assert!(["unknown_tool", "wrong_type", "control_call"].into_iter().any(is_told));
}

#[test]
fn everything_can_be_explained() {
    let dir = workplace();
    let mut peer = Peer::start(dir.path(), BOTH);
    let topics = checked(&mut peer, "explain", json!({}))["topics"].clone();
    for topic in topics.as_array().unwrap() {
        let told = checked(&mut peer, "explain", json!({ "topic": topic }));
        assert!(told["text"].as_str().unwrap().len() > 20, "{topic}");
    }
    let listed = peer.ask("tools/list", json!({}));
    for tool in listed["result"]["tools"].as_array().unwrap() {
        let name = tool["name"].as_str().unwrap();
        assert!(name == "explain" || topics.as_array().unwrap().contains(&json!(name)), "{name}");
    }
    assert!(
        peer.refused("explain", json!({ "topic": "deadlok_probe" })).contains("deadlock_probe")
    );
}

#[test]
fn a_cancelled_probe_ends_with_its_processes() {
    let dir = workplace();
    let marker = dir.path().join("the-probed-one").display().to_string();
    let command = format!("{} {marker}", crate::harness::mock("mock-broken.py"));
    super::write_config(dir.path(), &[("hangs", &command)]);
    let mut peer = Peer::start(dir.path(), &["--allow-server", "hangs", "--max-duration", "10m"]);
    let id = peer.begin("probe", json!({}));
    while processes_with(&marker).is_empty() {
        std::thread::yield_now();
    }
    peer.cancel(id);
    wait_until_gone(&marker);
}

#[test]
fn a_cancelled_run_ends_with_its_processes() {
    let dir = workplace();
    let marker = dir.path().join("the-cancelled-one").display().to_string();
    let command = format!("{} {marker}", crate::harness::mock("mock-normal.py"));
    super::write_config(dir.path(), &[("healthy", &command)]);
    let mut peer = Peer::start(dir.path(), &["--allow-server", "healthy", "--max-duration", "10m"]);
    let id = peer.begin("sustained_load", json!({ "tool": "echo", "duration_secs": 600 }));
    peer.wait_for_calls();
    assert!(!processes_with(&marker).is_empty());
    peer.cancel(id);
    wait_until_gone(&marker);
    // The seat is free again: the next one is carried out.
    loop {
        let result = peer.call("deadlock_probe", json!({ "tool": "echo", "concurrent": 1 }));
        if result["isError"] == false {
            break;
        }
        let said = result["content"][0]["text"].as_str().unwrap();
        assert!(said.contains("another run is going on"), "{said}");
    }
}
