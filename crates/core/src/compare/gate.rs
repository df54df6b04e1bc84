//! From differences to verdicts: what is kept, what is broken, what cannot be told.

use super::{Candidate, ComparisonVerdict, FigureChange, Policy};
use crate::stats::bootstrap::{Difference, DifferenceVerdict, Figure};

/// What words are chosen by where a figure has no limit of its own.
const USUAL: f64 = 0.1;
/// The same for the share of errors, which is not relative.
const USUAL_ERRORS: f64 = 0.005;
/// Nanoseconds in a millisecond.
const MILLI: f64 = 1e6;

/// The limit by which a figure is called better or worse.
pub(super) fn tolerance(policy: &Policy, figure: Figure) -> f64 {
    let usual = if figure == Figure::ErrorRate { USUAL_ERRORS } else { USUAL };
    policy.allowed(figure).unwrap_or(usual)
}

/// A difference under a policy. Times become milliseconds.
pub(super) fn judge(difference: Difference, policy: &Policy) -> FigureChange {
    let figure = difference.figure;
    let difference = difference.judged_by(tolerance(policy, figure));
    let allowed = policy.allowed(figure);
    let kept = allowed.zip(difference.harm()).and_then(|(allowed, harm)| match () {
        () if harm.high <= allowed => Some(true),
        () if harm.low > allowed => Some(false),
        () => None,
    });
    let unit = if figure.quantile().is_some() { MILLI } else { 1.0 };
    FigureChange {
        figure,
        base: difference.base.map(|value| value / unit),
        current: difference.candidate.map(|value| value / unit),
        base_spread: None,
        current_spread: None,
        change: difference.change,
        interval: difference.interval,
        allowed,
        verdict: difference.verdict,
        kept,
        why: None,
    }
}

/// What follows from all that is known of a candidate.
///
/// A tool that was called too rarely to be judged leaves nothing open: it would in every run.
pub(super) fn verdict(candidate: &Candidate) -> ComparisonVerdict {
    if !candidate.reasons.is_empty() {
        return ComparisonVerdict::Invalid;
    }
    let judged = |figure: &&FigureChange| figure.allowed.is_some();
    let mut overall = candidate.figures.iter().filter(judged);
    let tools = || candidate.tools.iter().flat_map(|tool| &tool.figures).filter(judged);
    let broken = |figure: &FigureChange| figure.kept == Some(false);
    if candidate.deadlocks.is_regression || overall.clone().any(broken) || tools().any(broken) {
        return ComparisonVerdict::Regression;
    }
    let open = |figure: &FigureChange| figure.kept.is_none();
    if overall.any(open) || tools().any(|figure| open(figure) && figure.why.is_none()) {
        return ComparisonVerdict::Undecided;
    }
    ComparisonVerdict::Pass
}

