//! What is shown, where it is shown.

use std::process::Command;

use rustix::process::{Pid, Signal, kill_process};

use super::against_in;
use crate::{
    harness::mock,
    live::terminal::Terminal,
    process::{binary, wait_for_calls},
};

const RUN: &[&str] = &["--tool", "echo", "--duration", "1s"];

/// Runs on a terminal of its own and gives what came to it.
fn on_a_terminal(variables: &[(&str, &str)]) -> String {
    let dir = tempfile::tempdir().unwrap();
    let open = "import pty, sys; pty.spawn(sys.argv[1:])";
    let ran = Command::new("python3")
        .args([
            "-c",
            open,
            env!("CARGO_BIN_EXE_mcp-loadtest"),
            "run",
            "-s",
            &mock("mock-normal.py"),
        ])
        .args(RUN)
        .current_dir(dir.path())
        .env_remove("NO_COLOR")
        .envs(variables.iter().copied())
        .stdin(std::process::Stdio::null())
        .output()
        .unwrap();
    String::from_utf8(ran.stdout).unwrap()
}

/// Colours, and nothing that moves the cursor.
fn colours(text: &str) -> usize {
    let codes = text.split("\x1b[").skip(1);
    codes
        .filter(|code| {
            code.trim_start_matches(|c: char| c.is_ascii_digit() || c == ';').starts_with('m')
        })
        .count()
}

#[test]
fn colours_and_cursors_are_for_terminals_that_want_them() {
    let wanted = on_a_terminal(&[("TERM", "xterm")]);
    assert!(colours(&wanted) > 0 && wanted.contains("PASS"), "{wanted:?}");
    let refused = on_a_terminal(&[("TERM", "xterm"), ("NO_COLOR", "1")]);
    assert!(colours(&refused) == 0 && refused.contains("PASS"), "{refused:?}");
    let dumb = on_a_terminal(&[("TERM", "dumb")]);
    assert!(!dumb.contains('\x1b') && dumb.contains("PASS"), "{dumb:?}");
}

#[test]
fn without_a_terminal_there_are_plain_lines() {
    let dir = tempfile::tempdir().unwrap();
    for variables in [&[("LANG", "C"), ("COLUMNS", "20")][..], &[("TERM", "xterm")]] {
        let ran = binary()
            .args(["run", "-s", &mock("mock-normal.py")])
            .args(RUN)
            .current_dir(dir.path())
            .envs(variables.iter().copied())
            .output()
            .unwrap();
        let out = String::from_utf8(ran.stdout).unwrap();
        let all = out.clone() + &String::from_utf8_lossy(&ran.stderr);
        assert!(!all.contains(['\x1b', '\r', '\x08']), "{all:?}");
        assert!(out.starts_with("PASS"), "{out}");
        // A path may be longer, everything else is wrapped.
        let long = out.lines().find(|line| line.chars().count() > 80 && !line.contains('/'));
        assert_eq!(long, None);
    }
}

/// Opened from a disk without a network it is whole: nothing in it leads anywhere.
#[test]
fn a_page_needs_nothing_from_elsewhere() {
    let dir = tempfile::tempdir().unwrap();
    let flags = ["run", "--tool", "echo", "--duration", "300ms", "--format", "html"];
    let ran = against_in(dir.path(), "mock-normal.py", "", &flags);
    assert_eq!(ran.code, 0, "{}", ran.err);
    let page = super::file_of_run(dir.path(), "report.html");
    assert!(page.contains("default-src 'none'"));
    for reach in
        ["src=", "href=\"http", "href='http", "@import", "url(", "fetch(", "XMLHttpRequest"]
    {
        assert!(!page.contains(reach), "{reach}");
    }
}

/// The terminal breaks the lines by itself; what moved while the run went on has gone without a trace.
#[test]
fn a_narrow_terminal_shows_the_report_and_nothing_of_what_moved() {
    let dir = tempfile::tempdir().unwrap();
    let runs = dir.path().join("runs");
    std::fs::create_dir(&runs).unwrap();
    let terminal = Terminal::open(dir.path(), (20, 100));
    let program = env!("CARGO_BIN_EXE_mcp-loadtest");
    let server = mock("mock-normal.py");
    terminal.type_line("clear");
    terminal.type_line(&format!(
        "'{program}' run -s '{server}' --tool echo --rate 20/s --duration 600s; echo code $?"
    ));
    terminal.wait("something that moves", |screen| screen.contains("sustained ["));
    wait_for_calls(&runs);
    kill_process(Pid::from_raw(terminal.child()).unwrap(), Signal::INT).unwrap();
    let screen = terminal.wait("the end", |screen| screen.contains("code 130"));
    assert!(screen.contains("Latency    p50"), "{screen}");
    assert!(!screen.contains("sustained ["), "{screen}");
}
