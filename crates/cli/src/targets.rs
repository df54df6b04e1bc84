//! Several servers in one run: the same load for each, in turns, and figures side by side.

use clap::Args;
use mcp_loadtest::{Report, RoundsDir, RunError};
use mcp_loadtest_core::{
    compare::{self, TargetRuns},
    config::Format,
    display::visible,
    exit::Exit,
    units::format_duration,
};

use crate::{
    baseline, ci_args::CiArgs, env::Env, error::CliError, load::Load, server_args::ServerArgs,
};

/// How often each server is tested when nothing else is asked for.
const ROUNDS: u32 = 5;
/// The longest name of a target; it is also that of a directory.
const LONGEST: usize = 40;

/// The flags for several servers.
#[derive(Debug, Default, Args)]
#[command(next_help_heading = "Several servers (give --server or --url more than once)")]
pub(crate) struct TargetArgs {
    /// A name for each server, in their order. Repeatable [default: a, b, c ...]. With as many
    /// names as --server and --url together, each of both is a server of its own.
    #[arg(long = "label", value_name = "NAME")]
    labels: Vec<String>,
    /// How often each server is tested, in turns; --duration is that of each test [default: 5].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    repeat: Option<u32>,
}

/// The command and the address of a server.
type Named<'a> = (Option<&'a String>, Option<&'a String>);

/// A server among others.
pub(crate) struct Target {
    label: String,
    pub(crate) server: ServerArgs,
    is_alone: bool,
}

impl Target {
    /// Says which of several servers an error is about.
    pub(crate) fn blame(&self, error: CliError) -> CliError {
        if self.is_alone {
            return error;
        }
        CliError::Target { label: self.label.clone(), source: Box::new(error) }
    }
}

impl TargetArgs {
    /// The servers that the flags name; one, unless a flag is given more than once.
    pub(crate) fn split(&self, flags: &ServerArgs) -> Result<Vec<Target>, CliError> {
        let named = self.pairs(flags)?;
        if named.len() < 2 {
            let unused =
                [(!self.labels.is_empty(), "--label"), (self.repeat.is_some(), "--repeat")];
            if let Some((_, flag)) = unused.iter().find(|(given, _)| *given) {
                return Err(CliError::usage(
                    format!("{flag} is for several servers"),
                    "give --server or --url more than once",
                ));
            }
            let label = String::new();
            return Ok(vec![Target { label, server: flags.clone(), is_alone: true }]);
        }
        let labels = self.labels(named.len())?;
        let target =
            |((server, url), label): ((Option<&String>, Option<&String>), String)| Target {
                label,
                server: ServerArgs {
                    server: server.cloned().into_iter().collect(),
                    url: url.cloned().into_iter().collect(),
                    ..flags.clone()
                },
                is_alone: false,
            };
        Ok(named.into_iter().zip(labels).map(target).collect())
    }

