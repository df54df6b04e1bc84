//! CPU, threads and open files of the server's process tree.

use crate::report::{
    Report,
    figures::counted,
    html::{
        course,
        figure::{Figure, Picture},
        time::{Series, Shape, Thin, TimeChart, Unit},
    },
};

pub(super) fn make(report: &Report) -> Option<Figure> {
    let samples = &report.process.samples;
    let (first, last) = (samples.get(1)?, samples.last()?);
    let line =
        |name, unit, colour, values| Series { name, unit, colour, thin: Thin::Highest, values };
    // The first sample has nothing to compare its CPU time with.
    let cpu = samples.iter().enumerate().map(|(at, sample)| (at > 0).then_some(sample.cpu_pct));
    let threads = samples.iter().map(|sample| Some(f64::from(sample.threads)));
    let files = samples.iter().map(|sample| Some(f64::from(sample.open_files)));
    let chart = TimeChart {
        at: samples.iter().map(|sample| sample.at.as_secs_f64()).collect(),
        series: vec![
            line("CPU", Unit::Percent, 0, cpu.collect()),
            line("threads", Unit::Count, 3, threads.collect()),
            line("open files", Unit::Count, 2, files.collect()),
        ],
        limits: Vec::new(),
        spans: course::spans(report),
        shape: Shape::Lines,
    };
    let reading = format!(
        "CPU {:.0}% on average, where 100% is one core; threads went from {} to {}, open files from {} to {} ({}).",
        report.process.avg_cpu_pct,
        first.threads,
        last.threads,
        first.open_files,
        last.open_files,
        counted(samples.len() as u64, "sample")
    );
    Some(Figure { reading, table: chart.table(), picture: Picture::Time(chart) })
}
