//! Tests that hold for all renderers, and the snapshots of what they write.

use std::time::Duration;

use proptest::prelude::*;
use serde_json::Value;

use super::{
    RENDERERS, Renderer, Report, Severity, Verdict, build,
    build::verdict,
    fixture::{Run, deadlocked, fuzzed, healthy, hostile, ramped, spiked, violated},
    hlog, json, markdown, meaning, openmetrics, summary, terminal,
    wrap::width,
};
use crate::{
    analysis,
    outcome::ErrorCategory,
    scenario::Scenario,
    tally::Tally,
    thresholds::{ThresholdKind, Thresholds},
};

fn text(renderer: &dyn Renderer, report: &Report) -> String {
    let mut bytes = Vec::new();
    renderer.render(report, &mut bytes).unwrap();
    String::from_utf8(bytes).unwrap()
}

/// What is left of a text without ANSI styles.
fn plain(text: &str) -> String {
    let mut parts = text.split("\u{1b}[");
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |all, part| all + part.split_once('m').unwrap().1)
}

fn on_terminal(report: &Report) -> String {
    plain(&text(&terminal::Terminal::PLAIN, report))
}

fn valid(schema: &Value, text: &str) {
    let value: Value = serde_json::from_str(text).unwrap();
    let validator = jsonschema::validator_for(schema).unwrap();
    let errors: Vec<String> =
        validator.iter_errors(&value).map(|error| error.to_string()).collect();
    assert!(errors.is_empty(), "{errors:?}");
}

fn check(report: &Report) {
    let metrics = text(&json::Metrics, report);
    valid(&json::schema(), &metrics);
    assert_eq!(&json::read(&metrics).unwrap(), report);
    let mut bytes = Vec::new();
    let short = summary::summary(report, None);
    short.write(&mut bytes).unwrap();
    let short_text = String::from_utf8(bytes).unwrap();
    valid(&summary::schema(), &short_text);
    assert_eq!(serde_json::from_str::<summary::Summary>(&short_text).unwrap(), short);
    let screen = on_terminal(report);
    assert!(screen.lines().count() <= 40, "{screen}");
    for line in screen.lines() {
        assert!(width(line) <= 80, "{} columns: {line}", width(line));
        assert_eq!(line.trim_end(), line);
    }
    for told in [screen, text(&markdown::Markdown, report)] {
        for word in ["NaN", "inf", "unknown"] {
            assert!(!told.contains(word), "{word} in {told}");
        }
    }
}

#[test]
fn a_healthy_run() {
    let report = healthy();
    told_in_every_form("healthy", &report);
    insta::assert_snapshot!("healthy_openmetrics", text(&openmetrics::OpenMetrics, &report));
    // The histograms themselves are compressed, and may be so in another way tomorrow.
    let log = text(&hlog::HistogramLog, &report);
    let lines = log.lines().map(|line| match line.rsplit_once(',') {
        Some((before, _)) if !line.starts_with(['#', '"']) => format!("{before},[histogram]\n"),
        _ => format!("{line}\n"),
    });
    insta::assert_snapshot!("healthy_hlog", lines.collect::<String>());
}

/// The forms that every run is told in.
fn told_in_every_form(name: &str, report: &Report) {
    check(report);
    insta::assert_snapshot!(format!("{name}_markdown"), text(&markdown::Markdown, report));
    insta::assert_snapshot!(format!("{name}_json"), text(&json::Metrics, report));
    insta::assert_snapshot!(format!("{name}_terminal"), on_terminal(report));
}

#[test]
fn runs_of_all_kinds() {
    told_in_every_form("deadlocked", &deadlocked());
    told_in_every_form("violated", &violated());
    told_in_every_form("spiked", &spiked());
    told_in_every_form("ramped", &ramped());
    told_in_every_form("fuzzed", &fuzzed());
}

#[test]
fn a_cold_start() {
    let run = [180, 220, 190].into_iter().fold(Run::of(Scenario::cold_start()), |run, millis| {
        run.step("1_spawn", millis).step("2_initialize", millis * 9).step("3_first_call", 40).ok(
            "get_quote",
            1,
            40_000,
        )
    });
    let report = run.report();
    check(&report);
    insta::assert_snapshot!("cold_start_markdown", text(&markdown::Markdown, &report));
    insta::assert_snapshot!("cold_start_terminal", on_terminal(&report));
}

#[test]
fn a_run_without_a_call() {
    let report = build(Run::of(Scenario::sustained()).info, &Tally::default());
    check(&report);
    let metrics: Value = serde_json::from_str(&text(&json::Metrics, &report)).unwrap();
    assert!(metrics["latency_ms"]["p99"].is_null() && metrics["process"]["peak_rss_mb"].is_null());
    insta::assert_snapshot!("nothing_terminal", on_terminal(&report));
}

