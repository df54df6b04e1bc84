//! Each limit at its exact value, and just beyond it: which side of it a value belongs to. For files
//! whose own tests are long enough.

use std::time::Duration;

use serde_json::{Value, json};

use super::{
    bootstrap::{Difference, DifferenceVerdict, Figure, Tolerance, band, compare, compare_paired},
    fixture::{dice, normal, series},
    interval::Interval,
    knee::{Beyond, BreakingPoint, Point, breaking_point},
    leak::{ENOUGH, Growth, GrowthReason, GrowthVerdict, judge_growth},
    race::{DivergenceVerdict, MOST_LEAVES, compare_results},
    resample::Block,
    search::{CONFIRMATIONS, Ending, MOST_TRIALS, STEPS_DOWN, Search, TrialKind, TrialOutcome},
};
use crate::seed::Seed;

/// Steps of a ramp: load and throughput, each with the same p99.
fn steps(pairs: &[(f64, f64)]) -> Vec<Point> {
    let time = Duration::from_millis(10);
    let step = |&(load, throughput): &(f64, f64)| Point {
        load,
        throughput,
        p50: time,
        p99: time,
        error_rate: 0.0,
    };
    pairs.iter().map(step).collect()
}

fn ramp(pairs: &[(f64, f64)]) -> BreakingPoint {
    breaking_point(&steps(pairs), 0.01)
}

#[test]
fn steps_that_are_no_measurements_are_left_out() {
    let good = [(1.0, 100.0), (2.0, 200.0), (3.0, 300.0)];
    for (name, odd) in [
        ("no load", (0.0, 100.0)),
        ("less than none", (-1.0, 5.0)),
        ("less than nothing answered", (4.0, -1.0)),
        ("too large to calculate with", (1e200, 1e200)),
        ("not a number", (f64::NAN, 100.0)),
        ("endless", (4.0, f64::INFINITY)),
    ] {
        let shown = ramp(&[good.as_slice(), &[odd]].concat());
        assert_eq!(shown.reason, "no knee up to 3: 3 steps are too few to tell", "{name}");
    }
    let shown = ramp(&[good.as_slice(), &[(4.0, 400.0)]].concat());
    assert_eq!(shown.reason, "no knee up to 4: throughput follows the load", "four are enough");
}

#[test]
fn a_knee_is_found_a_quarter_below_the_end_and_told_by_where_the_ramp_begins() {
    let short = ramp(&[(2.0, 200.0), (4.0, 400.0), (4.5, 400.0), (5.0, 400.0)]);
    assert_eq!(short.knee.map(|knee| knee.load), Some(4.0), "{}", short.reason);
    let shorter = ramp(&[(2.0, 200.0), (4.0, 400.0), (4.5, 400.0), (4.9, 400.0)]);
    assert_eq!(shorter.reason, "no knee up to 4.9: throughput follows the load");
    let flat = [(8.0, 400.0), (16.0, 400.0), (32.0, 400.0)];
    for (first, load, reason) in [
        (400.0, 4.0, "throughput follows the load up to 4 and stays at 400/s from there to 32"),
        (500.0, 3.2, "throughput is 400/s from the first step of 4 to 32"),
    ] {
        let shown = ramp(&[[(4.0, first)].as_slice(), &flat].concat());
        assert_eq!(shown.reason, reason);
        assert_eq!(shown.knee.map(|knee| (knee.load, knee.at.load)), Some((load, 4.0)));
    }
}

#[test]
fn a_server_that_answers_nothing_has_no_knee() {
    let silent = ramp(&[(1.0, 0.0), (2.0, 0.0), (3.0, 0.0), (4.0, 0.0)]);
    assert_eq!(silent.reason, "no knee up to 4: nothing was answered");
    let once = ramp(&[(1.0, 100.0), (2.0, 0.0), (3.0, 0.0), (4.0, 0.0)]);
    assert_eq!((once.knee, once.capacity), (None, None), "one step has no plateau");
}

