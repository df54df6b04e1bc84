//! What the tellings of a comparison say in the same words.

use std::time::Duration;

use super::{Candidate, ComparisonVerdict, FigureChange};
use crate::{
    report::figures::{counted, decimal, percent},
    stats::bootstrap::{DifferenceVerdict, Figure},
    units::format_latency,
};

/// How many reasons a headline gives.
const FEW: usize = 3;

/// The name of a figure in a sentence.
pub(super) const fn name(figure: Figure) -> &'static str {
    match figure {
        Figure::ErrorRate => "error rate",
        _ => figure.as_str(),
    }
}

/// A figure with its unit: `12.3ms`, `0.50%`, `980.00/s`.
pub(super) fn value(figure: Figure, value: Option<f64>) -> String {
    match (figure, value) {
        (_, None) => "-".into(),
        (Figure::ErrorRate, Some(share)) => percent(share),
        (Figure::Throughput, Some(rate)) => format!("{}/s", decimal(rate)),
        (_, Some(millis)) => {
            format_latency(Duration::try_from_secs_f64(millis / 1e3).unwrap_or(Duration::MAX))
        }
    }
}

/// A change: `+12%`, of error rates in percentage points, `+0.40pt`, of many times `x15`.
pub(super) fn change(figure: Figure, change: f64) -> String {
    match figure {
        Figure::ErrorRate => format!("{:+.2}pt", whole(change * 100.0, 100.0)),
        _ if change >= 9.0 => format!("x{:.0}", change + 1.0),
        _ if change.abs() < 0.0995 => format!("{:+.1}%", whole(change * 100.0, 10.0)),
        _ => format!("{:+.0}%", change * 100.0),
    }
}

/// Rounded, and never a negative nothing.
fn whole(value: f64, steps: f64) -> f64 {
    (value * steps).round() / steps + 0.0
}

/// The change of a figure, or nothing.
pub(super) fn change_of(figure: &FigureChange) -> String {
    figure.change.map_or_else(|| "-".into(), |by| change(figure.figure, by))
}

/// Where the change lies: `+2.1% to +14%`.
pub(super) fn interval(figure: &FigureChange) -> String {
    figure.interval.map_or_else(
        || "-".into(),
        |interval| {
            let at = |by| change(figure.figure, by);
            format!("{} to {}", at(interval.low), at(interval.high))
        },
    )
}

/// How much worse it may get.
pub(super) fn allowed(figure: &FigureChange) -> String {
    let signed = |by: f64| if figure.figure == Figure::Throughput { -by } else { by };
    figure.allowed.map_or_else(|| "-".into(), |by| change(figure.figure, signed(by)))
}

/// What is said of a figure.
pub(super) const fn verdict(figure: &FigureChange) -> &'static str {
    match (figure.kept, figure.verdict) {
        (Some(false), _) => "WORSE",
        (_, DifferenceVerdict::Better) => "better",
        (_, DifferenceVerdict::Worse) => "worse",
        (_, DifferenceVerdict::Same) => "same",
        // Not the same for sure, but not worse than allowed for sure.
        (Some(true), DifferenceVerdict::Undecided) => "no worse",
        (None, DifferenceVerdict::Undecided) => "undecided",
    }
}

/// All judged figures of a candidate with the name of their tool.
pub(super) fn judged(candidate: &Candidate) -> impl Iterator<Item = (Option<&str>, &FigureChange)> {
    let overall = candidate.figures.iter().map(|figure| (None, figure));
    let tools = candidate
        .tools
        .iter()
        .flat_map(|tool| tool.figures.iter().map(|figure| (Some(tool.name.as_str()), figure)));
    overall.chain(tools).filter(|(_, figure)| figure.allowed.is_some())
}

/// Why the verdict is what it is.
pub(super) fn headline(candidate: &Candidate) -> String {
    let told = match candidate.verdict {
        ComparisonVerdict::Invalid => {
            candidate.reasons.iter().map(|reason| reason.message.clone()).collect()
        }
        ComparisonVerdict::Regression => broken(candidate),
        ComparisonVerdict::Undecided => open(candidate),
        ComparisonVerdict::Pass => better(candidate),
    };
    let more = told.len().saturating_sub(FEW);
    let mut text = told.into_iter().take(FEW).collect::<Vec<_>>().join("; ");
    if more > 0 {
        text.push_str(&format!("; and {more} more"));
    }
    text
}

