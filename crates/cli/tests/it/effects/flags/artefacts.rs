//! Commands that print what they know: schemas, scenarios, scripts, manuals.

use super::Flag;
use crate::effects::proof::{
    Proof::{Shows, Tested},
    tried,
};

const EXPLAINED: &[&str] = &["cli commands::every_command_explains_itself"];

pub(super) const EVERYWHERE: &[Flag] = &[Flag(
    "--color",
    "sometimes",
    Shows(&["probe", "-s", "{mock}", "--only", "unknown_tool"], &["--color", "always"], "\x1b["),
)];

pub(super) const LIST_SCENARIOS: &[Flag] = &[
    Flag("--json", "", Shows(&["list-scenarios"], &["--json"], r#""name": "sustained""#)),
    Flag("--explain", "", Shows(&["list-scenarios"], &["--explain"], "Algorithm:")),
];

pub(super) const EXAMPLE_CONFIG: &[Flag] = &[
    Flag("--suite", "", Shows(&["example-config"], &["--suite"], "loads:")),
    Flag("--explain", "", Tested(EXPLAINED)),
];

pub(super) const SCHEMA: &[Flag] = &[
    Flag("NAME", "sweet", Shows(&["schema"], &["trace"], "https://json-schema.org")),
    Flag("--explain", "", Tested(EXPLAINED)),
];

pub(super) const COMPLETIONS: &[Flag] = &[
    Flag("SHELL", "cmd", Shows(&["completions"], &["bash"], "COMPREPLY")),
    Flag("--explain", "", Tested(EXPLAINED)),
];

pub(super) const MAN: &[Flag] = &[
    Flag("--dir", "", Shows(&["man"], &["--dir", "pages"], "file pages/mcp-loadtest-run.1")),
    Flag("--explain", "", Tested(EXPLAINED)),
];

#[test]
fn each_flag_shows() {
    tried("", EVERYWHERE);
    tried("list-scenarios", LIST_SCENARIOS);
    tried("schema", SCHEMA);
    tried("completions", COMPLETIONS);
    tried("man", MAN);
}
