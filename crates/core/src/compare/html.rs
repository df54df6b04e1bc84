//! A comparison of two runs as one page that needs nothing but itself.

use std::io;

use serde_json::json;

use super::{Candidate, Comparison, ComparisonVerdict, FigureChange, figures, phrases};
use crate::{
    report::{
        Report,
        html::{
            canvas::{Axis, Canvas},
            escape::{LONGEST_NAME, LONGEST_TEXT, prose, text},
            nines,
            scale::{Scale, millis},
            shell::{self, THEME_BUTTON},
            table::Table,
        },
    },
    seed::Seed,
    stats::{
        bootstrap::{self, Figure},
        interval::Interval,
    },
};

/// How often the seconds of a run are drawn again for its band.
const BAND_DRAWS: u32 = 300;

/// Writes the page. The reports are those that were compared.
pub fn render(
    comparison: &Comparison,
    (base, current): (&Report, &Report),
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let told: String =
        comparison.candidates.iter().map(|one| candidate(one, base, current)).collect();
    let body = format!("{}<main>\n{told}{}</main>\n", header(comparison), sides(comparison));
    let title = format!("{} against {}", comparison.verdict.name(), comparison.base.label);
    out.write_all(shell::page(&title, &body, &json!({})).as_bytes())
}

fn header(comparison: &Comparison) -> String {
    let tone = match comparison.verdict {
        ComparisonVerdict::Pass => "good",
        ComparisonVerdict::Undecided | ComparisonVerdict::Invalid => "warn",
        ComparisonVerdict::Regression => "bad",
    };
    format!(
        "<header><div class=\"top\"><span class=\"verdict {tone}\">{}</span><div><h1>Comparison with {}</h1>\
         <p class=\"facts\">{}</p></div>{THEME_BUTTON}</div></header>\n",
        comparison.verdict.name(),
        text(&comparison.base.label, LONGEST_NAME),
        prose(&comparison.headline(), LONGEST_TEXT),
    )
}

fn candidate(candidate: &Candidate, base: &Report, current: &Report) -> String {
    let remarks: String = candidate
        .reasons
        .iter()
        .map(|reason| &reason.message)
        .chain(&candidate.notes)
        .map(|remark| format!("<li>{}</li>", prose(remark, LONGEST_TEXT)))
        .collect();
    let remarks = if remarks.is_empty() { remarks } else { format!("<ul>{remarks}</ul>") };
    let tools: String = candidate
        .tools
        .iter()
        .map(|tool| {
            let name = text(&tool.name, LONGEST_NAME);
            format!("<h3><code>{name}</code></h3>{}", table(&tool.figures).html(&tool.name))
        })
        .collect();
    format!(
        "<h2>{}</h2><div class=\"grid-of\"><section class=\"figure\"><h3>What changed</h3>{}{remarks}{tools}</section>\
         <section class=\"figure\"><h3>Percentile spectrum of both</h3>{}</section></div>\n",
        text(&candidate.target.label, LONGEST_NAME),
        table(&candidate.figures).html("What changed"),
        spectrum(candidate, base, current),
    )
}

fn table(figures: &[FigureChange]) -> Table {
    let row = |figure: &FigureChange| {
        vec![
            phrases::name(figure.figure).to_owned(),
            phrases::value(figure.figure, figure.base),
            phrases::value(figure.figure, figure.current),
            phrases::change_of(figure),
            phrases::interval(figure),
            phrases::allowed(figure),
            figure.why.clone().unwrap_or_else(|| phrases::verdict(figure).to_owned()),
        ]
    };
    let head = ["Figure", "Base", "Current", "Change", "95% interval", "Allowed", "Verdict"];
    Table::new(&head, figures.iter().map(row))
}

/// Both curves, each in the band in which it lies with 95 % confidence. The bars are the intervals of the
/// table, as times: where the current run would lie if the change were as small, or as large, as the
/// data allow.
fn spectrum(candidate: &Candidate, base: &Report, current: &Report) -> String {
    let both = [&base.latency, &current.latency];
    if both.iter().any(|times| times.count == 0) {
        return "<p class=\"reading\">Not both runs have calls to compare.</p>".into();
    }
    let most = both.map(|times| nines::of(times.count)).into_iter().fold(1.0, f64::max);
    let ends = both.iter().flat_map(|times| [times.min, times.max]);
    let scale = Scale::log(ends.map(|time| time.as_secs_f64() * 1e3));
    let y = Axis { scale, told: millis, name: "time (log)" };
    let mut canvas = Canvas::new(300.0, nines::axis(most), y);
    for (report, colour) in [(base, 4), (current, 0)] {
        canvas.band(&band(report, most), colour);
    }
    canvas.line(nines::curve(&base.latency.histogram, most), 4);
    canvas.line(nines::curve(&current.latency.histogram, most), 0);
    for figure in &candidate.figures {
        let share = match figure.figure {
            Figure::P50 => 0.5_f64,
            Figure::P95 => 0.95,
            Figure::P99 => 0.99,
            _ => continue,
        };
        if let (Some(base), Some(by)) = (figure.base, figure.interval) {
            canvas.whisker(
                -(1.0 - share).log10(),
                base * (1.0 + by.low),
                base * (1.0 + by.high),
                1,
            );
        }
    }
    let legend = [
        ("base, with its 95% band", 4),
        ("current, with its 95% band", 0),
        ("95% interval of the change", 1),
    ];
    format!(
        "<div class=\"still\" role=\"img\" aria-label=\"Latency by percentile of both runs\">{}</div>",
        canvas.svg(&legend)
    )
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

fn sides(comparison: &Comparison) -> String {
    let candidates = comparison.candidates.iter().map(|candidate| &candidate.target);
    let rows = std::iter::once(&comparison.base).chain(candidates).map(|target| {
        let runs: Vec<&str> =
            target.runs.iter().map(|run| run.run_dir.as_deref().unwrap_or(&run.run_id)).collect();
        vec![target.label.clone(), target.server.clone(), target.scenario.clone(), runs.join(", ")]
    });
    let table = Table::new(&["Side", "Server", "Scenario", "Run"], rows);
    format!(
        "<h2>The runs</h2><section class=\"figure\" id=\"runs\">{}</section>\n",
        table.html("The runs")
    )
}
