//! The page: what is seen first, then the plots that the run has data for.

use std::fmt::Write as _;

use serde_json::{Map, Value};

use super::{
    escape::{LONGEST_NAME, LONGEST_TEXT, prose, text},
    figure::{Figure, Picture},
    plots::{PLOTS, Part, Plot},
    shell::{self, THEME_BUTTON},
};
use crate::{
    report::{
        Finding, Report, Severity, Verdict,
        figures::{decimal, grouped, percent},
        meaning::meaning,
        phrases,
    },
    thresholds::ThresholdKind,
    units::format_latency,
};

/// Sentences at the top; the terminal and `report.md` have all of them.
const SENTENCES: usize = 3;

/// The whole page.
pub(super) fn page(report: &Report) -> String {
    let made = PLOTS.iter().filter_map(|plot| Some((plot, (plot.make)(report)?)));
    let figures: Vec<(&Plot, Figure)> = made.collect();
    let parts: String = Part::ALL.iter().map(|part| section(*part, &figures)).collect();
    let body = format!(
        "<a class=\"skip\" href=\"#over-time\">To the plots</a>\n{}<main>\n{}{}{parts}</main>\n{}",
        header(report),
        what_it_means(report),
        findings(report),
        footer(report),
    );
    let title = format!("{} {}", report.headline(), report.server_info.target);
    shell::page(&title, &body, &data(&figures))
}

/// The class of a verdict or a severity; words say the same.
const fn tone(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Pass => "good",
        Verdict::Warning | Verdict::Invalid => "warn",
        Verdict::Fail | Verdict::Critical => "bad",
    }
}

fn header(report: &Report) -> String {
    let reasons = match phrases::reasons(report) {
        reasons if reasons.is_empty() => "nothing found, no threshold violated".into(),
        reasons => prose(&reasons, LONGEST_TEXT),
    };
    header_with(report, (tone(phrases::tone(report)), report.headline()), &reasons)
}

/// What is seen first, around a word and the reasons for it.
pub(super) fn header_with(report: &Report, (class, word): (&str, &str), reasons: &str) -> String {
    let server = &report.server_info;
    let facts =
        [phrases::server_facts(server).join(", "), phrases::scenario(&report.scenario_kind)];
    let facts = text(&facts.join(" · "), LONGEST_TEXT);
    format!(
        "<header>\n<div class=\"top\"><span class=\"verdict {class}\">{word}</span><div><h1>{}</h1>\
         <p class=\"facts\">{reasons} · {facts} · {}</p></div>\
         {THEME_BUTTON}</div>\n{}</header>\n",
        text(&server.target, LONGEST_TEXT),
        phrases::started(report.started_at),
        tiles(report),
    )
}

fn tiles(report: &Report) -> String {
    let broken =
        |kind| report.threshold_violations.iter().any(|violation| violation.metric == kind);
    let time = |time| if report.latency.count > 0 { format_latency(time) } else { "-".into() };
    let tiles = [
        ("Calls", grouped(report.throughput.total_requests), false),
        (
            "Calls a second",
            decimal(report.throughput.requests_per_sec),
            broken(ThresholdKind::MinRps),
        ),
        (
            "Failed",
            report.error_rate().map_or("-".into(), percent),
            broken(ThresholdKind::ErrorRate),
        ),
        ("p50", time(report.latency.p50), broken(ThresholdKind::P50Latency)),
        ("p99", time(report.latency.p99), broken(ThresholdKind::P99Latency)),
        ("Longest", time(report.latency.max), false),
        ("Never answered", grouped(report.deadlock_count.into()), report.deadlock_count > 0),
    ];
    let mut html = String::from("<dl class=\"tiles\">");
    for (name, told, is_broken) in tiles {
        let class = if is_broken { " class=\"broken\"" } else { "" };
        let _ = write!(html, "<div{class}><dt>{name}</dt><dd>{told}</dd></div>");
    }
    html + "</dl>\n"
}

fn what_it_means(report: &Report) -> String {
    let sentences = meaning(report);
    let items: String = sentences
        .iter()
        .take(SENTENCES)
        .map(|sentence| format!("<li>{}</li>\n", prose(sentence, LONGEST_TEXT)))
        .collect();
    let (class, word) = match (report.validity.client_bound, report.interrupted) {
        (true, _) => ("warn", "NOT VALID"),
        (false, true) => ("warn", "CUT SHORT"),
        (false, false) => ("good", "VALID"),
    };
    let told = match report.validity.reasons.as_slice() {
        [] => "The generator was not the limit.".to_owned(),
        reasons => reasons.join("; "),
    };
    format!(
        "<section class=\"card means\" aria-labelledby=\"means\"><h2 id=\"means\">What this means</h2>\n<ul>{items}</ul>\n\
         <p class=\"validity\"><span class=\"tag {class}\">{word}</span>{} <a href=\"#validity\">Why</a></p></section>\n",
        prose(&told, LONGEST_TEXT)
    )
}

