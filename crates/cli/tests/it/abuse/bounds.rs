//! However much a server sends, we do not grow with it.

use std::process::{Child, Stdio};

use crate::{
    harness::mock,
    process::{binary, listening_mock},
};

/// What we promise to need at most, whatever the server does. A megabyte for each caller and what
/// `--max-message` allows for each reply under way are extra, and counted nowhere here: it is enough for
/// the few callers of these tests.
const MOST_MB: u64 = 300;

#[expect(clippy::disallowed_methods, reason = "memory of another process is looked at in turns")]
/// Waits for the end and gives the most memory that the process ever held, in megabytes.
fn peak_mb(mut child: Child) -> (u64, Option<i32>) {
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    loop {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let kilobytes = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
        peak = kilobytes.map_or(peak, |now| peak.max(now / 1024));
        if let Some(status) = child.try_wait().unwrap() {
            return (peak, status.code());
        }
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

const CALLS: &[&str] = &["deadlock-probe", "--tool", "echo", "--concurrent", "4", "--json"];
const LISTS: &[&str] = &["probe", "--only", "unknown_tool,missing_required", "--json"];
const SILENT: &[&str] = &["--hang-threshold", "2s", "--grace-period", "1s"];

fn stays_small(what: &str, args: &[&[&str]]) {
    let dir = tempfile::tempdir().unwrap();
    let mut command = binary();
    command.args(args.concat()).current_dir(dir.path());
    let child = command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let (peak, code) = peak_mb(child);
    assert!(peak > 0 && peak < MOST_MB, "{what}: {peak} MB");
    assert!(matches!(code, Some(0..=2)), "{what}: {code:?}");
}

#[test]
fn memory_stays_small_over_pipes() {
    for (server, mode, command) in [
        ("hostile-silence.py", "endless_line", CALLS),
        ("hostile-silence.py", "flood", CALLS),
        ("hostile-silence.py", "flood", LISTS),
        ("hostile-silence.py", "deaf", CALLS),
        ("hostile-frames.py", "many_keys", CALLS),
        ("hostile-frames.py", "deep", CALLS),
        ("hostile-modern.py", "heavy_state", CALLS),
        ("mock-stderr-flood.py", "", CALLS),
    ] {
        let (server, mode) = (mock(server), format!("HOSTILE={mode}"));
        stays_small(
            &format!("{server} {mode}"),
            &[command, SILENT, &["-s", &server, "--env", &mode]],
        );
    }
}

#[test]
fn memory_stays_small_whatever_is_listed() {
    for mode in ["no_end", "heavy_pages", "heavy_cursors", "million", "schemas"] {
        let (server, env) = (mock("hostile-list.py"), format!("HOSTILE={mode}"));
        stays_small(mode, &[LISTS, &["-s", &server, "--env", &env]]);
    }
}

#[test]
fn memory_stays_small_over_http() {
    for (server, mode) in [
        ("hostile-stream.py", "endless_body"),
        ("hostile-stream.py", "comments"),
        ("hostile-http.py", "headers"),
        ("hostile-http.py", "gzip"),
        ("hostile-http.py", "endless_chunk"),
    ] {
        let server = listening_mock(server, &[("HOSTILE", mode)]);
        stays_small(mode, &[CALLS, SILENT, &["--url", &server.url]]);
    }
}
