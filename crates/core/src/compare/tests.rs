//! Hand-made runs, compared.
//!
//! One file, because all tests are variations of the same two runs.

use std::time::{Duration, SystemTime};

use super::*;
use crate::{
    config::CompareConfig,
    histogram::{self, Buckets},
    outcome::ErrorCategory,
    report::{
        LatencyStats, Report, RunInfo, ServerInfo, Severity, ToolStats, Verdict, Window, build,
        summary,
    },
    scenario::Scenario,
    seed::{Dice, Seed},
    stats::bootstrap::{DifferenceVerdict, Figure},
    tally::Tally,
    thresholds::Thresholds,
};

fn sustained(concurrent: u32) -> Scenario {
    Scenario::sustained().concurrent(concurrent).duration(Duration::from_secs(20)).into()
}

fn empty(scenario: Scenario) -> Report {
    let info = RunInfo {
        run_id: "01JV0W2T4QH8F3N6Y9ZB5C7D1E".into(),
        started_at: SystemTime::UNIX_EPOCH + Duration::from_secs(1_778_398_200),
        duration: Duration::from_secs(20),
        scenario,
        thresholds: Thresholds::default(),
        server_info: ServerInfo {
            target: "python -m my_mcp".into(),
            transport: "stdio".into(),
            ..ServerInfo::default()
        },
        trace_path: "".into(),
        trace_bytes: 0,
        trace: Default::default(),
        run_dir: None,
    };
    let mut report = build(info, &Tally::default());
    (report.verdict, report.findings) = (Verdict::Pass, Vec::new());
    report
}

/// A sum of uniform numbers is as good as normal here.
fn normal(dice: &mut Dice) -> f64 {
    (0..12).map(|_| dice.unit()).sum::<f64>() - 6.0
}

/// What a made-up run is like.
#[derive(Clone, Copy)]
pub(super) struct Made {
    pub(super) seed: u64,
    pub(super) seconds: u64,
    /// A second, of each tool.
    pub(super) calls: u64,
    /// Times as long as usual.
    pub(super) slow: f64,
    /// How much the seconds differ.
    pub(super) restless: f64,
    /// Failures a second.
    pub(super) errors: u64,
}

pub(super) const USUAL: Made =
    Made { seed: 1, seconds: 20, calls: 100, slow: 1.0, restless: 0.02, errors: 0 };

pub(super) fn run(made: Made) -> Report {
    run_of(made, &["echo"])
}

/// The second tool, if any, is not slower than usual.
fn run_of(made: Made, tools: &[&str]) -> Report {
    let mut dice = Seed(made.seed).dice(0);
    let mut report = empty(sustained(10));
    let mut all = histogram::new();
    let mut by_tool = vec![histogram::new(); tools.len()];
    for second in 0..=made.seconds {
        let pace = 10.0 * (made.restless * normal(&mut dice)).exp();
        let mut times = histogram::coarse();
        // The last second is broken off.
        let calls = if second == made.seconds { 3 } else { made.calls };
        for (tool, part) in by_tool.iter_mut().enumerate() {
            for _ in 0..calls {
                let slow = if tool == 0 { made.slow } else { 1.0 };
                let millis = pace * slow * (0.2 * normal(&mut dice)).exp();
                let time = Duration::from_secs_f64(millis / 1e3);
                [&mut times, &mut all, part].into_iter().for_each(|to| histogram::record(to, time));
            }
        }
        let called = calls * tools.len() as u64;
        report.windows.push(Window {
            from_secs: second,
            secs: 1,
            ok: called - made.errors.min(called),
            errors: made.errors.min(called),
            response_ns: Buckets::of(&times),
        });
    }
    let sum = |count: fn(&Window) -> u64| report.windows.iter().map(count).sum::<u64>();
    let (ok, errors) = (sum(|window| window.ok), sum(|window| window.errors));
    report.throughput.total_requests = ok + errors;
    report.throughput.successful_requests = ok;
    report.throughput.requests_per_sec = (ok + errors) as f64 / made.seconds as f64;
    report.errors.total = errors;
    report.latency = LatencyStats::from_histogram(all);
    let tool = |(name, times): (&&str, hdrhistogram::Histogram<u64>)| ToolStats {
        name: (*name).to_owned(),
        total_requests: times.len(),
        successful_requests: times.len() - errors,
        errors: [(ErrorCategory::ToolError, errors)].into(),
        latency: LatencyStats::from_histogram(times),
        first_call: None,
        steady_p50: None,
        windows: Vec::new(),
    };
    report.tools = tools.iter().zip(by_tool).map(tool).collect();
    report
}

