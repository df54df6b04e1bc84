//! `serve --mcp`: the tools as clients meet them, and what it refuses.
//!
//! | module        | what goes there                                                            |
//! |---------------|----------------------------------------------------------------------------|
//! | `tools`       | each tool, its result under its schema, progress and cancellation          |
//! | `attacks`     | what clients must not be able to do                                        |
//! | `http`        | Host, Origin, sessions, and clients that go                                |
//! | `usage`       | flags                                                                      |
//! | `ourselves`   | our own probe against it                                                   |
//! | `clients`     | clients that we did not write                                              |
//! | `conformance` | the official suite                                                         |

mod attacks;
mod clients;
mod conformance;
mod http;
mod ourselves;
pub(crate) mod peer;
mod tools;
mod usage;

use std::{fs, path::Path};

use serde_json::{Value, json};

use crate::harness::mock;

/// Writes a client's file with these servers: names and commands.
pub(crate) fn write_config(dir: &Path, servers: &[(&str, &str)]) {
    let entry = |(name, command): &(&str, &str)| {
        let words = shlex::split(command).unwrap();
        ((*name).to_owned(), json!({ "command": words[0], "args": words[1..] }))
    };
    let servers: serde_json::Map<String, Value> = servers.iter().map(entry).collect();
    fs::write(dir.join(".mcp.json"), json!({ "mcpServers": servers }).to_string()).unwrap();
}

/// A directory whose client's file has a healthy server and one that deadlocks.
pub(crate) fn workplace() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let deadlock =
        format!("{} mock --fault lazy-init-deadlock", env!("CARGO_BIN_EXE_mcp-loadtest"));
    write_config(
        dir.path(),
        &[("healthy", &mock("mock-normal.py")), ("deadlocked", &deadlock), ("secret", "true")],
    );
    dir
}

/// Allows the healthy one and the one that deadlocks.
pub(crate) const BOTH: &[&str] = &["--allow-server", "healthy", "--allow-server", "deadlocked"];

/// The processes whose command line has this in it.
pub(crate) fn processes_with(text: &str) -> Vec<u32> {
    let all = fs::read_dir("/proc").unwrap();
    let pids = all.filter_map(|entry| entry.unwrap().file_name().to_str()?.parse::<u32>().ok());
    let has_it = |pid: &u32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).replace('\0', " ").contains(text)
    };
    pids.filter(has_it).collect()
}

/// Waits until no such process is left; if that never comes, the limit of the test says so.
pub(crate) fn wait_until_gone(text: &str) {
    while !processes_with(text).is_empty() {
        std::thread::yield_now();
    }
}