#[test]
fn the_last_two_steps_tell_a_collapse() {
    let flat = |end: [f64; 2]| {
        let loads = (1..=12).map(f64::from);
        let mut pairs: Vec<_> = loads.map(|load| (load, load.min(4.0) * 100.0)).collect();
        (pairs[10].1, pairs[11].1) = (end[0], end[1]);
        ramp(&pairs).knee.map(|knee| knee.beyond)
    };
    assert_eq!(flat([100.0, 100.0]), Some(Beyond::Collapse));
    assert_eq!(flat([300.0, 300.0]), Some(Beyond::Plateau), "three quarters are left");
    assert_eq!(flat([400.0, 199.0]), Some(Beyond::Collapse));
}

#[test]
fn errors_and_latency_are_allowed_up_to_their_limits() {
    let explodes = |unloaded: u64, loaded: Duration| {
        let mut points = steps(&[(1.0, 1.0), (2.0, 2.0), (3.0, 3.0), (4.0, 4.0)]);
        points[..2].iter_mut().for_each(|point| point.p99 = Duration::from_millis(unloaded));
        points[2..].iter_mut().for_each(|point| point.p99 = loaded);
        (points[2].error_rate, points[3].error_rate) = (0.01, 0.011);
        let shown = breaking_point(&points, 0.01);
        assert_eq!(shown.first_error.map(|point| point.load), Some(4.0));
        shown.explosion.map(|point| point.load)
    };
    let (millis, nano) = (Duration::from_millis, Duration::from_nanos(1));
    for (name, unloaded, loaded, expected) in [
        ("three times", 250, millis(750), None),
        ("more than three times", 250, millis(750) + nano, Some(3.0)),
        ("ten milliseconds more", 4, millis(14), None),
        ("more than ten", 4, millis(14) + nano, Some(3.0)),
        ("half as long again", 1_000, millis(1_500), None),
        ("three times, but nine milliseconds", 4, millis(13), None),
    ] {
        assert_eq!(explodes(unloaded, loaded), expected, "{name}");
    }
}

/// Judges one sample a second without a warm-up.
fn judged(samples: &[(f64, f64)], limit: f64) -> Growth {
    let duration = Duration::from_secs(samples.len() as u64);
    judge_growth(samples, duration, Duration::ZERO, limit)
}

#[test]
fn growth_needs_twelve_samples_a_length_and_a_limit() {
    let line = |count| series(count, 1.0, |t| 5.0 * t);
    assert_eq!(judged(&line(ENOUGH), 10.0).verdict, GrowthVerdict::Leak);
    assert_eq!(judged(&line(ENOUGH - 1), 10.0).reason, GrowthReason::TooFewSamples);
    for limit in [f64::INFINITY, f64::NAN] {
        let unlimited = judged(&line(60), limit);
        assert_eq!((unlimited.reason, unlimited.limit), (GrowthReason::TooFewSamples, 0.0));
    }
    let instant = judge_growth(&line(60), Duration::ZERO, Duration::ZERO, 10.0);
    assert_eq!(instant.reason, GrowthReason::TooFewSamples);
    let one = judged(&line(1), 10.0).explain("MB");
    assert_eq!(one, "one sample after the warm-up does not show how it grows");
}

#[test]
fn a_leak_needs_a_clear_line_and_a_clear_floor_beyond_the_limit() {
    let noisy = (GrowthVerdict::Indeterminate, GrowthReason::Noisy);
    let of = |growth: &Growth| (growth.verdict, growth.reason);
    let waves = series(120, 1.0, |t| 100.0 + 0.3 * t + if t % 2.0 == 0.0 { -25.0 } else { 25.0 });
    assert_eq!(of(&judged(&waves, 10.0)), noisy, "the floor is clear, the line is not");
    let freed =
        series(24, 1.0, |t| 100.0 + if [2.0, 8.0, 14.0].contains(&t) { 0.0 } else { 5.0 * t });
    let found = judged(&freed, 10.0);
    assert_eq!(of(&found), noisy, "the line is clear, the floor is not");
    assert!(found.explain("MB").ends_with("but the samples are too noisy to conclude"));
    let teeth = series(300, 1.0, |t| 100.0 + 0.5 * t + (t * 5.0 % 60.0) * (1.0 + t / 300.0));
    let leak = judged(&teeth, 10.0);
    assert_eq!(leak.verdict, GrowthVerdict::Leak);
    let floor = leak.fit.expect("a line").floor_slope * 300.0;
    assert_eq!(of(&judged(&teeth, floor)), noisy, "the floor is not beyond the limit");
    assert_eq!(judged(&teeth, floor * 0.999).verdict, GrowthVerdict::Leak);
}

