//! The steps of the load one after another: before, during and after a burst; the levels of a ramp.

use super::rows::{self, Row};
use crate::{
    report::{
        Report,
        figures::counted,
        html::figure::{Figure, Picture},
    },
    units::format_latency,
};

pub(super) fn make(report: &Report) -> Option<Figure> {
    let steps = &report.segments;
    let (first, last) = (steps.first()?, steps.last()?);
    let slowest = steps.iter().max_by_key(|step| step.latency.p99)?;
    let rows: Vec<Row<'_>> = steps
        .iter()
        .map(|step| Row { name: &step.label, times: &step.latency, failed: step.errors })
        .collect();
    let reading = match (first.latency.count, last.latency.count) {
        (0, _) | (_, 0) => "Not every step has calls to compare.".to_owned(),
        (early, late) => format!(
            "p99 was {} in the first step ({}) and {} in the last ({}); the longest is that of `{}`.",
            format_latency(first.latency.p99),
            counted(early, "call"),
            format_latency(last.latency.p99),
            counted(late, "call"),
            slowest.label,
        ),
    };
    Some(Figure {
        reading,
        picture: Picture::Still(rows::svg(&rows)),
        table: rows::table("Step of the load", &rows),
    })
}
