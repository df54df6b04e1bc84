//! The page as text. That a browser draws it, and that nothing hostile runs in one, is tested by
//! `tests/it/browser.rs` of the command line.

use std::time::Duration;

use base64::{Engine as _, engine::general_purpose::STANDARD};
use sha2::{Digest as _, Sha256};

use super::{Html, shell};
use crate::{
    event::ProcessSample,
    histogram::Buckets,
    report::{
        Renderer as _, Report, Window,
        fixture::{Run, deadlocked, fuzzed, healthy, hostile, ramped, spiked, violated},
    },
    scenario::Scenario,
};

/// The page without what is the same in every page.
fn told(report: &Report) -> String {
    let mut bytes = Vec::new();
    Html.render(report, &mut bytes).unwrap();
    let page = String::from_utf8(bytes).unwrap();
    assert!(page.len() < 500_000, "{} bytes", page.len());
    let page =
        page.replace(&shell::script(), "[script]").replace(shell::SCRIPT_PRINT.trim(), "[print]");
    let version = concat!("mcp-loadtest ", env!("CARGO_PKG_VERSION"));
    let style = page.find("<style>").unwrap()..page.find("</style>").unwrap();
    [&page[..style.start], "<style>[style]", &page[style.end..]]
        .concat()
        .replace(version, "mcp-loadtest [version]")
}

#[test]
fn pages() {
    insta::assert_snapshot!("healthy_html", told(&healthy()));
    insta::assert_snapshot!("violated_html", told(&violated()));
    insta::assert_snapshot!("deadlocked_html", told(&deadlocked()));
    insta::assert_snapshot!("spiked_html", told(&spiked()));
    insta::assert_snapshot!("ramped_html", told(&ramped()));
    insta::assert_snapshot!("fuzzed_html", told(&fuzzed()));
    insta::assert_snapshot!("hostile_html", told(&hostile()));
}

#[test]
fn a_run_without_a_call_says_so() {
    let page = told(&Run::of(Scenario::sustained()).report());
    for part in [
        "<section id=\"over-time\"><h2>Over time</h2><p class=\"reading\">The run is too short to plot over time.",
        "<div><dt>Failed</dt><dd>-</dd></div><div><dt>p50</dt><dd>-</dd></div>",
        "<div><dt>Longest</dt><dd>-</dd></div><div><dt>Never answered</dt><dd>0</dd></div>",
    ] {
        assert!(page.contains(part), "{part} is not in {page}");
    }
    assert!(!page.contains("id=\"spread\"") && !page.contains("bar-zoom"), "{page}");
}

#[test]
fn what_speaks_against_the_figures_is_said_first() {
    for (bound, interrupted, tag) in [
        (true, true, "<span class=\"tag warn\">NOT VALID</span>too busy; too late <a"),
        (
            false,
            true,
            "<span class=\"tag warn\">CUT SHORT</span>The generator was not the limit. <a",
        ),
        (false, false, "<span class=\"tag good\">VALID</span>The generator was not the limit. <a"),
    ] {
        let mut report = healthy();
        (report.validity.client_bound, report.interrupted) = (bound, interrupted);
        if bound {
            report.validity.reasons = vec!["too busy".into(), "too late".into()];
        }
        let page = told(&report);
        assert!(page.contains(tag), "{tag} is not in {page}");
    }
}

#[test]
fn failures_that_said_nothing_have_no_list() {
    let mut report = violated();
    let said = "What the first failures said";
    assert!(told(&report).contains(said));
    report.errors.examples.values_mut().for_each(Vec::clear);
    assert!(!told(&report).contains(said));
    report.errors.examples.clear();
    let page = told(&report);
    assert!(page.contains("id=\"findings\"") && !page.contains(said), "{page}");
}

/// A browser runs the script only if this holds.
#[test]
fn the_print_is_that_of_the_script() {
    let print = STANDARD.encode(Sha256::digest(shell::script()));
    assert_eq!(shell::SCRIPT_PRINT.trim(), print, "run scripts/report-script-print.py");
    let print = STANDARD.encode(Sha256::digest(shell::live_script()));
    assert_eq!(shell::LIVE_PRINT.trim(), print, "run scripts/report-script-print.py");
}

/// Every tag of the page is one that we write ourselves.
#[test]
fn nothing_hostile_opens_a_tag() {
    let page = told(&hostile());
    let known = [
        "!DOCTYPE", "a", "body", "button", "caption", "circle", "code", "dd", "details", "div",
        "dl", "dt", "footer", "h1", "h2", "h3", "head", "header", "html", "li", "main", "meta",
        "output", "p", "path", "rect", "script", "section", "span", "strong", "style", "summary",
        "svg", "table", "tbody", "td", "text", "th", "thead", "title", "tr", "ul",
    ];
    for (at, _) in page.match_indices('<') {
        let rest = page[at + 1..].trim_start_matches('/');
        let name: String =
            rest.chars().take_while(|c| c.is_ascii_alphanumeric() || *c == '!').collect();
        assert!(
            known.contains(&name.as_str()),
            "<{name} in {}",
            &page[at..page.len().min(at + 60)]
        );
    }
    assert_eq!(page.matches("<script").count(), 2);
    for handler in [" onerror=", " onclick=", " onload=", "javascript:"] {
        for (at, _) in page.match_indices(handler) {
            let tag = page[..at].rfind(['<', '>']).unwrap();
            assert!(page[tag..].starts_with('>'), "{handler} inside a tag");
        }
    }
}

/// Ten minutes in which every second has times of all kinds: more than a real run has.
#[test]
fn a_long_run_stays_a_small_file() {
    let mut report = healthy();
    let times =
        |second: u64| (0..150).map(move |at| (100_000 + second * 997 + at * at * 400_000, at + 1));
    let window = |second: u64| Window {
        from_secs: second,
        secs: 1,
        ok: 11_325,
        errors: second % 7,
        response_ns: Buckets(times(second).collect()),
    };
    report.windows = (0..600).map(window).collect();
    let sample = report.process.samples[0];
    report.process.samples = (0..2_400)
        .map(|at| ProcessSample {
            at: Duration::from_millis(at * 250),
            rss_mb: 120.0 + (at % 97) as f64 / 7.0,
            pss_mb: Some(100.0 + (at % 89) as f64 / 7.0),
            cpu_pct: (at % 83) as f64 / 3.0,
            ..sample
        })
        .collect();
    let mut page = Vec::new();
    Html.render(&report, &mut page).unwrap();
    assert!((150_000..500_000).contains(&page.len()), "{} bytes", page.len());
}