fn policy() -> Policy {
    Policy::default()
}

fn verdict(base: &Report, current: &Report) -> ComparisonVerdict {
    runs(base, current, &policy()).verdict
}

fn figure(comparison: &Comparison, figure: Figure) -> &FigureChange {
    comparison.candidates[0].figures.iter().find(|change| change.figure == figure).unwrap()
}

#[test]
fn the_same_server_twice_is_never_worse() {
    let base = run(USUAL);
    assert_eq!(verdict(&base, &base), ComparisonVerdict::Pass);
    for seed in 2..12 {
        let again = run(Made { seed, ..USUAL });
        assert_ne!(verdict(&base, &again), ComparisonVerdict::Regression, "seed {seed}");
    }
}

#[test]
fn rates_are_those_of_the_reports_however_late_load_began_in_the_first_second() {
    let mut base = run(USUAL);
    // Half of the first second went by before the handshake was over.
    base.windows[0].ok /= 2;
    base.throughput.requests_per_sec = 123.4;
    let found = runs(&base, &run(Made { seed: 2, ..USUAL }), &policy());
    let rate = figure(&found, Figure::Throughput);
    assert_eq!(rate.base, Some(123.4));
    assert!(rate.interval.is_some() && rate.change.is_some(), "{rate:?}");
}

#[test]
fn a_slower_server_is_a_regression_and_a_faster_one_passes() {
    let (base, slow) = (run(USUAL), run(Made { seed: 2, slow: 1.5, ..USUAL }));
    let found = runs(&base, &slow, &policy());
    assert_eq!((found.verdict, found.exit().code()), (ComparisonVerdict::Regression, 1));
    let p99 = figure(&found, Figure::P99);
    assert_eq!((p99.verdict, p99.kept), (DifferenceVerdict::Worse, Some(false)));
    assert!((0.35..0.65).contains(&p99.change.unwrap()), "{p99:?}");
    assert!(p99.interval.unwrap().low > 0.1, "{p99:?}");
    assert!((10.0..30.0).contains(&p99.base.unwrap()), "milliseconds: {p99:?}");
    assert!(found.headline().starts_with("p99 "), "{}", found.headline());
    let p50 = figure(&found, Figure::P50);
    assert_eq!((p50.allowed, p50.kept, p50.verdict), (None, None, DifferenceVerdict::Worse));
    assert_eq!(verdict(&slow, &base), ComparisonVerdict::Pass);
}

#[test]
fn noise_is_undecided_and_fails_only_when_asked_to() {
    let (base, noise) =
        (run(Made { restless: 0.5, ..USUAL }), run(Made { seed: 2, restless: 0.5, ..USUAL }));
    let found = runs(&base, &noise, &policy());
    assert_eq!((found.verdict, found.exit().code()), (ComparisonVerdict::Undecided, 0));
    let strict = Policy { undecided: Undecided::Fail, ..policy() };
    assert_eq!(runs(&base, &noise, &strict).exit().code(), 1);
}

#[test]
fn too_few_calls_or_seconds_are_undecided_and_say_so() {
    let few = Made { calls: 5, ..USUAL };
    let found = runs(&run(few), &run(Made { slow: 3.0, ..few }), &policy());
    let why = figure(&found, Figure::P99).why.clone().unwrap();
    assert!(why.contains("p99 needs 1000"), "{why}");
    assert!(figure(&found, Figure::P99).change.unwrap() > 1.0, "told nevertheless");
    let short = Made { seconds: 3, ..USUAL };
    let found = runs(&run(short), &run(short), &policy());
    assert_eq!(found.verdict, ComparisonVerdict::Undecided);
    assert!(found.headline().contains("3 whole seconds, and 5 are needed"), "{}", found.headline());
}

#[test]
fn more_errors_are_a_regression() {
    let (base, failing) = (run(USUAL), run(Made { errors: 2, ..USUAL }));
    let found = runs(&base, &failing, &policy());
    assert_eq!(found.verdict, ComparisonVerdict::Regression);
    assert_eq!(figure(&found, Figure::ErrorRate).kept, Some(false));
    let lenient = Policy { error_rate: Some(0.05), ..policy() };
    assert_eq!(runs(&base, &failing, &lenient).verdict, ComparisonVerdict::Pass);
}

