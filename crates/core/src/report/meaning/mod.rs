//! What the figures mean, in sentences.
//!
//! Each rule says one thing, and only when the data carry it: how many calls a claim rests on is
//! part of the rule. To add one: a function in the file of its theme and a line in [`RULES`], which is in
//! order of importance. Literals stand between backticks, and text from a server only inside them.

mod calls;
mod figures;
#[cfg(test)]
mod tests;

use super::{model::Report, omission::omission};
use crate::display::visible;

/// More sentences than this are not read.
const MOST: usize = 5;

static RULES: &[fn(&Report) -> Option<String>] = &[
    calls::nothing_measured,
    calls::interrupted,
    calls::ended_on_fail,
    calls::paused,
    calls::deadlock,
    calls::outcome,
    figures::lazy_init,
    figures::start_phases,
    figures::latency,
    figures::slow_tail,
    omission,
    figures::waiting,
    calls::dropped,
    figures::memory,
    figures::few_calls,
];

/// What the figures of a report mean, the most important first.
pub fn meaning(report: &Report) -> Vec<String> {
    RULES.iter().filter_map(|rule| rule(report)).take(MOST).collect()
}

/// A name from the server as a literal.
fn literal(name: &str) -> String {
    format!("`{}`", visible(name, 48).replace('`', "'"))
}
