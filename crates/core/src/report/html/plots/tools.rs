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
