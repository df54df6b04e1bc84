//! Hand-made comparisons: figures that are chosen and not measured.

use super::{
    Candidate, Comparison, ComparisonVerdict, Deadlocks, FigureChange, Method, Policy, RunRef,
    Target,
};
use crate::{
    report::Verdict,
    stats::{
        bootstrap::{DifferenceVerdict, Figure},
        interval::Interval,
    },
};

/// A figure that went from 10 to 12, which is more than is allowed.
pub(crate) fn worse(figure: Figure) -> FigureChange {
    FigureChange {
        figure,
        base: Some(10.0),
        current: Some(12.0),
        base_spread: None,
        current_spread: None,
        change: Some(0.2),
        interval: Some(Interval { low: 0.15, high: 0.25 }),
        allowed: Policy::default().allowed(figure),
        verdict: DifferenceVerdict::Worse,
        kept: Some(false),
        why: None,
    }
}

/// A figure that did not change.
pub(crate) fn same(figure: Figure) -> FigureChange {
    FigureChange {
        current: Some(10.0),
        change: Some(0.0),
        interval: Some(Interval { low: -0.01, high: 0.01 }),
        verdict: DifferenceVerdict::Same,
        kept: Policy::default().allowed(figure).map(|_| true),
        ..worse(figure)
    }
}

/// A figure that fell to a half, which is good unless it is throughput.
pub(crate) fn better(figure: Figure) -> FigureChange {
    FigureChange {
        current: Some(5.0),
        change: Some(-0.5),
        interval: Some(Interval { low: -0.55, high: -0.45 }),
        verdict: DifferenceVerdict::Better,
        ..same(figure)
    }
}

/// A figure of which nothing can be said.
pub(crate) fn open(figure: Figure) -> FigureChange {
    FigureChange {
        interval: Some(Interval { low: -0.3, high: 0.3 }),
        verdict: DifferenceVerdict::Undecided,
        kept: None,
        ..same(figure)
    }
}

/// One side with a run for each verdict.
pub(crate) fn target(label: &str, verdicts: &[Verdict]) -> Target {
    let run = |(at, verdict): (usize, &Verdict)| RunRef {
        run_id: format!("RUN{at}"),
        run_dir: None,
        started_at: format!("2026-05-10T07:30:0{at}Z"),
        verdict: *verdict,
    };
    Target {
        label: label.into(),
        server: "python -m my_mcp".into(),
        transport: "stdio".into(),
        scenario: "Sustained, 10 concurrent, 20s".into(),
        runs: verdicts.iter().enumerate().map(run).collect(),
        requests: 2_000,
        errors: 20,
    }
}

/// A candidate with these figures that nothing was said of.
pub(crate) fn candidate(label: &str, figures: Vec<FigureChange>) -> Candidate {
    Candidate {
        target: target(label, &[Verdict::Pass]),
        verdict: ComparisonVerdict::Pass,
        standing: DifferenceVerdict::Same,
        deadlocks: Deadlocks { base: 0, current: 0, is_regression: false },
        figures,
        tools: Vec::new(),
        reasons: Vec::new(),
        notes: Vec::new(),
    }
}

/// Candidates against `first`.
pub(crate) fn comparison(method: Method, candidates: Vec<Candidate>) -> Comparison {
    let base = target("first", &[Verdict::Pass]);
    Comparison::of(method, &Policy::default(), base, candidates)
}
