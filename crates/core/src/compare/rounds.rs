//! Several servers that were tested in turns, compared round by round.

use super::{
    Candidate, Comparison, ComparisonVerdict, FigureChange, Method, Policy, Reason, Spread,
    ToolChange, comparable, figures, gate, runs::deadlocks,
};
use crate::{
    report::{Report, figures::counted},
    stats::{
        bootstrap::{DifferenceVerdict, ENOUGH_ROUNDS, Figure, Tolerance, compare_paired},
        order::median,
    },
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
    without_success(&mut change, values);
    if change.interval.is_none() && change.why.is_none() {
        change.why = Some(too_few(values));
    }
    change
}

/// A round in which the candidate delivered nothing has no ratio that could be averaged with those of
/// others. Leaving it out would judge the rest alone, as if the worst had not happened; what the rest alone
/// shows to be worse is no better for it.
fn without_success(change: &mut FigureChange, values: &[(f64, f64)]) {
    let failed = values.iter().filter(|(base, candidate)| *base > 0.0 && *candidate == 0.0).count();
    if change.figure != Figure::Throughput || failed == 0 {
        return;
    }
    let is_worse = failed == values.len() || change.verdict == DifferenceVerdict::Worse;
    let is_beyond = failed == values.len() || change.kept == Some(false);
    change.base = median(values.iter().map(|value| value.0));
    change.current = median(values.iter().map(|value| value.1));
    let both = change.base.zip(change.current);
    change.change = both.and_then(|(base, current)| change.figure.change(base, current));
    change.interval = None;
    change.verdict = if is_worse { DifferenceVerdict::Worse } else { DifferenceVerdict::Undecided };
    change.kept = change.allowed.filter(|_| is_beyond).map(|_| false);
    change.why = Some(format!("in {failed} of {} no call succeeded", plural(values.len())));
}

fn too_few(values: &[(f64, f64)]) -> String {
    let compared = values.iter().filter(|(base, _)| *base > 0.0).count();
    if values.len() >= ENOUGH_ROUNDS && compared < values.len() {
        let missing = values.len() - compared;
        return format!(
            "in {missing} of {} the base has nothing to compare with",
            plural(values.len())
        );
    }
    let are = if values.len() == 1 {
        "is one round".into()
    } else {
        format!("are {}", plural(values.len()))
    };
    format!("there {are}, and {ENOUGH_ROUNDS} are needed")
}

