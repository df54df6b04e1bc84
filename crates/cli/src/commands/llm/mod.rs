//! `llm`: the API of a model, which answers and fails as fixtures say.
//!
//! `serve` is the server, `files` reads fixtures and watches them, `verdict` judges what clients did.

mod files;
mod serve;
mod verdict;

use std::{net::SocketAddr, path::PathBuf};

use clap::{Args, Subcommand};
use mcp_loadtest_core::exit::Exit;
use mcp_loadtest_mock::llm::{apis, token_endpoints};

use super::explain;
use crate::{admin_args::AdminArgs, env::Env, error::CliError, listen::parse_listen};

const EXAMPLES: &str = "\
Examples:
  mcp-loadtest llm --fixtures fixtures.yml --verdict -- python my_app.py
                                                               try an app: is it ready for these failures?
  mcp-loadtest llm --fixtures fixtures.yml                     prints its URL; any API key will do
  mcp-loadtest llm --fixtures fixtures/ --watch                a folder of files, read again when they change
  mcp-loadtest llm --fixtures fixtures.yml --validate          only say what is wrong with the file
  mcp-loadtest llm --fixtures fixtures.yml --journal calls.jsonl
  mcp-loadtest llm verdict calls.jsonl                         did the client retry as it should?
  mcp-loadtest llm --record https://api.example.com --to recorded.yml
  mcp-loadtest llm --fixtures recorded.yml --replay-speed 0    the same answers again, at once

A file that fails twice and then answers, cut off in the middle the first time:
  fixtures:
    - when: {times: 2}
      error: {status: 429, message: slow down, retry_after_ms: 200}
    - response: {content: \"Hello from nowhere.\"}
      faults:
        - {at: {after_chars: 5}, cut: reset, when: {first: 1}}

`llm --explain` lists every key. A command behind `--` is started with these variables; else set them:
  OPENAI_BASE_URL=http://127.0.0.1:PORT/v1   ANTHROPIC_BASE_URL=http://127.0.0.1:PORT
  GOOGLE_GEMINI_BASE_URL=http://127.0.0.1:PORT";

/// Whoever only reads fixtures serves nobody. Clap lets a flag pass whose partner is ruled out, so that
/// all of them are named.
const OF_A_SERVER: [&str; 10] = [
    "listen",
    "watch",
    "journal",
    "record",
    "seed",
    "replay_speed",
    "admin",
    "admin_token",
    "allow_remote",
    "verdict",
];

/// Arguments of `llm`.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES, args_conflicts_with_subcommands = true)]
#[command(mut_arg("admin", |arg| arg.help("\
Open a small HTTP interface: PUT /fixtures, POST /reset, GET /journal, /verdict, /counters and \
/health. Its URL is printed")))]
pub(crate) struct LlmArgs {
    /// What is answered and what fails: a YAML or JSON file, or a folder of them.
    #[arg(long, short, value_name = "FILE|DIR")]
    fixtures: Option<PathBuf>,
    /// Where it listens [default: 127.0.0.1:0]; the URL is printed before anything is served.
    #[arg(long, value_name = "ADDRESS", value_parser = parse_listen)]
    listen: Option<SocketAddr>,
    /// Read the fixtures again when they change; what is wrong is told, and the old ones stay.
    #[arg(long, requires = "fixtures", conflicts_with_all = ["command", "record"])]
    watch: bool,
    /// Only read the fixtures and say whether they are good.
    #[arg(long, requires = "fixtures", conflicts_with_all = OF_A_SERVER)]
    validate: bool,
    /// What all chances come from that have no seed of their own.
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "record")]
    seed: u64,
    /// Write every request and what became of it to a file, a line each, for `llm verdict`.
    #[arg(long, value_name = "FILE")]
    journal: Option<PathBuf>,
    /// Stand in front of this server and write its answers down, with their timing.
    #[arg(long, value_name = "URL", requires = "to", conflicts_with = "fixtures")]
    record: Option<String>,
    /// The file that --record writes; --fixtures reads it.
    #[arg(long, value_name = "FILE", requires = "record", conflicts_with = "fixtures")]
    to: Option<PathBuf>,
    /// How much faster recordings are told than they were; 0 is at once.
    #[arg(long, value_name = "FACTOR", default_value_t = 1.0, conflicts_with = "record")]
    replay_speed: f64,
    #[command(flatten)]
    admin: AdminArgs,
    /// When the command behind `--` has ended, judge what it did and end with 1 if something is wrong.
    #[arg(long, requires = "command")]
    verdict: bool,
    /// An app to try out, and its arguments. It is started with the base URLs of all APIs, and with keys
    /// that are none; its exit code is ours.
    #[arg(last = true, value_name = "COMMAND", conflicts_with = "validate")]
    command: Vec<String>,
    /// Print every key of a file and what it does, and exit.
    #[arg(long)]
    explain: bool,
    #[command(subcommand)]
    action: Option<Action>,
}

/// What else can be done.
#[derive(Debug, Subcommand)]
enum Action {
    /// Judge what clients did with the failures that they met.
    Verdict(verdict::VerdictArgs),
}

/// Runs `llm`.
pub(crate) fn run(args: &LlmArgs, env: &mut Env) -> Result<Exit, CliError> {
    match &args.action {
        Some(Action::Verdict(verdict)) => verdict::run(verdict, env),
        None if args.explain => Ok(explain(env, &explanation())),
        None => serve::run(args, env),
    }
}

const KEYS: &str = include_str!("explanation.txt");

fn explanation() -> String {
    let mut text =
        "Answers as these APIs would, whole or piece by piece. No key is needed; any will do, unless\n\
                    the fixtures ask for tokens. Nothing is ever flagged by a moderation.\n"
            .to_owned();
    for (provider, verb, path) in apis() {
        text.push_str(&format!("  {:<10} {verb:<4} {path}\n", provider.name()));
    }
    text.push_str(KEYS);
    text.push_str("\nWith `oauth`, tokens are handed out here:\n");
    for (verb, path, about) in token_endpoints() {
        text.push_str(&format!("  {verb:<4} {path:<39} {about}\n"));
    }
    text
}