/// Which of the two is better, by the figures that are judged.
pub(super) fn standing(candidate: &Candidate) -> DifferenceVerdict {
    let mut judged = candidate.figures.iter().filter(|figure| figure.allowed.is_some());
    let better = |figure: &FigureChange| figure.verdict == DifferenceVerdict::Better;
    match verdict(candidate) {
        ComparisonVerdict::Regression => DifferenceVerdict::Worse,
        ComparisonVerdict::Invalid | ComparisonVerdict::Undecided => DifferenceVerdict::Undecided,
        ComparisonVerdict::Pass if judged.any(better) => DifferenceVerdict::Better,
        ComparisonVerdict::Pass => DifferenceVerdict::Same,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        compare::{
            ToolChange,
            fixture::{better, candidate, open, same, worse},
        },
        stats::interval::Interval,
    };

    fn judged(figure: Figure, low: f64, high: f64) -> FigureChange {
        let difference = Difference {
            figure,
            base: Some(4e6),
            candidate: Some(5e6),
            change: Some(0.25),
            interval: Some(Interval { low, high }),
            verdict: DifferenceVerdict::Undecided,
        };
        judge(difference, &Policy::default())
    }

    #[test]
    fn a_limit_is_kept_at_its_value_and_broken_only_beyond_it() {
        for (figure, low, high, kept) in [
            (Figure::P99, -0.1, 0.1, Some(true)),
            (Figure::P99, 0.1, 0.1, Some(true)),
            (Figure::P99, -0.1, 0.11, None),
            (Figure::P99, 0.1, 0.2, None),
            (Figure::P99, 0.11, 0.2, Some(false)),
            (Figure::ErrorRate, 0.0, 0.005, Some(true)),
            (Figure::ErrorRate, 0.006, 0.05, Some(false)),
            (Figure::Throughput, -0.1, 0.5, Some(true)),
            (Figure::Throughput, -0.2, -0.1, None),
            (Figure::Throughput, -0.3, -0.2, Some(false)),
            (Figure::P50, 0.5, 0.9, None),
        ] {
            let change = judged(figure, low, high);
            assert_eq!(change.kept, kept, "{figure:?} between {low} and {high}");
        }
    }

    #[test]
    fn times_become_milliseconds_and_nothing_else_does() {
        let p99 = judged(Figure::P99, 0.0, 0.0);
        assert_eq!((p99.base, p99.current), (Some(4.0), Some(5.0)));
        let rate = judged(Figure::Throughput, 0.0, 0.0);
        assert_eq!((rate.base, rate.current), (Some(4e6), Some(5e6)));
    }

    #[test]
    fn what_has_no_limit_is_measured_by_the_usual_one() {
        let none = Policy { error_rate: None, ..Policy::default() };
        let own = Policy { p50: Some(0.3), ..Policy::default() };
        for (policy, figure, limit) in [
            (none, Figure::P50, 0.1),
            (none, Figure::ErrorRate, 0.005),
            (own, Figure::P50, 0.3),
            (own, Figure::P95, 0.1),
        ] {
            assert_eq!(tolerance(&policy, figure), limit, "{figure:?}");
        }
    }

    #[test]
    fn the_verdict_is_that_of_the_worst_figure_that_is_judged() {
        let of_tool = |figure: FigureChange| {
            let mut one = candidate("b", vec![same(Figure::P99)]);
            one.tools = vec![ToolChange { name: "search".into(), figures: vec![figure] }];
            one
        };
        let all = |figures: Vec<FigureChange>| candidate("b", figures);
        let stuck = {
            let mut one = all(vec![same(Figure::P99)]);
            one.deadlocks.is_regression = true;
            one
        };
        let barred = {
            let mut one = all(vec![worse(Figure::P99)]);
            one.reasons.push(crate::compare::Reason { id: "x".into(), message: "y".into() });
            one
        };
        let rare = FigureChange { why: Some("too rarely".into()), ..open(Figure::P99) };
        use ComparisonVerdict::{Invalid, Pass, Regression, Undecided};
        use DifferenceVerdict as Is;
        for (name, one, verdict_is, standing_is) in [
            ("nothing changed", all(vec![same(Figure::P99)]), Pass, Is::Same),
            ("better", all(vec![same(Figure::P50), better(Figure::P99)]), Pass, Is::Better),
            ("better, but not judged", all(vec![better(Figure::P50)]), Pass, Is::Same),
            ("worse", all(vec![better(Figure::P99), worse(Figure::P99)]), Regression, Is::Worse),
            ("worse, but not judged", all(vec![worse(Figure::P50)]), Pass, Is::Same),
            ("open", all(vec![better(Figure::P99), open(Figure::P99)]), Undecided, Is::Undecided),
            ("open, but not judged", all(vec![open(Figure::P95)]), Pass, Is::Same),
            ("open for a reason", all(vec![rare.clone()]), Undecided, Is::Undecided),
            ("stuck", stuck, Regression, Is::Worse),
            ("not comparable", barred, Invalid, Is::Undecided),
            ("a tool is worse", of_tool(worse(Figure::P99)), Regression, Is::Worse),
            ("a tool is open", of_tool(open(Figure::P99)), Undecided, Is::Undecided),
            ("a tool is rare", of_tool(rare), Pass, Is::Same),
            ("a tool is the same", of_tool(same(Figure::P99)), Pass, Is::Same),
        ] {
            assert_eq!((verdict(&one), standing(&one)), (verdict_is, standing_is), "{name}");
        }
    }
}
