//! Those who look on while a server tells what it was given: a terminal, a browser and an agent.

use std::path::Path;

use serde_json::json;

use super::secrets::{CANARY, assert_files_keep, tells};
use crate::{
    harness::mock,
    live::{terminal::Terminal, web::Watched},
    process::fixture,
    serve::peer::Peer,
};

const TELLER: &str = "hostile-secrets.py";

fn variable() -> String {
    format!("API_TOKEN={CANARY}")
}

#[test]
fn a_terminal_does_not_show_it() {
    let dir = tempfile::tempdir().unwrap();
    // What is typed is on the screen, so the secret is given elsewhere.
    let terminal = Terminal::open(dir.path(), (160, 40));
    let elsewhere = tempfile::tempdir().unwrap();
    let config = client_file(elsewhere.path());
    terminal.type_line(&format!(
        "{} run --mcp-config {config} --name it --tool echo --rate 20/s --duration 600s --tui; \
         echo code $?",
        env!("CARGO_BIN_EXE_mcp-loadtest")
    ));
    let screen = terminal.wait("what it tells, masked", |screen| {
        screen.contains("RUNNING") && screen.contains("***")
    });
    assert!(!tells(&screen), "{screen}");
    terminal.press("q");
    let screen = terminal.wait("the end", |screen| screen.contains("code 1"));
    assert!(!tells(&screen), "{screen}");
    assert_files_keep(&dir.path().join("runs"), "--tui");
}

#[test]
fn a_browser_does_not_show_it() {
    let dir = tempfile::tempdir().unwrap();
    let (server, variable) = (mock(TELLER), variable());
    let flags = ["--tool", "echo", "--rate", "20/s", "--duration", "30s", "--env", &variable];
    let mut watched = Watched::start(dir.path(), &server, &flags);
    let news = watched.news("RUNNING");
    assert!(news.contains("echo") && !tells(&news), "{news}");
    watched.wait_for_end();
    let page = watched.ask("localhost");
    assert!(page.contains("***") && !tells(&page), "{page}");
    watched.end();
    assert_files_keep(dir.path(), "--web");
}

#[test]
fn an_agent_is_not_told_it() {
    let dir = tempfile::tempdir().unwrap();
    let elsewhere = tempfile::tempdir().unwrap();
    let config = client_file(elsewhere.path());
    let mut peer = Peer::start(dir.path(), &["--mcp-config", &config, "--allow-server", "it"]);
    let of = |more: serde_json::Value| {
        let mut arguments = json!({ "server": "it" });
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        arguments
    };
    for (tool, arguments) in [
        ("probe", json!({})),
        ("negative_path", json!({ "tool": "echo" })),
        ("sustained_load", json!({ "tool": "echo", "concurrent": 2, "duration_secs": 1 })),
        ("deadlock_probe", json!({ "tool": "echo", "concurrent": 2 })),
    ] {
        let told = peer.call(tool, of(arguments)).to_string();
        assert!(tool != "probe" || told.contains("***"), "the server told it, masked: {told}");
        assert!(!tells(&told), "{tool}: {told}");
    }
    for tool in ["list_recent_runs", "report_summary"] {
        let told = peer.call(tool, json!({})).to_string();
        assert!(!tells(&told), "{tool}: {told}");
    }
    let told = format!("{:?}", peer.notifications);
    assert!(!tells(&told), "{told}");
    peer.leave();
    assert_files_keep(dir.path(), "serve --mcp");
}

/// A client's file with the teller, outside of what is looked at in the end.
fn client_file(dir: &Path) -> String {
    let script = fixture(TELLER).canonicalize().unwrap();
    let servers = json!({ "mcpServers": {
        "it": { "command": "python3", "args": [script], "env": { "API_TOKEN": CANARY } },
    }});
    let file = dir.join("mcp.json");
    std::fs::write(&file, servers.to_string()).unwrap();
    file.display().to_string()
}
