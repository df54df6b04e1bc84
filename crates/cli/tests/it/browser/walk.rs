//! The pages for those who have no mouse, or do not see them.

use std::path::Path;

use serde_json::Value;

use super::{page_of, page_of_a_gateway, plots::faulty_run, see};
use crate::{
    harness::{mock, run_in},
    suite::Bench,
};

/// Every part that can be used has a name, a ring when it is reached, and is reached; no rule of WCAG that
/// a machine can check is broken, neither in light nor in dark colours.
fn walked(file: &Path) -> Vec<String> {
    let seen = see("walk", file);
    assert_eq!(seen["missed"], Value::Array(Vec::new()), "out of reach in {}", file.display());
    assert_eq!(seen["against"], Value::Array(Vec::new()), "{}", file.display());
    let stops = seen["stops"].as_array().unwrap();
    let stop = |stop: &Value| {
        let name = stop["name"].as_str().unwrap().to_owned();
        assert!(stop["ring"] == true && !name.is_empty(), "{stop:#}");
        name
    };
    stops.iter().map(stop).collect()
}

#[test]
fn a_report_can_be_walked() {
    let dir = tempfile::tempdir().unwrap();
    faulty_run(dir.path());
    let stops = walked(&page_of(dir.path()));
    assert_eq!(stops[0], "To the plots", "what is long can be skipped: {stops:?}");
    for part in ["Zoom in", "Numbers of this plot", "Table: Faults at work: the numbers"] {
        assert!(stops.iter().any(|stop| stop.starts_with(part)), "{part} is missing: {stops:?}");
    }
}

#[test]
fn a_comparison_can_be_walked() {
    let dir = tempfile::tempdir().unwrap();
    let server = mock("mock-normal.py");
    let servers = ["run", "-s", &server, "-s", &server, "--tool", "echo", "--concurrent", "1"];
    let length = ["--think-time", "5ms", "--duration", "1s", "--repeat", "3", "-q"];
    let ran = run_in(dir.path(), &[servers.as_slice(), &length].concat());
    let file = ran.out.lines().find_map(|line| line.strip_prefix("Page: ")).unwrap();
    let stops = walked(file.as_ref());
    assert!(stops.iter().any(|stop| stop == "report of b, round 3"), "{stops:?}");
}

const SUITE: &str = r#"
servers:
  api:
    mock:
      tools:
        - {name: search, response: 'Latest incident: INC-7731'}
faults:
  - {name: hung, target: {tool: search}, kind: hang}
agents:
  - name: careless
    model: scripted:fabricator
    servers: [api]
    prompt: Search for the latest incident report.
    inject: [hung]
    recovery: {max_detection_ms: 3000}
"#;

#[test]
fn the_page_of_a_suite_can_be_walked() {
    let bench = Bench::new(SUITE);
    let ran = bench.test(&["--html", "page.html"]);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    let stops = walked(&bench.path().join("page.html"));
    assert!(stops.iter().any(|stop| stop == "Calls one by one"), "{stops:?}");
}

#[test]
fn the_page_of_a_gateway_can_be_walked() {
    let dir = tempfile::tempdir().unwrap();
    walked(&page_of_a_gateway(dir.path()));
}
