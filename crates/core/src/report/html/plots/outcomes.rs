//! How calls ended, over time.

use crate::report::{
    Report, Window,
    figures::{counted, grouped, percent},
    html::{
        course::{self, times},
        figure::{Figure, Picture},
        scale::clock,
        time::{Series, Shape, Thin, TimeChart, Unit},
    },
    phrases,
};

pub(super) fn make(report: &Report) -> Option<Figure> {
    let windows = course::windows(report)?;
    let line = |name, colour, count: fn(&Window) -> u64| Series {
        name,
        unit: Unit::PerSecond,
        colour,
        thin: Thin::Mean,
        values: windows
            .iter()
            .map(|window| Some(count(window) as f64 / window.secs.max(1) as f64))
            .collect(),
    };
    let chart = TimeChart {
        at: times(windows),
        // Failures lie below, where a thin layer is seen.
        series: vec![
            line("failed", 1, |window| window.errors),
            line("ended well", 0, |window| window.ok),
        ],
        limits: Vec::new(),
        spans: course::spans(report),
        shape: Shape::Stack,
    };
    Some(Figure { reading: reading(report), table: chart.table(), picture: Picture::Time(chart) })
}

fn reading(report: &Report) -> String {
    let failures = phrases::failures(report);
    let all = counted(report.throughput.total_requests, "call");
    if failures.is_empty() {
        return format!("None of {all} failed.");
    }
    let kinds: Vec<String> =
        failures.iter().map(|(name, count)| format!("{} `{name}`", grouped(*count))).collect();
    let share = report.error_rate().map_or(String::new(), |share| format!(" ({})", percent(share)));
    let first = report.windows.iter().find(|window| window.errors > 0);
    let first = first.map_or(String::new(), |window| {
        format!(" The first ended in the window from {}.", clock(window.from_secs as f64))
    });
    format!("{} of {all} failed{share}: {}.{first}", grouped(report.errors.total), kinds.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::fixture::{violated, windows};

    #[test]
    fn a_long_window_is_told_by_the_second() {
        let mut report = violated();
        report.windows = windows(&[(7, 0, 5), (9, 0, 5), (6, 4, 5)]);
        report.windows.iter_mut().for_each(|window| window.secs = 2);
        let figure = make(&report).expect("three windows");
        let Picture::Time(chart) = figure.picture else { panic!("no plot over time") };
        assert_eq!(chart.series[0].values, [Some(0.0), Some(0.0), Some(2.0)], "failed");
        assert_eq!(chart.series[1].values, [Some(3.5), Some(4.5), Some(3.0)], "ended well");
        assert!(figure.reading.ends_with("`ToolError`. The first ended in the window from 2s."));
    }
}
