//! What hostile servers, clients, files and machines may try, and what must come of it.
//!
//! [`table`] has one line for each case, and [`promises`] one for each promise. A case is tested
//! wherever it belongs; what has no better place is tested here. To add one: its line in the table,
//! its test, and `INSTA_UPDATE=always` to write the pages in docs/reference anew.

mod again;
mod answers;
mod bounds;
mod canaries;
mod clock;
mod elsewhere;
mod files;
mod lists;
mod ours;
mod page;
mod processes;
mod promises;
pub(crate) mod proof;
pub(crate) mod secrets;
mod signals;
mod table;
mod terminal;
mod watchers;

use std::path::Path;

use serde_json::Value;

use crate::harness::{Ran, mock, run_in};

/// Runs a command on a hostile server that does what `mode` names.
fn against(server: &str, mode: &str, command: &[&str]) -> Ran {
    against_in(tempfile::tempdir().unwrap().path(), server, mode, command)
}

/// The same in a directory that is looked at afterwards.
fn against_in(dir: &Path, server: &str, mode: &str, command: &[&str]) -> Ran {
    let server = mock(server);
    let mode = format!("HOSTILE={mode}");
    run_in(dir, &[command, &["-s", &server, "--env", &mode]].concat())
}

/// A file of the one run in this directory.
fn file_of_run(dir: &Path, name: &str) -> String {
    let run = std::fs::read_dir(dir.join("runs")).unwrap().next().unwrap().unwrap().path();
    std::fs::read_to_string(run.join(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
}

/// The one JSON document that a command printed.
fn summary(ran: &Ran) -> Value {
    serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("no JSON: {}{}", ran.out, ran.err))
}

/// The ids of all findings.
fn findings(summary: &Value) -> Vec<&str> {
    let findings = summary["findings"].as_array().unwrap().iter();
    findings.map(|finding| finding["id"].as_str().unwrap()).collect()
}

/// Whether there is a finding of this id.
fn has_finding(summary: &Value, id: &str) -> bool {
    findings(summary).contains(&id)
}
