//! `audit show`: all of one row.

use clap::Args;
use mcp_loadtest_core::{display::visible, exit::Exit};
use mcp_loadtest_mock::audit::{Filter, Row, Source};
use serde_json::Value;

use super::text;
use crate::{env::Env, error::CliError};

/// Arguments of `audit show`.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  mcp-loadtest audit audit.db show 17\n  mcp-loadtest audit audit.db show 17 --json"
)]
pub(super) struct ShowArgs {
    /// The number of the row, as `list` shows it.
    #[arg(required_unless_present = "explain")]
    seq: Option<u64>,
    /// Print the row as one JSON object.
    #[arg(long)]
    json: bool,
}

/// How much of a member is shown; `--json` has all.
const LIMIT: usize = 4_000;
const LABEL: usize = 20;

pub(super) fn run(args: &ShowArgs, log: &mut dyn Source, env: &mut Env) -> Result<Exit, CliError> {
    let seq = args.seq.expect("it is asked for unless --explain is there");
    let next = Filter { after: seq.checked_sub(1), limit: Some(1), ..Filter::default() };
    let found = log.query(&next)?.into_iter().find(|row| row.seq == seq);
    let Some(row) = found else {
        return Err(CliError::usage(
            format!("there is no row {seq} in the log"),
            "`audit STORE list` shows the numbers of the rows",
        ));
    };
    if args.json {
        env.out_json(&row);
    } else {
        env.out(&page(&row));
    }
    Ok(Exit::Pass)
}

/// A line for each thing that is known, and one for each header line and event.
fn page(row: &Row) -> String {
    let mut page = String::new();
    let members = serde_json::to_value(row).unwrap_or_default();
    for name in text::MEMBERS {
        match (name, &members[name]) {
            (_, Value::Null) => {}
            ("headers", _) => row.headers.iter().for_each(|(header, value)| {
                push(&mut page, "header", &format!("{header}: {value}"));
            }),
            ("events", _) => row.events.iter().for_each(|event| {
                push(
                    &mut page,
                    "event",
                    &format!("{} after {}", event.method, text::took(event.at_us)),
                );
            }),
            ("duration_us", _) => push(&mut page, "duration", &text::took(row.duration_us)),
            (name, Value::String(value)) => push(&mut page, name, value),
            (name, value) => push(&mut page, name, &value.to_string()),
        }
    }
    page
}

fn push(page: &mut String, label: &str, value: &str) {
    page.push_str(&format!("{label:<LABEL$} {}\n", visible(value, LIMIT)));
}
