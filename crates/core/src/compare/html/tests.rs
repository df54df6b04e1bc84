//! The page of several sides, as text.

use super::*;
use crate::{
    compare::{
        FigureChange, NewDeadlocks, Policy, Reason, Spread, TargetRuns, ToolChange, against,
        fixture::{better, candidate, comparison, same, target as side, worse},
        rounds,
        tests::{Made, USUAL, run, target},
    },
    report::Verdict,
    stats::{
        bootstrap::{DifferenceVerdict as Is, Figure},
        interval::Interval,
    },
};

fn page(comparison: &Comparison, sides: &[Side<'_>]) -> String {
    let mut page = Vec::new();
    render(comparison, sides, &mut page).unwrap();
    let page = String::from_utf8(page).unwrap();
    page[page.find("<body>").unwrap()..page.find("<footer").unwrap()].to_owned()
}

fn of_rounds(targets: &[TargetRuns]) -> String {
    let sides: Vec<Side<'_>> = targets
        .iter()
        .map(|one| Side {
            reports: &one.reports,
            pages: (0..one.reports.len())
                .map(|at| {
                    link("/c".as_ref(), format!("/c/{} {at}/report.html", one.label).as_ref())
                })
                .collect(),
        })
        .collect();
    page(&rounds(targets, &Policy::default()), &sides)
}

#[test]
fn servers_have_their_word_their_curve_and_the_way_to_each_run() {
    let mut slow = target("<b>slow", [21, 22, 23, 24, 25], 1.6);
    slow.reports[1].verdict = Verdict::Fail;
    let told = of_rounds(&[
        target("first", [11, 12, 13, 14, 15], 1.0),
        slow,
        target("third", [31, 32, 33, 34, 35], 1.0),
    ]);
    assert!(!told.contains("<b>"), "{told}");
    for part in [
        "<span class=\"verdict bad\">WORSE</span>",
        "<h1>2 servers against first</h1>",
        "<span class=\"tag bad\">WORSE</span><strong>&lt;b&gt;slow</strong>: ",
        "by more than is allowed, and that is no chance: ",
        "1 of the 5 runs of <code>&lt;b&gt;slow</code> is FAIL by itself.",
        "in 5 rounds, in turns",
        "class=\"band c4\"",
        "class=\"band c3\"",
        "class=\"line c3\"",
        "4 PASS, 1 FAIL",
        "<a href=\"%3Cb%3Eslow%204/report.html\">report of &lt;b&gt;slow, round 5</a>",
        "Percentile spectrum: the numbers",
    ] {
        assert!(told.contains(part), "{part} is missing in {told}");
    }
    assert!(
        !told.contains("95% interval of the change"),
        "of several, bars would cover each other"
    );
}

#[test]
fn a_page_is_made_of_whatever_there_is() {
    let mut cut = target("b", [21, 22, 23, 24, 25], 1.0);
    cut.reports.clear();
    let told = of_rounds(&[target("a", [11, 12, 13, 14, 15], 1.0), cut]);
    assert!(told.contains("INVALID") && told.contains("cannot be compared"), "{told}");
    assert!(!told.contains("d=\"M\"") && !told.contains("d=\"MZ\""), "a path has points: {told}");
    assert!(of_rounds(&[]).contains("INVALID"));
}

#[test]
fn several_saved_runs_are_told_apart() {
    let base = run(USUAL);
    let others = [run(Made { seed: 2, ..USUAL }), run(Made { seed: 3, slow: 1.5, ..USUAL })];
    let comparison = against(&base, &others, &Policy::default());
    let all: Vec<Report> = std::iter::once(base).chain(others).collect();
    let sides: Vec<Side<'_>> = all
        .iter()
        .map(|report| Side { reports: std::slice::from_ref(report), pages: Vec::new() })
        .collect();
    let told = page(&comparison, &sides);
    assert!(told.contains("<strong>current 2</strong>: p99"), "{told}");
    assert!(told.contains("class=\"line c3\"") && !told.contains("<a href=\"/"), "{told}");
    assert_eq!(comparison.verdict, ComparisonVerdict::Regression);
    assert!(comparison.headline().starts_with("current 2: p99"), "{}", comparison.headline());
    let lenient = Policy { new_deadlocks: NewDeadlocks::Allow, p99: None, ..Policy::default() };
    assert_ne!(against(&all[0], &all[1..], &lenient).verdict, ComparisonVerdict::Regression);
}

#[test]
fn the_word_and_its_tone_are_those_of_the_worst() {
    use ComparisonVerdict::{Invalid, Pass, Regression, Undecided};
    for (verdict, standing, between_servers, between_runs, colour) in [
        (Pass, Is::Better, "BETTER", "PASS", "good"),
        (Pass, Is::Same, "SAME", "PASS", "good"),
        (Undecided, Is::Undecided, "UNDECIDED", "UNDECIDED", "warn"),
        (Invalid, Is::Undecided, "INVALID", "INVALID", "warn"),
        (Regression, Is::Worse, "WORSE", "REGRESSION", "bad"),
    ] {
        for (method, told) in [(Method::Rounds, between_servers), (Method::Seconds, between_runs)] {
            let one = Candidate { verdict, standing, ..candidate("b", Vec::new()) };
            let is_alike = verdict == Pass;
            let other = if is_alike { one.clone() } else { candidate("c", Vec::new()) };
            let found = comparison(method, vec![one, other]);
            assert_eq!((word(&found), tone(found.verdict)), (told, colour), "{verdict:?}");
        }
    }
    let of = |standing| Candidate { standing, ..candidate("b", Vec::new()) };
    let mixed = comparison(Method::Rounds, vec![of(Is::Better), of(Is::Same)]);
    assert_eq!(word(&mixed), "PASS", "no word is that of both");
}

#[test]
fn every_verdict_has_its_sentence_and_every_bad_run_is_told() {
    use ComparisonVerdict::{Invalid, Pass, Regression, Undecided};
    let told = |method, verdict, standing| {
        let one = Candidate { verdict, standing, ..candidate("b", vec![better(Figure::P99)]) };
        meaning::card(&comparison(method, vec![one]))
    };
    let rounds =
        "More rounds (<code>--repeat</code>) or longer ones (<code>--duration</code>) decide it.";
    for (method, verdict, standing, part) in [
        (
            Method::Rounds,
            Regression,
            Is::Worse,
            "<code>b</code> is worse than <code>first</code> by more than is allowed",
        ),
        (
            Method::Rounds,
            Invalid,
            Is::Undecided,
            "<code>b</code> and <code>first</code> cannot be compared: ",
        ),
        (Method::Rounds, Undecided, Is::Undecided, rounds),
        (
            Method::Seconds,
            Undecided,
            Is::Undecided,
            "Whether <code>b</code> is worse than <code>first</code> is open: . Longer runs, or more calls, decide it.",
        ),
        (
            Method::Seconds,
            Pass,
            Is::Better,
            "<code>b</code> is better than <code>first</code>, and in nothing that is judged worse: p99 10.0ms to 5.00ms (-50%).",
        ),
        (
            Method::Seconds,
            Pass,
            Is::Same,
            "<code>b</code> is no worse than <code>first</code> by more than is allowed.",
        ),
    ] {
        let card = told(method, verdict, standing);
        assert!(card.contains(part), "{part} is missing in {card}");
        assert!(!card.contains("by itself"), "all runs passed: {card}");
    }
    use Verdict::{Critical, Fail, Pass as Passed, Warning};
    for (runs, part) in [
        (vec![Fail], "The run of <code>b</code> is FAIL by itself."),
        (vec![Passed, Fail, Warning], "1 of the 3 runs of <code>b</code> is FAIL by itself."),
        (
            vec![Fail, Passed, Critical],
            "2 of the 3 runs of <code>b</code> are CRITICAL by themselves.",
        ),
    ] {
        let mut one = candidate("b", Vec::new());
        one.target = side("b", &runs);
        let card = meaning::card(&comparison(Method::Rounds, vec![one]));
        assert!(card.contains(part), "{part} is missing in {card}");
    }
}

#[test]
fn the_reading_of_the_tail_follows_its_interval() {
    let tail = |low, high, why: Option<&str>| {
        let p99 = FigureChange {
            interval: Some(Interval { low, high }),
            why: why.map(Into::into),
            ..worse(Figure::P99)
        };
        let others = vec![same(Figure::P50), p99];
        spectrum::figure(&comparison(Method::Seconds, vec![candidate("b", others)]), &[])
    };
    let values = "p99 is 12.0ms against 10.0ms";
    let none = "which is no difference for sure";
    for (low, high, part) in [
        (-0.1, 0.1, format!("{values}, {none} (-10% to +10%)")),
        (0.0, 0.1, format!("{values}, {none} (+0.0% to +10%)")),
        (-0.1, 0.0, format!("{values}, {none} (-10% to +0.0%)")),
        (0.05, 0.1, format!("{values}, +20% (95 % between +5.0% and +10%)")),
        (-0.1, -0.05, format!("{values}, +20% (95 % between -10% and -5.0%)")),
    ] {
        let told = tail(low, high, None);
        assert!(told.contains(&part), "{part} is missing in {told}");
    }
    let told = tail(0.1, 0.2, Some("too few"));
    assert!(told.contains(&format!("{values}, and no difference is shown: too few.")), "{told}");
    let told = spectrum::figure(&comparison(Method::Rounds, vec![candidate("b", Vec::new())]), &[]);
    assert!(told.contains("no p99 to compare"), "{told}");
}

#[test]
fn a_curve_is_drawn_of_what_was_measured_and_bars_of_what_has_an_interval() {
    let (good, mut empty) = (run(USUAL), run(USUAL));
    empty.latency = Default::default();
    let figures = vec![FigureChange { interval: None, ..worse(Figure::P99) }];
    let found = comparison(Method::Seconds, vec![candidate("second", figures)]);
    let drawn = |reports: [&Report; 2]| {
        let sides =
            reports.map(|report| Side { reports: std::slice::from_ref(report), pages: Vec::new() });
        spectrum::figure(&found, &sides)
    };
    let both = drawn([&good, &good]);
    assert!(both.contains("class=\"line c4\"") && both.contains("class=\"line c0\""), "{both}");
    assert!(!both.contains("95% interval of the change"), "no bar was drawn: {both}");
    let one = drawn([&empty, &good]);
    assert!(!one.contains("line c4") && one.contains("class=\"line c0\""), "{one}");
    assert!(one.contains("<tr><th scope=\"row\">50%</th><td>-</td>"), "{one}");
    assert!(!drawn([&empty, &empty]).contains("<svg"));
}

#[test]
fn a_page_of_rounds_has_spreads_tools_and_remarks() {
    let spread = |low, high| Some(Spread { low, high });
    let figure = FigureChange {
        base_spread: spread(9.0, 11.0),
        current_spread: spread(12.0, 12.0),
        ..worse(Figure::P99)
    };
    let mut one = candidate("b", vec![figure]);
    one.target = side("b", &[Verdict::Fail, Verdict::Pass, Verdict::Fail]);
    one.tools = vec![ToolChange { name: "<search>".into(), figures: vec![same(Figure::P50)] }];
    one.reasons = vec![Reason { id: "x".into(), message: "other tools".into() }];
    one.notes = vec!["keep in mind".into()];
    let told = page(&comparison(Method::Rounds, vec![one]), &[]);
    for part in [
        "<td>10.0ms (9.00ms to 11.0ms)</td>",
        "<td>12.0ms</td>",
        "<td>2 FAIL, 1 PASS</td>",
        "<ul><li>other tools</li><li>keep in mind</li></ul>",
        "<h3><code>&lt;search&gt;</code></h3>",
        "A line lies in its band with 95 % confidence",
    ] {
        assert!(told.contains(part), "{part} is missing in {told}");
    }
    assert!(!told.contains("class=\"standings\""), "one is told by itself");
    let none = page(&comparison(Method::Rounds, vec![candidate("b", Vec::new())]), &[]);
    assert!(!none.contains("<ul></ul>") && none.contains("<td>-</td>"), "{none}");
}
