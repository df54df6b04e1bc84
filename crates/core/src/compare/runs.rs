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