fn plural(rounds: usize) -> String {
    counted(rounds as u64, "round")
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        compare::tests::{Made, USUAL, run},
        report::ToolStats,
        scenario::Scenario,
    };

    fn cut(mut report: Report) -> Report {
        report.interrupted = true;
        report
    }

    fn of(reports: [Report; 4]) -> TargetRuns {
        TargetRuns { label: "x".into(), reports: reports.into() }
    }

    #[test]
    fn a_round_counts_where_both_runs_are_usable() {
        let good = || run(Made { seconds: 5, ..USUAL });
        let bad = || cut(good());
        let one = "1 of 4 rounds is not valid and left out";
        let two = "2 of 4 rounds are not valid and left out";
        for (name, base, other, told) in [
            ("all", [good(), good(), good(), good()], [good(), good(), good(), good()], None),
            (
                "a base",
                [bad(), good(), good(), good()],
                [good(), good(), good(), good()],
                Some(one),
            ),
            (
                "another",
                [good(), good(), good(), good()],
                [good(), good(), good(), bad()],
                Some(one),
            ),
            ("both", [bad(), good(), good(), good()], [bad(), good(), good(), good()], Some(one)),
            (
                "one each",
                [bad(), good(), good(), good()],
                [good(), bad(), good(), good()],
                Some(two),
            ),
        ] {
            let found = candidate(&of(base), &of(other), &Policy::default());
            assert_eq!(found.notes.first().map(String::as_str), told, "{name}");
            assert_eq!(found.reasons, [], "{name}");
        }
    }

    #[test]
    fn without_a_round_that_counts_the_first_trouble_is_told() {
        let good = || run(Made { seconds: 5, ..USUAL });
        let side = |reports: Vec<Report>| TargetRuns { label: "x".into(), reports };
        let told = |base: Vec<Report>, other: Vec<Report>| {
            let found = candidate(&side(base), &side(other), &Policy::default());
            found.reasons.into_iter().map(|reason| reason.message).collect::<Vec<_>>()
        };
        assert_eq!(told(vec![], vec![good()]), ["there is no round"]);
        assert_eq!(told(vec![good()], vec![cut(good())]), ["the other run was cut short"]);
        assert_eq!(told(vec![cut(good())], vec![good()]), ["the base run was cut short"]);
        let mut other = good();
        other.tools[0].name = "x".into();
        other.scenario_kind = Scenario::from(Scenario::spike()).kind;
        assert_eq!(
            told(vec![good(), good()], vec![other, good()]),
            [
                "the base ran sustained, the other spike",
                "other tools were called: the base has echo, the other x",
            ]
        );
    }

    #[test]
    fn a_figure_has_its_median_its_spread_and_too_few_rounds_their_reason() {
        let values = [(2e6, 4e6), (1e6, 5e6), (3e6, 6e6)];
        let change = one_change(Figure::P50, &values, &Policy::default());
        assert_eq!((change.base, change.current), (Some(2.0), Some(5.0)));
        assert_eq!(change.base_spread, Some(Spread { low: 1.0, high: 3.0 }));
        assert_eq!(change.current_spread, Some(Spread { low: 4.0, high: 6.0 }));
        assert_eq!(change.why, None);
        let rate = one_change(Figure::Throughput, &values[..2], &Policy::default());
        assert_eq!(rate.base_spread, Some(Spread { low: 1e6, high: 2e6 }));
        assert_eq!(rate.current_spread, Some(Spread { low: 4e6, high: 5e6 }));
        assert_eq!(rate.why.as_deref(), Some("there are 2 rounds, and 3 are needed"));
        let one = one_change(Figure::P50, &values[..1], &Policy::default());
        assert_eq!(one.why.as_deref(), Some("there is one round, and 3 are needed"));
        assert_eq!(spread(std::iter::empty()), None);
        let known = |value: Option<f64>, figure| value.filter(|_| figure == Figure::P95);
        let found =
            changes(&[(Some(1.0), Some(2.0)), (None, Some(2.0))], &Policy::default(), known);
        assert_eq!(found.iter().map(|change| change.figure).collect::<Vec<_>>(), [Figure::P95]);
        assert_eq!(found[0].why.as_deref(), Some("there is one round, and 3 are needed"));
    }

    #[test]
    fn a_round_without_a_success_is_not_left_out_of_the_throughput() {
        let policy = Policy::default();
        let of = |values: &[(f64, f64)]| one_change(Figure::Throughput, values, &policy);
        let same = (100.0, 100.0);
        let healthy = of(&[same, same, same, same]);
        assert_eq!((healthy.verdict, healthy.kept), (DifferenceVerdict::Same, Some(true)));
        let some = of(&[same, same, (100.0, 0.0), same]);
        assert_eq!((some.verdict, some.kept), (DifferenceVerdict::Undecided, None));
        assert_eq!((some.interval, some.current), (None, Some(100.0)));
        assert_eq!(some.why.as_deref(), Some("in 1 of 4 rounds no call succeeded"));
        let all = of(&[(100.0, 0.0); 3]);
        assert_eq!((all.verdict, all.kept), (DifferenceVerdict::Worse, Some(false)));
        assert_eq!((all.base, all.current, all.change), (Some(100.0), Some(0.0), Some(-1.0)));
        assert_eq!(all.why.as_deref(), Some("in 3 of 3 rounds no call succeeded"));
        let worse = of(&[(100.0, 10.0), (100.0, 10.0), (100.0, 10.0), (100.0, 0.0)]);
        assert_eq!((worse.verdict, worse.kept), (DifferenceVerdict::Worse, Some(false)));
        assert_eq!(worse.why.as_deref(), Some("in 1 of 4 rounds no call succeeded"));
        let one = of(&[(100.0, 0.0)]);
        assert_eq!(one.why.as_deref(), Some("in 1 of 1 round no call succeeded"));
        let free = Policy { throughput: None, ..Policy::default() };
        let free = one_change(Figure::Throughput, &[(100.0, 0.0); 3], &free);
        assert_eq!((free.allowed, free.kept), (None, None), "nothing is judged");
        let base = of(&[(0.0, 100.0), same, same]);
        let told = "in 1 of 3 rounds the base has nothing to compare with";
        assert_eq!(base.why.as_deref(), Some(told));
    }

    #[test]
    fn tools_are_those_that_every_round_has() {
        let with = |names: &[&str]| {
            let mut report = run(Made { seconds: 5, ..USUAL });
            let one = report.tools[0].clone();
            let tool = |name: &&str| ToolStats { name: (*name).to_owned(), ..one.clone() };
            report.tools = names.iter().map(tool).collect();
            report
        };
        let (one, two, three) = (with(&["a"]), with(&["a", "b"]), with(&["c", "b", "a"]));
        for (name, pairs, told) in [
            ("the only one", vec![(&one, &one)], vec![]),
            ("both", vec![(&two, &two), (&two, &three)], vec!["a", "b"]),
            ("one side has more", vec![(&one, &two)], vec!["a"]),
            ("in every round", vec![(&three, &three), (&two, &three), (&two, &one)], vec!["a"]),
            ("no round", vec![], vec![]),
        ] {
            let found = tools(&pairs, &Policy::default());
            let names: Vec<_> = found.iter().map(|tool| tool.name.as_str()).collect();
            assert_eq!(names, told, "{name}");
        }
    }
}
