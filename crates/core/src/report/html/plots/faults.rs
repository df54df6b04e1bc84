//! When which fault was at work, and what it did: the table behind the shades of the plots over time.

use crate::{
    fault::FaultWindow,
    report::{
        Report, felt,
        figures::counted,
        html::{
            course,
            figure::{Figure, Picture},
            span::label,
            table::Table,
        },
    },
};

pub(super) fn make(report: &Report) -> Option<Figure> {
    if report.faults.is_empty() {
        return None;
    }
    let spans = course::faults(report);
    let number = |at: usize| spans[at].fault().unwrap_or(0);
    let row = |(at, fault): (usize, &FaultWindow)| {
        let name = format!("{} {}", label(number(at)), fault.name);
        [name].into_iter().chain(felt::cells(report, fault)).collect()
    };
    let rows: Vec<Vec<String>> = report.faults.iter().enumerate().map(row).collect();
    let faults = (0..spans.len()).map(number).max().map_or(0, |last| last as u64 + 1);
    Some(Figure {
        reading: reading(report, faults),
        picture: Picture::Table,
        table: Table::new(&felt::COLUMNS, rows),
    })
}

fn reading(report: &Report, faults: u64) -> String {
    let hits = report.faults.iter().fold(0, |sum: u64, fault| sum.saturating_add(fault.calls));
    let windows = match report.faults.len() as u64 {
        all if all == faults => String::new(),
        all => format!(" in {}", counted(all, "window")),
    };
    let were = if faults == 1 { "was" } else { "were" };
    format!(
        "By the log of who injected them, {} {were} at work{windows}, on {}; plots over time are shaded meanwhile.",
        counted(faults, "fault"),
        counted(hits, "call")
    )
}
