//! Every scenario over every transport.

use std::{collections::BTreeSet, fs, path::Path};

use mcp_loadtest::SavedRun;
use mcp_loadtest_core::{report::json, scenario::ScenarioName};
use serde_json::Value;

use super::{Choice, Ended, Rack, chosen, for_each, only_in};
use crate::{interrupted::marked, process::Listening};

/// How many calls a run makes.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Calls {
    /// As many as the flags say.
    Fixed,
    /// As many as fit into the time.
    Timed,
}

use Calls::{Fixed, Timed};

/// The run that has everything that runs have.
const TWO_THREADS: &str = "--threads=2";

/// Runs of a few calls.
const RUNS: &[(&str, Calls, &[&str])] = &[
    ("cold_start", Fixed, &["--iterations", "3", "--warmup", "false"]),
    ("sustained", Fixed, &["--rate", "40/s", "--duration", "200ms"]),
    // Two threads with a session each.
    (
        "sustained",
        Timed,
        &["--concurrent=4", "--sessions=2", TWO_THREADS, "--think-time=60ms", "--duration=150ms"],
    ),
    ("spike", Fixed, &["--rate", "20/s", "--duration", "300ms", "--spike-multiplier", "2"]),
    ("ramp", Fixed, &["--ramp-from=10/s", "--ramp-to=20/s", "--ramp-step=10", "--duration=200ms"]),
    ("soak", Fixed, &["--rate", "20/s", "--duration", "200ms"]),
    ("pattern", Timed, &["--concurrent", "2", "--duration", "100ms"]),
    ("deadlock_probe", Fixed, &["--concurrent=4", "--sessions=2", "--steady-calls=2"]),
    ("race_check", Fixed, &["--concurrent", "3", "--rounds", "2"]),
    ("slow_mix", Timed, &["--concurrent=2", "--slow-tool=slow", "--duration=100ms"]),
    ("reconnect", Fixed, &["--drops", "2", "--concurrent", "2"]),
    ("capacity", Timed, &["--rate-from=10/s", "--rate-to=20/s", "--hold=50ms", "--p99-latency=5s"]),
    ("fuzzer", Fixed, &["--iterations", "8"]),
];

/// One run and how its server is reached.
#[derive(Clone, Copy)]
struct Scene<'a> {
    run: &'a (&'a str, Calls, &'a [&'a str]),
    /// The transport and the address, where it is not over pipes.
    remote: Option<(&'a str, &'a str)>,
}

impl Scene<'_> {
    fn args(&self, rack: &Rack) -> Vec<String> {
        let (name, _, flags) = self.run;
        let runs = rack.path("runs");
        let mut args = vec!["run", "--scenario", name, "--json", "--trace", "full"];
        args.extend(["--grace-period", "5s", "-o", runs.to_str().unwrap()]);
        if *name != "fuzzer" {
            args.extend(["--tool", "echo"]);
        }
        args.extend(*flags);
        let mut args: Vec<String> = args.into_iter().map(Into::into).collect();
        args.extend(match self.remote {
            Some((transport, url)) => {
                vec![format!("--transport={transport}"), format!("--url={url}")]
            }
            None => {
                let server = format!("{} mock", env!("CARGO_BIN_EXE_mcp-loadtest"));
                vec![format!("--server={server}"), format!("--env=RACK={}", runs.display())]
            }
        });
        args
    }

    fn name(&self, torture: &str) -> String {
        let (name, _, flags) = self.run;
        let over = self.remote.map_or("stdio", |(transport, _)| transport);
        format!("{name} {flags:?} over {over}, {torture}")
    }
}

