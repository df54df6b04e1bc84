//! Several servers that were tested in turns, compared round by round.

use super::{
    Candidate, Comparison, ComparisonVerdict, FigureChange, Method, Policy, Reason, Spread,
    ToolChange, comparable, figures, gate, runs::deadlocks,
};
use crate::{
    report::Report,
    stats::bootstrap::{DifferenceVerdict, ENOUGH_ROUNDS, Figure, Tolerance, compare_paired},
};

/// One server and its runs, one a round.
#[derive(Debug, Clone, PartialEq)]
pub struct TargetRuns {
    /// What it is called.
    pub label: String,
    /// Its runs, in the order of the rounds.
    pub reports: Vec<Report>,
}

/// In which order a round takes the targets: each round begins with the next one, so that none is
/// always first.
pub fn order(targets: usize, round: usize) -> Vec<usize> {
    (0..targets).map(|at| (at + round) % targets).collect()
}

/// Compares every further target with the first.
pub fn rounds(targets: &[TargetRuns], policy: &Policy) -> Comparison {
    let Some((base, others)) = targets.split_first() else {
        return Comparison::of(Method::Rounds, policy, figures::target("", &[]), Vec::new());
    };
    let candidates = others.iter().map(|other| candidate(base, other, policy)).collect();
    let base = figures::target(&base.label, &base.reports);
    Comparison::of(Method::Rounds, policy, base, candidates)
}

fn candidate(base: &TargetRuns, other: &TargetRuns, policy: &Policy) -> Candidate {
    let all: Vec<(&Report, &Report)> = base.reports.iter().zip(&other.reports).collect();
    let usable = |(was, is): &&(&Report, &Report)| {
        comparable::unusable("base", was).is_none() && comparable::unusable("other", is).is_none()
    };
    let pairs: Vec<(&Report, &Report)> = all.iter().filter(usable).copied().collect();
    let count = |reports: &[Report]| {
        reports.iter().fold(0, |sum: u64, report| sum.saturating_add(report.deadlock_count.into()))
    };
    let mut candidate = Candidate {
        target: figures::target(&other.label, &other.reports),
        verdict: ComparisonVerdict::Pass,
        standing: DifferenceVerdict::Same,
        deadlocks: deadlocks(count(&base.reports), count(&other.reports), policy),
        figures: changes(&pairs, policy, figures::of_run),
        tools: tools(&pairs, policy),
        reasons: reasons(&all, &pairs),
        notes: notes(&all, &pairs),
    };
    candidate.verdict = gate::verdict(&candidate);
    candidate.standing = gate::standing(&candidate);
    candidate
}

fn reasons(all: &[(&Report, &Report)], usable: &[(&Report, &Report)]) -> Vec<Reason> {
    let mut reasons = Vec::new();
    if let Some((was, is)) = all.first() {
        reasons.extend(comparable::scenario(&was.scenario_kind, &is.scenario_kind));
        reasons.extend(comparable::tools(was, is));
    }
    if usable.is_empty() {
        let why = all.iter().find_map(|(was, is)| {
            comparable::unusable("base", was).or_else(|| comparable::unusable("other", is))
        });
        let none = Reason { id: "nothing_measured".into(), message: "there is no round".into() };
        reasons.push(why.unwrap_or(none));
    }
    reasons
}

fn notes(all: &[(&Report, &Report)], usable: &[(&Report, &Report)]) -> Vec<String> {
    let mut notes = Vec::new();
    if let Some((was, is)) = all.first() {
        notes.extend(comparable::notes(was, is));
        let transports = (&was.server_info.transport, &is.server_info.transport);
        if transports.0 != transports.1 {
            notes.push(format!(
                "the first is reached over {}, this one over {}",
                transports.0, transports.1
            ));
        }
    }
    let left_out = all.len() - usable.len();
    if left_out > 0 {
        let are = if left_out == 1 { "is" } else { "are" };
        notes.push(format!("{left_out} of {} rounds {are} not valid and left out", all.len()));
    }
    notes
}

fn changes<T: Copy>(
    pairs: &[(T, T)],
    policy: &Policy,
    read: impl Fn(T, Figure) -> Option<f64>,
) -> Vec<FigureChange> {
    let change = |figure: Figure| {
        let both = |(was, is): &(T, T)| read(*was, figure).zip(read(*is, figure));
        let values: Vec<(f64, f64)> = pairs.iter().filter_map(both).collect();
        (!values.is_empty()).then(|| one_change(figure, &values, policy))
    };
    Figure::ALL.into_iter().filter_map(change).collect()
}

fn one_change(figure: Figure, values: &[(f64, f64)], policy: &Policy) -> FigureChange {
    let found = compare_paired(figure, values, &Tolerance::default());
    let mut change = gate::judge(found, policy);
    let unit = if figure.quantile().is_some() { 1e6 } else { 1.0 };
    change.base_spread = spread(values.iter().map(|value| value.0 / unit));
    change.current_spread = spread(values.iter().map(|value| value.1 / unit));
    if change.interval.is_none() {
        let rounds = match values.len() {
            1 => "is one round".to_owned(),
            rounds => format!("are {rounds} rounds"),
        };
        change.why = Some(format!("there {rounds}, and {ENOUGH_ROUNDS} are needed"));
    }
    change
}

fn spread(values: impl Iterator<Item = f64> + Clone) -> Option<Spread> {
    let low = values.clone().reduce(f64::min)?;
    Some(Spread { low, high: values.reduce(f64::max)? })
}

/// The tools that both called in every round, unless there is only one.
fn tools(pairs: &[(&Report, &Report)], policy: &Policy) -> Vec<ToolChange> {
    let Some((first, _)) =
        pairs.first().filter(|(was, is)| was.tools.len().max(is.tools.len()) > 1)
    else {
        return Vec::new();
    };
    let named =
        |report: &'_ Report, name: &str| report.tools.iter().position(|tool| tool.name == name);
    let tool = |name: &String| {
        let both: Option<Vec<_>> = pairs
            .iter()
            .map(|(was, is)| Some((&was.tools[named(was, name)?], &is.tools[named(is, name)?])))
            .collect();
        let figures = changes(&both?, policy, figures::of_tool);
        Some(ToolChange { name: name.clone(), figures })
    };
    first.tools.iter().filter_map(|first| tool(&first.name)).collect()
}
