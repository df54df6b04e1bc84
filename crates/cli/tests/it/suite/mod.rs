//! `test`: suites as a user meets them.

mod agents;
mod choosing;
mod live;
mod outputs;
#[cfg(unix)]
mod real_agents;
mod requests;
mod table;

use std::path::{Path, PathBuf};

use serde_json::Value;
use tempfile::TempDir;

use crate::harness::{Ran, run_in};

/// A directory with one suite in it.
pub(crate) struct Bench {
    dir: TempDir,
}

impl Bench {
    /// `PROGRAM` in the text stands for our own binary.
    pub(crate) fn new(text: &str) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let bench = Self { dir };
        bench.write("suite.yml", text);
        bench
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        let text = text.replace("PROGRAM", env!("CARGO_BIN_EXE_mcp-loadtest"));
        std::fs::write(self.path().join(name), text).unwrap();
    }

    pub(crate) fn path(&self) -> &Path {
        self.dir.path()
    }

    pub(crate) fn test(&self, flags: &[&str]) -> Ran {
        run_in(self.path(), &[&["test", "suite.yml"], flags].concat())
    }

    /// The report as JSON, and the exit code.
    pub(crate) fn report(&self, flags: &[&str]) -> (Value, u8) {
        let ran = self.test(&[&["--json"], flags].concat());
        let report = serde_json::from_str(&ran.out);
        (report.unwrap_or_else(|_| panic!("{}{}", ran.out, ran.err)), ran.code)
    }
}

/// The outcome of each test, by name.
pub(crate) fn outcomes(report: &Value) -> Vec<(String, String)> {
    let tests = report["tests"].as_array().unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    tests.iter().map(|test| (text(&test["name"]), text(&test["outcome"]))).collect()
}

/// The outcome of one test.
pub(crate) fn outcome(report: &Value, name: &str) -> String {
    let found = outcomes(report).into_iter().find(|(other, _)| other == name);
    found.unwrap_or_else(|| panic!("there is no `{name}` in {report:#}")).1
}

/// The test with this name.
pub(crate) fn test_of<'r>(report: &'r Value, name: &str) -> &'r Value {
    report["tests"].as_array().unwrap().iter().find(|test| test["name"] == name).unwrap()
}

/// The root of the repository.
pub(crate) fn repository() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}
