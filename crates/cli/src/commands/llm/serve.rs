//! The server.

use std::{net::SocketAddr, sync::Arc};

use mcp_loadtest_core::{display::visible, exit::Exit, seed::Seed};
use mcp_loadtest_mock::llm::{Desk, MockLlm};

use super::{LlmArgs, files};
use crate::{commands::block_on, env::Env, error::CliError, interrupt, limits};

/// Runs `llm`.
pub(super) fn run(args: &LlmArgs, env: &mut Env) -> Result<Exit, CliError> {
    if !args.replay_speed.is_finite() || args.replay_speed < 0.0 {
        return Err(CliError::usage("--replay-speed is a number from 0 on", "use 1, 10 or 0"));
    }
    let mut mock = MockLlm::new().seed(Seed(args.seed)).replay_speed(args.replay_speed);
    match (&args.fixtures, &args.record, &args.to) {
        (Some(path), ..) => {
            for file in files::read(&env.path(path))? {
                mock = mock.file(file);
            }
        }
        (None, Some(url), Some(to)) => mock = mock.record(url, env.path(to)),
        _ => {
            return Err(CliError::usage(
                "there is nothing to answer with",
                "give --fixtures FILE, or --record URL --to FILE; `llm --explain` shows what a file has",
            ));
        }
    }
    if args.validate {
        return Ok(validated(args, env));
    }
    limits::raise_open_files();
    block_on(serve(args, mock, env))?
}

fn validated(args: &LlmArgs, env: &mut Env) -> Exit {
    let path = args.fixtures.as_deref().unwrap_or_else(|| "".as_ref());
    env.out(&format!("{}: good\n", visible(&path.display().to_string(), 200)));
    Exit::Pass
}

async fn serve(args: &LlmArgs, mock: MockLlm, env: &mut Env) -> Result<Exit, CliError> {
    let address = args.listen.unwrap_or(SocketAddr::from(([127, 0, 0, 1], 0)));
    let bound = mock.bind(address).await?;
    let desk = bound.desk();
    if let Some(path) = &args.journal {
        let path = env.path(path);
        let cannot = |source| CliError::Write { path: path.clone(), source };
        desk.journal().write_to(&path).map_err(cannot)?;
    }
    let admin = args.admin.bind(|| bound.controlled(), env, Env::out).await?;
    env.out(&format!("{}\n", serde_json::json!({ "url": bound.url() })));
    let mut failed = None;
    let stop = async {
        tokio::select! {
            () = attend(&desk, args, env) => {}
            error = admin.serve() => failed = Some(error),
            () = interrupt::signal() => {}
        }
    };
    bound.serve_until(stop).await;
    match failed {
        Some(error) => Err(error),
        None => end(&desk, args, env),
    }
}

/// Looks after files and says what there is to say; for ever.
async fn attend(desk: &Arc<Desk>, args: &LlmArgs, env: &mut Env) {
    let watched = args.fixtures.as_deref().filter(|_| args.watch).map(|path| env.path(path));
    let watching = async {
        match watched {
            Some(path) => files::watch(path, desk.clone()).await,
            None => std::future::pending().await,
        }
    };
    let telling = async {
        loop {
            let words = desk.next_notice().await;
            env.err(&format!("mcp-loadtest llm: {}\n", visible(&words, 2_000)));
        }
    };
    tokio::select! {
        () = watching => {}
        () = telling => {}
    }
}

/// Tells what there was. A journal that lacks lines is an error: somebody will judge by it.
fn end(desk: &Arc<Desk>, args: &LlmArgs, env: &mut Env) -> Result<Exit, CliError> {
    let count = desk.journal().count();
    let word = if count == 1 { "request" } else { "requests" };
    env.err(&format!("mcp-loadtest llm: {count} {word} answered\n"));
    if let Some(path) = &args.journal {
        let path = env.path(path);
        desk.journal().finish().map_err(|source| CliError::Write { path, source })?;
    }
    Ok(Exit::Pass)
}