fn findings(report: &Report) -> String {
    if report.findings.is_empty()
        && report.threshold_violations.is_empty()
        && report.errors.examples.is_empty()
    {
        return String::new();
    }
    let mut html =
        String::from("<section aria-labelledby=\"findings\"><h2 id=\"findings\">Findings</h2>\n");
    html.push_str(&violations(report));
    html.extend(report.findings.iter().map(finding));
    html.push_str(&said(report));
    html + "</section>\n"
}

fn violations(report: &Report) -> String {
    let items = report.threshold_violations.iter().map(|violation| {
        let tool = violation.tool.as_deref().map(|tool| format!("<code>{}</code> ", text(tool, LONGEST_NAME)));
        let expected = violation.expected.replace("<=", "≤ ").replace(">=", "≥ ");
        format!(
            "<div class=\"card finding bad\"><h3><span class=\"tag bad\">THRESHOLD</span>{}{}</h3><p>Expected {}, got {}.</p></div>\n",
            tool.unwrap_or_default(),
            violation.metric.as_str(),
            text(&expected, LONGEST_NAME),
            text(&violation.actual, LONGEST_NAME),
        )
    });
    items.collect()
}

fn finding(finding: &Finding) -> String {
    let class = match finding.severity {
        Severity::Critical => "bad",
        Severity::Warning => "warn",
        Severity::Info => "note",
    };
    let mut html = format!(
        "<div class=\"card finding {class}\"><h3><span class=\"tag {class}\">{}</span>{}</h3><p>{}</p>",
        phrases::severity(finding.severity),
        text(&finding.id, LONGEST_NAME),
        prose(&finding.message, LONGEST_TEXT)
    );
    if !finding.evidence.is_empty() {
        let seen =
            finding.evidence.iter().map(|seen| format!("<li>{}</li>", prose(seen, LONGEST_TEXT)));
        let _ = write!(html, "<ul>{}</ul>", seen.collect::<String>());
    }
    let further = [("Meaning", &finding.meaning), ("Hint", &finding.hint)];
    for (name, told) in further.into_iter().filter_map(|(name, told)| Some((name, told.as_ref()?)))
    {
        let _ = write!(html, "<p><strong>{name}:</strong> {}</p>", prose(told, LONGEST_TEXT));
    }
    if let Some(command) = &finding.reproduce {
        let _ = write!(
            html,
            "<p><strong>Again:</strong> <code>{}</code></p>",
            text(command, LONGEST_TEXT)
        );
    }
    html + "</div>\n"
}

/// What the first failures of each kind said.
fn said(report: &Report) -> String {
    let of_kind = report.errors.examples.iter().filter(|(_, examples)| !examples.is_empty());
    let lines = of_kind.flat_map(|(category, examples)| {
        examples.iter().map(|example| {
            format!("<li>{}: <code>{}</code></li>", category.name(), text(example, LONGEST_TEXT))
        })
    });
    match lines.collect::<String>() {
        lines if lines.is_empty() => lines,
        lines => format!(
            "<details class=\"card finding\"><summary>What the first failures said</summary><ul>{lines}</ul></details>\n"
        ),
    }
}

pub(super) fn section(part: Part, figures: &[(&Plot, Figure)]) -> String {
    let (id, title) = part.name();
    let of_part = figures.iter().filter(|(plot, _)| plot.part == part);
    let html: String = of_part.map(|(plot, figure)| figure.html(plot)).collect();
    if html.is_empty() {
        return match part {
            Part::Time => "<section id=\"over-time\"><h2>Over time</h2><p class=\"reading\">The run is too short to plot over time.</p></section>\n".into(),
            _ => html,
        };
    }
    let bar = if part == Part::Time { ZOOM } else { "" };
    format!(
        "<section id=\"{id}\" aria-labelledby=\"{id}-title\"><h2 id=\"{id}-title\">{title}</h2>\n{bar}<div class=\"grid-of\">\n{html}</div></section>\n"
    )
}

const ZOOM: &str = "<div class=\"bar-zoom\" role=\"group\" aria-label=\"Shown part of the run\">\
<button type=\"button\" data-deed=\"in\">Zoom in</button><button type=\"button\" data-deed=\"out\">Zoom out</button>\
<button type=\"button\" data-deed=\"left\" aria-label=\"Earlier\">←</button><button type=\"button\" data-deed=\"right\" aria-label=\"Later\">→</button>\
<button type=\"button\" data-deed=\"all\">Whole run</button><output id=\"shown\" aria-live=\"polite\"></output></div>\n\
<p class=\"reading\">Drag across a plot to look closer; all plots follow. A double click shows the whole run.</p>\n";

pub(super) fn footer(report: &Report) -> String {
    format!(
        "<footer>Run {} · mcp-loadtest {} · plots by uPlot (MIT licence)</footer>\n",
        text(&report.run_id, LONGEST_NAME),
        env!("CARGO_PKG_VERSION")
    )
}

/// What the script draws, by the id of the plot.
pub(super) fn data(figures: &[(&Plot, Figure)]) -> Value {
    let mut data = Map::new();
    for (plot, figure) in figures {
        if let Picture::Time(chart) = &figure.picture {
            data.insert(plot.id.to_owned(), chart.data());
        }
    }
    Value::Object(data)
}
