//! A comparison on a terminal: the verdict first, then figure by figure.

use std::io;

use anstyle::{AnsiColor, Style};

use super::{Candidate, Comparison, ComparisonVerdict, FigureChange, Method, Target, phrases};
use crate::{
    display::visible,
    report::{
        figures::counted,
        wrap::{cut, width, wrap},
    },
};

/// How many columns a line has at most.
const WIDTH: usize = 80;
/// Where the text of a labelled line begins.
const LABEL: usize = 11;
/// The columns of the table, from the second on.
const COLUMNS: [usize; 5] = [11, 11, 9, 19, 9];
/// Tools that are told; `comparison.json` has all.
const TOOLS: usize = 10;

/// Writes a comparison for people.
pub fn render(comparison: &Comparison, out: &mut dyn io::Write) -> io::Result<()> {
    match (comparison.method, comparison.candidates.len()) {
        (Method::Seconds, 0 | 1) => {
            let word = comparison.verdict.name();
            labelled(out, paint(comparison.verdict), word, &visible(&comparison.headline(), 600))?;
        }
        _ => comparison.candidates.iter().try_for_each(|one| standing(out, comparison, one))?,
    }
    target(out, &comparison.base, None)?;
    for candidate in &comparison.candidates {
        target(out, &candidate.target, Some(&comparison.base))?;
    }
    if comparison.method == Method::Rounds {
        side_by_side(out, comparison)?;
    }
    comparison.candidates.iter().try_for_each(|candidate| told(out, comparison, candidate))
}

/// How one of several compares with the first.
fn standing(out: &mut dyn io::Write, comparison: &Comparison, one: &Candidate) -> io::Result<()> {
    let labels = [&one.target.label, &comparison.base.label].map(|label| visible(label, 40));
    let text = format!("{} against {}: {}", labels[0], labels[1], phrases::headline(one));
    let word = match comparison.method {
        Method::Seconds => one.verdict.name(),
        Method::Rounds => phrases::standing(one),
    };
    labelled(out, paint(one.verdict), word, &visible(&text, 600))
}

fn paint(verdict: ComparisonVerdict) -> Style {
    let color = match verdict {
        ComparisonVerdict::Pass => AnsiColor::Green,
        ComparisonVerdict::Undecided => AnsiColor::Yellow,
        ComparisonVerdict::Invalid | ComparisonVerdict::Regression => AnsiColor::Red,
    };
    Style::new().bold().fg_color(Some(color.into()))
}

/// A label and a text that goes on below itself.
fn labelled(out: &mut dyn io::Write, style: Style, label: &str, text: &str) -> io::Result<()> {
    for (at, part) in wrap(text, WIDTH - LABEL).into_iter().enumerate() {
        let label = if at == 0 { cut(label, LABEL - 1) } else { String::new() };
        let gap = " ".repeat(LABEL - width(&label));
        let style = if at == 0 { style } else { Style::new() };
        writeln!(out, "{style}{label}{style:#}{gap}{part}")?;
    }
    Ok(())
}

fn bold() -> Style {
    Style::new().bold()
}

/// A target and what it does, unless that was said of the base.
fn target(out: &mut dyn io::Write, target: &Target, base: Option<&Target>) -> io::Result<()> {
    let known = base.is_some_and(|base| base.server == target.server);
    let mut texts = Vec::new();
    if !known {
        texts.push(visible(&target.server, 200));
    }
    if base.is_none_or(|base| base.scenario != target.scenario) {
        texts.push(visible(&target.scenario, 200));
    }
    let dir = target.runs.first().and_then(|run| run.run_dir.as_deref());
    texts.extend(dir.filter(|_| target.runs.len() == 1).map(|dir| visible(dir, 300)));
    if texts.is_empty() {
        texts.push("the same server and scenario".into());
    }
    let label = visible(&target.label, 40);
    for (at, text) in texts.iter().enumerate() {
        labelled(out, bold(), if at == 0 { &label } else { "" }, text)?;
    }
    Ok(())
}

