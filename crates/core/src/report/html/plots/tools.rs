//! The tools side by side, the slowest tail first.

use super::rows::{self, Row};
use crate::{
    display::visible,
    report::{
        Report, ToolStats,
        figures::{counted, rough_percent, total},
        html::{
            escape::LONGEST_NAME,
            figure::{Figure, Picture},
        },
    },
    units::format_latency,
};

pub(super) fn make(report: &Report) -> Option<Figure> {
    let mut tools: Vec<&ToolStats> = report.tools.iter().collect();
    tools.sort_by_key(|tool| std::cmp::Reverse(tool.latency.p99));
    let slowest = tools.first()?;
    let rows: Vec<Row<'_>> = tools
        .iter()
        .map(|tool| Row {
            name: &tool.name,
            times: &tool.latency,
            failed: total(tool.errors.values().copied()),
        })
        .collect();
    Some(Figure {
        reading: reading(&tools, slowest),
        picture: Picture::Still(rows::svg(&rows)),
        table: rows::table("Tool", &rows),
    })
}

fn reading(tools: &[&ToolStats], slowest: &ToolStats) -> String {
    let name = visible(&slowest.name, LONGEST_NAME).replace('`', "'");
    let calls = |tool: &ToolStats| tool.latency.count as f64;
    let time = |tool: &ToolStats| tool.latency.mean.as_secs_f64() * calls(tool);
    let share = |part: &dyn Fn(&ToolStats) -> f64| {
        let all = tools.iter().fold(0.0, |sum, tool| sum + part(tool));
        if all > 0.0 { part(slowest) / all } else { 0.0 }
    };
    let p99 = format_latency(slowest.latency.p99);
    match tools.len() {
        1 => {
            format!(
                "Only `{name}` was called; its p99 is {p99} ({}).",
                counted(slowest.latency.count, "call")
            )
        }
        _ => format!(
            "The longest tail is that of `{name}`: p99 {p99}, with {} of the calls and {} of all time that calls took ({}).",
            rough_percent(share(&calls)),
            rough_percent(share(&time)),
            counted(slowest.latency.count, "call"),
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{outcome::ErrorCategory, report::fixture::Run, scenario::Scenario};

    #[test]
    fn the_longest_tail_has_its_share_of_calls_and_of_time() {
        let run = || Run::of(Scenario::sustained());
        let withdrawn = ErrorCategory::Cancelled;
        for (run, expected) in [
            (run().ok("a", 3, 2_000), "Only `a` was called; its p99 is 2.00ms (3 calls)."),
            (
                run().ok("a", 30, 1_000).ok("b", 10, 9_000),
                "The longest tail is that of `b`: p99 9.00ms, with 25% of the calls and 75% of all time that calls took (10 calls).",
            ),
            (
                run().failed("a", withdrawn, 2, "x").failed("b", withdrawn, 2, "x"),
                "The longest tail is that of `a`: p99 0ns, with 0% of the calls and 0% of all time that calls took (0 calls).",
            ),
        ] {
            assert_eq!(make(&run.report()).expect("tools").reading, expected);
        }
    }
}
