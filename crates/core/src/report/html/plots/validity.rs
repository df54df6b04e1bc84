//! Are the figures the server's, or the generator's own?

use crate::{
    report::{
        Report,
        figures::{decimal, grouped, percent},
        html::{
            figure::{Figure, Picture},
            table::Table,
        },
        phrases,
    },
    units::format_latency,
};

pub(super) fn make(report: &Report) -> Option<Figure> {
    let validity = &report.validity;
    let reading = match (validity.client_bound, report.interrupted) {
        (true, _) => format!("The generator was the limit: {}.", validity.reasons.join("; ")),
        (false, true) => {
            "The run was interrupted; the generator was not the limit until then.".into()
        }
        (false, false) => "The figures are the server's: the generator was not the limit.".into(),
    };
    let share = |share: Option<f64>| share.map_or("not measured".into(), percent);
    let lag = match validity.lag.count {
        0 => "calls start as others end".to_owned(),
        _ => format!("{} at p99", format_latency(validity.lag.p99)),
    };
    let row = |name: &str, told: String| vec![name.to_owned(), told];
    let rows = [
        row(
            "Asked and sent",
            phrases::offered(report).unwrap_or_else(|| "as fast as answers came".into()),
        ),
        row("Sent late", lag),
        row("Busiest load thread", share(validity.busiest_thread)),
        row("Load thread without a CPU, at worst", share(validity.starved_thread)),
        row(
            "CPU of ours by call",
            validity
                .cpu_us_per_call
                .map_or("not measured".into(), |cost| format!("{} µs", decimal(cost))),
        ),
        row("Load held on purpose", phrases::paused(report).unwrap_or_else(|| "never".into())),
        row("Due but not sent", grouped(report.dropped)),
        row("Calls measured", grouped(report.latency.count)),
        row(
            "Calls in the trace",
            format!("{} of {}", grouped(report.trace.kept_calls), grouped(report.trace.calls)),
        ),
    ];
    Some(Figure { reading, picture: Picture::Table, table: Table::new(&["Check", "Seen"], rows) })
}