/// Every target's figures: the median of its rounds, the lowest and the highest.
fn side_by_side(out: &mut dyn io::Write, comparison: &Comparison) -> io::Result<()> {
    writeln!(out)?;
    let rounds = comparison.base.runs.len();
    let title = format!("{:LABEL$}{:<23}{:>12}{:>12}{:>12}", "", "", "median", "lowest", "highest");
    writeln!(out, "{}{title}{}", bold(), bold().render_reset())?;
    let Some(first) = comparison.candidates.first() else { return Ok(()) };
    for figure in &first.figures {
        let name = phrases::name(figure.figure);
        let base = (figure.base, figure.base_spread);
        side(out, name, &comparison.base.label, figure, base)?;
        for candidate in &comparison.candidates {
            let same = candidate.figures.iter().find(|other| other.figure == figure.figure);
            if let Some(other) = same {
                let values = (other.current, other.current_spread);
                side(out, "", &candidate.target.label, other, values)?;
            }
        }
    }
    writeln!(out, "{:LABEL$}of {}, in turns", "", counted(rounds as u64, "round"))
}

fn side(
    out: &mut dyn io::Write,
    name: &str,
    label: &str,
    figure: &FigureChange,
    (median, spread): (Option<f64>, Option<super::Spread>),
) -> io::Result<()> {
    let label = cut(&visible(label, 40), 22);
    let gap = " ".repeat(23 - width(&label));
    let cell = |value| phrases::value(figure.figure, value);
    writeln!(
        out,
        "{name:LABEL$}{label}{gap}{:>12}{:>12}{:>12}",
        cell(median),
        cell(spread.map(|spread| spread.low)),
        cell(spread.map(|spread| spread.high))
    )
}

fn told(out: &mut dyn io::Write, comparison: &Comparison, candidate: &Candidate) -> io::Result<()> {
    writeln!(out)?;
    let labels = [&comparison.base.label, &candidate.target.label];
    let [was, is] = labels.map(|label| cut(&visible(label, 40), 10));
    let title = cells("", [&was, &is, "change", "95% interval", "allowed"], "verdict");
    writeln!(out, "{}{title}{}", bold(), bold().render_reset())?;
    rows(out, &candidate.figures)?;
    let deadlocks = candidate.deadlocks;
    let word = if deadlocks.is_regression { "WORSE" } else { "" };
    let (was, is) = (deadlocks.base.to_string(), deadlocks.current.to_string());
    writeln!(out, "{}", cells("deadlocks", [&was, &is, "", "", ""], word).trim_end())?;
    for tool in candidate.tools.iter().take(TOOLS) {
        writeln!(out, "{}{}{}", bold(), visible(&tool.name, 60), bold().render_reset())?;
        let shown = tool.figures.iter().filter(|figure| figure.allowed.is_some());
        rows(out, &shown.cloned().collect::<Vec<_>>())?;
    }
    remarks(out, candidate)
}

fn rows(out: &mut dyn io::Write, figures: &[FigureChange]) -> io::Result<()> {
    for figure in figures {
        let (was, is) = (
            phrases::value(figure.figure, figure.base),
            phrases::value(figure.figure, figure.current),
        );
        let (change, interval) = (phrases::change_of(figure), phrases::interval(figure));
        let allowed = phrases::allowed(figure);
        let texts = [&*was, &*is, &*change, &*interval, &*allowed];
        writeln!(out, "{}", cells(phrases::name(figure.figure), texts, phrases::verdict(figure)))?;
    }
    Ok(())
}

fn cells(name: &str, cells: [&str; 5], verdict: &str) -> String {
    let mut line = format!("{name:LABEL$}");
    for (cell, room) in cells.iter().zip(COLUMNS) {
        line.push_str(&format!("{cell:>room$}"));
    }
    format!("{line}  {verdict}")
}

fn remarks(out: &mut dyn io::Write, candidate: &Candidate) -> io::Result<()> {
    let left_out = candidate.tools.len().saturating_sub(TOOLS);
    let more = match left_out {
        0 => None,
        1 => Some("1 more tool is in comparison.json".to_owned()),
        more => Some(format!("{more} more tools are in comparison.json")),
    };
    let reasons = candidate.reasons.iter().map(|reason| reason.message.clone());
    let overall = candidate.figures.iter().filter(|figure| figure.allowed.is_some());
    let open = overall.filter_map(|figure| {
        Some(format!("{}: {}", phrases::name(figure.figure), figure.why.as_ref()?))
    });
    let notes = candidate.notes.iter().cloned();
    for remark in reasons.chain(open).chain(notes).chain(more) {
        labelled(out, bold(), "note", &visible(&remark, 300))?;
    }
    Ok(())
}
