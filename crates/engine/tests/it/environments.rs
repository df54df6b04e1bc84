//! What `tests/env/testenv.py` installs. What is missing is a failure that says how to install it.

use std::{path::PathBuf, process::Command, time::Duration};

use mcp_loadtest::Server;
use mcp_loadtest_core::server::{ServerBuilder, Started};

use crate::fixtures::root;

/// How long what others wrote may take to start: some import for many seconds of CPU, beside other tests.
pub(crate) const START_LIMIT: Duration = Duration::from_secs(180);

/// The folder of an environment.
pub(crate) fn environment(name: &str) -> PathBuf {
    let script = root().join("tests/env/testenv.py");
    let found =
        Command::new("python3").arg(&script).args(["path", name]).output().expect("python3 starts");
    assert!(
        found.status.success(),
        "the environment `{name}` is missing; install it with `python3 {} ensure {name}`\n{}",
        script.display(),
        String::from_utf8_lossy(&found.stderr),
    );
    String::from_utf8(found.stdout).expect("a path in UTF-8").trim().into()
}

/// A program of an environment, which must be there.
pub(crate) fn program(name: &str, path: &str) -> String {
    let file = environment(name).join(path);
    assert!(
        file.exists(),
        "{} is missing; remove the folder and install `{name}` again",
        file.display()
    );
    file.to_str().expect("a path in UTF-8").to_owned()
}

/// The echo server on a version of the Python SDK, over stdio.
pub(crate) fn python_echo(version: &str) -> ServerBuilder<Started> {
    let name = format!("mcp-{version}");
    let server = Server::stdio(program(&name, "bin/python")).startup_timeout(START_LIMIT);
    server.arg(program(&name, "echo_mcp.py"))
}
