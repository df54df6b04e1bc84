//! Fixed data, fixed figures. The tests of each file ask for verdicts and leave room for noise; here a
//! change of any figure shows, and whoever makes one looks whether it is meant.

use std::{
    fmt::{Debug, Write as _},
    time::Duration,
};

use regex::Regex;

use super::{
    bimodal::modes,
    bootstrap::{Figure, Tolerance, band, compare, compare_paired},
    drift::judge_drift,
    envelope::{after_warmup, default_warmup, floor, minima},
    fixture::{dice, either_way, normal, series, times},
    head_of_line::judge_blocking,
    interval::Interval,
    kept::{judge_round, judge_rounds},
    knee::{Point, breaking_point},
    leak::{judge_growth, per_unit},
    part::{Effects, Part, compare_parts},
    plateau::Shape,
    regression::{least_squares, theil_sen},
    resample::Block,
    search::{Search, TrialOutcome},
    usl::Usl,
};
use crate::seed::Seed;

/// The page that is compared. Six digits: the last ones are the machine's.
#[derive(Default)]
struct Page(String);

impl Page {
    fn tell(&mut self, name: &str, figures: &impl Debug) {
        let float = Regex::new(r"-?\d+\.\d+(e-?\d+)?").expect("a constant");
        let told = format!("{figures:?}");
        let rounded = float.replace_all(&told, |found: &regex::Captures<'_>| {
            let value: f64 = found[0].parse().expect("a number");
            let short: f64 = format!("{value:.5e}").parse().expect("a number");
            short.to_string()
        });
        writeln!(self.0, "{name}: {rounded}").expect("text");
    }
}

const HOUR: Duration = Duration::from_secs(3_600);

/// 120 samples over an hour: a level, a leak, a step, a cache that fills, a late start, noise alone.
fn courses() -> Vec<(&'static str, Vec<(f64, f64)>)> {
    let course = |seed, shape: fn(f64) -> f64| {
        let mut dice = dice(seed);
        series(120, 30.0, |t| 100.0 + shape(t) + either_way(&mut dice) * 1.5)
    };
    vec![
        ("level", course(1, |_| 0.0)),
        ("leak", course(2, |t| t / 60.0)),
        ("slow leak", course(3, |t| t / 900.0)),
        ("step", course(4, |t| if t > 900.0 { 30.0 } else { 0.0 })),
        ("cache", course(5, |t| t.min(1_200.0) / 20.0)),
        ("late", course(6, |t| (t - 2_400.0).max(0.0) / 20.0)),
        ("saw", course(7, |t| t % 600.0 / 20.0)),
    ]
}

#[test]
fn lines_and_growth() {
    let mut page = Page::default();
    for (name, samples) in courses() {
        page.tell(&format!("{name}: line"), &least_squares(&samples));
        page.tell(&format!("{name}: trend"), &theil_sen(&samples));
        page.tell(&format!("{name}: shape"), &Shape::of(&samples));
        let growth = judge_growth(&samples, HOUR, default_warmup(HOUR), 10.0);
        page.tell(&format!("{name}: growth"), &growth);
        page.tell(&format!("{name}: per unit"), &per_unit(&growth, 5_000));
        writeln!(page.0, "{name}: {}", growth.explain("MB")).expect("text");
        let drift = judge_drift(&samples, HOUR, 0.005);
        page.tell(&format!("{name}: drift"), &drift);
        writeln!(page.0, "{name}: {}", drift.explain()).expect("text");
        page.tell(&format!("{name}: minima"), &minima(&samples, 5));
        page.tell(&format!("{name}: floor"), &floor(&samples, 5));
        let round = judge_round(&samples, 10.0);
        page.tell(&format!("{name}: rounds"), &judge_rounds(&[round.clone(), round]));
    }
    let (_, leak) = &courses()[1];
    page.tell("after warm-up", &after_warmup(leak, Duration::from_secs(3_500)));
    page.tell("warm-ups", &[40, 400].map(|secs| default_warmup(Duration::from_secs(secs))));
    insta::assert_snapshot!(page.0);
}

/// Seconds of a run whose calls take about so many milliseconds.
fn seconds(seed: u64, millis: f64, errors: u64) -> Vec<Block> {
    let mut dice = dice(seed);
    let mut second = |at: u64| Block {
        times: (0..40)
            .map(|_| ((millis * 1e6 * (1.0 + 0.2 * normal(&mut dice).abs())) as u64, 1 + at % 3))
            .collect(),
        ok: 40 * (1 + at % 3) - errors,
        errors: errors * (at % 2),
    };
    (0..30).map(&mut second).collect()
}

