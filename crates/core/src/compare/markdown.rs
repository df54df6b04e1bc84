//! A comparison for a page, a pull request or a job summary.

use std::io;

use super::{Candidate, Comparison, FigureChange, Method, Target, phrases};
use crate::report::markup::{cell, code, prose};

/// Writes a comparison as Markdown.
pub fn render(comparison: &Comparison, out: &mut dyn io::Write) -> io::Result<()> {
    match comparison.method {
        Method::Seconds => {
            writeln!(out, "# {}\n", comparison.verdict.name())?;
            if comparison.candidates.len() < 2 {
                writeln!(out, "{}\n", prose(&comparison.headline(), 600))?;
            }
        }
        Method::Rounds => {
            writeln!(out, "# Comparison with {}\n", code(&comparison.base.label, 40))?;
        }
    }
    if comparison.method == Method::Rounds || comparison.candidates.len() > 1 {
        standings(out, comparison)?;
    }
    writeln!(out, "| | server | scenario | run |\n|---|---|---|---|")?;
    let candidates = comparison.candidates.iter().map(|candidate| &candidate.target);
    for one in std::iter::once(&comparison.base).chain(candidates) {
        target(out, one)?;
    }
    if comparison.method == Method::Rounds {
        side_by_side(out, comparison)?;
    }
    comparison.candidates.iter().try_for_each(|candidate| told(out, comparison, candidate))
}

/// What is said of each of several.
fn standings(out: &mut dyn io::Write, comparison: &Comparison) -> io::Result<()> {
    for one in &comparison.candidates {
        let word = match comparison.method {
            Method::Seconds => one.verdict.name(),
            Method::Rounds => phrases::standing(one),
        };
        let why = prose(&phrases::headline(one), 600);
        writeln!(out, "- {}: **{word}**, {why}", code(&one.target.label, 40))?;
    }
    writeln!(out)
}

fn target(out: &mut dyn io::Write, target: &Target) -> io::Result<()> {
    let run = match target.runs.as_slice() {
        [run] => cell(run.run_dir.as_deref().unwrap_or(&run.run_id), 200),
        runs => format!("{} rounds", runs.len()),
    };
    writeln!(
        out,
        "| {} | {} | {} | {run} |",
        cell(&target.label, 40),
        cell(&target.server, 200),
        cell(&target.scenario, 200)
    )
}

/// Every target's figures: the median of its rounds, the lowest and the highest.
fn side_by_side(out: &mut dyn io::Write, comparison: &Comparison) -> io::Result<()> {
    let Some(first) = comparison.candidates.first() else { return Ok(()) };
    writeln!(
        out,
        "\n## Side by side\n\n| | target | median | lowest | highest |\n|---|---|---:|---:|---:|"
    )?;
    for figure in &first.figures {
        let base = (&comparison.base.label, figure.base, figure.base_spread);
        let others = comparison.candidates.iter().filter_map(|candidate| {
            let found = candidate.figures.iter().find(|other| other.figure == figure.figure)?;
            Some((&candidate.target.label, found.current, found.current_spread))
        });
        for (label, median, spread) in std::iter::once(base).chain(others) {
            let value = |value| phrases::value(figure.figure, value);
            writeln!(
                out,
                "| {} | {} | {} | {} | {} |",
                phrases::name(figure.figure),
                cell(label, 40),
                value(median),
                value(spread.map(|spread| spread.low)),
                value(spread.map(|spread| spread.high))
            )?;
        }
    }
    Ok(())
}

fn told(out: &mut dyn io::Write, comparison: &Comparison, candidate: &Candidate) -> io::Result<()> {
    let labels = [&comparison.base.label, &candidate.target.label].map(|label| code(label, 40));
    writeln!(out, "\n## {} against {}\n", labels[1], labels[0])?;
    table(out, &candidate.figures)?;
    let deadlocks = candidate.deadlocks;
    let word = if deadlocks.is_regression { "**WORSE**" } else { "" };
    writeln!(out, "| deadlocks | {} | {} | | | | {word} |", deadlocks.base, deadlocks.current)?;
    for tool in &candidate.tools {
        writeln!(out, "\n### {}\n", code(&tool.name, 80))?;
        table(out, &tool.figures)?;
    }
    let reasons = candidate.reasons.iter().map(|reason| &reason.message);
    for (at, remark) in reasons.chain(&candidate.notes).enumerate() {
        let gap = if at == 0 { "\n" } else { "" };
        writeln!(out, "{gap}- {}", prose(remark, 300))?;
    }
    Ok(())
}

fn table(out: &mut dyn io::Write, figures: &[FigureChange]) -> io::Result<()> {
    writeln!(out, "| | base | current | change | 95% interval | allowed | verdict |")?;
    writeln!(out, "|---|---:|---:|---:|---:|---:|---|")?;
    for figure in figures {
        let verdict = match phrases::verdict(figure) {
            "WORSE" => "**WORSE**".to_owned(),
            word => figure.why.as_ref().map_or(word.to_owned(), |why| format!("{word}: {why}")),
        };
        writeln!(
            out,
            "| {} | {} | {} | {} | {} | {} | {verdict} |",
            phrases::name(figure.figure),
            phrases::value(figure.figure, figure.base),
            phrases::value(figure.figure, figure.current),
            phrases::change_of(figure),
            phrases::interval(figure),
            phrases::allowed(figure)
        )?;
    }
    Ok(())
}
