//! `comparison.json` and `compare --json`.

use std::io;

use schemars::schema_for;
use serde_json::Value;

use super::Comparison;
use crate::report::json::layout;

/// What the member `schema` of every comparison says.
pub const SCHEMA: &str = "mcp-loadtest/comparison/v1";

/// Writes a comparison for machines.
pub fn render(comparison: &Comparison, out: &mut dyn io::Write) -> io::Result<()> {
    layout::write(comparison, out)
}

/// `schemas/comparison.v1.json`.
pub fn schema() -> Value {
    schema_for!(Comparison).to_value()
}