/// Counts what each run asks of the system, then lets it fail.
fn torture(scenes: &[Scene<'_>]) {
    let counted: Vec<_> = scenes.iter().map(count).collect();
    let all: Vec<_> = counted
        .iter()
        .zip(scenes)
        .flat_map(|((requests, tortures), scene)| {
            tortures.iter().map(move |torture| (*scene, *requests, torture))
        })
        .collect();
    for_each(&all, |(scene, requests, torture)| {
        let rack = Rack::new();
        let ran = rack.run(&scene.args(&rack), torture);
        judge(scene, *requests, &rack, &ran)
            .map_err(|why| format!("{}: {why}", scene.name(torture)))
    });
}

/// The calls of a run that nothing happens to, and what may fail in it.
fn count(scene: &Scene<'_>) -> (u64, BTreeSet<String>) {
    let rack = Rack::new();
    let ran = rack.run(&scene.args(&rack), "count");
    let summary: Value = serde_json::from_str(&ran.out)
        .unwrap_or_else(|e| panic!("{}: {e}\n{}{}", scene.name("count"), ran.out, ran.err));
    let requests = summary["requests"].as_u64().unwrap();
    assert!(requests > 0 && ran.code < 2, "{}: {summary:#}", scene.name("count"));
    let choice = if scene.run.2.contains(&TWO_THREADS) { Choice::EveryPlace } else { Choice::Few };
    (requests, chosen(&rack.deeds(), choice))
}

/// What must be true however it ended.
fn judge(scene: &Scene<'_>, requests: u64, rack: &Rack, ran: &Ended) -> Result<(), String> {
    let failed = rack.failed();
    let wrong = |what: &str| {
        Err(format!("{what}; exit {}, failed: {failed:?}\n{}\n{}", ran.code, ran.out, ran.err))
    };
    let left = marked(&format!("RACK={}", rack.path("runs").display()));
    if !left.is_empty() {
        return wrong(&format!("it left {left:?} alive"));
    }
    let run = only_in(&rack.path("runs"));
    if ran.code == 2 {
        if !ran.err.contains("tortured: ") {
            return wrong("it does not say what failed");
        }
        let trace = run.as_ref().map(|run| run.join("trace.jsonl"));
        let trace = trace.and_then(|path| fs::read_to_string(path).ok()).unwrap_or_default();
        if trace.contains("\"phase\":\"load\"") && ran.out.is_empty() {
            return wrong("what was measured is lost");
        }
    }
    let Ok(summary) = serde_json::from_str::<Value>(&ran.out) else {
        return if ran.code == 2 && ran.out.is_empty() { Ok(()) } else { wrong("no summary") };
    };
    if summary["exit_code"].as_i64() != Some(ran.code.into()) {
        return wrong("the summary has another exit code");
    }
    let told = |id: &str| summary["findings"].to_string().contains(&format!("\"id\":\"{id}\""));
    let is_file = |word: &str, place: &str| {
        ["create", "store", "sync", "rename"].contains(&word) && place != "a runtime"
    };
    if let Some(deed) = failed.as_ref().filter(|deed| is_file(&deed.word, &deed.place)) {
        let is_log = deed.place.ends_with(".log");
        if !(told("unwritten") && ran.code == 2 || is_log && told("our_trouble")) {
            return wrong("a file is missing and nobody is told");
        }
    }
    let count = |name: &str| summary[name].as_u64().unwrap_or_default();
    if ran.code == 0 && scene.run.1 == Fixed && (count("ok"), count("errors")) != (requests, 0) {
        return wrong(&format!("it passes without all of its {requests} calls"));
    }
    match run {
        Some(run) => in_the_directory(&run, &summary).or_else(|why| wrong(&why)),
        None => wrong("there is no directory"),
    }
}

/// The files that are there say the same, and nothing is half there.
fn in_the_directory(run: &Path, summary: &Value) -> Result<(), String> {
    let names = fs::read_dir(run).unwrap().map(|entry| entry.unwrap().file_name());
    let hidden: Vec<_> = names.filter(|name| name.to_string_lossy().starts_with('.')).collect();
    if !hidden.is_empty() {
        return Err(format!("{hidden:?} is left"));
    }
    let whole = summary["exit_code"] != 2;
    for name in ["summary.json", "metrics.json", "report.md", "report.html", "trace.jsonl"] {
        if whole && !run.join(name).is_file() {
            return Err(format!("there is no {name}"));
        }
    }
    if let Ok(saved) = fs::read_to_string(run.join("summary.json")) {
        let saved: Value = serde_json::from_str(&saved).map_err(|error| error.to_string())?;
        if saved["passed"] != summary["passed"] {
            return Err("summary.json says otherwise".into());
        }
    }
    let metrics = fs::read_to_string(run.join("metrics.json"));
    let reports = metrics.ok().map(|text| json::read(&text).map_err(|error| error.to_string()));
    let traced = whole.then(|| {
        let saved = SavedRun::open(run).map_err(|error| error.to_string())?;
        saved.report_from_trace().map_err(|error| error.to_string())
    });
    for report in reports.into_iter().chain(traced) {
        let report = report?;
        let calls = &report.throughput;
        let ended = calls.successful_requests + report.errors.total + report.dropped;
        if calls.total_requests != ended || Some(ended) != summary["requests"].as_u64() {
            return Err(format!("{} calls, {ended} ended", calls.total_requests));
        }
    }
    Ok(())
}

fn over<'a>(remote: Option<(&'a str, &'a str)>) -> Vec<Scene<'a>> {
    RUNS.iter().map(|run| Scene { run, remote }).collect()
}

#[test]
fn every_scenario_over_pipes_survives_the_failure_of_anything() {
    for name in ScenarioName::ALL {
        let has_run = RUNS.iter().any(|run| run.0 == name.as_str());
        assert!(has_run, "`{name}` needs a run of a few calls in RUNS of torture/runs.rs");
    }
    torture(&over(None));
}

#[test]
fn every_scenario_over_http_survives_the_failure_of_anything() {
    let mock = Listening::start(&["mock", "--transport", "http"]);
    torture(&over(Some(("http", &mock.url))));
}

#[test]
fn other_transports_survive_the_failure_of_anything() {
    for transport in ["sse", "ws"] {
        let mock = Listening::start(&["mock", "--transport", transport]);
        let scenes = over(Some((transport, &mock.url)));
        let few = ["sustained", "reconnect", "fuzzer"];
        let scenes: Vec<_> =
            scenes.into_iter().filter(|scene| few.contains(&scene.run.0)).collect();
        torture(&scenes);
    }
}