#[test]
fn fewer_calls_a_second_are_a_regression_unless_their_rate_was_asked_for() {
    let (base, fewer) = (run(USUAL), run(Made { calls: 70, ..USUAL }));
    assert_eq!(verdict(&base, &fewer), ComparisonVerdict::Regression);
    let open: Scenario = Scenario::sustained().rate(100.0).into();
    let policy = CompareConfig::default().policy(&open.kind);
    let found = runs(&base, &fewer, &policy);
    assert_eq!(figure(&found, Figure::Throughput).allowed, None);
    assert_ne!(found.verdict, ComparisonVerdict::Regression);
}

#[test]
fn a_new_deadlock_is_a_regression_unless_it_is_allowed() {
    let base = run(USUAL);
    let mut stuck = base.clone();
    stuck.deadlock_count = 1;
    let found = runs(&base, &stuck, &policy());
    assert_eq!(found.verdict, ComparisonVerdict::Regression);
    assert_eq!(found.headline(), "1 new deadlock");
    assert_eq!(verdict(&stuck, &stuck), ComparisonVerdict::Pass);
    let allowed = Policy { new_deadlocks: NewDeadlocks::Allow, ..policy() };
    assert_eq!(runs(&base, &stuck, &allowed).verdict, ComparisonVerdict::Pass);
}

#[test]
fn one_tool_alone_may_be_the_regression() {
    let tools = ["search", "echo"];
    let made = Made { calls: 200, ..USUAL };
    let (base, slow) = (run_of(made, &tools), run_of(Made { seed: 2, slow: 1.6, ..made }, &tools));
    let found = runs(&base, &slow, &policy());
    assert_eq!(found.verdict, ComparisonVerdict::Regression);
    let p99 = |name: &str| {
        let tool = found.candidates[0].tools.iter().find(|tool| tool.name == name).unwrap();
        tool.figures.iter().find(|change| change.figure == Figure::P99).unwrap().kept
    };
    assert_eq!(p99("search"), Some(false));
    assert_ne!(p99("echo"), Some(false));
    let rare = Made { calls: 2, ..USUAL };
    let found = runs(&run_of(rare, &tools), &run_of(rare, &tools), &policy());
    let whys = found.candidates[0].tools.iter().flat_map(|tool| &tool.figures);
    assert!(whys.filter(|change| change.allowed.is_some()).all(|change| change.why.is_some()));
}

/// A base, what differs, and the id of the reason.
#[test]
fn what_cannot_be_compared_says_why() {
    let base = run(USUAL);
    let with = |change: fn(&mut Report)| {
        let mut report = base.clone();
        change(&mut report);
        report
    };
    for (id, other) in [
        ("scenario", with(|run| run.scenario_kind = Scenario::from(Scenario::spike()).kind)),
        ("settings", with(|run| run.scenario_kind = sustained(20).kind)),
        ("tools", with(|run| run.tools[0].name = "other".into())),
        ("transport", with(|run| run.server_info.transport = "http".into())),
        ("interrupted", with(|run| run.interrupted = true)),
        ("client_bound", with(|run| run.validity.client_bound = true)),
        ("invalid", with(|run| run.verdict = Verdict::Invalid)),
    ] {
        let found = runs(&base, &other, &policy());
        assert_eq!((found.verdict, found.exit().code()), (ComparisonVerdict::Invalid, 2), "{id}");
        assert_eq!(found.candidates[0].reasons[0].id, id);
    }
    let settings = runs(&base, &with(|run| run.scenario_kind = sustained(20).kind), &policy());
    assert_eq!(settings.headline(), "`concurrent` was 10 and is 20");
    let longer = with(|run| {
        let longer = Scenario::sustained().concurrent(10).duration(Duration::from_secs(60));
        run.scenario_kind = Scenario::from(longer).kind;
    });
    let found = runs(&base, &longer, &policy());
    assert_eq!(found.verdict, ComparisonVerdict::Pass, "a longer run does the same");
    assert_eq!(found.candidates[0].notes, ["the base lasted 20s, the other 60s"]);
}

pub(super) fn target(label: &str, seeds: [u64; 5], slow: f64) -> TargetRuns {
    // A machine that gets busier from round to round is busy for both.
    let report =
        |seed: u64| run(Made { seed, slow: slow * (1.0 + (seed % 10) as f64 * 0.2), ..USUAL });
    TargetRuns { label: label.into(), reports: seeds.map(report).to_vec() }
}