/// Systems other than Linux do not tell, and traces of older versions do not hold it.
#[test]
fn shared_memory_is_told_where_it_is_known() {
    let observed = || Run::of(Scenario::sustained()).memory(&[120.0, 140.0]);
    assert!(!text(&json::Metrics, &observed().report()).contains("pss_mb"));
    let mut run = observed();
    run.tally.samples[1].pss_mb = Some(99.5);
    let report = run.report();
    let metrics: Value = serde_json::from_str(&text(&json::Metrics, &report)).unwrap();
    assert_eq!(metrics["process"]["peak_pss_mb"], 99.5);
    assert_eq!(metrics["process"]["samples"][1]["pss_mb"], 99.5);
    assert!(text(&markdown::Markdown, &report).contains("Peak PSS: 99.5 MB"));
    assert!(on_terminal(&report).contains("(PSS 99.5 MB)"));
}

#[test]
fn schemas_name_their_format_and_need_what_the_design_has() {
    let schema = json::schema();
    assert_eq!(schema["properties"]["schema"]["const"], json::SCHEMA);
    assert_eq!(summary::schema()["properties"]["schema"]["const"], summary::SCHEMA);
    let required = schema["required"].as_array().unwrap();
    for member in [
        "run_id",
        "started_at",
        "duration_secs",
        "scenario",
        "latency_ms",
        "throughput",
        "errors",
        "process",
        "deadlock_count",
        "hang_count",
        "threshold_violations",
        "passed",
    ] {
        assert!(required.contains(&member.into()), "{member}");
    }
    let mut value: Value = serde_json::from_str(&text(&json::Metrics, &healthy())).unwrap();
    value["latency_ms"]["p99"] = "fast".into();
    assert!(!jsonschema::is_valid(&schema, &value));
}

#[test]
fn the_summary_is_small() {
    let mut report = violated();
    let told = summary::summary(&report, Some("runs/01JV".as_ref()));
    let mut bytes = Vec::new();
    told.write(&mut bytes).unwrap();
    insta::assert_snapshot!("violated_summary", String::from_utf8(bytes).unwrap());
    assert_eq!(summary::summary(&healthy(), None).exit_code, 0);
    report.interrupted = true;
    assert_eq!(summary::summary(&report, None).exit_code, 130);
}

#[test]
fn colour_marks_only_what_words_say() {
    let screen = text(&terminal::Terminal::PLAIN, &deadlocked());
    assert!(
        screen.starts_with("\u{1b}[1m\u{1b}[31mCRITICAL\u{1b}[0m   1 critical finding"),
        "{screen:?}"
    );
}

/// Code spans and code blocks are cut out; what is left must hold no markup of a peer's.
fn outside_code(markdown: &str) -> String {
    let mut left = String::new();
    let mut rest = markdown;
    while let Some(at) = rest.find('`') {
        if rest[..at].ends_with('\\') {
            left.push_str(&rest[..=at]);
            rest = &rest[at + 1..];
            continue;
        }
        left.push_str(&rest[..at]);
        let fence: String = rest[at..].chars().take_while(|c| *c == '`').collect();
        let body = &rest[at + fence.len()..];
        let is_end = |end: &usize| {
            !body[..*end].ends_with('`') && !body[*end + fence.len()..].starts_with('`')
        };
        let end = body
            .match_indices(&fence)
            .map(|(end, _)| end)
            .find(is_end)
            .expect("every span is closed");
        assert!(fence.len() == 3 || !body[..end].contains('\n'), "{body}");
        rest = &body[end + fence.len()..];
    }
    left + rest
}

#[test]
fn nothing_hostile_survives() {
    let report = hostile();
    check(&report);
    for entry in RENDERERS {
        let told = plain(&text(entry.renderer, &report));
        let bad = |c: char| {
            (c.is_control() && c != '\n') || "\u{202e}\u{2066}\u{feff}\u{e0041}".contains(c)
        };
        assert!(!told.contains(bad), "{} shows a text of the server as it came", entry.name);
        for line in told.lines() {
            assert!(!line.trim_start().starts_with("::"), "{line}");
        }
    }
    let page = text(&markdown::Markdown, &report);
    assert!(!page.contains("##vso[") && !page.contains("##["));
    let left = outside_code(&page);
    for danger in ["<script", "<img", "![x](", "http://", "www.", "@org", "@all", "#1", "&#64"] {
        for (at, _) in left.match_indices(danger) {
            assert!(left[..at].ends_with('\\'), "{danger} in {}", &left[..at + danger.len()]);
        }
    }
    let screen = on_terminal(&report);
    assert!(!screen.contains("##vso["), "{screen}");
    insta::assert_snapshot!("hostile_terminal", screen);
    insta::assert_snapshot!("hostile_markdown", page);
}

