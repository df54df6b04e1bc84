//! Everything, as JSON.

use crate::{display, suite::result::SuiteReport};

pub(super) fn render(report: &SuiteReport) -> String {
    display::json(&serde_json::to_string_pretty(report).unwrap_or_default()) + "\n"
}
