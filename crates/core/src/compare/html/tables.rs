//! Figures as tables: of all sides, of one change, and the runs that they are from.

use std::fmt::Write as _;

use super::Side;
use crate::{
    compare::{Candidate, Comparison, FigureChange, RunRef, Spread, Target, phrases},
    report::{
        figures::grouped,
        html::{
            escape::{LONGEST_NAME, LONGEST_TEXT, text},
            table::Table,
        },
    },
    stats::bootstrap::Figure,
};

/// Every side with its figures; of several rounds the median, and from the lowest to the highest.
pub(super) fn side_by_side(comparison: &Comparison) -> String {
    let first = comparison.candidates.first();
    let base = row(&comparison.base, |figure| {
        let found = change_of(first?, figure)?;
        Some((found.base, found.base_spread))
    });
    let others = comparison.candidates.iter().map(|candidate| {
        row(&candidate.target, |figure| {
            let found = change_of(candidate, figure)?;
            Some((found.current, found.current_spread))
        })
    });
    let figures = Figure::ALL.map(phrases::name);
    let head: Vec<&str> = ["Side", "Runs", "Calls", "Failed"].into_iter().chain(figures).collect();
    let table = Table::new(&head, std::iter::once(base).chain(others));
    format!(
        "<section class=\"figure\" id=\"sides\" aria-labelledby=\"sides-title\"><h3 id=\"sides-title\">Throughput, errors and times</h3>{}</section>\n",
        table.html("Throughput, errors and times of each side")
    )
}

fn change_of(candidate: &Candidate, figure: Figure) -> Option<&FigureChange> {
    candidate.figures.iter().find(|change| change.figure == figure)
}

type Told = (Option<f64>, Option<Spread>);

fn row(side: &Target, found: impl Fn(Figure) -> Option<Told>) -> Vec<String> {
    let mut cells = vec![
        side.label.clone(),
        verdicts(&side.runs),
        grouped(side.requests),
        grouped(side.errors),
    ];
    cells.extend(Figure::ALL.map(|figure| {
        let value = |value| phrases::value(figure, value);
        match found(figure) {
            None => "-".into(),
            Some((median, spread)) => {
                let ends =
                    spread.map(|spread| [spread.low, spread.high].map(|end| value(Some(end))));
                match ends.filter(|[low, high]| low != high) {
                    Some([low, high]) => format!("{} ({low} to {high})", value(median)),
                    None => value(median),
                }
            }
        }
    }));
    cells
}

/// `5 PASS`, or `4 PASS, 1 FAIL`
fn verdicts(runs: &[RunRef]) -> String {
    let mut words: Vec<(&str, usize)> = Vec::new();
    for run in runs {
        let name = run.verdict.name();
        match words.iter_mut().find(|(word, _)| *word == name) {
            Some((_, count)) => *count += 1,
            None => words.push((name, 1)),
        }
    }
    let told = words.iter().map(|(word, count)| match runs.len() {
        1 => (*word).to_owned(),
        _ => format!("{count} {word}"),
    });
    told.collect::<Vec<_>>().join(", ")
}

/// What changed from the base to a candidate.
pub(super) fn changes(
    comparison: &Comparison,
    candidate: &Candidate,
    figures: &[FigureChange],
) -> Table {
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
    let (base, label) = (comparison.base.label.as_str(), candidate.target.label.as_str());
    let head = ["Figure", base, label, "Change", "95% interval", "Allowed", "Verdict"];
    Table::new(&head, figures.iter().map(row))
}

/// Which runs there are, each with the way to its own page.
pub(super) fn runs(comparison: &Comparison, sides: &[Side<'_>]) -> String {
    let candidates = comparison.candidates.iter().map(|candidate| &candidate.target);
    let targets = std::iter::once(&comparison.base).chain(candidates);
    let rows: String = targets
        .zip(sides)
        .flat_map(|(target, side)| {
            let pages = side.pages.iter().map(Option::as_deref).chain(std::iter::repeat(None));
            let runs = target.runs.iter().enumerate().zip(pages);
            runs.map(|((at, run), page)| run_row(target, at, run, page)).collect::<Vec<_>>()
        })
        .collect();
    format!(
        "<h2 id=\"runs-title\">The runs</h2><section class=\"figure\" id=\"runs\" aria-labelledby=\"runs-title\">\
         <div class=\"scroll\" tabindex=\"0\" role=\"region\" aria-label=\"Table: the runs\"><table><caption>The runs</caption><thead><tr>\
         <th scope=\"col\">Side</th><th scope=\"col\">Server</th><th scope=\"col\">Scenario</th><th scope=\"col\">Verdict</th>\
         <th scope=\"col\">Began</th><th scope=\"col\">Its report</th></tr></thead><tbody>\n{rows}</tbody></table></div></section>\n"
    )
}

fn run_row(target: &Target, at: usize, run: &RunRef, page: Option<&str>) -> String {
    let label = match target.runs.len() {
        1 => target.label.clone(),
        _ => format!("{}, round {}", target.label, at + 1),
    };
    let label = text(&label, LONGEST_NAME);
    let place = text(run.run_dir.as_deref().unwrap_or(&run.run_id), LONGEST_TEXT);
    let place = match page {
        // Encoded where it was made; whatever it is, it stays inside its quotes.
        Some(page) => format!("<a href=\"{}\">report of {label}</a>", text(page, usize::MAX)),
        None => place,
    };
    let mut row = format!("<tr><th scope=\"row\">{label}</th>");
    for cell in [&target.server, &target.scenario] {
        let _ = write!(row, "<td>{}</td>", text(cell, LONGEST_TEXT));
    }
    // To the second: whoever wants more has metrics.json.
    let began: String = run.started_at.chars().take(19).collect();
    let began = text(&began.replace('T', " "), LONGEST_NAME);
    let _ =
        writeln!(row, "<td>{}</td><td>{began} UTC</td><td>{place}</td></tr>", run.verdict.name());
    row
}
