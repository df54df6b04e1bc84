//! A comparison as one page that needs nothing but itself: what is said of each side first, then what it
//! means, the curves of all over each other, the figures side by side and change by change, and the runs.

mod link;
mod meaning;
mod spectrum;
mod tables;
#[cfg(test)]
mod tests;

use std::io;

use serde_json::json;

pub use link::link;

use super::{Candidate, Comparison, ComparisonVerdict, Method, phrases};
use crate::report::{
    Report,
    figures::counted,
    html::{
        escape::{LONGEST_NAME, LONGEST_TEXT, prose, text},
        shell::{self, THEME_BUTTON},
    },
};

/// One side of a comparison, for its page.
pub struct Side<'a> {
    /// Its runs: one, or one a round.
    pub reports: &'a [Report],
    /// Where the page of each run lies, as seen from this one; see [`link()`].
    pub pages: Vec<Option<String>>,
}

/// Writes the page. The sides are those that were compared, the base first.
pub fn render(
    comparison: &Comparison,
    sides: &[Side<'_>],
    out: &mut dyn io::Write,
) -> io::Result<()> {
    let changes: String = comparison.candidates.iter().map(|one| change(comparison, one)).collect();
    let body = format!(
        "<a class=\"skip\" href=\"#figures\">To the figures</a>\n{}<main>\n{}<section id=\"figures\" \
         aria-labelledby=\"figures-title\"><h2 id=\"figures-title\">Side by side</h2>\n<div class=\"grid-of\">\n{}{}</div></section>\n\
         {changes}{}</main>\n<footer>mcp-loadtest {}</footer>\n",
        header(comparison),
        meaning::card(comparison),
        spectrum::figure(comparison, sides),
        tables::side_by_side(comparison),
        tables::runs(comparison, sides),
        env!("CARGO_PKG_VERSION"),
    );
    let title = format!("{} against {}", word(comparison), comparison.base.label);
    out.write_all(shell::page(&title, &body, &json!({})).as_bytes())
}

/// The word above everything else: between servers it says which is better, between runs it is a gate's.
fn word(comparison: &Comparison) -> &'static str {
    let worst = comparison.candidates.iter().filter(|one| one.verdict == comparison.verdict);
    let mut standings = worst.map(phrases::standing);
    match (comparison.method, standings.next()) {
        // One word for all of them, or the gate's.
        (Method::Rounds, Some(word)) if standings.all(|other| other == word) => word,
        _ => comparison.verdict.name(),
    }
}

const fn tone(verdict: ComparisonVerdict) -> &'static str {
    match verdict {
        ComparisonVerdict::Pass => "good",
        ComparisonVerdict::Undecided | ComparisonVerdict::Invalid => "warn",
        ComparisonVerdict::Regression => "bad",
    }
}

fn header(comparison: &Comparison) -> String {
    let base = text(&comparison.base.label, LONGEST_NAME);
    let (title, below) = match comparison.candidates.as_slice() {
        [only] => {
            let told = prose(&phrases::headline(only), LONGEST_TEXT);
            let title = format!("{} against {base}", text(&only.target.label, LONGEST_NAME));
            (title, format!("<p class=\"facts\">{told}</p>"))
        }
        several => {
            let noun = match comparison.method {
                Method::Rounds => "server",
                Method::Seconds => "run",
            };
            let title = format!("{} against {base}", counted(several.len() as u64, noun));
            let lines: String =
                several.iter().map(|one| standing(comparison.method, one)).collect();
            (title, format!("<ul class=\"standings\">{lines}</ul>"))
        }
    };
    format!(
        "<header><div class=\"top\"><span class=\"verdict {}\">{}</span><div><h1>{title}</h1>{below}</div>\
         {THEME_BUTTON}</div></header>\n",
        tone(comparison.verdict),
        word(comparison),
    )
}

/// What is said of one of several.
fn standing(method: Method, one: &Candidate) -> String {
    let word = match method {
        Method::Rounds => phrases::standing(one),
        Method::Seconds => one.verdict.name(),
    };
    format!(
        "<li><span class=\"tag {}\">{word}</span><strong>{}</strong>: {}</li>",
        tone(one.verdict),
        text(&one.target.label, LONGEST_NAME),
        prose(&phrases::headline(one), LONGEST_TEXT)
    )
}

/// Figure by figure, how one of them differs from the base.
fn change(comparison: &Comparison, candidate: &Candidate) -> String {
    let plain = format!("{} against {}", candidate.target.label, comparison.base.label);
    let title = text(&plain, LONGEST_NAME);
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
            let table = tables::changes(comparison, candidate, &tool.figures);
            format!(
                "<h3><code>{name}</code></h3>{}",
                table.html(&format!("{}, {plain}", tool.name))
            )
        })
        .collect();
    format!(
        "<h2>{title}</h2>\n<section class=\"figure\" aria-label=\"{title}\"><h3>What changed</h3>{}{remarks}{tools}</section>\n",
        tables::changes(comparison, candidate, &candidate.figures)
            .html(&format!("What changed, {plain}")),
    )
}
