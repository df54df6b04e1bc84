//! Time by latency, the darker the more calls: shows populations that percentiles hide.

use std::collections::BTreeMap;

use crate::{
    report::{
        Report,
        figures::{counted, grouped},
        html::{
            course::{self, quantiles, times},
            figure::{Figure, Picture},
            time::{Series, Shape, Thin, TimeChart, Unit},
        },
    },
    stats::bimodal::{ENOUGH, modes},
    units::format_latency,
};

/// Rows for each tenfold of the time: 26 % wide.
const ROWS: u32 = 10;

pub(super) fn make(report: &Report) -> Option<Figure> {
    let windows = course::windows(report)?;
    let mut cells = Vec::new();
    for (at, window) in windows.iter().enumerate() {
        let mut rows: BTreeMap<i32, u64> = BTreeMap::new();
        for (nanos, count) in &window.response_ns.0 {
            let millis = (*nanos).max(1) as f64 / 1e6;
            let row = (millis.log10() * f64::from(ROWS)).floor() as i32;
            let sum = rows.entry(row).or_default();
            *sum = sum.saturating_add(*count);
        }
        cells.extend(rows.into_iter().map(|(row, count)| (at, row, count)));
    }
    // The lines span the axis, and are what is left of the map without the script.
    let line = |(name, quantile, colour, thin)| Series {
        name,
        unit: Unit::Millis,
        colour,
        thin,
        values: quantiles(windows, quantile),
    };
    let lines = [
        ("shortest", 0.0, 2, Thin::Mean),
        ("p50", 0.5, 0, Thin::Highest),
        ("max", 1.0, 4, Thin::Highest),
    ];
    let chart = TimeChart {
        at: times(windows),
        series: lines.into_iter().map(line).collect(),
        limits: Vec::new(),
        spans: course::faults(report),
        shape: Shape::Cells { cells, rows: ROWS },
    };
    Some(Figure { reading: reading(report), table: chart.table(), picture: Picture::Time(chart) })
}

fn reading(report: &Report) -> String {
    // Service times, as in the finding: a queue of ours is not a population of the server's.
    let latency = &report.service;
    if latency.count < ENOUGH {
        let are = if latency.count == 1 { "is" } else { "are" };
        let calls = counted(latency.count, "call");
        return format!("{calls} {are} not enough to tell populations apart.");
    }
    match modes(&latency.histogram) {
        Some(modes) => format!(
            "Two populations: {:.0}% of {} calls take about {} from when they were sent, {:.0}% about {}.",
            modes.low.share * 100.0,
            grouped(latency.count),
            format_latency(modes.low.at),
            modes.high.share * 100.0,
            format_latency(modes.high.at),
        ),
        None => format!(
            "One population: the {} calls show no second peak that is set apart from the first.",
            grouped(latency.count)
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{report::fixture::Run, scenario::Scenario};

    #[test]
    fn populations_are_told_from_a_hundred_calls_on() {
        let told = |quick: u64, slow: u64| {
            let run = Run::of(Scenario::sustained()).ok("t", quick, 1_000).ok("t", slow, 100_000);
            reading(&run.report())
        };
        assert_eq!(told(1, 0), "1 call is not enough to tell populations apart.");
        assert_eq!(told(99, 0), "99 calls are not enough to tell populations apart.");
        assert_eq!(
            told(100, 0),
            "One population: the 100 calls show no second peak that is set apart from the first."
        );
        let two = told(600, 400);
        assert!(two.starts_with("Two populations: 60% of 1,000 calls take about 1.0"), "{two}");
        assert!(two.contains("from when they were sent, 40% about "), "{two}");
    }
}
