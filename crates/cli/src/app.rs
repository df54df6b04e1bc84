//! A program of the user's that is tried out while we play its surroundings.

use std::{collections::BTreeMap, time::Duration};

use mcp_loadtest_core::{exit::Exit, server::InheritEnv};
use mcp_loadtest_wire::process::{ExitInfo, Launch, Patience, ServerProcess, TeeStderr};
use tokio::io::AsyncReadExt as _;

use crate::{env::Env, error::CliError};

/// What comes of its stdout at once.
const READ_SIZE: usize = 8 << 10;

/// A program that runs. Nothing of it outlives us.
pub(crate) struct App {
    process: ServerProcess,
}

impl App {
    /// Starts it with all of our variables and these.
    pub(crate) fn start(
        command: &[String],
        variables: BTreeMap<String, String>,
        env: &Env,
    ) -> Result<Self, CliError> {
        let (program, args) = command.split_first().ok_or_else(|| {
            CliError::usage(
                "there is no command behind `--`",
                "write one, such as `-- python app.py`",
            )
        })?;
        let mut launch = Launch {
            args: args.to_vec(),
            env: variables,
            inherit_env: InheritEnv::All,
            working_dir: Some(env.cwd.clone()),
            tee_stderr: TeeStderr::As("app"),
            ..Launch::new(program)
        };
        launch.keep_secrets();
        let mut process = ServerProcess::spawn(&launch)?;
        // It gets nothing from us, and must not wait for it.
        drop(process.take_stdin());
        Ok(Self { process })
    }

    /// Passes on what it prints until it ends.
    pub(crate) async fn attend(&mut self, env: &mut Env) -> ExitInfo {
        if let Some(mut stdout) = self.process.take_stdout() {
            let mut bytes = Vec::with_capacity(READ_SIZE);
            while let Ok(1..) = stdout.read_buf(&mut bytes).await {
                env.out(&String::from_utf8_lossy(&bytes));
                bytes.clear();
            }
        }
        let exit = self.process.wait().await;
        if exit.crowd.is_some() {
            env.err(&format!("the program ended with {exit}\n"));
        }
        exit
    }

    /// Ends it, if it has not ended.
    pub(crate) async fn stop(self) {
        let patience = Patience { eof: Duration::ZERO, ..Patience::default() };
        self.process.stop(patience).await;
    }
}

/// Ends as the program did: with its code, or with 128 and the number of its signal.
pub(crate) fn exit_as(exit: ExitInfo) -> Exit {
    let code = exit.code.or_else(|| Some(128 + exit.signal?)).unwrap_or(1);
    match u8::try_from(code) {
        Ok(0) => Exit::Pass,
        Ok(code) => Exit::As(code),
        Err(_) => Exit::Fail,
    }
}