#[test]
fn rounds_in_turns_see_through_a_busy_machine() {
    let (a, b) = (target("a", [11, 12, 13, 14, 15], 1.0), target("b", [21, 22, 23, 24, 25], 1.4));
    let same = target("c", [31, 32, 33, 34, 35], 1.0);
    let found = rounds(&[a, b, same], &policy());
    let verdicts: Vec<_> = found.candidates.iter().map(|candidate| candidate.verdict).collect();
    assert_eq!(verdicts[0], ComparisonVerdict::Regression);
    assert_ne!(verdicts[1], ComparisonVerdict::Regression);
    let p99 = figure(&found, Figure::P99);
    let spread = p99.base_spread.unwrap();
    assert!(spread.low < p99.base.unwrap() && p99.base.unwrap() < spread.high, "{p99:?}");
    assert_eq!(found.base.runs.len(), 5);
}

#[test]
fn tools_are_compared_in_rounds_too() {
    let target = |label: &str, seeds: [u64; 4], slow: f64, transport: &str| {
        let report = |seed| {
            let mut report = run_of(Made { seed, slow, ..USUAL }, &["search", "fetch"]);
            report.server_info.transport = transport.into();
            report
        };
        TargetRuns { label: label.into(), reports: seeds.map(report).to_vec() }
    };
    let (a, b) = (target("a", [1, 2, 3, 4], 1.0, "stdio"), target("b", [5, 6, 7, 8], 1.5, "http"));
    let found = rounds(&[a, b], &policy());
    let candidate = &found.candidates[0];
    let p50 = |name: &str| {
        let tool = candidate.tools.iter().find(|tool| tool.name == name).unwrap();
        let figures = tool.figures.iter();
        assert!(figures.clone().all(|change| change.figure != Figure::Throughput), "{tool:?}");
        figures.clone().find(|change| change.figure == Figure::P50).unwrap().change.unwrap()
    };
    assert!((0.4..0.6).contains(&p50("search")) && p50("fetch").abs() < 0.1);
    let notes = candidate.notes.join("\n");
    assert!(notes.contains("the first is reached over stdio, this one over http"), "{notes}");
}

#[test]
fn too_few_or_bad_rounds_decide_nothing() {
    let (a, mut b) =
        (target("a", [11, 12, 13, 14, 15], 1.0), target("b", [21, 22, 23, 24, 25], 3.0));
    b.reports.truncate(2);
    let found = rounds(&[a.clone(), b.clone()], &policy());
    assert_eq!(found.verdict, ComparisonVerdict::Undecided);
    assert!(found.headline().contains("2 rounds, and 3 are needed"), "{}", found.headline());
    b.reports.iter_mut().for_each(|report| report.validity.client_bound = true);
    assert_eq!(rounds(&[a, b], &policy()).verdict, ComparisonVerdict::Invalid);
    assert_eq!(rounds(&[], &policy()).verdict, ComparisonVerdict::Invalid);
}

#[test]
fn the_order_of_targets_rotates() {
    assert_eq!((0..4).map(|round| order(3, round)[0]).collect::<Vec<_>>(), [0, 1, 2, 0]);
    assert_eq!(order(2, 1), [1, 0]);
}

#[test]
fn what_is_written_reads_back_and_keeps_to_the_schema() {
    let validator = jsonschema::validator_for(&json::schema()).unwrap();
    let (base, slow) = (run(USUAL), run(Made { slow: 1.5, ..USUAL }));
    let several =
        rounds(&[target("a", [1, 2, 3, 4, 5], 1.0), target("b", [6, 7, 8, 9, 10], 2.0)], &policy());
    for comparison in [runs(&base, &slow, &policy()), several, rounds(&[], &policy())] {
        let mut text = Vec::new();
        json::render(&comparison, &mut text).unwrap();
        let value = serde_json::from_slice(&text).unwrap();
        let errors: Vec<String> =
            validator.iter_errors(&value).map(|error| error.to_string()).collect();
        assert_eq!(errors, [] as [String; 0]);
        assert_eq!(serde_json::from_value::<Comparison>(value).unwrap(), comparison);
    }
}

fn told(comparison: &Comparison) -> [String; 2] {
    let (mut terminal, mut page) = (Vec::new(), Vec::new());
    terminal::render(comparison, &mut terminal).unwrap();
    markdown::render(comparison, &mut page).unwrap();
    [terminal, page].map(|text| String::from_utf8(text).unwrap())
}