    /// Which command goes with which address.
    fn pairs<'a>(&self, flags: &'a ServerArgs) -> Result<Vec<Named<'a>>, CliError> {
        let (servers, urls) = (&flags.server, &flags.url);
        let apart = self.labels.len() == servers.len() + urls.len();
        let alone = servers.iter().map(|server| (Some(server), None));
        let alone = alone.chain(urls.iter().map(|url| (None, Some(url)))).collect();
        match (servers.len(), urls.len()) {
            (0, _) | (_, 0) => Ok(alone),
            _ if apart => Ok(alone),
            (a, b) if a == b => Ok(servers
                .iter()
                .zip(urls)
                .map(|(server, url)| (Some(server), Some(url)))
                .collect()),
            (a, b) => Err(CliError::usage(
                format!("{a} --server and {b} --url do not pair up"),
                "give each --server its --url, or name all of them with --label",
            )),
        }
    }

    fn labels(&self, count: usize) -> Result<Vec<String>, CliError> {
        if self.labels.is_empty() {
            let letter = |at: usize| match u8::try_from(at) {
                Ok(at) if at < 26 => char::from(b'a' + at).to_string(),
                _ => format!("server-{}", at + 1),
            };
            return Ok((0..count).map(letter).collect());
        }
        if self.labels.len() != count {
            return Err(CliError::usage(
                format!("{} --label for {count} servers", self.labels.len()),
                "give one for each, or none",
            ));
        }
        for (at, label) in self.labels.iter().enumerate() {
            check(label)?;
            if self.labels[..at].iter().any(|other| other.eq_ignore_ascii_case(label)) {
                return Err(CliError::usage(
                    format!("two servers are labelled `{label}`"),
                    "give each a --label of its own",
                ));
            }
        }
        Ok(self.labels.clone())
    }

    /// Tests all targets in turns and tells how they compare with the first.
    pub(crate) fn execute(
        &self,
        targets: &[Target],
        mut loads: Vec<Load>,
        ci: &CiArgs,
        env: &mut Env,
    ) -> Result<Exit, CliError> {
        let Some(first) = loads.first() else { return Ok(Exit::Pass) };
        if first.config.compare.baseline.is_some() {
            return Err(CliError::usage(
                "--baseline is for one server, and several are compared with the first of them",
                "leave it away, or run them one by one",
            ));
        }
        let (config, show) = (first.config.compare.clone(), first.show);
        let formats = first.config.output.formats.clone();
        let kind = first.config.to_scenario()?.kind;
        let dir = RoundsDir::create(&first.output_dir)?;
        for (load, target) in loads.iter_mut().zip(targets) {
            load.output_dir = dir.of_target(&target.label);
        }
        let mut runs: Vec<TargetRuns> = targets
            .iter()
            .map(|target| TargetRuns { label: target.label.clone(), reports: Vec::new() })
            .collect();
        let ended = self.take_turns(targets, &loads, &mut runs, env)?;
        let comparison = compare::rounds(&runs, &config.policy(&kind));
        dir.write(&comparison, &runs, &formats)?;
        if show.json {
            let mut text = Vec::new();
            compare::json::render(&comparison, &mut text)?;
            env.out(&String::from_utf8_lossy(&text));
        } else {
            match formats.contains(&Format::Terminal) {
                true => baseline::show_figures(&comparison, env),
                false => env.out(&format!("{}\n", visible(&comparison.headline(), 600))),
            }
            env.out(&failures(&runs));
            show_paths(&dir, &formats, env);
        }
        let all_passed = runs.iter().flat_map(|target| &target.reports).all(Report::passed);
        let exit = match (ended, all_passed) {
            (Ended::Interrupted, _) => Exit::Interrupted,
            (Ended::Complete, true) => Exit::Pass,
            (Ended::Complete, false) => Exit::Fail,
        };
        ci.tell_rounds(&comparison, &runs, exit, env)?;
        Ok(exit)
    }

    fn take_turns(
        &self,
        targets: &[Target],
        loads: &[Load],
        runs: &mut [TargetRuns],
        env: &mut Env,
    ) -> Result<Ended, CliError> {
        let rounds = self.repeat.unwrap_or(ROUNDS) as usize;
        for round in 0..rounds {
            for at in compare::order(targets.len(), round) {
                announce(&loads[at], &targets[at], round, rounds, env);
                let report = match loads[at].measure(env) {
                    Ok(report) => report,
                    Err(CliError::Run(RunError::Interrupted) | CliError::Interrupted) => {
                        return Ok(Ended::Interrupted);
                    }
                    Err(error) => return Err(targets[at].blame(error)),
                };
                let interrupted = report.interrupted;
                runs[at].reports.push(report);
                if interrupted {
                    return Ok(Ended::Interrupted);
                }
            }
        }
        Ok(Ended::Complete)
    }
}

/// How the turns ended.
enum Ended {
    Complete,
    Interrupted,
}

