//! What was run against whom, and how to run it again.

use crate::{
    report::{
        Report,
        html::{
            figure::{Figure, Picture},
            table::Table,
        },
        phrases,
    },
    units::format_latency,
};

pub(super) fn make(report: &Report) -> Option<Figure> {
    let server = &report.server_info;
    let facts = phrases::server_facts(server).join(", ");
    let rows = [
        ("Run", report.run_id.clone()),
        ("Began", phrases::started(report.started_at)),
        ("Took", format_latency(report.duration)),
        ("Server", server.target.clone()),
        ("Known of it", facts),
        ("Scenario", phrases::scenario(&report.scenario_kind)),
        ("Calls", report.calls.join(", ")),
        ("Seed", report.seed.to_string()),
        ("Tags", report.tags.join(", ")),
        ("Made by", concat!("mcp-loadtest ", env!("CARGO_PKG_VERSION")).to_owned()),
    ];
    let said = rows.into_iter().filter(|(_, told)| !told.is_empty());
    let rows = said.map(|(name, told)| vec![name.to_owned(), told]);
    Some(Figure {
        reading: again(report),
        picture: Picture::Table,
        table: Table::new(&["What", "Value"], rows),
    })
}

fn again(report: &Report) -> String {
    match &report.run_dir {
        Some(dir) => format!(
            "To run it again: `mcp-loadtest run --config {}`",
            dir.join("config.toml").display()
        ),
        None => "The run kept no directory, so its configuration is not at hand.".into(),
    }
}
