//! Memory of the server's process tree.

use crate::{
    report::{
        Report,
        figures::counted,
        html::{
            course,
            figure::{Figure, Picture},
            time::{Series, Shape, Thin, TimeChart, Unit},
        },
    },
    stats::{envelope::default_warmup, leak::judge_growth},
};

pub(super) fn make(report: &Report) -> Option<Figure> {
    let samples = &report.process.samples;
    let (first, _) = (samples.first()?, samples.get(1)?);
    let line = |name, colour, values| Series {
        name,
        unit: Unit::Megabytes,
        colour,
        thin: Thin::Highest,
        values,
    };
    let mut series =
        vec![line("RSS", 0, samples.iter().map(|sample| Some(sample.rss_mb)).collect())];
    if samples.iter().any(|sample| sample.pss_mb.is_some()) {
        series.push(line("PSS", 2, samples.iter().map(|sample| sample.pss_mb).collect()));
    }
    let growth = report.thresholds.memory_growth_mb;
    let limits = match growth.is_finite() {
        true => vec![(first.rss_mb + growth, "growth limit".to_owned())],
        false => Vec::new(),
    };
    let chart = TimeChart {
        at: samples.iter().map(|sample| sample.at.as_secs_f64()).collect(),
        series,
        limits,
        spans: course::spans(report),
        shape: Shape::Lines,
    };
    Some(Figure { reading: reading(report), table: chart.table(), picture: Picture::Time(chart) })
}

fn reading(report: &Report) -> String {
    let process = &report.process;
    let first = process.samples.first().map_or(0.0, |sample| sample.rss_mb);
    let told = format!(
        "RSS of all processes of the server went from {first:.1} to {:.1} MB, {:.1} MB at most ({}).",
        process.final_rss_mb,
        process.peak_rss_mb,
        counted(process.samples.len() as u64, "sample")
    );
    let series: Vec<(f64, f64)> =
        process.samples.iter().map(|sample| (sample.at.as_secs_f64(), sample.rss_mb)).collect();
    let limit =
        Some(report.thresholds.memory_growth_mb).filter(|limit| limit.is_finite()).unwrap_or(0.0);
    let growth = judge_growth(&series, report.duration, default_warmup(report.duration), limit);
    let Some(fit) = growth.fit else {
        return format!("{told} Too few samples to tell whether it grows.");
    };
    let each = report.duration.as_secs_f64();
    format!(
        "{told} What is left after each fall changes by {:.2} MB over the run ({} samples after the warm-up).",
        fit.floor_slope * each,
        growth.samples
    )
}
