//! A report as OTLP documents, by the MCP conventions of OpenTelemetry where they have a name for it.
//!
//! Their JSON has names in lowerCamelCase, 64-bit numbers as text, ids in hexadecimal and enums as
//! numbers.

use std::time::{Duration, SystemTime};

use mcp_loadtest::{ErrorCategory, Report};
use mcp_loadtest_core::{
    display::visible,
    event::{Event, Phase},
    report::LatencyStats,
};
use serde_json::{Value, json};

/// The buckets that the conventions ask for, in seconds.
const BOUNDS: [f64; 14] =
    [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0];
const CUMULATIVE: u8 = 2;
const KIND_INTERNAL: u8 = 1;
const KIND_CLIENT: u8 = 3;
const STATUS_ERROR: u8 = 2;
/// How much of a text from the server is sent.
const LONGEST_TEXT: usize = 200;

/// A load call that has ended.
#[derive(Debug, Clone)]
pub(super) struct Ended {
    request_id: u64,
    method: String,
    tool: Option<String>,
    started: Duration,
    ended: Duration,
    failure: Option<(ErrorCategory, Option<i64>, String)>,
}

impl Ended {
    /// The call whose end this event is.
    pub(super) fn of(event: &Event<'_>) -> Option<Self> {
        let (call, ended, failure) = match event {
            Event::Response { call, at, .. } => (call, *at, None),
            Event::Error { call, at, failure } => {
                let told = (failure.category, failure.code, failure.message.to_string());
                (call, *at, Some(told))
            }
            _ => return None,
        };
        (call.phase == Phase::Load).then(|| Self {
            request_id: call.request_id,
            method: call.method.to_string(),
            tool: call.tool.as_ref().map(ToString::to_string),
            started: call.started,
            ended,
            failure,
        })
    }
}

/// `ExportMetricsServiceRequest`.
pub(super) fn metrics(report: &Report) -> Value {
    let times = |stats: &LatencyStats, attributes: Vec<Value>| point(report, stats, attributes);
    let by_tool = |tool: &mcp_loadtest_core::report::ToolStats| {
        times(&tool.latency, tool_attributes(report, &tool.name))
    };
    let calls = report
        .tools
        .iter()
        .map(|tool| count(report, tool.total_requests, tool_attributes(report, &tool.name)));
    let errors = report.tools.iter().flat_map(|tool| {
        tool.errors.iter().map(|(category, failed)| {
            let mut attributes = tool_attributes(report, &tool.name);
            attributes.push(text("error.type", error_type(*category, None)));
            count(report, *failed, attributes)
        })
    });
    let all = [
        histogram(
            "mcp.client.operation.duration",
            "from when a call was sent until it ended",
            vec![times(&report.service, common(report))],
        ),
        histogram(
            "mcp_loadtest.response.duration",
            "from when a call was due until it ended",
            report.tools.iter().map(by_tool).collect(),
        ),
        sum("mcp_loadtest.calls", "{call}", calls.collect()),
        sum("mcp_loadtest.errors", "{call}", errors.collect()),
        sum("mcp_loadtest.dropped", "{call}", vec![count(report, report.dropped, common(report))]),
        sum(
            "mcp_loadtest.hangs",
            "{call}",
            vec![count(report, report.hang_count.into(), common(report))],
        ),
        sum(
            "mcp_loadtest.deadlocks",
            "{call}",
            vec![count(report, report.deadlock_count.into(), common(report))],
        ),
    ];
    json!({ "resourceMetrics": [{
        "resource": resource(report),
        "scopeMetrics": [{ "scope": scope(), "metrics": all }],
    }]})
}

/// `ExportTraceServiceRequest`: the run, and calls of it as its children.
pub(super) fn spans(report: &Report, calls: &[Ended]) -> Value {
    let trace_id = format!("{:032x}", fingerprint(&report.run_id));
    let root = span_id(0);
    let mut spans = vec![json!({
        "traceId": trace_id,
        "spanId": root,
        "name": format!("mcp-loadtest {}", report.scenario_kind.name().as_str()),
        "kind": KIND_INTERNAL,
        "startTimeUnixNano": unix_nanos(report, Duration::ZERO),
        "endTimeUnixNano": unix_nanos(report, report.duration),
        "attributes": [text("mcp_loadtest.verdict", report.verdict.name())],
        "status": {},
    })];
    for (index, call) in calls.iter().enumerate() {
        let target = call.tool.as_deref().map(|tool| format!(" {}", visible(tool, LONGEST_TEXT)));
        spans.push(json!({
            "traceId": trace_id,
            "spanId": span_id(index as u64 + 1),
            "parentSpanId": root,
            "name": format!("{}{}", call.method, target.unwrap_or_default()),
            "kind": KIND_CLIENT,
            "startTimeUnixNano": unix_nanos(report, call.started),
            "endTimeUnixNano": unix_nanos(report, call.ended),
            "attributes": call_attributes(report, call),
            "status": status(call),
        }));
    }
    json!({ "resourceSpans": [{
        "resource": resource(report),
        "scopeSpans": [{ "scope": scope(), "spans": spans }],
    }]})
}