#[test]
fn what_still_grows_after_it_levelled_off_is_not_clean() {
    let then =
        |rate: f64| series(240, 1.0, move |t| 100.0 + t.min(90.0) + rate * (t - 90.0).max(0.0));
    let of = |rate| {
        let growth = judged(&then(rate), 10.0);
        assert!(matches!(growth.reason, GrowthReason::LevelledOff { .. }), "{growth:?}");
        growth.verdict
    };
    assert_eq!((of(0.0), of(0.1)), (GrowthVerdict::Clean, GrowthVerdict::Indeterminate));
}

#[test]
fn a_difference_at_the_tolerance_is_not_beyond_it() {
    use DifferenceVerdict::{Better, Same, Undecided, Worse};
    for (name, figure, low, high, expected) in [
        ("at the tolerance", Figure::P99, 0.1, 0.2, Undecided),
        ("beyond it", Figure::P99, 0.11, 0.2, Worse),
        ("within it", Figure::P99, -0.1, 0.1, Same),
        ("nothing at best", Figure::P99, -0.2, 0.0, Undecided),
        ("less", Figure::P99, -0.2, -0.01, Better),
        ("less throughput", Figure::Throughput, -0.2, -0.11, Worse),
        ("more throughput", Figure::Throughput, 0.01, 0.2, Better),
    ] {
        let interval = Some(Interval { low, high });
        let difference = Difference {
            figure,
            base: None,
            candidate: None,
            change: None,
            interval,
            verdict: Same,
        };
        assert_eq!(difference.judged_by(0.1).verdict, expected, "{name}");
        assert_eq!(Difference { interval: None, ..difference }.judged_by(9.0).verdict, Undecided);
    }
}

#[test]
fn figures_have_their_names_and_a_change_only_from_something() {
    let names = Figure::ALL.map(Figure::as_str);
    assert_eq!(names, ["p50", "p95", "p99", "error_rate", "throughput"]);
    for (figure, base, candidate, expected) in [
        (Figure::P50, 4.0, 5.0, Some(0.25)),
        (Figure::P50, 0.0, 5.0, None),
        (Figure::P50, -1.0, 5.0, None),
        (Figure::ErrorRate, 0.25, 0.75, Some(0.5)),
        (Figure::ErrorRate, 0.0, 0.5, Some(0.5)),
    ] {
        assert_eq!(figure.change(base, candidate), expected, "{figure:?} {base} {candidate}");
    }
}

/// Seconds of so many calls round 10 ms, times `factor`.
fn seconds(seed: u64, count: usize, calls: u64, factor: f64) -> Vec<Block> {
    let mut dice = dice(seed);
    let mut time = || (1e7 * factor * (0.1 * normal(&mut dice)).exp()) as u64;
    let mut second =
        |_| Block { times: (0..calls).map(|_| (time(), 1)).collect(), ok: calls, errors: 0 };
    (0..count).map(&mut second).collect()
}

#[test]
fn both_runs_must_be_long_enough_and_have_the_figure() {
    use DifferenceVerdict::{Undecided, Worse};
    let verdicts = |base: &[Block], candidate: &[Block]| -> Vec<_> {
        let found = compare(base, candidate, &Tolerance::default(), 100, Seed(1));
        found.into_iter().map(|difference| difference.verdict).collect()
    };
    let (long, short, few) =
        (seconds(1, 20, 60, 1.0), seconds(2, 4, 300, 3.0), seconds(3, 20, 10, 3.0));
    assert_eq!(verdicts(&long, &short), [Undecided; 5]);
    assert_eq!(verdicts(&short, &long), [Undecided; 5]);
    assert_eq!(verdicts(&long, &few)[..3], [Worse, Worse, Undecided], "200 calls have no p99");
    assert_eq!(verdicts(&few, &long)[2], Undecided);
    let shares = [0.5, 0.99, 0.999];
    assert_eq!(
        band(&seconds(4, 20, 50, 1.0), &shares, 100, Seed(1)).len(),
        2,
        "1000 calls have a p99"
    );
}

