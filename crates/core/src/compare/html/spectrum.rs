//! The percentile spectra of all sides in one picture, each in the band in which it lies.

use super::Side;
use crate::{
    compare::{Candidate, Comparison, Method, figures, phrases},
    histogram,
    report::{
        Report,
        html::{
            canvas::{Axis, Canvas, Drawn},
            escape::{LONGEST_TEXT, prose, text},
            figure::folded,
            nines,
            scale::{Scale, millis},
            table::Table,
        },
    },
    seed::Seed,
    stats::{
        bootstrap::{self, Figure},
        interval::Interval,
        order::median,
    },
};

/// How often the seconds of a run are drawn again for its band.
const BAND_DRAWS: u32 = 300;
/// The colours of the sides, the base first; each has dashes of its own. Further ones begin again.
const COLOURS: [usize; 6] = [4, 0, 3, 2, 5, 1];
/// The shares of calls that the table has.
const SHARES: [f64; 6] = [0.5, 0.75, 0.9, 0.95, 0.99, 0.999];

/// A line, and where it lies for all that is known.
struct Curve<'a> {
    label: &'a str,
    colour: usize,
    line: Vec<(f64, Option<f64>)>,
    band: Vec<(f64, f64, f64)>,
}

pub(super) fn figure(comparison: &Comparison, sides: &[Side<'_>]) -> String {
    let named: Vec<(&str, Vec<&Report>)> =
        labels(comparison).zip(sides.iter().map(usable)).collect();
    let measured = named.iter().flat_map(|(_, reports)| reports).copied();
    let most = measured.clone().map(|report| nines::of(report.latency.count)).fold(1.0, f64::max);
    let curves: Vec<Curve<'_>> = named
        .iter()
        .zip(COLOURS.iter().cycle())
        .filter(|((_, reports), _)| !reports.is_empty())
        .map(|((label, reports), colour)| curve(label, *colour, reports, most))
        .collect();
    let body = match curves.is_empty() {
        true => String::new(),
        false => picture(comparison, &curves, measured.collect(), most),
    };
    format!(
        "<section class=\"figure\" id=\"spectrum\" aria-labelledby=\"spectrum-title\"><h3 id=\"spectrum-title\">Percentile spectrum</h3>\
         <p class=\"reading\">{}</p>{body}\n{}</section>\n",
        prose(&reading(comparison), LONGEST_TEXT),
        folded("Percentile spectrum", &table(&named).html("Percentile spectrum: the numbers")),
    )
}

fn labels(comparison: &Comparison) -> impl Iterator<Item = &str> {
    let candidates = comparison.candidates.iter().map(|candidate| candidate.target.label.as_str());
    std::iter::once(comparison.base.label.as_str()).chain(candidates)
}

fn usable<'a>(side: &Side<'a>) -> Vec<&'a Report> {
    side.reports.iter().filter(|report| report.latency.count > 0).collect()
}

fn curve<'a>(label: &'a str, colour: usize, reports: &[&Report], most: f64) -> Curve<'a> {
    let lines: Vec<Vec<_>> =
        reports.iter().map(|report| nines::curve(&report.latency.histogram, most)).collect();
    if let [only] = reports {
        let line = lines.into_iter().next().unwrap_or_default();
        return Curve { label, colour, line, band: band(only, most) };
    }
    let (mut line, mut band) = (Vec::new(), Vec::new());
    for (at, place) in nines::shares(most).0.into_iter().enumerate() {
        let times = || lines.iter().filter_map(|line| line.get(at)?.1);
        line.push((place, median(times())));
        let (low, high) = (times().reduce(f64::min), times().reduce(f64::max));
        band.extend(low.zip(high).map(|(low, high)| (place, low, high)));
    }
    Curve { label, colour, line, band }
}

/// Where each point of a curve lies, from its seconds drawn again; nothing of a run that is too short.
fn band(report: &Report, most: f64) -> Vec<(f64, f64, f64)> {
    let windows = report.unpaused_windows();
    let blocks = figures::blocks(&windows, figures::common_secs(&windows, &windows));
    let (places, shares) = nines::shares(most);
    let band = bootstrap::band(&blocks, &shares, BAND_DRAWS, Seed(1));
    let edges = places.into_iter().zip(band);
    edges.map(|(at, Interval { low, high })| (at, low / 1e6, high / 1e6)).collect()
}

