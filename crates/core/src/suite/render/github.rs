//! Annotations of GitHub Actions: what failed is shown beside the line of the suite.

use crate::{
    ci::{github::annotations, of_suite},
    suite::result::SuiteReport,
};

pub(super) fn render(report: &SuiteReport) -> String {
    annotations(&of_suite(report))
}
