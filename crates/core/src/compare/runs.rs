//! Two finished runs, compared second by second.

use super::{
    Candidate, Comparison, ComparisonVerdict, Deadlocks, FigureChange, Method, NewDeadlocks,
    Policy, ToolChange, comparable, figures, gate,
};
use crate::{
    report::{Report, ToolStats, figures::counted},
    seed::Seed,
    stats::{
        bootstrap::{
            self, Block, Difference, DifferenceVerdict, ENOUGH_BLOCKS, Figure, RESAMPLES, Tolerance,
        },
        part::{Effects, compare_parts},
    },
};

/// Compares a run with a base. The same reports give the same answer.
pub fn runs(base: &Report, current: &Report, policy: &Policy) -> Comparison {
    against(base, std::slice::from_ref(current), policy)
}

/// Compares several runs with the same base, each by itself.
pub fn against(base: &Report, others: &[Report], policy: &Policy) -> Comparison {
    let label = |at: usize| match others.len() {
        1 => "current".to_owned(),
        _ => format!("current {}", at + 1),
    };
    let candidates = others.iter().enumerate();
    let candidates = candidates.map(|(at, other)| candidate(base, other, &label(at), policy));
    let candidates = candidates.collect();
    let base = figures::target("base", std::slice::from_ref(base));
    Comparison::of(Method::Seconds, policy, base, candidates)
}

fn candidate(base: &Report, current: &Report, label: &str, policy: &Policy) -> Candidate {
    let windows = [base, current].map(Report::unpaused_windows);
    let secs = figures::common_secs(&windows[0], &windows[1]);
    let blocks = windows.each_ref().map(|windows| figures::blocks(windows, secs));
    let mut candidate = Candidate {
        target: figures::target(label, std::slice::from_ref(current)),
        verdict: ComparisonVerdict::Pass,
        standing: DifferenceVerdict::Same,
        deadlocks: deadlocks(
            u64::from(base.deadlock_count),
            u64::from(current.deadlock_count),
            policy,
        ),
        figures: overall(base, current, &blocks, policy),
        tools: tools(base, current, &blocks, policy),
        reasons: comparable::why_not(base, current),
        notes: comparable::notes(base, current),
    };
    candidate.verdict = gate::verdict(&candidate);
    candidate.standing = gate::standing(&candidate);
    candidate
}

pub(super) fn deadlocks(base: u64, current: u64, policy: &Policy) -> Deadlocks {
    let is_regression = current > base && policy.new_deadlocks == NewDeadlocks::Fail;
    Deadlocks { base, current, is_regression }
}

fn overall(
    base: &Report,
    current: &Report,
    blocks: &[Vec<Block>; 2],
    policy: &Policy,
) -> Vec<FigureChange> {
    let [was, is] = blocks;
    let draw = |was: &[Block], is: &[Block]| {
        bootstrap::compare(was, is, &Tolerance::default(), RESAMPLES, Seed(1))
    };
    let mut found = draw(was, is);
    let shorter = was.len().min(is.len());
    let [of_was, of_is] = [was, is].map(|blocks| whole(blocks, shorter));
    let rate = |difference: &Difference| difference.figure == Figure::Throughput;
    found.retain(|difference| !rate(difference));
    found.extend(draw(&of_was, &of_is).into_iter().filter(rate));
    let change = |difference: Difference| {
        let told = completed(difference, base, current);
        let mut change = gate::judge(told, policy);
        if change.interval.is_none() {
            change.why = Some(why(change.figure, shorter));
        }
        change
    };
    found.into_iter().map(change).collect()
}

/// The seconds whose calls can be counted. The last one is broken off wherever the run ended, and load
/// begins somewhere in the first, which is left out where the shorter run has enough others. The times
/// of their calls are as good as any.
fn whole(blocks: &[Block], shorter: usize) -> Vec<Block> {
    let first = usize::from(shorter > ENOUGH_BLOCKS + 1);
    let whole = blocks.get(first..blocks.len().saturating_sub(1)).unwrap_or_default();
    whole.iter().map(|block| Block { times: Vec::new(), ..*block }).collect()
}

