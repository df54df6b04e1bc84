//! What a run writes for other tools, read by those tools; and traces that do not have every call.

use std::{fs, path::Path, process::Command, time::Duration};

use mcp_loadtest::{Report, Run, SavedError, SavedRun, Scenario, Trace};
use mcp_loadtest_core::{
    config::Format,
    hint::Hint as _,
    server::{ServerBuilder, Started},
};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    environments::program,
    fixtures::{inline_mock, mock},
};

/// A run with all forms of its result, and the directory that holds it.
async fn run(run: Run) -> (Report, TempDir) {
    let parent = TempDir::new().expect("a directory");
    let run = run.with_output_dir(parent.path()).with_formats(Format::ALL);
    (run.execute().await.expect("it runs"), parent)
}

fn load(tools: &[&str]) -> Scenario {
    let mut load = Scenario::sustained().concurrent(4).duration(Duration::from_millis(2_300));
    for tool in tools {
        load = load.tool(*tool);
    }
    load.build()
}

/// A server with these tools, which calls itself by the first of them.
fn server_with(tools: &[&str]) -> ServerBuilder<Started> {
    inline_mock(SERVER).env("TOOLS", serde_json::to_string(tools).expect("names"))
}

const SERVER: &str = r#"
import json, os
names = json.loads(os.environ["TOOLS"])
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message: continue
    result = {
        "initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                       "serverInfo": {"name": names[0], "version": names[0]}},
        "tools/list": {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in names]},
    }.get(message["method"], {"content": []})
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"#;

fn dir(report: &Report) -> &Path {
    report.run_dir.as_deref().expect("it has a directory")
}

/// Runs a script of the environment `readers` on a file; what it prints is JSON.
fn read_by(script: &str, file: &Path) -> Value {
    let python = program("readers", "bin/python");
    let ran = Command::new(python).args(["-c", script]).arg(file).output().expect("python starts");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    serde_json::from_slice(&ran.stdout).expect("the script prints JSON")
}

/// What a reader that we did not write finds: by tag the lines, the calls and two percentiles.
const READ_LOG: &str = r#"
import json, sys
from hdrh.histogram import HdrHistogram
from hdrh.log import HistogramLogReader
reader = HistogramLogReader(sys.argv[1], HdrHistogram(1000, 3600 * 10**9, 2))
found = {}
while (interval := reader.get_next_interval_histogram()) is not None:
    tag = interval.get_tag() or "all"
    lines, whole = found.setdefault(tag, [0, HdrHistogram(1000, 3600 * 10**9, 2)])
    whole.add(interval)
    found[tag][0] = lines + 1
print(json.dumps({"start": reader.get_start_time_sec(), "tags": {
    tag: {"lines": lines, "count": whole.get_total_count(),
          "p50": whole.get_value_at_percentile(50), "p99": whole.get_value_at_percentile(99)}
    for tag, (lines, whole) in found.items()}}))
"#;

fn close_to(one: f64, other: Duration) -> bool {
    (one / other.as_nanos() as f64 - 1.0).abs() < 0.02
}

#[tokio::test]
async fn another_reader_of_histogram_logs_finds_the_figures_of_the_report() {
    let (report, _parent) =
        run(Run::new(server_with(&["echo", "add"]), load(&["echo", "add"]))).await;
    let read = read_by(READ_LOG, &dir(&report).join("latency.hlog"));
    let tags = &read["tags"];
    // A second in which no call ended has no line.
    let with_calls = report.windows.iter().filter(|window| window.ok + window.errors > 0).count();
    assert_eq!(tags["all"]["lines"], with_calls, "{read:#}");
    assert_eq!(tags["all"]["count"], report.latency.count);
    let (p50, p99) = (tags["all"]["p50"].as_f64(), tags["all"]["p99"].as_f64());
    assert!(close_to(p50.expect("a number"), report.latency.p50), "{read:#}");
    assert!(close_to(p99.expect("a number"), report.latency.p99), "{read:#}");
    assert_eq!(report.tools.len(), 2);
    for tool in &report.tools {
        assert_eq!(tags[&tool.name]["count"], tool.latency.count, "{read:#}");
        let p50 = tags[&tool.name]["p50"].as_f64().expect("a number");
        assert!(close_to(p50, tool.latency.p50), "{read:#}");
    }
}

const READ_METRICS: &str = r#"
import json, sys
from prometheus_client.openmetrics.parser import text_string_to_metric_families
samples = [{"name": sample.name, "labels": sample.labels, "value": sample.value, "unit": family.unit,
            "type": family.type}
           for family in text_string_to_metric_families(open(sys.argv[1], encoding="utf-8").read())
           for sample in family.samples]
print(json.dumps(samples))
"#;

/// The sum of the samples with this name and these labels.
fn sum(samples: &Value, name: &str, labels: &[(&str, &str)]) -> f64 {
    let samples = samples.as_array().expect("a list").iter();
    let wanted = samples.filter(|sample| {
        sample["name"] == name && labels.iter().all(|(key, value)| sample["labels"][*key] == *value)
    });
    wanted.map(|sample| sample["value"].as_f64().expect("a number")).sum()
}