fn call_attributes(report: &Report, call: &Ended) -> Vec<Value> {
    let mut attributes = common(report);
    attributes.push(text("mcp.method.name", &call.method));
    attributes.push(text("jsonrpc.request.id", &call.request_id.to_string()));
    if let Some(tool) = &call.tool {
        attributes.push(text("gen_ai.tool.name", tool));
        attributes.push(text("gen_ai.operation.name", "execute_tool"));
    }
    if let Some((category, code, _)) = &call.failure {
        let code = code.map(|code| code.to_string());
        attributes.push(text("error.type", error_type(*category, code.as_deref())));
        if let Some(code) = &code {
            attributes.push(text("rpc.response.status_code", code));
        }
    }
    attributes
}

fn status(call: &Ended) -> Value {
    match &call.failure {
        Some((_, _, message)) => {
            json!({ "code": STATUS_ERROR, "message": visible(message, LONGEST_TEXT) })
        }
        None => json!({}),
    }
}

/// The conventions name the code of a JSON-RPC error, and tools that failed; the rest is ours.
fn error_type(category: ErrorCategory, code: Option<&str>) -> &str {
    match (category, code) {
        (_, Some(code)) => code,
        (ErrorCategory::ToolError, None) => "tool_error",
        (other, None) => other.name(),
    }
}

fn resource(report: &Report) -> Value {
    json!({ "attributes": [
        text("service.name", "mcp-loadtest"),
        text("service.version", env!("CARGO_PKG_VERSION")),
        text("service.instance.id", &report.run_id),
        text("mcp_loadtest.scenario", report.scenario_kind.name().as_str()),
        text("mcp_loadtest.server", &report.server_info.target),
    ]})
}

fn scope() -> Value {
    json!({ "name": "mcp-loadtest", "version": env!("CARGO_PKG_VERSION") })
}

/// What is true of every call of the run.
fn common(report: &Report) -> Vec<Value> {
    let pipe = report.server_info.transport == "stdio";
    let mut attributes = vec![text("network.transport", if pipe { "pipe" } else { "tcp" })];
    if let Some(revision) = report.server_info.revision {
        attributes.push(text("mcp.protocol.version", revision.as_str()));
    }
    attributes
}

/// A method that calls no tool stands for itself in a report; it has a slash, as no good tool has.
fn tool_attributes(report: &Report, name: &str) -> Vec<Value> {
    let mut attributes = common(report);
    if name.contains('/') {
        attributes.push(text("mcp.method.name", name));
    } else {
        attributes.push(text("mcp.method.name", "tools/call"));
        attributes.push(text("gen_ai.operation.name", "execute_tool"));
        attributes.push(text("gen_ai.tool.name", name));
    }
    attributes
}

fn text(key: &str, value: &str) -> Value {
    json!({ "key": key, "value": { "stringValue": visible(value, LONGEST_TEXT) } })
}

fn histogram(name: &str, description: &str, points: Vec<Value>) -> Value {
    json!({
        "name": name,
        "description": description,
        "unit": "s",
        "histogram": { "aggregationTemporality": CUMULATIVE, "dataPoints": points },
    })
}

fn sum(name: &str, unit: &str, points: Vec<Value>) -> Value {
    json!({
        "name": name,
        "unit": unit,
        "sum": { "aggregationTemporality": CUMULATIVE, "isMonotonic": true, "dataPoints": points },
    })
}

fn count(report: &Report, number: u64, attributes: Vec<Value>) -> Value {
    json!({
        "attributes": attributes,
        "startTimeUnixNano": unix_nanos(report, Duration::ZERO),
        "timeUnixNano": unix_nanos(report, report.duration),
        "asInt": number.to_string(),
    })
}

fn point(report: &Report, stats: &LatencyStats, attributes: Vec<Value>) -> Value {
    let times = &stats.histogram;
    let within = |bound: f64| times.count_between(0, (bound * 1e9) as u64);
    let mut below = 0;
    let mut buckets: Vec<String> = BOUNDS
        .iter()
        .map(|bound| {
            let before = std::mem::replace(&mut below, within(*bound));
            (below - before).to_string()
        })
        .collect();
    buckets.push((times.len() - below).to_string());
    let mut point = json!({
        "attributes": attributes,
        "startTimeUnixNano": unix_nanos(report, Duration::ZERO),
        "timeUnixNano": unix_nanos(report, report.duration),
        "count": times.len().to_string(),
        "sum": 0.0,
        "bucketCounts": buckets,
        "explicitBounds": BOUNDS,
    });
    if !times.is_empty() {
        point["sum"] = json!(times.mean() * times.len() as f64 / 1e9);
        point["min"] = json!(stats.min.as_secs_f64());
        point["max"] = json!(stats.max.as_secs_f64());
    }
    point
}

fn unix_nanos(report: &Report, at: Duration) -> String {
    let since = report.started_at.duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    since.saturating_add(at).as_nanos().to_string()
}

/// Ids must not be zero.
fn span_id(index: u64) -> String {
    format!("{:016x}", index + 1)
}

/// FNV-1a: the same run has the same trace, another run another one.
fn fingerprint(text: &str) -> u128 {
    const START: u128 = 0x6c62_272e_07bb_0142_62b8_2175_6295_c58d;
    const PRIME: u128 = 0x0000_0000_0100_0000_0000_0000_0000_013b;
    text.bytes().fold(START, |hash, byte| (hash ^ u128::from(byte)).wrapping_mul(PRIME)).max(1)
}