/// The figures are those of the reports, so that nobody wonders at two of a kind; the interval comes
/// from the seconds.
fn completed(difference: Difference, base: &Report, current: &Report) -> Difference {
    let figure = difference.figure;
    let (was, is) = (figures::of_run(base, figure), figures::of_run(current, figure));
    let change = was.zip(is).and_then(|(was, is)| figure.change(was, is));
    Difference { base: was, candidate: is, change, ..difference }
}

/// Why a figure has no interval.
fn why(figure: Figure, blocks: usize) -> String {
    let (enough, word) = match figure {
        Figure::Throughput => (blocks.saturating_sub(1), "whole second"),
        _ => (blocks, "second"),
    };
    match figure.quantile() {
        _ if enough < ENOUGH_BLOCKS => {
            let seconds = counted(enough as u64, word);
            format!("a run has {seconds}, and {ENOUGH_BLOCKS} are needed")
        }
        Some(share) => format!(
            "a run has too few calls: {} needs {:.0}",
            figure.as_str(),
            10.0 / (1.0 - share)
        ),
        None => "a run has too few calls".into(),
    }
}

/// The tools that both called, unless there is only one: then all calls are its.
fn tools(
    base: &Report,
    current: &Report,
    blocks: &[Vec<Block>; 2],
    policy: &Policy,
) -> Vec<ToolChange> {
    if base.tools.len().max(current.tools.len()) < 2 {
        return Vec::new();
    }
    let [was, is] = blocks.each_ref().map(|blocks| Effects::of(blocks));
    let enough = blocks.iter().all(|blocks| blocks.len() >= ENOUGH_BLOCKS);
    let pair = |tool: &ToolStats| {
        let other = current.tools.iter().find(|other| other.name == tool.name)?;
        let (a, b) = (figures::part(tool), figures::part(other));
        let found = compare_parts((&a, &was), (&b, &is), |figure| gate::tolerance(policy, figure));
        let change = |mut difference: Difference| {
            difference.interval.take_if(|_| !enough);
            let mut change = gate::judge(difference, policy);
            // A share of errors always has an interval; of few calls it is wider than any limit.
            let wide = change.allowed.zip(change.interval).is_some_and(|(allowed, interval)| {
                interval.high - interval.low > 2.0 * allowed.max(0.005)
            });
            let rare = change.figure == Figure::ErrorRate && change.kept.is_none() && wide;
            if change.interval.is_none() || rare {
                change.why = Some("it was called too rarely".into());
            }
            change
        };
        let figures = found.into_iter().map(change).collect();
        Some(ToolChange { name: tool.name.clone(), figures })
    };
    base.tools.iter().filter_map(pair).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{
        compare::tests::{Made, USUAL, run},
        report::LatencyStats,
    };

    #[test]
    fn deadlocks_are_a_regression_where_there_are_more_of_them() {
        let allow = Policy { new_deadlocks: NewDeadlocks::Allow, ..Policy::default() };
        for (base, current, policy, is_regression) in [
            (0, 0, Policy::default(), false),
            (1, 1, Policy::default(), false),
            (2, 1, Policy::default(), false),
            (1, 2, Policy::default(), true),
            (1, 2, allow, false),
            (2, 1, allow, false),
        ] {
            let found = deadlocks(base, current, &policy);
            assert_eq!(found, Deadlocks { base, current, is_regression });
        }
    }

    #[test]
    fn the_first_second_counts_where_there_are_few_others() {
        let block = |ok| Block { times: vec![(1, ok)], ok, errors: 1 };
        let blocks: Vec<_> = (1..=8).map(block).collect();
        for (shorter, kept) in [(5, 1..=7), (6, 1..=7), (7, 2..=7), (8, 2..=7)] {
            let found = whole(&blocks, shorter);
            let counts: Vec<_> = found.iter().map(|block| block.ok).collect();
            assert_eq!(counts, kept.collect::<Vec<_>>(), "the shorter has {shorter}");
            assert!(found.iter().all(|block| block.times.is_empty() && block.errors == 1));
        }
        assert_eq!(whole(&[], 0), []);
    }

    #[test]
    fn why_there_is_no_interval_is_the_seconds_or_else_the_calls() {
        for (figure, blocks, told) in [
            (Figure::P99, 4, "a run has 4 seconds, and 5 are needed"),
            (Figure::P99, 1, "a run has 1 second, and 5 are needed"),
            (Figure::P99, 5, "a run has too few calls: p99 needs 1000"),
            (Figure::P95, 5, "a run has too few calls: p95 needs 200"),
            (Figure::P50, 9, "a run has too few calls: p50 needs 20"),
            (Figure::Throughput, 5, "a run has 4 whole seconds, and 5 are needed"),
            (Figure::Throughput, 6, "a run has too few calls"),
            (Figure::ErrorRate, 5, "a run has too few calls"),
        ] {
            assert_eq!(why(figure, blocks), told, "{figure:?} of {blocks}");
        }
    }

    #[test]
    fn several_runs_are_numbered_and_one_is_not() {
        let base = run(USUAL);
        let labels = |others: &[Report]| {
            let found = against(&base, others, &Policy::default());
            found.candidates.into_iter().map(|one| one.target.label).collect::<Vec<_>>()
        };
        assert_eq!(labels(std::slice::from_ref(&base)), ["current"]);
        assert_eq!(labels(&[base.clone(), base.clone()]), ["current 1", "current 2"]);
    }

    /// A run whose two tools have so many calls, of which so many failed.
    fn two_tools(seconds: u64, calls: [u64; 2], errors: [u64; 2]) -> Report {
        let mut report = run(Made { seconds, ..USUAL });
        let one = report.tools[0].clone();
        let tool = |at: usize| {
            let mut times = crate::histogram::new();
            let ok = calls[at] - errors[at];
            // The slowest differ so much that nobody knows their p99.
            let slow =
                |nth: u64| if nth < ok * 3 / 200 { 10_000_000 * (nth + 1) } else { 1_000_000 };
            (0..ok).for_each(|nth| times.record(slow(nth)).expect("in range"));
            ToolStats {
                name: format!("tool{at}"),
                total_requests: calls[at],
                successful_requests: ok,
                errors: [(crate::outcome::ErrorCategory::ToolError, errors[at])].into(),
                latency: LatencyStats::from_histogram(times),
                ..one.clone()
            }
        };
        report.tools = vec![tool(0), tool(1)];
        report
    }

    #[test]
    fn a_tool_that_was_called_rarely_says_so() {
        let whys = |seconds, calls: u64, errors: u64| {
            let report = two_tools(seconds, [calls, 5_000], [errors, 0]);
            let found = runs(&report, &report, &Policy::default());
            let figures = &found.candidates[0].tools[0].figures;
            assert_eq!(found.candidates[0].tools.len(), 2);
            let why = |figure| {
                let change = figures.iter().find(|change| change.figure == figure);
                change.expect("a tool has it").why.is_some()
            };
            (why(Figure::P99), why(Figure::ErrorRate))
        };
        assert_eq!(whys(20, 10, 0), (true, true), "ten calls tell nothing");
        assert_eq!(whys(20, 5_000, 0), (false, false));
        assert_eq!(whys(2, 5_000, 0), (true, true), "no seconds to tell how alike calls are");
        assert_eq!(whys(20, 5_000, 2_500), (false, true), "half of them failed, in both");
    }

    #[test]
    fn a_tool_that_only_one_run_has_is_left_out() {
        let (both, mut other) = (two_tools(20, [900; 2], [0; 2]), two_tools(20, [900; 2], [0; 2]));
        other.tools[0].name = "tool9".into();
        let names = |base: &Report, current: &Report| {
            let found = runs(base, current, &Policy::default());
            let tools = found.candidates[0].tools.iter();
            tools.map(|tool| tool.name.clone()).collect::<Vec<_>>()
        };
        assert_eq!(names(&both, &other), ["tool1"]);
        other.tools.remove(0);
        assert_eq!(names(&both, &other), ["tool1"], "one of them has several");
        let mut one = both.clone();
        one.tools.remove(0);
        assert_eq!(names(&one, &other), [] as [&str; 0], "all calls are its");
    }
}