#[tokio::test]
async fn the_parser_of_prometheus_finds_the_figures_of_the_report() {
    let (report, _parent) = run(Run::new(mock("mock-error"), load(&["echo"]))).await;
    let read = read_by(READ_METRICS, &dir(&report).join("metrics.prom"));
    let errors: u64 = report.errors.total;
    assert!(errors > 0);
    assert_eq!(sum(&read, "mcp_loadtest_errors_total", &[("tool", "echo")]), errors as f64);
    assert_eq!(
        sum(&read, "mcp_loadtest_calls_total", &[("scenario", "sustained")]),
        report.throughput.total_requests as f64
    );
    let times = "mcp_loadtest_response_time_seconds";
    let count = report.latency.count as f64;
    assert_eq!(sum(&read, &format!("{times}_bucket"), &[("le", "+Inf")]), count);
    assert_eq!(sum(&read, &format!("{times}_count"), &[("tool", "echo")]), count);
    let mean = sum(&read, &format!("{times}_sum"), &[]) / count;
    assert!(close_to(mean * 1e9, report.latency.mean), "{mean}");
    let unit = |sample: &&Value| sample["name"] == format!("{times}_count").as_str();
    let sample = read.as_array().expect("a list").iter().find(unit).expect("it is there");
    assert_eq!((&sample["unit"], &sample["type"]), (&json!("seconds"), &json!("histogram")));
}

#[tokio::test]
async fn a_server_cannot_write_lines_into_files_for_other_tools() {
    let name = "a\"} 1\n# EOF\nfake{b=\"\\\u{202e}";
    let (report, _parent) = run(Run::new(server_with(&[name]), load(&[name]))).await;
    assert_eq!(report.tools[0].name, name);
    let read = read_by(READ_METRICS, &dir(&report).join("metrics.prom"));
    let samples = read.as_array().expect("a list");
    assert!(samples.iter().all(|sample| {
        sample["name"].as_str().is_some_and(|name| name.starts_with("mcp_loadtest_"))
    }));
    assert!(report.throughput.total_requests > 0);
    assert_eq!(
        sum(&read, "mcp_loadtest_calls_total", &[]),
        report.throughput.total_requests as f64
    );
    let read = read_by(READ_LOG, &dir(&report).join("latency.hlog"));
    assert_eq!(read["tags"].as_object().expect("tags").len(), 2, "{read:#}");
    assert_eq!(read["tags"]["all"]["count"], report.latency.count);
}

fn lines(report: &Report) -> Vec<Value> {
    let text = fs::read_to_string(&report.trace_path).expect("the trace");
    text.lines().map(|line| serde_json::from_str(line).expect("every line is JSON")).collect()
}

fn load_calls(lines: &[Value], kind: &str) -> Vec<u64> {
    let calls = lines.iter().filter(|line| line["kind"] == kind && line["phase"] == "load");
    let mut ids: Vec<_> = calls.map(|line| line["request_id"].as_u64().expect("an id")).collect();
    ids.sort_unstable();
    ids
}

#[tokio::test]
async fn a_trace_of_errors_has_failed_calls_with_their_request_and_says_that_it_has_holes() {
    let server = mock("mock-crash").env("MOCK_CRASH_RATE", "0.05").env("MOCK_SEED", "2");
    let (report, _parent) = run(Run::new(server, load(&["echo"])).with_trace(Trace::Errors)).await;
    let (trace, ok) = (lines(&report), report.throughput.successful_requests);
    assert!(ok > 0 && report.errors.total > 0, "{:?}", report.errors);
    // The live report has every call, whatever the trace has.
    assert!(report.finding("accounting_open").is_none(), "{:#?}", report.findings);
    assert!(load_calls(&trace, "response").is_empty());
    assert_eq!(load_calls(&trace, "error").len() as u64, report.errors.total);
    assert_eq!(load_calls(&trace, "request"), load_calls(&trace, "error"));
    assert!(trace.iter().any(|line| line["kind"] == "process_sample"));
    assert_eq!(report.trace_events, trace.len() as u64);
    assert_eq!((report.trace.calls - report.trace.kept_calls, report.trace.lost_lines), (ok, 0));
    let text = fs::read_to_string(dir(&report).join("report.md")).expect("the report");
    assert!(text.contains(": errors, "), "{text}");
    let saved = SavedRun::open(dir(&report)).expect("a run");
    assert_eq!(saved.report().expect("the metrics"), report);
    let error = saved.report_from_trace().expect_err("it has holes");
    let SavedError::Holes { has_metrics: true, .. } = &error else { panic!("{error}") };
    assert!(error.to_string().contains(&format!("{ok} calls were left out")), "{error}");
    assert!(error.hint().expect("a hint").contains("--trace full"));
    fs::remove_file(dir(&report).join("metrics.json")).expect("it is there");
    let error = saved.report().expect_err("neither has all numbers");
    assert!(matches!(error, SavedError::Holes { has_metrics: false, .. }), "{error}");
}

#[tokio::test]
async fn a_trace_of_errors_without_a_good_call_has_no_holes() {
    let server = mock("mock-error");
    let (report, _parent) = run(Run::new(server, load(&["echo"])).with_trace(Trace::Errors)).await;
    assert_eq!((report.throughput.successful_requests, report.trace.is_whole()), (0, true));
    let saved = SavedRun::open(dir(&report)).expect("a run");
    assert_eq!(saved.report_from_trace().expect("everything is there"), report);
}

#[tokio::test]
async fn the_usual_trace_has_everything_at_a_usual_rate() {
    let load = Scenario::sustained().rate(200.0).duration(Duration::from_secs(1)).tool("echo");
    let (report, _parent) = run(Run::new(mock("mock-normal"), load)).await;
    assert_eq!(report.trace.mode, Trace::Sampled);
    assert!(report.trace.is_whole(), "{:?}", report.trace);
    let saved = SavedRun::open(dir(&report)).expect("a run");
    assert_eq!(saved.report_from_trace().expect("it is whole"), report);
}
