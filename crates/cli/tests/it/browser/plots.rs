//! The plots that a scenario of its own has, and the shades of faults.

use std::{fs, path::Path};

use serde_json::Value;

use super::{drawn, look, page_of, see};
use crate::harness::{mock, run_in};

/// The numbers of a plot, as a table of so many rows at least.
fn tabled(page: &Value, caption: &str, rows: u64) {
    let found = page["tables"][caption].as_u64();
    assert!(found >= Some(rows), "{caption}: {found:?} rows in {:#}", page["tables"]);
}

#[test]
fn calls_of_a_burst_are_bars_of_their_own() {
    let dir = tempfile::tempdir().unwrap();
    let server = mock("mock-slow.py");
    let args = ["run", "-s", &server, "--scenario", "deadlock_probe", "--concurrent", "6"];
    let load = ["--env", "MOCK_DELAY_S=0.05", "--tool", "echo"];
    let ran = run_in(dir.path(), &[args.as_slice(), &load].concat());
    assert!(ran.out.contains("report.html"), "{}{}", ran.out, ran.err);
    let page = &see("glance", &page_of(dir.path()))["page"];
    assert!(page["shapes"]["bar"].as_u64() >= Some(6), "{page:#}");
    tabled(page, "Calls released together: the numbers", 6);
    assert!(page["text"].as_str().unwrap().contains("6 calls were released together"), "{page:#}");
}

#[test]
fn a_burst_of_load_is_shaded_and_its_recovery_told() {
    let dir = tempfile::tempdir().unwrap();
    let server = mock("mock-normal.py");
    let args = ["run", "-s", &server, "--tool", "echo", "--scenario", "spike"];
    let load = ["--rate", "40/s", "--duration", "9s"];
    let ran = run_in(dir.path(), &[args.as_slice(), &load].concat());
    assert!(ran.out.contains("report.html"), "{}{}", ran.out, ran.err);
    let seen = look(dir.path());
    drawn(&seen);
    tabled(&seen["page"], "Disturbance and recovery: the numbers", 4);
    let text = seen["page"]["text"].as_str().unwrap();
    assert!(text.contains("Disturbance and recovery") && text.contains("the burst"), "{text}");
}

const FAULTS: [&str; 2] = ["tool-error@after=1s,until=3s", "slow:30@after=2s,until=4s"];
const HOSTILE: [&str; 2] = ["</script><img src=x onerror=window.hit=1>", "`${window.hit=1}`"];

/// A run against a mock with both faults, which writes them down.
pub(super) fn faulty_run(dir: &Path) {
    let [one, other] = FAULTS;
    let server = format!(
        "{} mock --audit jsonl:{}/log.jsonl --fault {one} --fault {other}",
        env!("CARGO_BIN_EXE_mcp-loadtest"),
        dir.display()
    );
    let args = ["run", "-s", &server, "--tool", "echo", "--rate", "50/s", "--duration", "6s"];
    let ran = run_in(dir, &[args.as_slice(), &["--audit", "log.jsonl"]].concat());
    assert!(ran.out.contains("report.html"), "{}{}", ran.out, ran.err);
}

#[test]
fn faults_are_shaded_in_every_plot_over_time_and_their_names_do_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    faulty_run(dir);
    // Whoever named the faults was no friend.
    let mut log = fs::read_to_string(dir.join("log.jsonl")).unwrap();
    for (name, hostile) in FAULTS.iter().zip(HOSTILE) {
        assert!(log.contains(name), "{log}");
        log = log.replace(name, hostile);
    }
    fs::write(dir.join("hostile.jsonl"), log).unwrap();
    let file = page_of(dir);
    let run = file.parent().unwrap().to_str().unwrap();
    let told = run_in(dir, &["report", run, "--audit", "hostile.jsonl", "--format", "html"]);
    fs::write(&file, told.out).unwrap();

    let seen = look(dir);
    drawn(&seen);
    let page = &seen["page"];
    assert!(page["hit"].is_null(), "a script of a fault's name has run");
    assert_eq!((page["images"].as_u64(), page["scripts"].as_u64()), (Some(0), Some(2)));
    tabled(page, "Faults at work: the numbers", 2);
    let plots = seen["plots"].as_array().unwrap();
    for (at, plot) in plots.iter().enumerate() {
        assert!(plot["tinted"].as_u64() > Some(200), "plot {at} is not shaded: {plot:#}");
    }
    // Each has both in its still picture, too.
    let stills = page["shapes"]["fault"].as_u64();
    assert!(stills >= Some(plots.len() as u64 * 2), "{:#}", page["shapes"]);
    let text = page["text"].as_str().unwrap();
    for part in ["Faults at work:", "F1 </script><img src=x onerror=window.hit=1>", "F2 `${window"]
    {
        assert!(text.contains(part), "{part} is missing: {text}");
    }
}
