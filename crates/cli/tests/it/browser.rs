//! `report.html` in a real browser: what a test of its text cannot see.

mod compared;
mod plots;
mod walk;

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use crate::{
    harness::{mock, run_in},
    suite::Bench,
};

/// The folder of an environment that `tests/env/testenv.py` installs.
pub(crate) fn environment(name: &str) -> PathBuf {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/env/testenv.py");
    let found = Command::new("python3").arg(&script).args(["path", name]).output().unwrap();
    assert!(
        found.status.success(),
        "the environment `{name}` is missing; install it with `python3 {} ensure {name}`",
        script.display()
    );
    String::from_utf8(found.stdout).unwrap().trim().into()
}

/// The page of the one run in this directory.
fn page_of(dir: &Path) -> PathBuf {
    let run = fs::read_dir(dir.join("runs")).unwrap().next().unwrap().unwrap();
    run.path().join("report.html")
}

/// What a browser sees of it.
fn look(dir: &Path) -> Value {
    see("look", &page_of(dir))
}

/// What a browser sees of a page.
fn see(how: &str, page: &Path) -> Value {
    assert!(fs::metadata(page).unwrap().len() < 500_000);
    let looked = Command::new("node")
        .arg(environment("browser").join("browser.mjs"))
        .arg(how)
        .arg(environment("chromium").join("bin/chromium"))
        .arg(page)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&looked.stderr);
    assert!(looked.status.success(), "{said}");
    let seen: Value = serde_json::from_slice(&looked.stdout).unwrap();
    assert_eq!(seen["errors"], Value::Array(Vec::new()), "{said}");
    assert_eq!(seen["still"]["errors"], Value::Array(Vec::new()));
    seen
}

fn range(seen: &Value) -> (f64, f64) {
    (seen[0].as_f64().unwrap(), seen[1].as_f64().unwrap())
}

/// All plots over time have something in them, and follow the part that was chosen in one of them.
fn drawn(seen: &Value) {
    let (plots, brushed) = (&seen["plots"], &seen["brushed"]["plots"]);
    let count = plots.as_array().unwrap().len();
    assert!(count >= 5, "{count} plots");
    for at in 0..count {
        assert!(plots[at]["filled"].as_u64().unwrap() > 2_000, "plot {at} is blank");
        assert_ne!(plots[at]["print"], brushed[at]["print"], "plot {at} does not follow");
    }
}

#[test]
fn plots_are_drawn_and_follow_each_other() {
    let dir = tempfile::tempdir().unwrap();
    let server = mock("mock-normal.py");
    let args = ["run", "-s", &server, "--tool", "echo", "--rate", "50/s", "--duration", "5s"];
    let ran = run_in(dir.path(), &args);
    assert!(ran.out.contains("report.html"), "{}{}", ran.out, ran.err);
    let seen = look(dir.path());

    drawn(&seen);
    let (whole, part) = (range(&seen["whole"]), range(&seen["brushed"]["shown"]));
    assert!(part.0 > whole.0 && part.1 < whole.1, "{whole:?} to {part:?}");
    assert_eq!(range(&seen["again"]), whole, "the keyboard leads back");

    assert!(seen["rows"].as_u64().unwrap() >= 4, "the table of a plot has its rows");
    assert_ne!(seen["grounds"][0], seen["grounds"][1], "dark is another colour");
    assert_eq!(seen["page"]["unnamed"], 0, "every part has a name for those who do not see it");
    assert!(seen["narrow"].as_u64().unwrap() <= 390, "a telephone need not scroll sideways");
    assert!(seen["pdf"].as_u64().unwrap() > 10_000, "it can be printed");
    assert!(seen["still"]["pictures"].as_u64().unwrap() >= 6, "pictures need no script");
    assert_eq!(seen["still"]["buttons"], 0, "what needs a script is not shown without one");
}