fn picture(
    comparison: &Comparison,
    curves: &[Curve<'_>],
    measured: Vec<&Report>,
    most: f64,
) -> String {
    let ends = measured.iter().flat_map(|report| [report.latency.min, report.latency.max]);
    let scale = Scale::log(ends.map(|time| time.as_secs_f64() * 1e3));
    let y = Axis { scale, told: millis, name: "time (log)" };
    let mut canvas = Canvas::new(300.0, nines::axis(most), y);
    curves.iter().for_each(|curve| canvas.band(&curve.band, curve.colour));
    curves.iter().for_each(|curve| canvas.line(curve.line.iter().copied(), curve.colour));
    let mut legend: Vec<(&str, usize)> =
        curves.iter().map(|curve| (curve.label, curve.colour)).collect();
    // Of several, the bars would lie on each other.
    if let [only] = comparison.candidates.as_slice()
        && whiskers(&mut canvas, only) > 0
    {
        legend.push(("95% interval of the change", 1));
    }
    format!(
        "<div class=\"still\" role=\"img\" aria-label=\"{}\">{}</div>",
        text(&reading(comparison), LONGEST_TEXT),
        canvas.svg(Drawn::Lines, &legend)
    )
}

/// The intervals of the table, as times: where the candidate would lie if the change were as small, or as
/// large, as the data allow.
fn whiskers(canvas: &mut Canvas, candidate: &Candidate) -> usize {
    let mut drawn = 0;
    for figure in &candidate.figures {
        let known = figure.figure.quantile().zip(figure.base.zip(figure.interval));
        let Some((share, (base, by))) = known else { continue };
        let (low, high) = (base * (1.0 + by.low), base * (1.0 + by.high));
        canvas.whisker(-(1.0 - share).log10(), low, high, 1);
        drawn += 1;
    }
    drawn
}

/// How p99 of each differs from that of the base, and what line and band are.
fn reading(comparison: &Comparison) -> String {
    let told: Vec<String> = comparison
        .candidates
        .iter()
        .map(|one| format!("`{}`: {}.", one.target.label, tail(one)))
        .collect();
    let bands = match (comparison.method, comparison.base.runs.len()) {
        (Method::Rounds, 2..) => {
            "A line is the median of the rounds; its band reaches from the lowest to the highest."
        }
        _ => "A line lies in its band with 95 % confidence; a run that is too short has none.",
    };
    format!("{} {bands}", told.join(" "))
}

fn tail(candidate: &Candidate) -> String {
    let Some(p99) = candidate.figures.iter().find(|figure| figure.figure == Figure::P99) else {
        return "no p99 to compare".into();
    };
    let values =
        [p99.current, p99.base].map(|value| phrases::value(Figure::P99, value)).join(" against ");
    match (&p99.why, p99.interval) {
        (Some(why), _) => format!("p99 is {values}, and no difference is shown: {why}"),
        (None, Some(by)) if by.low <= 0.0 && by.high >= 0.0 => {
            format!("p99 is {values}, which is no difference for sure ({})", phrases::interval(p99))
        }
        (None, _) => format!(
            "p99 is {values}, {} (95 % between {})",
            phrases::change_of(p99),
            phrases::interval(p99).replace(" to ", " and ")
        ),
    }
}

fn table(named: &[(&str, Vec<&Report>)]) -> Table {
    let head: Vec<&str> =
        std::iter::once("Share of calls").chain(named.iter().map(|one| one.0)).collect();
    let cell = |reports: &[&Report], share: f64| {
        let times = reports
            .iter()
            .filter_map(|report| histogram::quantile(&report.latency.histogram, share));
        median(times.map(|time| time.as_secs_f64() * 1e3)).map_or_else(|| "-".into(), millis)
    };
    let rows = SHARES.map(|share| {
        let first = format!("{}%", (share * 1e4).round() / 100.0);
        std::iter::once(first)
            .chain(named.iter().map(|(_, reports)| cell(reports, share)))
            .collect()
    });
    Table::new(&head, rows)
}
