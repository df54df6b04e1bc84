//! The tools that the server lists, and which of them were called.

use crate::report::{
    Report,
    figures::{grouped, total},
    html::{
        figure::{Figure, Picture},
        table::Table,
    },
    phrases,
};

pub(super) fn make(report: &Report) -> Option<Figure> {
    let told = phrases::coverage(report)?;
    let row = |name: &String| match report.tools.iter().find(|tool| tool.name == *name) {
        Some(tool) => vec![
            name.clone(),
            "yes".into(),
            grouped(tool.total_requests),
            grouped(total(tool.errors.values().copied())),
        ],
        None => vec![name.clone(), "no".into(), "0".into(), "0".into()],
    };
    let rows = report.server_info.tool_names.iter().map(row);
    Some(Figure {
        reading: format!("{told}; what was not called is not judged."),
        picture: Picture::Table,
        table: Table::new(&["Tool", "Called", "Calls", "Failed"], rows),
    })
}