/// Which of two servers is better, in a word.
pub(super) const fn standing(candidate: &Candidate) -> &'static str {
    match (candidate.verdict, candidate.standing) {
        (ComparisonVerdict::Invalid, _) => "INVALID",
        (_, DifferenceVerdict::Better) => "BETTER",
        (_, DifferenceVerdict::Worse) => "WORSE",
        (_, DifferenceVerdict::Same) => "SAME",
        (_, DifferenceVerdict::Undecided) => "UNDECIDED",
    }
}

fn of_tool(tool: Option<&str>, figure: &FigureChange) -> String {
    match tool {
        Some(tool) => format!("{} of `{tool}`", name(figure.figure)),
        None => name(figure.figure).to_owned(),
    }
}

fn broken(candidate: &Candidate) -> Vec<String> {
    let mut told = Vec::new();
    if candidate.deadlocks.is_regression {
        let more = candidate.deadlocks.current - candidate.deadlocks.base;
        told.push(counted(more, "new deadlock"));
    }
    let figures = judged(candidate).filter(|(_, figure)| figure.kept == Some(false));
    told.extend(figures.map(|(tool, figure)| {
        format!("{} ({}, allowed {})", moved(tool, figure), change_of(figure), allowed(figure))
    }));
    told
}

fn better(candidate: &Candidate) -> Vec<String> {
    let is_better = |figure: &FigureChange| figure.verdict == DifferenceVerdict::Better;
    let figures = judged(candidate).filter(|(tool, figure)| tool.is_none() && is_better(figure));
    let told: Vec<String> = figures
        .map(|(tool, figure)| format!("{} ({})", moved(tool, figure), change_of(figure)))
        .collect();
    if told.is_empty() { vec!["nothing is worse than allowed".into()] } else { told }
}

/// `p99 12.3ms to 45.6ms`
fn moved(tool: Option<&str>, figure: &FigureChange) -> String {
    let at = |at| value(figure.figure, at);
    format!("{} {} to {}", of_tool(tool, figure), at(figure.base), at(figure.current))
}

