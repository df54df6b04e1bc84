//! `replay`: one saved case of the fuzzer, sent again.

use std::{
    fs,
    path::{Path, PathBuf},
    time::Duration,
};

use clap::Args;
use mcp_loadtest::{CaseFile, Replay, ReplayVerdict, Replayed};
use mcp_loadtest_core::{
    config::{Config, check},
    display::visible,
    exit::Exit,
};

use super::{block_on, explain};
use crate::{
    env::Env,
    error::CliError,
    server_args::{ServerArgs, parse_some_time, parse_time},
};

/// Arguments of `replay`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcp-loadtest replay ./runs/2026-05-10T14-30-00-9XY7K2/cases/raw_bytes-12.json
  mcp-loadtest replay ./runs/2026-05-10T14-30-00-9XY7K2/raw_bytes-12 -s \"python -m my_mcp\"

Exit codes: 0 it no longer shows, 1 it still shows, is another bug now or nobody can tell,
2 the file or the server cannot be used.")]
pub(crate) struct ReplayArgs {
    /// The file of a case, or the directory of a run and the name of a case.
    #[arg(required_unless_present = "explain", value_name = "CASE")]
    case: Option<PathBuf>,
    #[command(flatten)]
    server: ServerArgs,
    /// No reply for this long is a hang [default: as in the run, else 5s].
    #[arg(long, value_name = "TIME", value_parser = parse_some_time)]
    hang_threshold: Option<Duration>,
    /// How much longer a hanging call is waited for [default: as in the run, else 10s].
    #[arg(long, value_name = "TIME", value_parser = parse_time)]
    grace_period: Option<Duration>,
    /// Print one JSON document, and nothing else.
    #[arg(long)]
    json: bool,
    /// Print what is done, step by step, and exit.
    #[arg(long)]
    explain: bool,
}

const EXPLANATION: &str = "\
Algorithm:
  1. Read the case: `cases/<id>.json` of a run of the fuzzer (its schema: `schema case`).
  2. Start the server of the run (its config.toml), or the one that the flags name, and begin a session.
  3. Send the bytes of the case as they are, and a control request where no answer comes, and behind one.
     Where it took a second case to show, that one follows on the same session.
  4. Say what became of it, and whether that is what it was saved for. A case that was seen once, and could not be
     shown again when it was found, proves nothing by its silence: run the fuzzer again with the same seed.";

/// Runs `replay`.
pub(crate) fn run(args: &ReplayArgs, env: &mut Env) -> Result<Exit, CliError> {
    let Some(case) = args.case.as_ref().filter(|_| !args.explain) else {
        return Ok(explain(env, EXPLANATION));
    };
    let path = file_of(&env.cwd.join(case));
    let text = fs::read(&path).map_err(|error| {
        let hint = "give a file such as `runs/.../cases/raw_bytes-12.json`";
        CliError::usage(format!("cannot read {}: {error}", path.display()), hint)
    })?;
    let file = CaseFile::parse(&text).map_err(|error| {
        let hint = "`mcp-loadtest schema case` says what a case looks like";
        CliError::usage(format!("{}: {error}", path.display()), hint)
    })?;
    let of_run = config_of_run(&path);
    // A server that is named needs no run: without it there are defaults.
    let ours = if args.server.names_one() { of_run.unwrap_or_default() } else { of_run? };
    let limits = ours.thresholds.clone();
    let mut config = if args.server.names_one() { Config::default() } else { ours };
    args.server.lay_over(&mut config.server)?;
    let server = args.server.resolve(&config, env)?;
    check::server(&server)?;
    let replay = Replay::new(server, file)
        .patience(
            args.hang_threshold.unwrap_or(limits.hang_timeout),
            args.grace_period.unwrap_or(limits.grace_period),
        )
        .strict_protocol(args.server.strict_protocol)
        .tee_stderr(args.server.tee_stderr);
    let replayed = block_on(replay.execute())??;
    if args.json {
        env.out_json(&replayed);
    } else {
        env.out(&told(&replayed));
    }
    Ok(if replayed.verdict == ReplayVerdict::Gone { Exit::Pass } else { Exit::Fail })
}

/// `<run>/<case>` stands for `<run>/cases/<case>.json`.
fn file_of(path: &Path) -> PathBuf {
    match (path.parent(), path.file_name()) {
        (Some(dir), Some(name)) if !path.is_file() => {
            let name = format!("{}.json", name.to_string_lossy());
            let short = dir.join("cases").join(name);
            if short.is_file() { short } else { path.to_owned() }
        }
        _ => path.to_owned(),
    }
}

/// The configuration of the run that the case belongs to.
fn config_of_run(case: &Path) -> Result<Config, CliError> {
    let run = case.parent().and_then(Path::parent).map(|run| run.join("config.toml"));
    let read = run.and_then(|file| Some((fs::read_to_string(&file).ok()?, file)));
    match read {
        Some((text, file)) => Ok(Config::read(&text, &file.display().to_string())?),
        None => Ok(Config::default()),
    }
}

const SEEN_ONCE: &str = "  it was seen once and could not be shown again: its silence proves nothing\n  \
    hint: run the fuzzer again with the `seed` of the case, and look at its findings\n";

fn told(replayed: &Replayed) -> String {
    let Replayed { id, label, was, class, seen, verdict, .. } = replayed;
    let (word, hint) = match verdict {
        ReplayVerdict::StillShows => ("STILL SHOWS", ""),
        ReplayVerdict::AnotherBug => ("ANOTHER BUG NOW", ""),
        ReplayVerdict::Gone => ("GONE", ""),
        ReplayVerdict::CouldNotTell => ("COULD NOT TELL", SEEN_ONCE),
    };
    format!(
        "{word} {id}: {}\n  was {}, now {}: {}\n{hint}",
        visible(label, 200),
        was.as_str(),
        class.as_str(),
        visible(seen, 300)
    )
}
