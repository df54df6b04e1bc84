//! What a program says of itself.

use std::{path::Path, time::Duration};

use mcp_loadtest_core::server::InheritEnv;
use mcp_loadtest_wire::process::{Launch, Patience, ServerProcess};
use tokio::{io::AsyncReadExt as _, time::timeout};

use crate::{commands::block_on, error::CliError};

/// A program that takes longer to say who it is does not work.
const PATIENCE: Duration = Duration::from_secs(15);
/// As much of what it says is read.
const LONGEST: u64 = 4096;

/// What a program says when it is asked like this, or why it says nothing.
pub(super) fn said_by(path: &Path, flag: &str) -> Result<Result<String, String>, CliError> {
    block_on(asked(path, flag))
}

async fn asked(path: &Path, flag: &str) -> Result<String, String> {
    let launch = Launch {
        args: vec![flag.into()],
        inherit_env: InheritEnv::All,
        ..Launch::new(path.display().to_string())
    };
    let mut process = ServerProcess::spawn(&launch).map_err(|error| error.to_string())?;
    drop(process.take_stdin());
    let asked = async {
        let mut said = String::new();
        if let Some(stdout) = process.take_stdout() {
            // What is no text says nothing.
            let _ = stdout.take(LONGEST).read_to_string(&mut said).await;
        }
        (said, process.wait().await)
    };
    let asked = timeout(PATIENCE, asked).await;
    process.stop(Patience { eof: Duration::ZERO, ..Patience::default() }).await;
    let (said, exit) = asked.map_err(|_| format!("no answer in {} s", PATIENCE.as_secs()))?;
    match exit.code {
        Some(0) if said.trim().is_empty() => Err("it says nothing".into()),
        Some(0) => Ok(said),
        _ => Err(format!("it {exit}")),
    }
}
