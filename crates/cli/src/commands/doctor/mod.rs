//! `doctor`: is everything there that a test needs, and what is to be done where it is not?
//!
//! `checks` has the checks and says how to add one, `scene` is the machine as they see it, `render` the
//! list for people.

mod checks;
mod render;
mod scene;

use std::path::PathBuf;

use clap::Args;
use mcp_loadtest_core::{
    config::{Config, check},
    doctor::{Checked, DoctorReport, Seen},
    exit::Exit,
    hint::nearest,
};

pub(crate) use self::checks::CHECKS;
use self::scene::Scene;
use super::explain;
use crate::{env::Env, error::CliError, server_args::ServerArgs, version::VERSION};

/// Arguments of `doctor`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  mcp-loadtest doctor
  mcp-loadtest doctor -s \"python -m my_mcp\"
  mcp-loadtest doctor --only clients,runtimes --json
  mcp-loadtest doctor --name my-server --mcp-config .mcp.json
  mcp-loadtest doctor --fix

Exit codes: 0 nothing failed, 1 something does not work, such as a server that does not start, 2 bad usage, or
no server has that name.")]
pub(crate) struct DoctorArgs {
    #[command(flatten)]
    server: ServerArgs,
    /// The directory that runs make theirs in [default: ./runs].
    #[arg(long, value_name = "DIR")]
    output_dir: Option<PathBuf>,
    /// Only these checks; `--explain` lists them.
    #[arg(long, value_name = "CHECK", value_delimiter = ',', value_parser = parse_check)]
    only: Vec<String>,
    /// Mend what can be mended without loss, and say what was done.
    #[arg(long)]
    fix: bool,
    /// Print one JSON document, and nothing else.
    #[arg(long)]
    json: bool,
    /// Print what is looked at and exit.
    #[arg(long)]
    explain: bool,
}

/// Reads the id of a check.
fn parse_check(text: &str) -> Result<String, String> {
    let ids = || CHECKS.iter().map(|check| check.id);
    if ids().any(|id| id == text) {
        return Ok(text.to_owned());
    }
    Err(match nearest(text, ids()) {
        Some(near) => format!("no such check; did you mean `{near}`?"),
        None => format!("no such check; there are {}", ids().collect::<Vec<_>>().join(", ")),
    })
}

/// What a check looks at, and how.
pub(crate) struct Check {
    /// The word for it.
    pub(crate) id: &'static str,
    /// What it looks at, in one line.
    pub(crate) about: &'static str,
    run: fn(&Scene<'_>) -> Result<Vec<Found>, CliError>,
}

/// Something that was seen, and what `--fix` may do about it.
struct Found {
    seen: Seen,
    remedy: Option<Remedy>,
}

impl From<Seen> for Found {
    fn from(seen: Seen) -> Self {
        Self { seen, remedy: None }
    }
}

/// Mends something and says what was done.
type Remedy = Box<dyn FnOnce() -> Result<String, String>>;

fn explanation() -> String {
    let mut text = "\
Looks at this machine as a test would find it. Nothing is changed, unless --fix is given, and then
only what loses nothing; each change is told. With flags that name a server, its session is begun
and ended; no tool is called.
A check is good, a warning (not everything will work), failed (exit 1), or could not tell. Where a server
is named, what keeps others from starting is only a warning.

Checks:
"
    .to_owned();
    let width = checks::widest();
    for check in CHECKS {
        text.push_str(&format!("  {:<width$} {}\n", check.id, check.about));
    }
    text
}

/// Runs `doctor`.
pub(crate) fn run(args: &DoctorArgs, env: &mut Env) -> Result<Exit, CliError> {
    if args.explain {
        return Ok(explain(env, &explanation()));
    }
    refuse_idle_flags(args, env)?;
    let server = if args.server.names_one() {
        let mut config = Config::default();
        args.server.lay_over(&mut config.server)?;
        let server = args.server.resolve(&config, env)?;
        check::server(&server)?;
        Some(server)
    } else {
        None
    };
    let runs = env.path(args.output_dir.as_deref().unwrap_or("./runs".as_ref()));
    let mut scene = Scene::of_this_machine(env, runs);
    scene.server = server;
    scene.strict_protocol = args.server.strict_protocol;
    scene.tee_stderr = args.server.tee_stderr;
    let checks = carry_out(&scene, args)?;
    let system = format!("{} {}", std::env::consts::OS, std::env::consts::ARCH);
    let report = DoctorReport::new(&VERSION, &system, checks);
    if args.json {
        env.out_json(&report);
    } else {
        env.out(&render::render(&report));
    }
    Ok(if report.passed { Exit::Pass } else { Exit::Fail })
}

/// Flags about a server mean nothing where none is looked at.
fn refuse_idle_flags(args: &DoctorArgs, env: &Env) -> Result<(), CliError> {
    let Some(flag) = ServerArgs::first_flag(env) else { return Ok(()) };
    if !args.server.names_one() {
        let hint = "name one with -s COMMAND, --url URL or --name NAME, or leave it out";
        return Err(CliError::usage(format!("{flag} is for a server, and none is named"), hint));
    }
    if !args.only.is_empty() && !args.only.iter().any(|id| id == checks::SERVER) {
        let message = format!("{flag} has no effect: --only leaves the check `server` out");
        return Err(CliError::usage(message, "add `server` to --only, or leave the server out"));
    }
    Ok(())
}

fn carry_out(scene: &Scene<'_>, args: &DoctorArgs) -> Result<Vec<Checked>, CliError> {
    let is_chosen =
        |check: &&Check| args.only.is_empty() || args.only.iter().any(|id| id == check.id);
    let mut checks = Vec::new();
    for check in CHECKS.iter().filter(is_chosen) {
        let found = (check.run)(scene)?;
        let seen: Vec<_> = found.into_iter().map(|found| mended(found, args.fix)).collect();
        // A check with nothing to look at, such as a server that nobody named, is left out.
        if !seen.is_empty() {
            checks.push(Checked::new(check.id, seen));
        }
    }
    Ok(checks)
}

fn mended(found: Found, fix: bool) -> Seen {
    let Found { mut seen, remedy } = found;
    seen.fixable = remedy.is_some();
    if let Some(remedy) = remedy.filter(|_| fix) {
        seen.done = Some(match remedy() {
            Ok(done) => {
                seen.health = mcp_loadtest_core::doctor::Health::Ok;
                done
            }
            Err(why) => format!("could not be mended: {why}"),
        });
    }
    seen
}
