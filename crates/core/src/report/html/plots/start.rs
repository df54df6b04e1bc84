//! Named phases, such as those of a cold start: which of them takes the time.

use super::rows::{self, Row};
use crate::{
    display::visible,
    report::{
        Report,
        html::{
            escape::LONGEST_NAME,
            figure::{Figure, Picture},
        },
    },
    units::format_latency,
};

pub(super) fn make(report: &Report) -> Option<Figure> {
    let slowest = report.steps.iter().max_by_key(|step| step.latency.p50)?;
    let rows: Vec<Row<'_>> = report
        .steps
        .iter()
        .map(|step| Row { name: &step.name, times: &step.latency, failed: 0 })
        .collect();
    let reading = format!(
        "The longest phase is `{}`: {} at the median, {} at worst ({} times).",
        visible(&slowest.name, LONGEST_NAME).replace('`', "'"),
        format_latency(slowest.latency.p50),
        format_latency(slowest.latency.max),
        slowest.latency.count
    );
    let picture = Picture::Still(rows::svg(&rows));
    Some(Figure { reading, picture, table: rows::table("Phase", &rows) })
}