#[test]
fn rounds_that_differ_by_much_either_way_are_pairs_too() {
    use DifferenceVerdict::{Better, Same, Undecided, Worse};
    let verdict =
        |rounds: &[(f64, f64)]| compare_paired(Figure::P99, rounds, &Tolerance::default()).verdict;
    assert_eq!(verdict(&[(10.0, 30.0), (11.0, 33.5), (9.0, 26.5)]), Worse);
    assert_eq!(verdict(&[(30.0, 10.0), (33.5, 11.0), (26.5, 9.0)]), Better);
    assert_eq!(verdict(&[(10.0, 10.0); 3]), Same);
    assert_eq!(verdict(&[(10.0, 30.0), (11.0, 33.5), (9.0, 0.0)]), Undecided, "0 has no ratio");
}

#[test]
fn an_answer_is_looked_into_up_to_its_limit() {
    let differ = |one: Value, other: Value| compare_results(&[one, other]).divergent_paths;
    let list = |count: usize, last: u64| {
        let mut list = vec![json!(0); count];
        list[count - 1] = json!(last);
        Value::from(list)
    };
    let object = |count: usize, last: u64| -> Value {
        (0..count)
            .map(|at| (format!("{at:04}"), json!(if at == count - 1 { last } else { 0 })))
            .collect()
    };
    let most = MOST_LEAVES;
    assert_eq!(differ(list(most, 0), list(most, 1)), ["/1999"]);
    assert_eq!(differ(list(most + 1, 0), list(most + 1, 1)), [""]);
    assert_eq!(differ(object(most, 0), object(most, 1)), ["/1999"]);
    assert_eq!(differ(object(most + 1, 0), object(most + 1, 1)), [""]);
    assert_eq!(differ(json!({"a/b": 1, "~": 2}), json!({"a/b": 2, "~": 1})), ["/a~1b", "/~0"]);
}

#[test]
fn only_text_that_holds_something_is_looked_into() {
    for (one, other) in [
        (json!({"a": "{}"}), json!({"a": {}})),
        (json!("[]"), json!([])),
        (json!("123"), json!(123)),
        (json!("true"), json!(true)),
    ] {
        let found = compare_results(&[one.clone(), other]);
        assert_ne!(found.verdict, DivergenceVerdict::Same, "{one}");
    }
    let same = compare_results(&[json!("[1]"), json!([1]), json!(" [ 1 ] ")]);
    assert_eq!(same.verdict, DivergenceVerdict::Same);
}

#[test]
fn a_search_gives_up_after_its_last_step_down_and_its_last_trial() {
    let searched = |low, high, outcome: fn(TrialKind) -> TrialOutcome| {
        let mut search = Search::new(low, high, 0.05);
        while let Some(trial) = search.next() {
            search.observe(trial, outcome(trial.kind));
        }
        search.finish()
    };
    let unstable = searched(10.0, 1e4, |kind| match kind {
        TrialKind::Probe => TrialOutcome::Passed,
        TrialKind::Confirm => TrialOutcome::Failed,
    });
    // From 10 to 10 000 in doublings are eleven probes; then one confirmation more than steps.
    assert_eq!((unstable.trials, unstable.ending), (11 + STEPS_DOWN + 1, Ending::Unstable));
    let top = searched(10.0, 10.0, |_| TrialOutcome::Passed);
    assert_eq!((top.trials, top.ending), (1 + CONFIRMATIONS, Ending::AtTop));
    let endless = searched(f64::MIN_POSITIVE, 1e300, |_| TrialOutcome::Passed);
    assert_eq!((endless.trials, endless.ending), (MOST_TRIALS, Ending::Unfinished));
    assert!(endless.explain().ends_with(" so far: the search was stopped"));
}
