//! `--otlp`, against a collector that checks what it gets by the names of the published protocol.

use std::{
    collections::BTreeMap,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::TcpListener,
    thread::JoinHandle,
};

use serde_json::{Value, json};

use crate::{
    abuse::secrets::{CANARY, tells},
    harness::{mock, run},
};

/// Takes this many documents and gives them back by their path.
fn collector(
    documents: usize,
    answer: &'static str,
) -> (String, JoinHandle<BTreeMap<String, Value>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let thread = std::thread::spawn(move || {
        let take = |_| {
            let (stream, _) = listener.accept().unwrap();
            let mut reader = BufReader::new(stream);
            let (mut first, mut length) = (String::new(), 0);
            reader.read_line(&mut first).unwrap();
            loop {
                let mut line = String::new();
                reader.read_line(&mut line).unwrap();
                if let Some(value) = line.strip_prefix("content-length: ") {
                    length = value.trim().parse().unwrap();
                }
                if line == "\r\n" {
                    break;
                }
            }
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            reader.into_inner().write_all(answer.as_bytes()).unwrap();
            let path = first.split(' ').nth(1).unwrap().to_owned();
            (path, serde_json::from_slice(&body).unwrap())
        };
        (0..documents).map(take).collect()
    });
    (url, thread)
}

const OK: &str = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 21\r\n\r\n{\"partialSuccess\":{}}";

/// The messages of opentelemetry-proto that we use, as their JSON form: nothing else may be in them.
fn schema(root: &str) -> Value {
    let object = |properties: Value, required: &[&str]| json!({ "type": "object", "additionalProperties": false, "properties": properties, "required": required });
    let list = |of: &str| json!({ "type": "array", "items": { "$ref": format!("#/$defs/{of}") } });
    let of = |of: &str| json!({ "$ref": format!("#/$defs/{of}") });
    let (number, word) = (json!({ "type": "number" }), json!({ "type": "string" }));
    let fixed64 = json!({ "type": "string", "pattern": "^[0-9]+$" });
    let hex =
        |digits: u32| json!({ "type": "string", "pattern": format!("^[0-9a-f]{{{digits}}}$") });
    json!({ "$ref": format!("#/$defs/{root}"), "$defs": {
        "ExportMetricsServiceRequest": object(json!({ "resourceMetrics": list("ResourceMetrics") }), &["resourceMetrics"]),
        "ResourceMetrics": object(json!({ "resource": of("Resource"), "scopeMetrics": list("ScopeMetrics") }), &["resource", "scopeMetrics"]),
        "ScopeMetrics": object(json!({ "scope": of("Scope"), "metrics": list("Metric") }), &["metrics"]),
        "Metric": object(json!({ "name": word, "description": word, "unit": word, "histogram": of("Histogram"), "sum": of("Sum") }), &["name", "unit"]),
        "Histogram": object(json!({ "aggregationTemporality": { "const": 2 }, "dataPoints": list("HistogramDataPoint") }), &["aggregationTemporality", "dataPoints"]),
        "Sum": object(json!({ "aggregationTemporality": { "const": 2 }, "isMonotonic": { "const": true }, "dataPoints": list("NumberDataPoint") }), &["aggregationTemporality", "dataPoints"]),
        "HistogramDataPoint": object(json!({
            "attributes": list("KeyValue"), "startTimeUnixNano": fixed64, "timeUnixNano": fixed64, "count": fixed64, "sum": number,
            "bucketCounts": { "type": "array", "items": fixed64 }, "explicitBounds": { "type": "array", "items": number }, "min": number, "max": number,
        }), &["timeUnixNano", "count", "bucketCounts", "explicitBounds"]),
        "NumberDataPoint": object(json!({ "attributes": list("KeyValue"), "startTimeUnixNano": fixed64, "timeUnixNano": fixed64, "asInt": fixed64 }), &["timeUnixNano", "asInt"]),
        "ExportTraceServiceRequest": object(json!({ "resourceSpans": list("ResourceSpans") }), &["resourceSpans"]),
        "ResourceSpans": object(json!({ "resource": of("Resource"), "scopeSpans": list("ScopeSpans") }), &["resource", "scopeSpans"]),
        "ScopeSpans": object(json!({ "scope": of("Scope"), "spans": list("Span") }), &["spans"]),
        "Span": object(json!({
            "traceId": hex(32), "spanId": hex(16), "parentSpanId": hex(16), "name": word, "kind": { "enum": [1, 3] },
            "startTimeUnixNano": fixed64, "endTimeUnixNano": fixed64, "attributes": list("KeyValue"), "status": of("Status"),
        }), &["traceId", "spanId", "name", "startTimeUnixNano", "endTimeUnixNano"]),
        "Status": object(json!({ "code": { "const": 2 }, "message": word }), &[]),
        "Resource": object(json!({ "attributes": list("KeyValue") }), &["attributes"]),
        "Scope": object(json!({ "name": word, "version": word }), &["name"]),
        "KeyValue": object(json!({ "key": word, "value": object(json!({ "stringValue": word }), &["stringValue"]) }), &["key", "value"]),
    }})
}

fn validate(root: &str, document: &Value) {
    let validator = jsonschema::validator_for(&schema(root)).unwrap();
    let errors: Vec<_> = validator.iter_errors(document).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:#?}\n{document:#}");
}

fn attribute<'a>(of: &'a Value, key: &str) -> Option<&'a str> {
    let attributes = of["attributes"].as_array()?.iter();
    attributes
        .filter(|pair| pair["key"] == key)
        .find_map(|pair| pair["value"]["stringValue"].as_str())
}