fn open(candidate: &Candidate) -> Vec<String> {
    let figures = judged(candidate)
        .filter(|(tool, figure)| figure.kept.is_none() && (tool.is_none() || figure.why.is_none()));
    let told = figures.map(|(tool, figure)| match &figure.why {
        Some(why) => format!("{}: {why}", of_tool(tool, figure)),
        None => format!(
            "{} may have changed by {} (allowed {})",
            of_tool(tool, figure),
            interval(figure),
            allowed(figure)
        ),
    });
    told.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::{
        Deadlocks, Reason, ToolChange,
        fixture::{better, candidate, open, same, worse},
    };

    #[test]
    fn changes_read_as_people_say_them() {
        for (figure, by, text) in [
            (Figure::P99, 0.123, "+12%"),
            (Figure::P99, -0.0004, "+0.0%"),
            (Figure::P99, 0.0312, "+3.1%"),
            (Figure::P99, 14.2, "x15"),
            (Figure::ErrorRate, 0.004, "+0.40pt"),
            (Figure::Throughput, -0.5, "-50%"),
        ] {
            assert_eq!(change(figure, by), text);
        }
        assert_eq!(value(Figure::P50, Some(12.34)), "12.3ms");
        assert_eq!(value(Figure::Throughput, Some(980.0)), "980.00/s");
        assert_eq!(value(Figure::P99, None), "-");
    }

    #[test]
    fn a_change_is_told_finely_below_a_tenth_and_in_times_from_ten_times_on() {
        for (figure, by, text) in [
            (Figure::P99, 0.0994, "+9.9%"),
            (Figure::P99, 0.0995, "+10%"),
            (Figure::P99, -0.0994, "-9.9%"),
            (Figure::P99, -0.2, "-20%"),
            (Figure::P99, 8.99, "+899%"),
            (Figure::P99, 9.0, "x10"),
            (Figure::ErrorRate, -0.00001, "+0.00pt"),
            (Figure::ErrorRate, 9.0, "+900.00pt"),
            (Figure::ErrorRate, -0.25, "-25.00pt"),
        ] {
            assert_eq!(change(figure, by), text, "{by}");
        }
    }

    #[test]
    fn values_have_their_unit_and_limits_their_direction() {
        assert_eq!(value(Figure::ErrorRate, Some(0.25)), "25.00%");
        assert_eq!(value(Figure::P50, Some(0.5)), "500.0µs");
        assert_eq!(value(Figure::P50, Some(-1.0)), format_latency(Duration::MAX));
        assert_eq!(Figure::ALL.map(name), ["p50", "p95", "p99", "error rate", "throughput"]);
        for (figure, text) in [
            (Figure::P50, "-"),
            (Figure::P99, "+10%"),
            (Figure::ErrorRate, "+0.50pt"),
            (Figure::Throughput, "-10%"),
        ] {
            assert_eq!(allowed(&worse(figure)), text, "{figure:?}");
        }
        let unknown = FigureChange { change: None, interval: None, ..worse(Figure::P99) };
        assert_eq!((change_of(&unknown), interval(&unknown)), ("-".into(), "-".into()));
        let known = worse(Figure::P99);
        assert_eq!((&*change_of(&known), &*interval(&known)), ("+20%", "+15% to +25%"));
    }

    #[test]
    fn a_figure_and_a_side_have_their_word() {
        use DifferenceVerdict::{Better, Same, Undecided, Worse};
        for (kept, is, word) in [
            (Some(false), Worse, "WORSE"),
            (Some(false), Better, "WORSE"),
            (None, Better, "better"),
            (None, Worse, "worse"),
            (Some(true), Same, "same"),
            (Some(true), Undecided, "no worse"),
            (None, Undecided, "undecided"),
        ] {
            let figure = FigureChange { kept, verdict: is, ..same(Figure::P99) };
            assert_eq!(verdict(&figure), word, "{kept:?} {is:?}");
        }
        for (of, is, word) in [
            (ComparisonVerdict::Invalid, Better, "INVALID"),
            (ComparisonVerdict::Pass, Better, "BETTER"),
            (ComparisonVerdict::Regression, Worse, "WORSE"),
            (ComparisonVerdict::Pass, Same, "SAME"),
            (ComparisonVerdict::Undecided, Undecided, "UNDECIDED"),
        ] {
            let one = Candidate { verdict: of, standing: is, ..candidate("b", Vec::new()) };
            assert_eq!(standing(&one), word);
        }
    }

    #[test]
    fn a_headline_gives_what_decided_and_no_more_than_three_of_it() {
        let told = |verdict, figures: Vec<FigureChange>, tools: Vec<FigureChange>| {
            let tool = |figure| ToolChange { name: "search".into(), figures: vec![figure] };
            headline(&Candidate {
                verdict,
                tools: tools.into_iter().map(tool).collect(),
                ..candidate("b", figures)
            })
        };
        use ComparisonVerdict::{Pass, Regression, Undecided};
        let p99 = "p99 10.0ms to 12.0ms (+20%, allowed +10%)";
        let of_tool = "p99 of `search` 10.0ms to 12.0ms (+20%, allowed +10%)";
        let bad = || worse(Figure::P99);
        assert_eq!(told(Regression, vec![worse(Figure::P50), bad()], vec![]), p99);
        assert_eq!(
            told(Regression, vec![bad(), same(Figure::P99)], vec![bad(), bad()]),
            format!("{p99}; {of_tool}; {of_tool}")
        );
        assert_eq!(
            told(Regression, vec![bad()], vec![bad(); 4]),
            format!("{p99}; {of_tool}; {of_tool}; and 2 more")
        );
        let half = "p99 10.0ms to 5.00ms (-50%)";
        let nothing = "nothing is worse than allowed";
        let good = || better(Figure::P99);
        assert_eq!(told(Pass, vec![better(Figure::P50), good()], vec![]), half);
        assert_eq!(told(Pass, vec![same(Figure::P99)], vec![good()]), nothing, "of a tool only");
        let rare = FigureChange { why: Some("called too rarely".into()), ..open(Figure::P99) };
        let may = "may have changed by -30% to +30% (allowed +10%)";
        assert_eq!(
            told(Undecided, vec![rare.clone(), same(Figure::P99)], vec![rare, open(Figure::P99)]),
            format!("p99: called too rarely; p99 of `search` {may}")
        );
        assert_eq!(told(Undecided, vec![open(Figure::P99)], vec![]), format!("p99 {may}"));
    }

    #[test]
    fn a_headline_counts_new_deadlocks_and_tells_all_reasons() {
        let mut stuck = candidate("b", Vec::new());
        stuck.verdict = ComparisonVerdict::Regression;
        stuck.deadlocks = Deadlocks { base: 2, current: 5, is_regression: true };
        assert_eq!(headline(&stuck), "3 new deadlocks");
        let reason = |message: &str| Reason { id: "x".into(), message: message.into() };
        let mut barred = candidate("b", Vec::new());
        barred.verdict = ComparisonVerdict::Invalid;
        barred.reasons = vec![reason("one"), reason("two")];
        assert_eq!(headline(&barred), "one; two");
    }
}
