//! The server.

use std::{collections::BTreeMap, net::SocketAddr, sync::Arc};

use mcp_loadtest_core::{
    display::visible,
    exit::Exit,
    llm::{Book, FixtureFile},
    report::Verdict,
    seed::Seed,
};
use mcp_loadtest_mock::llm::{BoundLlm, Desk, LlmError, MockLlm};

use super::{LlmArgs, files, verdict};
use crate::{
    admin_args::Admin,
    app::{App, exit_as},
    commands::block_on,
    env::Env,
    error::CliError,
    interrupt::{self, Signal},
    limits,
};

/// Runs `llm`.
pub(super) fn run(args: &LlmArgs, env: &mut Env) -> Result<Exit, CliError> {
    if !args.replay_speed.is_finite() || args.replay_speed < 0.0 {
        return Err(CliError::usage("--replay-speed is a number from 0 on", "use 1, 10 or 0"));
    }
    let mut mock = MockLlm::new().seed(Seed(args.seed)).replay_speed(args.replay_speed);
    match (&args.fixtures, &args.record, &args.to) {
        (Some(path), ..) => {
            let files = files::read(&env.path(path))?;
            warn_of_shadows(&files, env);
            mock = files.into_iter().fold(mock, MockLlm::file);
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

/// Says which fixtures can never answer: most likely two lines stand in the wrong order.
fn warn_of_shadows(files: &[FixtureFile], env: &mut Env) {
    for (fixture, before) in Book::new(files.to_vec(), Seed::default()).never_reached() {
        env.err(&format!(
            "warning: fixture {fixture} (from 0) is never reached: fixture {before} answers all that \
             it could; put it first, or give it a higher `priority`\n"
        ));
    }
}

fn validated(args: &LlmArgs, env: &mut Env) -> Exit {
    let path = args.fixtures.as_deref().unwrap_or_else(|| "".as_ref());
    env.out(&format!("{}: good\n", visible(&path.display().to_string(), 200)));
    Exit::Pass
}

async fn serve(args: &LlmArgs, mock: MockLlm, env: &mut Env) -> Result<Exit, CliError> {
    let address = args.listen.unwrap_or(SocketAddr::from(([127, 0, 0, 1], 0)));
    let bound = mock.bind(address).await.map_err(|error| match error {
        LlmError::Listen(source) => CliError::Listen { address, source },
        other => other.into(),
    })?;
    let desk = bound.desk();
    if let Some(path) = &args.journal {
        let path = env.path(path);
        let cannot = |source| CliError::Write { path: path.clone(), source };
        desk.journal().write_to(&path).map_err(cannot)?;
    }
    let interrupted = interrupt::signal();
    let admin = args.admin.bind(|| bound.controlled(), env, Env::out).await?;
    if !args.command.is_empty() {
        return with_app(args, bound, admin, interrupted, env).await;
    }
    env.out(&format!("{}\n", serde_json::json!({ "url": bound.url() })));
    let mut failed = None;
    let stop = async {
        tokio::select! {
            () = attend(&desk, args, env) => {}
            error = admin.serve() => failed = Some(error),
            () = interrupted => {}
        }
    };
    bound.serve_until(stop).await;
    match failed {
        Some(error) => Err(error),
        None => end(&desk, args, env),
    }
}

/// Serves while the user's program runs, and ends as it does.
async fn with_app(
    args: &LlmArgs,
    bound: BoundLlm,
    admin: Admin,
    interrupted: Signal,
    env: &mut Env,
) -> Result<Exit, CliError> {
    let desk = bound.desk();
    let mut app = App::start(&args.command, variables(&bound.url()), env)?;
    let mut ended = Ok(None);
    let stop = async {
        tokio::select! {
            exit = app.attend(env) => ended = Ok(Some(exit)),
            error = admin.serve() => ended = Err(error),
            () = interrupted => {}
        }
    };
    bound.serve_until(stop).await;
    app.stop().await;
    end(&desk, args, env)?;
    let Some(exit) = ended? else { return Ok(Exit::Interrupted) };
    if args.verdict {
        let report = desk.journal().judged();
        env.out(&format!("\n{}", verdict::text(&report)));
        if report.verdict > Verdict::Warning {
            return Ok(Exit::Fail);
        }
    }
    Ok(exit_as(exit))
}

/// What clients of all APIs read. A real key has no business here.
fn variables(url: &str) -> BTreeMap<String, String> {
    let openai = format!("{url}/v1");
    let named = [
        ("OPENAI_BASE_URL", openai.as_str()),
        ("ANTHROPIC_BASE_URL", url),
        ("GOOGLE_GEMINI_BASE_URL", url),
        ("OPENAI_API_KEY", "no-key-needed"),
        ("ANTHROPIC_API_KEY", "no-key-needed"),
        ("GEMINI_API_KEY", "no-key-needed"),
        ("GOOGLE_API_KEY", "no-key-needed"),
        ("MCP_LOADTEST_LLM_URL", url),
    ];
    named.into_iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
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
            tell(&words, env);
        }
    };
    tokio::select! {
        () = watching => {}
        () = telling => {}
    }
}

fn tell(words: &str, env: &mut Env) {
    env.err(&format!("mcp-loadtest llm: {}\n", visible(words, 2_000)));
}

/// Tells what there was. A journal that lacks lines is an error: somebody will judge by it.
fn end(desk: &Arc<Desk>, args: &LlmArgs, env: &mut Env) -> Result<Exit, CliError> {
    for words in desk.notices() {
        tell(&words, env);
    }
    let count = desk.journal().count();
    let word = if count == 1 { "request" } else { "requests" };
    tell(&format!("{count} {word} answered"), env);
    if let Some(path) = &args.journal {
        let path = env.path(path);
        desk.journal().finish().map_err(|source| CliError::Write { path, source })?;
    }
    Ok(Exit::Pass)
}
