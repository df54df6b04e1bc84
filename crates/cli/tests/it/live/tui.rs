//! `run --tui` as somebody at a terminal sees it.

use std::fs;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::Value;

use super::terminal::Terminal;
use crate::{
    harness::{mock, run},
    process::wait_for_calls,
};

fn command(flags: &str) -> String {
    format!(
        "{} run -s '{}' --tool echo --args '{{\"text\":\"hi\"}}' {flags} --tui; echo code $?",
        env!("CARGO_BIN_EXE_mcp-loadtest"),
        mock("mock-normal.py")
    )
}

#[test]
fn a_run_is_watched_paused_and_ended() {
    let dir = tempfile::tempdir().unwrap();
    let terminal = Terminal::open(dir.path(), (100, 30));
    terminal.type_line(&command("--rate 50/s --duration 600s"));

    let screen = terminal.wait("calls", |screen| {
        screen.contains("of 50/s asked for") && screen.contains("echo ") && has_a_chart(screen)
    });
    for part in
        ["RUNNING", "Sustained, 50/s", "of 10:00", "p99.9", "in flight", "RSS", " Tools ", " Log "]
    {
        assert!(screen.contains(part), "{part} is missing:\n{screen}");
    }
    assert!(terminal.is_taken());

    terminal.press("?");
    terminal.wait("the help", |screen| screen.contains("end the run and write its report"));
    terminal.press("Escape");
    terminal.wait("no help", |screen| !screen.contains("write its report"));

    terminal.press("p");
    terminal.wait("the pause", |screen| {
        screen.contains("PAUSED") && screen.contains("in flight 0") && screen.contains("0.0/s")
    });
    terminal.press("p");
    terminal.wait("calls again", |screen| {
        screen.contains("RUNNING") && screen.contains("held for") && !screen.contains(" 0.0/s")
    });

    for size in [(40, 12), (12, 3), (200, 60), (100, 30)] {
        terminal.resize(size);
        terminal.wait("the new size", |screen| {
            let lines: Vec<&str> = screen.lines().collect();
            lines.len() <= usize::from(size.1) && screen.contains("RUNNING")
        });
    }

    terminal.press("q");
    terminal.wait("the end", |screen| screen.contains("code 130"));
    assert!(!terminal.is_taken(), "the screen is as before");
    terminal.type_line("echo still $((40+2))");
    terminal.wait("what is typed", |screen| {
        screen.contains("echo still $((40+2))") && screen.contains("still 42")
    });
    the_report_knows_of_the_pause(dir.path());
}

/// Whether a panel has a bar in it, of whatever height.
fn has_a_chart(screen: &str) -> bool {
    screen.lines().any(|line| line.starts_with('│') && line.contains(|c| ('▁'..='█').contains(&c)))
}

/// The schedule waited with the load: what was asked for was sent, and the pause is told.
fn the_report_knows_of_the_pause(dir: &std::path::Path) {
    let run = fs::read_dir(dir.join("runs")).unwrap().next().unwrap().unwrap().path();
    let metrics = fs::read_to_string(run.join("metrics.json")).unwrap();
    let metrics: Value = serde_json::from_str(&metrics).unwrap();
    let pause = &metrics["pauses"][0];
    let (from, to) = (pause["from"].as_f64().unwrap(), pause["to"].as_f64().unwrap());
    assert!(from > 0.0 && to > from, "{pause}");
    let validity = &metrics["validity"];
    let (asked, sent) = (&validity["asked_per_sec"], &validity["offered_per_sec"]);
    assert!((asked.as_f64().unwrap() - 50.0).abs() < 0.5, "{validity}");
    assert!((sent.as_f64().unwrap() - 50.0).abs() < 5.0, "{validity}");
    let report = fs::read_to_string(run.join("report.md")).unwrap();
    assert!(report.contains("The load was paused by hand (1 time"), "{report}");
}

#[test]
fn the_terminal_is_given_back_by_a_signal_and_by_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let terminal = Terminal::open(dir.path(), (90, 24));
    let line = command("--concurrent 2 --duration 600s");
    terminal.type_line(&line.replacen("run", "run -o signalled", 1));
    terminal.wait("calls", |screen| screen.contains("RUNNING"));
    wait_for_calls(&dir.path().join("signalled"));
    kill_process(Pid::from_raw(terminal.child()).unwrap(), Signal::TERM).unwrap();
    let screen = terminal.wait("the end", |screen| screen.contains("code 130"));
    assert!(!terminal.is_taken(), "{screen}");
    terminal.type_line("clear");

    let broken = format!(
        "{} run -s false --tool echo --tui; echo code $?",
        env!("CARGO_BIN_EXE_mcp-loadtest")
    );
    terminal.type_line(&broken);
    let screen = terminal.wait("the error", |screen| screen.contains("code 2"));
    assert!(screen.contains("error:") && !terminal.is_taken(), "{screen}");
}

#[test]
fn what_finds_its_steps_as_it_goes_cannot_be_paused() {
    let dir = tempfile::tempdir().unwrap();
    let terminal = Terminal::open(dir.path(), (90, 24));
    terminal.type_line(&command("--scenario capacity --hold 300s --p99-latency 1s"));
    terminal.wait("calls", |screen| screen.contains("RUNNING"));
    terminal.press("p");
    terminal.wait("the refusal", |screen| screen.contains("cannot be paused"));
    terminal.press("C-c");
    terminal.wait("the end", |screen| screen.contains("code 130"));
}

#[test]
fn without_a_terminal_there_is_a_hint() {
    let ran = run(&["run", "-s", &mock("mock-normal.py"), "--tool", "echo", "--tui"]);
    assert_eq!(ran.code, 2, "{}", ran.err);
    assert!(ran.err.contains("needs a terminal") && ran.err.contains("--web"), "{}", ran.err);
}
