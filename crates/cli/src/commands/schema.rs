//! `schema`: the JSON Schemas of what we read and write.

use clap::{Args, ValueEnum};
use mcp_loadtest::ProbeReport;
use mcp_loadtest_core::{
    compare, config,
    doctor::DoctorReport,
    exit::Exit,
    fuzz, llm,
    report::{json, summary},
    suite::{Suite, SuiteReport},
    tools_file, trace,
};
use mcp_loadtest_mock::gateway;
use serde_json::Value;

use super::explain;
use crate::{env::Env, error::CliError};

/// What a schema describes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum SchemaName {
    /// The configuration file.
    Config,
    /// metrics.json
    Metrics,
    /// One line of trace.jsonl
    Trace,
    /// summary.json, and what --json prints
    Summary,
    /// comparison.json, and what compare --json prints
    Comparison,
    /// The file behind mock --tools-from
    Tools,
    /// What probe --json prints
    Probe,
    /// What doctor --json prints
    Doctor,
    /// What gateway --json prints
    Gateway,
    /// The file behind llm --fixtures
    Fixtures,
    /// One line of llm --journal
    LlmJournal,
    /// What llm verdict --json prints
    LlmVerdict,
    /// A saved case of the fuzzer: cases/*.json of a run
    Case,
    /// A suite of tests
    Suite,
    /// What test --json prints
    Test,
}

impl SchemaName {
    /// The schema itself.
    pub(crate) fn schema(self) -> Value {
        match self {
            Self::Config => config::schema(),
            Self::Metrics => json::schema(),
            Self::Trace => trace::schema::schema(),
            Self::Summary => summary::schema(),
            Self::Comparison => compare::json::schema(),
            Self::Tools => tools_file::schema(),
            Self::Probe => ProbeReport::json_schema(),
            Self::Doctor => DoctorReport::json_schema(),
            Self::Gateway => gateway::schema(),
            Self::Fixtures => llm::FixtureFile::json_schema(),
            Self::LlmJournal => llm::Entry::json_schema(),
            Self::LlmVerdict => llm::ClientReport::json_schema(),
            Self::Case => fuzz::schema(),
            Self::Suite => Suite::json_schema(),
            Self::Test => SuiteReport::json_schema(),
        }
    }
}

/// Arguments of `schema`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  mcp-loadtest schema\n  mcp-loadtest schema config > config.v1.json"
)]
pub(crate) struct SchemaArgs {
    /// Which one; without a name, all are listed.
    #[arg(value_enum)]
    name: Option<SchemaName>,
    /// Print what they are for and exit.
    #[arg(long)]
    explain: bool,
}

/// Runs `schema`.
pub(crate) fn run(args: &SchemaArgs, env: &mut Env) -> Result<Exit, CliError> {
    if args.explain {
        return Ok(explain(
            env,
            "Prints the JSON Schema (2020-12) of the configuration or of an output file. The same\n\
             files are published in schemas/; within version 1 members are only ever added.",
        ));
    }
    env.out(&match args.name {
        Some(name) => format!("{:#}\n", name.schema()),
        None => list(),
    });
    Ok(Exit::Pass)
}

/// Every name, and what its schema describes.
fn list() -> String {
    let words = SchemaName::value_variants().iter().filter_map(ValueEnum::to_possible_value);
    let line = |word: clap::builder::PossibleValue| {
        let about = word.get_help().map(ToString::to_string).unwrap_or_default();
        format!("{:<12} {about}\n", word.get_name())
    };
    words.map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_has_a_line_for_each() {
        let list = list();
        assert_eq!(list.lines().count(), SchemaName::value_variants().len());
        assert!(list.contains("llm-verdict  What llm verdict --json prints\n"), "{list}");
    }

    #[test]
    fn published_schemas_are_fresh() {
        for name in SchemaName::value_variants() {
            let word = name.to_possible_value().unwrap();
            let file =
                format!("{}/../../schemas/{}.v1.json", env!("CARGO_MANIFEST_DIR"), word.get_name());
            let published = std::fs::read_to_string(&file).unwrap_or_default();
            let fresh = published == format!("{:#}\n", name.schema());
            assert!(fresh, "run `make schemas` to refresh {file}");
        }
    }
}
