//! Every command with its flags, as `--help` knows them.

use clap::{Arg, Command, CommandFactory as _};

use super::{head, row, titled};
use crate::args::Cli;

/// A flag that only a build with a feature has; the page is the same for all builds.
const OF_A_FEATURE: &str = "otlp";

pub(super) fn page() -> String {
    let about = "`mcp-loadtest COMMAND --help` says the same with examples, `--explain` says how a \
                 command works.";
    let mut text = titled("Commands", about);
    for command in Cli::command().get_subcommands() {
        section(&mut text, "mcp-loadtest", command);
    }
    text
}

fn section(text: &mut String, before: &str, command: &Command) {
    let name = format!("{before} {}", command.get_name());
    let about = command.get_about().map(ToString::to_string).unwrap_or_default();
    text.push_str(&format!("\n## {name}\n\n{about}\n"));
    let shown = |arg: &&Arg| !arg.is_hide_set() && arg.get_id() != OF_A_FEATURE;
    let mut args = command.get_arguments().filter(shown).peekable();
    if args.peek().is_some() {
        text.push_str(&head(&["flag", "meaning"]));
    }
    for arg in args {
        text.push_str(&row(&[&format!("`{}`", spelled(arg)), &meaning(arg)]));
    }
    for inner in command.get_subcommands() {
        section(text, &name, inner);
    }
}

fn spelled(arg: &Arg) -> String {
    let values = arg.get_value_names().unwrap_or_default();
    let takes = arg.get_action().takes_values();
    let value = values.iter().map(|value| value.as_str()).filter(|_| takes).collect::<Vec<_>>();
    let value = value.join(" ");
    match (arg.get_short(), arg.get_long()) {
        (Some(short), Some(long)) => format!("-{short}, --{long} {value}"),
        (None, Some(long)) => format!("--{long} {value}"),
        (Some(short), None) => format!("-{short} {value}"),
        (None, None) => format!("[{value}]"),
    }
    .trim_end()
    .to_owned()
}

fn meaning(arg: &Arg) -> String {
    let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
    let defaults: Vec<_> =
        arg.get_default_values().iter().map(|value| value.to_string_lossy()).collect();
    let is_told = defaults.is_empty() || !arg.get_action().takes_values();
    if is_told { help } else { format!("{help} [default: {}]", defaults.join(", ")) }
}
