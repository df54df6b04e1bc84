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
