//! What a comparison means, in sentences that each follow from a rule.

use crate::{
    compare::{Candidate, Comparison, ComparisonVerdict, Method, Target, phrases},
    report::{
        figures::counted,
        html::escape::{LONGEST_TEXT, prose},
    },
    stats::bootstrap::DifferenceVerdict,
};

pub(super) fn card(comparison: &Comparison) -> String {
    let items: String = sentences(comparison)
        .iter()
        .map(|sentence| format!("<li>{}</li>\n", prose(sentence, LONGEST_TEXT)))
        .collect();
    format!(
        "<section class=\"card means\" aria-labelledby=\"means\"><h2 id=\"means\">What this means</h2>\n<ul>{items}</ul></section>\n"
    )
}

fn sentences(comparison: &Comparison) -> Vec<String> {
    let mut told: Vec<String> =
        comparison.candidates.iter().map(|one| standing(comparison, one)).collect();
    let sides = std::iter::once(&comparison.base)
        .chain(comparison.candidates.iter().map(|candidate| &candidate.target));
    told.extend(sides.filter_map(failed));
    told.push(how(comparison));
    told
}

fn standing(comparison: &Comparison, one: &Candidate) -> String {
    let (name, base) = (&one.target.label, &comparison.base.label);
    let why = phrases::headline(one);
    match (one.verdict, one.standing) {
        (ComparisonVerdict::Regression, _) => format!(
            "`{name}` is worse than `{base}` by more than is allowed, and that is no chance: {why}."
        ),
        (ComparisonVerdict::Invalid, _) => {
            format!("`{name}` and `{base}` cannot be compared: {why}.")
        }
        (ComparisonVerdict::Undecided, _) => {
            let more = match comparison.method {
                Method::Rounds => {
                    "More rounds (`--repeat`) or longer ones (`--duration`) decide it"
                }
                Method::Seconds => "Longer runs, or more calls, decide it",
            };
            format!("Whether `{name}` is worse than `{base}` is open: {why}. {more}.")
        }
        (ComparisonVerdict::Pass, DifferenceVerdict::Better) => {
            format!("`{name}` is better than `{base}`, and in nothing that is judged worse: {why}.")
        }
        (ComparisonVerdict::Pass, _) => {
            format!("`{name}` is no worse than `{base}` by more than is allowed.")
        }
    }
}

/// What was said of the runs themselves, where not all of them passed.
fn failed(side: &Target) -> Option<String> {
    let bad: Vec<_> = side.runs.iter().filter(|run| !run.verdict.passes()).collect();
    let word = bad.iter().map(|run| run.verdict).max()?.name();
    Some(match (bad.len(), side.runs.len()) {
        (_, 1) => format!("The run of `{}` is {word} by itself.", side.label),
        (1, all) => format!("1 of the {all} runs of `{}` is {word} by itself.", side.label),
        (bad, all) => {
            format!("{bad} of the {all} runs of `{}` are {word} by themselves.", side.label)
        }
    })
}

/// What the intervals rest on.
fn how(comparison: &Comparison) -> String {
    match comparison.method {
        Method::Rounds => format!(
            "All had the same load in {}, in turns, so that what the machine did meanwhile hit all of them.",
            counted(comparison.base.runs.len() as u64, "round")
        ),
        Method::Seconds => "What varies between runs, such as a machine that was busy during all of one, cannot be seen in one run each; `run -s OLD -s NEW` tests both in turns.".into(),
    }
}