#[test]
fn a_run_is_exported_with_the_names_of_the_conventions() {
    let (url, collected) = collector(2, OK);
    let ran = run(&[
        "run",
        "-s",
        &mock("mock-error.py"),
        "--duration",
        "500ms",
        "--tool",
        "echo",
        "--json",
        "--otlp",
        &url,
    ]);
    let summary: Value =
        serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{}{}", ran.out, ran.err));
    let collected = collected.join().unwrap();
    let (metrics, traces) = (&collected["/v1/metrics"], &collected["/v1/traces"]);
    validate("ExportMetricsServiceRequest", metrics);
    validate("ExportTraceServiceRequest", traces);
    let metrics = metrics["resourceMetrics"][0]["scopeMetrics"][0]["metrics"].as_array().unwrap();
    let metric = |name: &str| metrics.iter().find(|metric| metric["name"] == name).unwrap();
    let duration = &metric("mcp.client.operation.duration")["histogram"]["dataPoints"][0];
    let requests = summary["requests"].as_u64().unwrap();
    assert!(requests > 0);
    assert_eq!(duration["count"], requests.to_string());
    let buckets = duration["bucketCounts"].as_array().unwrap();
    assert_eq!(buckets.len(), duration["explicitBounds"].as_array().unwrap().len() + 1);
    let counted: u64 =
        buckets.iter().map(|count| count.as_str().unwrap().parse::<u64>().unwrap()).sum();
    assert_eq!(counted, requests);
    assert_eq!(attribute(duration, "network.transport"), Some("pipe"));
    let calls = &metric("mcp_loadtest.calls")["sum"]["dataPoints"][0];
    assert_eq!(attribute(calls, "gen_ai.tool.name"), Some("echo"));
    assert_eq!(attribute(calls, "mcp.method.name"), Some("tools/call"));
    let spans = traces["resourceSpans"][0]["scopeSpans"][0]["spans"].as_array().unwrap();
    assert!(spans.len() > 1 && spans.len() <= 2_001, "{}", spans.len());
    assert_eq!(spans[0]["name"], "mcp-loadtest sustained");
    let call = &spans[1];
    assert_eq!(
        (&call["name"], &call["kind"], &call["parentSpanId"]),
        (&json!("tools/call echo"), &json!(3), &spans[0]["spanId"])
    );
    assert_eq!(call["status"]["code"], 2);
    let code = attribute(call, "error.type").unwrap();
    assert_eq!(attribute(call, "rpc.response.status_code"), Some(code));
    assert!(code.starts_with("-32"), "{code}");
    assert!(attribute(call, "jsonrpc.request.id").is_some());
}

#[test]
fn a_collector_that_refuses_or_is_not_there_is_an_error_after_the_report() {
    let (url, collected) =
        collector(1, "HTTP/1.1 400 Bad Request\r\ncontent-length: 7\r\n\r\nno such");
    let gone = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    for (url, why) in [(url, "400 Bad Request"), (format!("http://{gone}"), "refused")] {
        let server = mock("mock-normal.py");
        let ran =
            run(&["run", "-s", &server, "--duration", "200ms", "--tool", "echo", "--otlp", &url]);
        assert_eq!(ran.code, 2, "{}", ran.err);
        assert!(ran.out.starts_with("PASS"), "{}", ran.out);
        assert!(ran.err.contains("cannot export") && ran.err.contains(why), "{}", ran.err);
    }
    collected.join().unwrap();
}

/// A server that tells its secret in every name and failure: what is exported has it masked.
#[test]
fn a_secret_that_a_server_tells_is_not_exported() {
    let (url, collected) = collector(2, OK);
    let (server, variable) = (mock("hostile-secrets.py"), format!("API_TOKEN={CANARY}"));
    let load = ["run", "-s", &server, "--duration", "300ms", "--tool", "echo"];
    run(&[&load[..], &["--env", &variable, "--otlp", &url]].concat());
    let collected = collected.join().unwrap();
    let told = serde_json::to_string(&collected).unwrap();
    assert!(!tells(&told), "{told}");
    assert!(told.contains("***"), "what the server told is there, masked: {told}");
}