fn announce(load: &Load, target: &Target, round: usize, rounds: usize, env: &mut Env) {
    if load.show.json || load.show.quiet {
        return;
    }
    let length =
        load.config.to_scenario().ok().and_then(|scenario| scenario.kind.settings().length());
    let length = length.map_or_else(String::new, |time| format!(", {}", format_duration(time)));
    env.err(&format!("round {} of {rounds}: {}{length}\n", round + 1, target.label));
}

/// Where everything lies, last.
fn show_paths(dir: &RoundsDir, formats: &[Format], env: &mut Env) {
    env.out("\n");
    for (name, format) in [("Report", Format::Markdown), ("Page", Format::Html)] {
        if let Some(file) = dir.file(format).filter(|_| formats.contains(&format)) {
            env.out(&format!("{name}: {}\n", file.display()));
        }
    }
    env.out(&format!("Everything: {}\n", dir.path().display()));
}

/// Which runs did not pass, and of which server.
pub(crate) fn failures(runs: &[TargetRuns]) -> String {
    let mut text = String::new();
    for target in runs {
        for (round, report) in target.reports.iter().enumerate().filter(|(_, one)| !one.passed()) {
            let dir = report.run_dir.as_ref().map(|dir| dir.display().to_string());
            text.push_str(&format!(
                "\n{} {} in round {}: {}\n",
                report.verdict.name(),
                target.label,
                round + 1,
                dir.unwrap_or_default()
            ));
        }
    }
    text
}

fn check(label: &str) -> Result<(), CliError> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    let good = label.len() <= LONGEST && label.starts_with(|c: char| c.is_ascii_alphanumeric());
    if good && label.chars().all(plain) {
        return Ok(());
    }
    Err(CliError::usage(
        format!("`{label}` cannot be a label"),
        "use letters, digits, `.`, `_` and `-`, for example `--label v1.2`",
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn split(servers: &[&str], urls: &[&str], labels: &[&str]) -> Result<Vec<String>, String> {
        let own = |texts: &[&str]| texts.iter().map(|text| (*text).to_owned()).collect();
        let flags = ServerArgs { server: own(servers), url: own(urls), ..ServerArgs::default() };
        let args = TargetArgs { labels: own(labels), repeat: None };
        let told = |target: &Target| {
            let of = |values: &[String]| values.join("+");
            format!("{}={}@{}", target.label, of(&target.server.server), of(&target.server.url))
        };
        let targets = args.split(&flags).map_err(|error| error.to_string())?;
        Ok(targets.iter().map(told).collect())
    }

    #[test]
    fn one_server_is_what_it_always_was() {
        assert_eq!(split(&[], &[], &[]).unwrap(), ["=@"]);
        assert_eq!(split(&["x"], &["u"], &[]).unwrap(), ["=x@u"]);
        assert!(split(&["x"], &[], &["a"]).unwrap_err().contains("--label is for several"));
    }

    #[test]
    fn commands_and_addresses_pair_up_or_stand_alone() {
        assert_eq!(split(&["x", "y"], &[], &[]).unwrap(), ["a=x@", "b=y@"]);
        assert_eq!(split(&[], &["u", "v"], &["d", "g"]).unwrap(), ["d=@u", "g=@v"]);
        assert_eq!(split(&["x", "y"], &["u", "v"], &[]).unwrap(), ["a=x@u", "b=y@v"]);
        assert_eq!(split(&["x"], &["u"], &["d", "g"]).unwrap(), ["d=x@", "g=@u"]);
        assert!(split(&["x", "y"], &["u"], &[]).unwrap_err().contains("do not pair up"));
    }

    #[test]
    fn labels_are_names_of_directories() {
        for labels in [["a", "../b"], ["a", ""], ["a", "A"], ["a", ".b"], ["a", "b c"]] {
            assert!(split(&["x", "y"], &[], &labels).is_err(), "{labels:?}");
        }
        assert!(split(&["x", "y", "z"], &[], &["a", "b"]).is_err());
    }
}