#[test]
fn lines_fit_and_foreign_text_is_tame() {
    let mut base = run_of(USUAL, &["a\u{1b}[2J|b", "`x`<img src=y>"]);
    base.server_info.target = "evil\u{202e}|\n# heading".into();
    let found = runs(&base, &base, &policy());
    let [terminal, page] = told(&found);
    for text in [&terminal, &page] {
        assert!(!text.contains("\u{1b}[2J") && !text.contains('\u{202e}'), "{text}");
    }
    assert!(!page.contains("\n# heading") && page.contains("`` `x`<img src=y> ``"), "{page}");
    let several = rounds(
        &[target("first", [1, 2, 3, 4, 5], 1.0), target("second", [6, 7, 8, 9, 10], 2.0)],
        &policy(),
    );
    for text in [terminal, told(&several)[0].clone()] {
        let plain = text.replace("\u{1b}[1m", "").replace("\u{1b}[0m", "");
        let plain = plain.replace("\u{1b}[31m", "").replace("\u{1b}[32m", "");
        for line in plain.lines() {
            assert!(line.chars().count() <= 82, "{line}");
        }
    }
}

#[test]
fn a_summary_takes_the_comparison_and_the_exit_code() {
    let (base, slow) = (run(USUAL), run(Made { slow: 1.5, ..USUAL }));
    let found = runs(&base, &slow, &policy());
    let mut short = summary::summary(&slow, None);
    short.compared(&found, found.exit());
    assert_eq!((short.exit_code, short.passed), (1, true));
    assert_eq!(short.baseline.unwrap().verdict, ComparisonVerdict::Regression);
}

/// The page: body only, since style and script are those of every page.
#[test]
fn the_page_tells_the_same_and_opens_no_tag_of_a_peer() {
    let hostile = "</script><img src=x onerror=alert(1)>";
    let (mut base, mut current) = (run(USUAL), run(Made { seed: 2, slow: 1.5, ..USUAL }));
    for report in [&mut base, &mut current] {
        report.server_info.target = hostile.into();
    }
    let comparison = runs(&base, &current, &CompareConfig::default().policy(&base.scenario_kind));
    let mut page = Vec::new();
    let reports = [base.clone(), current.clone()];
    let sides = reports.each_ref().map(|report| html::Side {
        reports: std::slice::from_ref(report),
        pages: vec![Some("a/report.html".into())],
    });
    html::render(&comparison, &sides, &mut page).unwrap();
    let page = String::from_utf8(page).unwrap();
    let body = &page[page.find("<body>").unwrap()..page.find("<footer").unwrap()];
    assert!(!body.contains("<img") && body.contains("&lt;img src=x"));
    insta::assert_snapshot!("page", body);
    type Form = fn(&Comparison, &mut dyn std::io::Write) -> std::io::Result<()>;
    let forms: [(&str, Form); 3] =
        [("terminal", terminal::render), ("markdown", markdown::render), ("json", json::render)];
    for (name, render) in forms {
        let mut text = Vec::new();
        render(&comparison, &mut text).unwrap();
        insta::assert_snapshot!(name, String::from_utf8(text).unwrap());
    }
    let remark = crate::ci::of_comparison(&comparison, None).unwrap();
    assert_eq!((remark.id.as_str(), remark.severity), ("regression", Severity::Critical));
    assert!(remark.title.starts_with("REGRESSION: p99"), "{}", remark.title);
    let alike = runs(&base, &base, &CompareConfig::default().policy(&base.scenario_kind));
    assert_eq!(crate::ci::of_comparison(&alike, None), None);
}

