//! Everything, as JSON.

use crate::suite::result::SuiteReport;

pub(super) fn render(report: &SuiteReport) -> String {
    serde_json::to_string_pretty(report).unwrap_or_default() + "\n"
}