#[test]
fn what_is_no_metrics_is_refused_with_a_reason() {
    use crate::hint::Hint as _;
    let good = text(&json::Metrics, &healthy());
    let cases = [
        ("", "EOF"),
        ("{}", "of no named format"),
        (r#"{"schema":"k6\u001b[2J"}"#, "`k6\\x1b[2J`"),
        (good.trim_end().trim_end_matches('}'), "EOF"),
        (&format!("{good} x"), "trailing"),
        (&good.replace("[[", "[[1,18446744073709551615],["), "too many"),
        (
            &good.replace("\"total_requests\": 12345", "\"total_requests\": -1"),
            "throughput.total_requests",
        ),
        (&good.replace("60.25,", "-60.25,"), "duration_secs"),
    ];
    for (text, reason) in cases {
        let error = json::read(text).unwrap_err();
        assert!(error.to_string().contains(reason), "{error}");
        let hint = error.hint().unwrap();
        let about = match error {
            json::ReadError::Format { .. } => "point to a `metrics.json`",
            _ => "made again from its trace",
        };
        assert!(hint.contains(about), "{hint}");
    }
}

#[test]
fn members_of_a_newer_version_are_ignored() {
    let report = healthy();
    let mut value: Value = serde_json::from_str(&text(&json::Metrics, &report)).unwrap();
    value["new"] = 1.into();
    value["scenario"]["new"] = 1.into();
    value["tools"][0]["new"] = 1.into();
    assert_eq!(json::read(&value.to_string()).unwrap(), report);
}

/// A file that someone else made may hold any number.
#[test]
fn the_end_of_the_numbers_does_not_panic() {
    let good = text(&json::Metrics, &violated());
    let most = u64::MAX.to_string();
    let huge = good
        .replace("\"total_requests\": 743", &format!("\"total_requests\": {most}"))
        .replace("\"successful_requests\": 712", &format!("\"successful_requests\": {most}"))
        .replace("\"ToolError\": 31", &format!("\"ToolError\": {most}, \"Crash\": {most}"))
        .replace("[123404287,12]", "[123404287,9223372036854775807]")
        .replace("\"dropped\": 0", &format!("\"dropped\": {most}"))
        .replace("156.3", "1e308");
    let report = json::read(&huge).unwrap();
    for entry in RENDERERS {
        text(entry.renderer, &report);
    }
    summary::summary(&report, None);
}

fn any_run() -> impl Strategy<Value = Run> {
    let tools = prop::sample::select(vec!["a", "b", "c"]);
    let end = (tools, 0_usize..12, 0_u64..90_000_000, 1_u64..4);
    let scenario = prop_oneof![
        Just(Scenario::sustained().into()),
        Just(Scenario::deadlock_probe().into()),
        Just(Scenario::cold_start().into()),
    ];
    let parts = (
        scenario,
        prop::collection::vec(end, 0..40),
        prop::collection::vec(0.0..1e6_f64, 0..4),
        0_u64..3,
    );
    parts.prop_map(|(scenario, ends, memory, limit): (Scenario, _, _, _)| {
        let mut run = Run::of(scenario).memory(&memory);
        run.info.thresholds = Thresholds {
            p999_latency: Duration::from_secs(limit),
            error_rate: limit as f64 / 10.0,
            memory_growth_mb: 10.0,
            ..Thresholds::default()
        };
        for (tool, how, micros, count) in ends {
            run = match ErrorCategory::ALL.get(how) {
                Some(ErrorCategory::Deadlock) => run.silent(tool, count, "seen"),
                Some(category) => run.failed(tool, *category, count, "it broke"),
                None if how == 10 => run.ok(tool, count, micros).step(tool, micros / 1_000),
                None => run.late(count, micros, micros / 7),
            };
        }
        run
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn every_report_can_be_told_and_read_back(run in any_run(), interrupted: bool) {
        let mut report = run.report();
        report.interrupted |= interrupted;
        check(&report);
        prop_assert!(meaning(&report).len() <= 5);
    }
}

#[test]
fn a_verdict_blames_the_server_only_for_what_is_its_own() {
    let of =
        |is_violated: bool, bound: bool, interrupted: bool, finding: Option<(&str, Severity)>| {
            let mut report = if is_violated { violated() } else { healthy() };
            report.threshold_violations.retain(|limit| limit.metric == ThresholdKind::P99Latency);
            report.validity.client_bound = bound;
            report.interrupted = interrupted;
            let mut example = violated().findings.remove(0);
            let found = finding.map(|(id, severity)| {
                (example.id, example.severity) = (id.to_owned(), severity);
                example
            });
            verdict(&report, &Vec::from_iter(found))
        };
    let warned = Some(("x", Severity::Warning));
    let stopped = Some((analysis::INVALIDATING[0], Severity::Warning));
    for (is_violated, bound, interrupted, finding, expected) in [
        (false, false, false, None, Verdict::Pass),
        (false, false, false, Some(("x", Severity::Info)), Verdict::Pass),
        (false, false, false, warned, Verdict::Warning),
        (false, false, false, stopped, Verdict::Invalid),
        (false, true, false, None, Verdict::Pass),
        (false, false, true, None, Verdict::Invalid),
        (true, false, false, None, Verdict::Fail),
        (true, false, true, None, Verdict::Fail),
        (true, true, false, None, Verdict::Invalid),
        (true, true, true, warned, Verdict::Invalid),
        (true, true, true, Some(("x", Severity::Critical)), Verdict::Critical),
        (false, false, true, Some(("x", Severity::Critical)), Verdict::Critical),
    ] {
        let told = of(is_violated, bound, interrupted, finding);
        assert_eq!(told, expected, "{is_violated} {bound} {interrupted} {finding:?}");
    }
}
