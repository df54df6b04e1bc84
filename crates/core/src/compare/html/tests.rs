//! The page of several sides, as text.

use super::*;
use crate::compare::{
    NewDeadlocks, Policy, TargetRuns, against, rounds,
    tests::{Made, USUAL, run, target},
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
    slow.reports[1].verdict = crate::report::Verdict::Fail;
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