/// Three servers in rounds, with all that a telling may have to tell.
fn in_rounds() -> Comparison {
    let spread = |low, high| Some(Spread { low, high });
    let shown = |figure: FigureChange, high| FigureChange {
        base_spread: spread(9.0, 11.0),
        current_spread: spread(4.5, high),
        ..figure
    };
    let runs = [Verdict::Pass; 3];
    let mut worst = fixture::candidate(
        "a server with a very long name of its own",
        vec![shown(fixture::same(Figure::P50), 11.5), shown(fixture::worse(Figure::P99), 14.0)],
    );
    worst.target = Target {
        server: "node dist/index.js --with --many --arguments --that --do --not --fit --into --one --line".into(),
        scenario: "Spike, 50 concurrent".into(),
        ..fixture::target(&worst.target.label, &runs)
    };
    (worst.verdict, worst.standing) = (ComparisonVerdict::Regression, DifferenceVerdict::Worse);
    worst.deadlocks = Deadlocks { base: 1, current: 3, is_regression: true };
    let figures = vec![fixture::same(Figure::P50), fixture::worse(Figure::P99)];
    worst.tools = vec![ToolChange { name: "search".into(), figures }];
    worst.notes = vec!["the first is reached over stdio, this one over http".into()];
    let few = FigureChange { why: Some("there are 2 rounds".into()), ..fixture::open(Figure::P99) };
    let free = FigureChange { why: Some("not judged".into()), ..fixture::open(Figure::P50) };
    let mut open = fixture::candidate("second", vec![free, few]);
    open.target = fixture::target("second", &runs);
    (open.verdict, open.standing) = (ComparisonVerdict::Undecided, DifferenceVerdict::Undecided);
    let mut barred = fixture::candidate("third", Vec::new());
    barred.verdict = ComparisonVerdict::Invalid;
    barred.reasons = vec![Reason { id: "tools".into(), message: "other tools".into() }];
    let mut found = fixture::comparison(Method::Rounds, vec![worst, open, barred]);
    found.base = fixture::target("first", &runs);
    found
}

#[test]
fn several_servers_are_told_side_by_side_and_one_by_one() {
    let [terminal, page] = told(&in_rounds());
    insta::assert_snapshot!("rounds_terminal", terminal);
    insta::assert_snapshot!("rounds_markdown", page);
    let alone = fixture::comparison(Method::Rounds, Vec::new());
    let [terminal, page] = told(&alone);
    assert!(!page.contains("Side by side") && !terminal.contains("in turns"), "{terminal}{page}");
}

#[test]
fn several_runs_are_told_by_their_verdicts() {
    let mut good = fixture::candidate("current 1", vec![fixture::better(Figure::P99)]);
    good.standing = DifferenceVerdict::Better;
    good.target.runs[0].run_dir = Some("runs/2026-05-10".into());
    let mut bad = fixture::candidate("current 2", vec![fixture::worse(Figure::P99)]);
    bad.verdict = ComparisonVerdict::Regression;
    bad.target.server = "node other.js".into();
    let found = fixture::comparison(Method::Seconds, vec![good, bad]);
    let [terminal, page] = told(&found);
    insta::assert_snapshot!("several_terminal", terminal);
    insta::assert_snapshot!("several_markdown", page);
    assert_eq!(found.headline(), "current 2: p99 10.0ms to 12.0ms (+20%, allowed +10%)");
    let none = fixture::comparison(Method::Seconds, Vec::new());
    assert_eq!((none.headline().as_str(), none.exit().code()), ("there is nothing to compare", 2));
    let [terminal, page] = told(&none);
    assert!(terminal.contains("there is nothing to compare"), "{terminal}");
    assert!(page.starts_with("# INVALID\n\nthere is nothing to compare\n"), "{page}");
}

#[test]
fn a_verdict_has_its_word_and_its_exit() {
    use ComparisonVerdict::{Invalid, Pass, Regression, Undecided as Open};
    for (verdict, word, exits) in [
        (Pass, "PASS", [0, 0]),
        (Open, "UNDECIDED", [0, 1]),
        (Invalid, "INVALID", [2, 2]),
        (Regression, "REGRESSION", [1, 1]),
    ] {
        assert_eq!(verdict.name(), word);
        for (undecided, exit) in [Undecided::Pass, Undecided::Fail].into_iter().zip(exits) {
            let one = Candidate { verdict, ..fixture::candidate("b", Vec::new()) };
            let mut found = fixture::comparison(Method::Seconds, vec![one]);
            found.policy.undecided = undecided;
            assert_eq!(found.exit().code(), exit, "{word} {undecided:?}");
        }
    }
}

#[test]
fn tools_beyond_ten_are_left_to_the_file() {
    for (count, more) in [(9, None), (10, None), (12, Some("2 more tools are in comparison.json"))]
    {
        let mut one = fixture::candidate("b", Vec::new());
        one.tools = vec![ToolChange { name: "search".into(), figures: Vec::new() }; count];
        let [terminal, page] = told(&fixture::comparison(Method::Seconds, vec![one]));
        assert_eq!(terminal.matches("search").count(), count.min(10));
        assert_eq!(page.matches("search").count(), count, "a page has room");
        assert_eq!(terminal.contains("more tools"), more.is_some(), "{count}: {terminal}");
        assert!(more.is_none_or(|more| terminal.contains(more)), "{terminal}");
    }
}