#[test]
fn runs_beside_each_other() {
    let mut page = Page::default();
    let (base, same, worse) = (seconds(1, 10.0, 0), seconds(2, 10.0, 0), seconds(3, 12.5, 4));
    for (name, candidate) in [("same", &same), ("worse", &worse)] {
        let found = compare(&base, candidate, &Tolerance::default(), 200, Seed(7));
        for difference in &found {
            page.tell(name, difference);
            page.tell("  harm", &difference.harm());
            page.tell("  strictly", &difference.judged_by(0.0).verdict);
        }
        let part = |blocks: &[Block]| {
            let mut times: Vec<_> = blocks.iter().flat_map(|block| block.times.clone()).collect();
            times.sort_unstable();
            let sum = |count: fn(&Block) -> u64| blocks.iter().map(count).sum();
            Part { times, ok: sum(|block| block.ok), errors: sum(|block| block.errors) }
        };
        let (one, two) = (part(&base), part(candidate));
        let (by, of) = (Effects::of(&base), Effects::of(candidate));
        page.tell("  effects", &of);
        for difference in compare_parts((&one, &by), (&two, &of), |_| 0.1) {
            page.tell("  part", &difference);
        }
    }
    page.tell("band", &band(&worse, &[0.5, 0.9, 0.99], 200, Seed(5)));
    let rounds = [(10.0, 11.0), (10.5, 11.2), (9.8, 11.4), (10.1, 10.9), (0.0, 3.0)];
    for figure in Figure::ALL {
        page.tell("paired", &compare_paired(figure, &rounds, &Tolerance::default()));
    }
    let shares = [(0.01, 0.02), (0.012, 0.019), (0.009, 0.024)];
    page.tell("shares", &compare_paired(Figure::ErrorRate, &shares, &Tolerance::default()));
    page.tell("of a share", &[(0, 10), (3, 10), (10, 10)].map(|(a, b)| Interval::of_share(a, b)));
    insta::assert_snapshot!(page.0);
}

/// Steps of a server with so much room, of which each call takes 10 ms.
fn steps(room: f64, fall: f64, broken_from: f64) -> Vec<Point> {
    let step = |load: f64| {
        let beyond = (load - room).max(0.0);
        let throughput = load.min(room) * 100.0 - beyond * fall;
        let p50 = Duration::from_secs_f64(load / throughput.max(1.0));
        let error_rate = if load >= broken_from { 0.05 } else { 0.0 };
        Point { load, throughput, p50, p99: p50 * 3, error_rate }
    };
    (1..=20).map(|load| step(f64::from(load))).collect()
}

/// Steps of a server whose callers wait for each other and disturb each other.
fn lawful() -> Vec<Point> {
    let curve = Usl { alone: 90.0, waiting: 0.03, crosstalk: 0.002, off: 0.0 };
    let mut points = steps(100.0, 0.0, 100.0);
    points.iter_mut().for_each(|point| point.throughput = curve.at(point.load));
    points
}

#[test]
fn loads_that_grow() {
    let mut page = Page::default();
    for (name, points) in [
        ("room", steps(100.0, 0.0, 100.0)),
        ("knee", steps(8.0, 0.0, 100.0)),
        ("collapse", steps(8.0, 55.0, 100.0)),
        ("errors", steps(12.0, 3.0, 15.0)),
        ("law", lawful()),
    ] {
        page.tell(name, &breaking_point(&points, 0.01));
        let pairs: Vec<_> = points.iter().map(|point| (point.load, point.throughput)).collect();
        let curve = Usl::fit(&pairs);
        page.tell("  law", &curve);
        page.tell("  peak", &curve.map(|curve| (curve.peak(), curve.at(6.0), curve.at(30.0))));
    }
    for capacity in [30.0, 160.0, 5_000.0, 1.0] {
        let mut search = Search::new(20.0, 800.0, 0.05);
        while let Some(trial) = search.next() {
            let outcome =
                if trial.rate <= capacity { TrialOutcome::Passed } else { TrialOutcome::Failed };
            page.tell("  trial", &(trial, outcome));
            search.observe(trial, outcome);
        }
        let found = search.finish();
        page.tell(&format!("capacity {capacity}"), &found);
        writeln!(page.0, "{}", found.explain()).expect("text");
    }
    insta::assert_snapshot!(page.0);
}

#[test]
fn crowds_of_times() {
    let mut page = Page::default();
    let about = |seed, millis: f64, count: usize| {
        let mut dice = dice(seed);
        (0..count).map(move |_| millis * (1.0 + 0.05 * normal(&mut dice)).max(0.1))
    };
    let one = times(about(1, 10.0, 500));
    let two = times(about(2, 10.0, 400).chain(about(3, 80.0, 100)));
    page.tell("one", &modes(&one));
    page.tell("two", &modes(&two));
    let slow = Duration::from_millis(100);
    for (name, beside) in [
        ("free", times(about(4, 11.0, 300))),
        ("blocked", times(about(5, 110.0, 300))),
        ("slower", times(about(6, 25.0, 300))),
        ("few", times(about(7, 25.0, 3))),
    ] {
        page.tell(name, &judge_blocking(&one, &beside, slow));
    }
    insta::assert_snapshot!(page.0);
}
