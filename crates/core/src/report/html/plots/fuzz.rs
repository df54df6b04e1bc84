//! What became of bad input, by its kind.

use crate::report::{
    Report,
    html::{
        figure::{Figure, Picture},
        table::Table,
    },
    phrases,
};

pub(super) fn make(report: &Report) -> Option<Figure> {
    let fuzz = report.fuzz.as_ref()?;
    let rows = fuzz.payloads.iter().map(|(payload, classes)| {
        [payload.as_str().to_owned()].into_iter().chain(phrases::fuzz_cells(classes)).collect()
    });
    let head: Vec<&str> = ["Payload"].into_iter().chain(phrases::FUZZ_COLUMNS).collect();
    Some(Figure {
        reading: format!("{}.", phrases::fuzz(fuzz)),
        picture: Picture::Table,
        table: Table::new(&head, rows),
    })
}
