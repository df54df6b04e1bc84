//! `list-scenarios`: what `run --scenario` can do.

use clap::Args;
use mcp_loadtest::scenario::SCENARIOS;
use mcp_loadtest_core::exit::Exit;

use super::{explain, run::explanation};
use crate::{env::Env, error::CliError};

/// Arguments of `list-scenarios`.
#[derive(Debug, Args)]
pub(crate) struct ListScenariosArgs {
    /// Print a JSON array, with the JSON Schema of each scenario's keys.
    #[arg(long)]
    json: bool,
    /// Print the algorithm of every scenario.
    #[arg(long)]
    explain: bool,
}

/// Runs `list-scenarios`.
pub(crate) fn run(args: &ListScenariosArgs, env: &mut Env) -> Result<Exit, CliError> {
    if args.explain {
        let all: Vec<_> = SCENARIOS.iter().map(|entry| explanation(entry.name)).collect();
        return Ok(explain(env, &all.join("\n")));
    }
    if args.json {
        let list = SCENARIOS.iter().map(|entry| {
            serde_json::json!({
                "name": entry.name.as_str(),
                "summary": entry.summary,
                "detects": entry.detects,
                "config_schema": entry.name.config_schema(),
            })
        });
        let list: serde_json::Value = list.collect();
        env.out(&format!("{list:#}\n"));
        return Ok(Exit::Pass);
    }
    for entry in SCENARIOS {
        env.out(&format!(
            "{:<16} {}\n{:<16} finds: {}\n",
            entry.name.as_str(),
            entry.summary,
            "",
            entry.detects
        ));
    }
    Ok(Exit::Pass)
}
