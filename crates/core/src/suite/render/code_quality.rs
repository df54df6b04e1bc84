//! The code quality report of GitLab: what failed is shown beside the line of the suite.

use crate::{
    ci::{code_quality, of_suite},
    suite::result::SuiteReport,
};

pub(super) fn render(report: &SuiteReport) -> String {
    format!("{:#}\n", code_quality::document(&of_suite(report)))
}
