//! Servers for the tests: the Python mocks over stdio, and whatever listens on a port.

use std::{
    collections::BTreeMap,
    net::TcpListener,
    path::PathBuf,
    sync::atomic::{AtomicU32, Ordering},
};

use mcp_loadtest::{Finding, Report, Server, Severity, Verdict};
use mcp_loadtest_core::server::{ServerBuilder, Started};
use mcp_loadtest_wire::process::{Launch, ServerProcess};
use tokio::{
    io::{AsyncBufReadExt as _, BufReader},
    net::TcpStream,
    time::{Instant, sleep, timeout},
};

use crate::{environments::START_LIMIT, processes::DEADLINE};

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().expect("the crate is in a workspace")
}

/// The file of a mock, named without its ending.
pub(crate) fn mock_script(name: &str) -> String {
    let script = root().join("tests/fixtures").join(format!("{name}.py"));
    assert!(script.is_file(), "{} is missing", script.display());
    script.to_str().expect("a path in UTF-8").to_owned()
}

/// A mock over stdio.
pub(crate) fn mock(name: &str) -> ServerBuilder<Started> {
    Server::stdio("python3").arg(mock_script(name))
}

/// A mock that is written in the test itself, on the helpers of the others.
pub(crate) fn inline_mock(text: &str) -> ServerBuilder<Started> {
    Server::stdio("python3").args(inline(text))
}

fn inline(text: &str) -> [String; 2] {
    let fixtures = root().join("tests/fixtures");
    ["-c".to_owned(), format!("import sys; sys.path.insert(0, {fixtures:?})\n{text}")]
}

/// What a machine without time to spare may add to a report: we were the limit ourselves, or some
/// calls of a healthy server, maybe the first of all, waited for a CPU.
pub(crate) const NOISE: &[&str] = &["client_bound", "lazy_init_cliff", "two_populations"];

/// What was found, but for the noise.
pub(crate) fn real_findings(report: &Report) -> Vec<&Finding> {
    report.findings.iter().filter(|found| !NOISE.contains(&found.id.as_str())).collect()
}

/// The verdict, had the machine had time to spare.
pub(crate) fn verdict(report: &Report) -> Verdict {
    let calm = real_findings(report).iter().all(|found| found.severity <= Severity::Info);
    if report.verdict == Verdict::Warning && calm { Verdict::Pass } else { report.verdict }
}

/// A server that listens on a port and is gone when this is dropped.
pub(crate) struct Listening {
    pub(crate) url: String,
    /// The number of its process.
    pub(crate) pid: u32,
    _process: ServerProcess,
}

/// Starts `mock-http-server`.
pub(crate) async fn http_mock(env: &[(&str, &str)]) -> Listening {
    listening_mock("mock-http-server", env).await
}

/// Starts a mock that is reached by address.
pub(crate) async fn listening_mock(name: &str, env: &[(&str, &str)]) -> Listening {
    let env = env.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    announced(vec![mock_script(name)], env.collect()).await
}

/// A port that was free a moment ago, below those that systems give out unasked: no connection of
/// another test sits on it by chance before our server does. Each test may be a process, and looks in a
/// corner of its own; the tests of the command line have theirs from 20000 on.
pub(crate) fn free_port() -> u16 {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let corner = std::process::id() % 10_000 * 37;
    loop {
        let place = (corner + NEXT.fetch_add(1, Ordering::Relaxed)) % 10_000;
        let port = 10_000 + place as u16;
        if TcpListener::bind(("127.0.0.1", port)).is_ok() {
            return port;
        }
    }
}

/// Starts a mock for HTTP that is written in the test itself.
pub(crate) async fn inline_http_mock(text: &str) -> Listening {
    announced(inline(text).into(), BTreeMap::new()).await
}

/// Starts a mock that chooses its port and tells its address.
async fn announced(args: Vec<String>, env: BTreeMap<String, String>) -> Listening {
    let mut launch = Launch::new("python3");
    (launch.args, launch.env) = (args, env);
    let mut process = ServerProcess::spawn(&launch).expect("the mock starts");
    let stdout = process.take_stdout().expect("nobody took it");
    let line = timeout(DEADLINE, BufReader::new(stdout).lines().next_line()).await;
    let line = line.expect("in time").expect("readable").expect("a line");
    let told: serde_json::Value = serde_json::from_str(&line).expect("the mock tells its address");
    let url = told["url"].as_str().expect("the address").to_owned();
    Listening { url, pid: process.pid(), _process: process }
}

/// Starts a server that is told its port, and waits until it listens.
pub(crate) async fn listening(path: &str, describe: impl FnOnce(u16) -> Launch) -> Listening {
    let port = free_port();
    let mut process = ServerProcess::spawn(&describe(port)).expect("the server starts");
    let mut stdout = process.take_stdout().expect("nobody took it");
    // A full pipe would stop a server that logs there.
    tokio::spawn(async move { tokio::io::copy(&mut stdout, &mut tokio::io::sink()).await });
    let deadline = Instant::now() + START_LIMIT;
    while TcpStream::connect(("127.0.0.1", port)).await.is_err() {
        assert!(process.exit().is_none(), "the server ended: {}", process.stderr_tail());
        assert!(Instant::now() < deadline, "nothing listens: {}", process.stderr_tail());
        sleep(std::time::Duration::from_millis(20)).await;
    }
    let url = format!("http://127.0.0.1:{port}{path}");
    Listening { url, pid: process.pid(), _process: process }
}
