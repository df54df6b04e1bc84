//! A PostgreSQL server that lives as long as a test.

use std::{
    io::{BufRead as _, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    thread,
};

/// A server with an empty database. It is gone when this is dropped, or when the test dies.
pub(crate) struct Cluster {
    process: Child,
    dir: tempfile::TempDir,
}

impl Cluster {
    /// Starts a server. Without PostgreSQL the test fails and says what to run.
    pub(crate) fn start() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut process = Command::new("sh")
            .arg(repository().join("tests/fixtures/postgres.sh"))
            .args([installed().join("bin").as_path(), dir.path()])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut said = BufReader::new(process.stdout.take().unwrap());
        let mut told = String::new();
        while !told.ends_with("database system is ready to accept connections\n") {
            let length = said.read_line(&mut told).unwrap();
            assert!(length > 0, "PostgreSQL does not start:\n{told}");
        }
        // It would stop if nobody read what it says.
        thread::spawn(move || std::io::copy(&mut said, &mut std::io::sink()));
        Self { process, dir }
    }

    /// Its address.
    pub(crate) fn url(&self) -> String {
        format!("postgres:///postgres?user=postgres&host={}", self.dir.path().display())
    }

    /// Has it carry SQL out, by a client that is not ours.
    pub(crate) fn execute(&self, sql: &str) {
        let psql =
            Command::new(installed().join("bin/psql")).args([&self.url(), "-c", sql]).output();
        let psql = psql.expect("psql is installed");
        assert!(psql.status.success(), "{}", String::from_utf8_lossy(&psql.stderr));
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        drop(self.process.stdin.take());
        let _ = self.process.wait();
    }
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn installed() -> PathBuf {
    let testenv = repository().join("tests/env/testenv.py");
    let told = Command::new("python3").arg(testenv).args(["path", "postgresql"]).output();
    let told = told.expect("`python3` is installed");
    let problem = String::from_utf8_lossy(&told.stderr);
    assert!(told.status.success(), "cannot test with PostgreSQL: {problem}");
    PathBuf::from(String::from_utf8_lossy(&told.stdout).trim())
}