/// Each name is markup that would set `window.hit`, show a picture or end the data of the page.
const HOSTILE: &str = r#"
import json, sys
NAMES = ["<img src=x onerror=window.hit=1>", "</script><script>window.hit=1</script>",
         "\"onmouseover=window.hit=1 x=\"", "a\u2028b<!--<script>", "${window.hit=1}`"]
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message: continue
    name = message.get("params", {}).get("name", "")
    result = {
        "initialize": {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}},
                       "serverInfo": {"name": NAMES[1], "version": NAMES[0]}},
        "tools/list": {"tools": [{"name": n, "inputSchema": {"type": "object"}} for n in NAMES]},
    }.get(message["method"], {"isError": True, "content": [{"type": "text", "text": name + NAMES[1]}]})
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"#;

#[test]
fn hostile_names_do_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let server = dir.path().join("server.py");
    fs::write(&server, HOSTILE).unwrap();
    let names = ["<img src=x onerror=window.hit=1>", "</script><script>window.hit=1</script>"];
    let config = format!(
        "[server]\ncommand = \"python3\"\nargs = [{server:?}]\n\
         [scenario]\ntype = \"sustained\"\nrate = \"40/s\"\nduration = \"4s\"\n{}",
        names
            .map(|name| format!("[[scenario.tool_call]]\nname = {name:?}\nargs = {{}}\n"))
            .concat()
    );
    fs::write(dir.path().join("bench.toml"), config).unwrap();
    let ran = run_in(dir.path(), &["run", "--config", "bench.toml"]);
    assert!(ran.out.contains("report.html"), "{}{}", ran.out, ran.err);
    let page = &look(dir.path())["page"];

    assert!(page["hit"].is_null(), "a script of the server's has run");
    assert_eq!((page["images"].as_u64(), page["scripts"].as_u64()), (Some(0), Some(2)));
    for name in names {
        assert!(page["text"].as_str().unwrap().contains(name), "{name} is shown as it is");
    }
}

/// The page of a gateway that holds events back.
fn page_of_a_gateway(dir: &Path) -> PathBuf {
    let script = mock("gateway.py");
    let script = script.strip_prefix("python3 ").unwrap();
    let flags = ["gateway", "--html", "page.html", "--only", "streaming,latency"];
    let command = ["--", "python3", script, "{upstream}", "buffer"];
    let ran = run_in(dir, &[flags.as_slice(), &command].concat());
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    dir.join("page.html")
}

#[test]
fn the_page_of_a_gateway_shows_the_delay_of_each_event() {
    let dir = tempfile::tempdir().unwrap();
    let page = &see("glance", &page_of_a_gateway(dir.path()))["page"];
    assert!(page["hit"].is_null() && page["unnamed"] == 0, "{page:#}");
    let text = page["text"].as_str().unwrap();
    for part in ["BROKEN", "buffered, they arrive together", "event 5", "p99 added", "Hint:"] {
        assert!(text.contains(part), "{part} is missing: {text}");
    }
    assert_eq!(page["pictures"], 2, "delays, and latency");
}

/// An agent that invents an answer after a fault, under a name that is markup.
const AGENT: &str = r#"
servers:
  api:
    mock:
      tools:
        - {name: search, response: 'Latest incident: INC-7731'}
faults:
  - {name: "<b>hung", target: {tool: search}, kind: hang}
agents:
  - name: "<img src=x onerror=window.hit=1>"
    model: scripted:fabricator
    servers: [api]
    prompt: Search for the latest incident report.
    inject: ["<b>hung"]
    recovery: {max_detection_ms: 3000}
"#;

#[test]
fn the_page_of_a_suite_shows_agents_by_faults() {
    let bench = Bench::new(AGENT);
    let ran = bench.test(&["--html", "page.html"]);
    assert_eq!(ran.code, 1, "{}{}", ran.out, ran.err);
    let page = &see("glance", &bench.path().join("page.html"))["page"];

    assert!(page["hit"].is_null() && page["images"] == 0 && page["unnamed"] == 0, "{page:#}");
    let text = page["text"].as_str().unwrap();
    for part in ["FAIL", "<img src=x onerror=window.hit=1>", "<b>hung", "fabricated", "Again:"] {
        assert!(text.contains(part), "{part} is missing: {text}");
    }
    assert_eq!(page["pictures"], 1, "what the agent did, in lanes");
}
