//! One page for a list of checks and what was measured beside them, in the style of `report.html`. Who
//! made the checks fills in a [`CheckPage`]; every text of it may be from elsewhere.

use std::fmt::Write as _;

use serde_json::json;

use super::{
    escape::{LONGEST_NAME, LONGEST_TEXT, prose, text},
    shell::{self, THEME_BUTTON},
    table::Table,
};

/// How good something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// Nobody has to do anything.
    Good,
    /// Worth knowing.
    Note,
    /// It could not be told, or not all of it.
    Warn,
    /// It is broken.
    Bad,
}

impl Tone {
    const fn class(self) -> &'static str {
        match self {
            Self::Good => "good",
            Self::Note => "note",
            Self::Warn => "warn",
            Self::Bad => "bad",
        }
    }
}

/// What the page tells.
#[derive(Debug, Clone)]
pub struct CheckPage {
    /// What was checked.
    pub title: String,
    /// The word above everything else.
    pub word: &'static str,
    /// How good that is.
    pub tone: Tone,
    /// What else is known, each a few words.
    pub facts: Vec<String>,
    /// The checks, in their order.
    pub checks: Vec<CheckRow>,
    /// What was measured.
    pub bars: Vec<Bars>,
}

/// One check.
#[derive(Debug, Clone)]
pub struct CheckRow {
    /// Its id.
    pub id: String,
    /// What it looks at.
    pub about: String,
    /// What came of it.
    pub word: &'static str,
    /// How good that is.
    pub tone: Tone,
    /// What was seen.
    pub evidence: Vec<String>,
    /// What to do.
    pub advice: Option<String>,
    /// How long it took, in milliseconds.
    pub took_ms: f64,
}

/// Times beside each other.
#[derive(Debug, Clone)]
pub struct Bars {
    /// What they are.
    pub title: String,
    /// How to read them.
    pub reading: String,
    /// Each with its name, in milliseconds.
    pub values: Vec<(String, f64)>,
}

/// The whole page.
pub fn render(page: &CheckPage) -> String {
    let facts: Vec<_> = page.facts.iter().map(|fact| text(fact, LONGEST_TEXT)).collect();
    let body = format!(
        "<header>\n<div class=\"top\"><span class=\"verdict {}\">{}</span><div><h1>{}</h1>\
         <p class=\"facts\">{}</p></div>{THEME_BUTTON}</div>\n</header>\n<main>\n{}{}{}</main>\n\
         <footer>mcp-loadtest {}</footer>\n",
        page.tone.class(),
        page.word,
        text(&page.title, LONGEST_TEXT),
        facts.join(" · "),
        to_do(&page.checks),
        measured(&page.bars),
        all(&page.checks),
        env!("CARGO_PKG_VERSION"),
    );
    shell::page(&format!("{} {}", page.word, page.title), &body, &json!({}))
}

fn section(id: &str, title: &str, content: &str) -> String {
    if content.is_empty() {
        return String::new();
    }
    format!(
        "<section id=\"{id}\" aria-labelledby=\"{id}-title\"><h2 id=\"{id}-title\">{title}</h2>\n{content}</section>\n"
    )
}

/// What somebody has to do something about.
fn to_do(checks: &[CheckRow]) -> String {
    let bad = checks.iter().filter(|check| matches!(check.tone, Tone::Warn | Tone::Bad));
    section("findings", "What is not kept", &bad.map(card).collect::<String>())
}

fn card(check: &CheckRow) -> String {
    let class = check.tone.class();
    let mut html = format!(
        "<div class=\"card finding {class}\"><h3><span class=\"tag {class}\">{}</span>{}</h3><p>{}</p>",
        check.word,
        text(&check.id, LONGEST_NAME),
        prose(&check.about, LONGEST_TEXT)
    );
    if !check.evidence.is_empty() {
        let items =
            check.evidence.iter().map(|one| format!("<li>{}</li>", prose(one, LONGEST_TEXT)));
        let _ = write!(html, "<ul>{}</ul>", items.collect::<String>());
    }
    if let Some(advice) = &check.advice {
        let _ = write!(html, "<p><strong>Hint:</strong> {}</p>", prose(advice, LONGEST_TEXT));
    }
    html + "</div>\n"
}

fn measured(bars: &[Bars]) -> String {
    let figures: String = bars.iter().filter(|bars| !bars.values.is_empty()).map(figure).collect();
    match figures.is_empty() {
        true => figures,
        false => section(
            "measured",
            "What was measured",
            &format!("<div class=\"grid-of\">{figures}</div>\n"),
        ),
    }
}

const WIDTH: f64 = 480.0;
const LEFT: f64 = 120.0;
const RIGHT: f64 = 80.0;
const ROW: f64 = 26.0;

fn figure(bars: &Bars) -> String {
    let most = bars.values.iter().map(|(_, ms)| *ms).fold(0.0, f64::max).max(1e-6);
    let mut svg = String::new();
    for (at, (name, ms)) in bars.values.iter().enumerate() {
        let (y, width) = (at as f64 * ROW, (ms.max(0.0) / most * (WIDTH - LEFT - RIGHT)).max(1.0));
        let (middle, end) = (y + 17.0, LEFT + width + 6.0);
        let _ = write!(
            svg,
            "<text x=\"{:.1}\" y=\"{middle:.1}\" text-anchor=\"end\">{}</text>\
             <rect class=\"bar c0\" x=\"{LEFT}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"14\"/>\
             <text x=\"{end:.1}\" y=\"{middle:.1}\">{}</text>",
            LEFT - 6.0,
            text(name, LONGEST_NAME),
            y + 6.0,
            told(*ms),
        );
    }
    let height = bars.values.len() as f64 * ROW + 4.0;
    let title = text(&bars.title, LONGEST_NAME);
    let rows = bars.values.iter().map(|(name, ms)| vec![name.clone(), told(*ms)]);
    format!(
        "<section class=\"figure\"><h3>{title}</h3><p class=\"reading\">{}</p>\
         <svg style=\"max-width:{WIDTH}px\" viewBox=\"0 0 {WIDTH} {height}\" role=\"img\" aria-label=\"{title}\">{svg}</svg>\
         <details><summary>Numbers</summary>{}</details></section>\n",
        prose(&bars.reading, LONGEST_TEXT),
        Table::new(&["Of", "Time"], rows).html(&bars.title),
    )
}

fn told(ms: f64) -> String {
    let time = std::time::Duration::try_from_secs_f64(ms.abs() / 1e3).unwrap_or_default();
    let sign = if ms < 0.0 { "-" } else { "" };
    format!("{sign}{}", crate::units::format_latency(time))
}

fn all(checks: &[CheckRow]) -> String {
    let row = |check: &CheckRow| {
        let seen = check.evidence.join("; ");
        vec![check.id.clone(), check.word.to_owned(), seen, told(check.took_ms)]
    };
    let table = Table::new(&["Check", "Result", "What was seen", "Took"], checks.iter().map(row));
    section("all", "All checks", &table.html("All checks"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_from_elsewhere_stays_text() {
        let evil = "<script>alert(1)</script>".to_owned();
        let check = CheckRow {
            id: "cancel".into(),
            about: "Cancelling arrives.".into(),
            word: "broken",
            tone: Tone::Bad,
            evidence: vec![evil.clone()],
            advice: Some(evil.clone()),
            took_ms: 1.5,
        };
        let bars = Bars {
            title: "Delays".into(),
            reading: evil.clone(),
            values: vec![(evil.clone(), 2.0)],
        };
        let page = CheckPage {
            title: evil.clone(),
            word: "BROKEN",
            tone: Tone::Bad,
            facts: vec![evil],
            checks: vec![check],
            bars: vec![bars],
        };
        let html = render(&page);
        assert!(!html.contains("<script>alert"), "{html}");
        assert!(html.matches("&lt;script&gt;alert(1)").count() >= 8, "{html}");
    }

    fn check(id: &str, tone: Tone, evidence: &[&str]) -> CheckRow {
        CheckRow {
            id: id.into(),
            about: format!("What {id} looks at."),
            word: "seen",
            tone,
            evidence: evidence.iter().map(|seen| (*seen).to_owned()).collect(),
            advice: None,
            took_ms: 2.0,
        }
    }

    #[test]
    fn only_what_is_not_kept_has_a_card() {
        let checks = [
            check("good", Tone::Good, &["a"]),
            check("note", Tone::Note, &["b"]),
            check("warn", Tone::Warn, &[]),
            check("bad", Tone::Bad, &["c", "d"]),
        ];
        let cards = to_do(&checks);
        assert!(cards.contains("<h2 id=\"findings-title\">What is not kept</h2>"), "{cards}");
        assert_eq!(cards.matches("<div class=\"card").count(), 2, "{cards}");
        let warn = "<div class=\"card finding warn\"><h3><span class=\"tag warn\">seen</span>warn</h3>\
                    <p>What warn looks at.</p></div>";
        assert!(cards.contains(warn), "no list without evidence: {cards}");
        assert!(cards.contains("finding bad") && cards.contains("<ul><li>c</li><li>d</li></ul>"));
        assert_eq!(to_do(&checks[..2]), "", "nothing to do, no section");
        assert_eq!([Tone::Good, Tone::Note].map(Tone::class), ["good", "note"]);
        let table = all(&checks);
        assert!(table.contains("<td>seen</td><td>c; d</td><td>2.00ms</td>"), "{table}");
    }

    #[test]
    fn bars_are_as_long_as_their_times() {
        let bars = |values: &[(&str, f64)]| Bars {
            title: "Delays".into(),
            reading: "How long.".into(),
            values: values.iter().map(|(name, ms)| ((*name).to_owned(), *ms)).collect(),
        };
        let html = figure(&bars(&[("long", 2.0), ("half", 1.0), ("none", 0.0)]));
        for bar in [
            "<text x=\"114.0\" y=\"17.0\" text-anchor=\"end\">long</text><rect class=\"bar c0\" x=\"120\" y=\"6.0\" \
             width=\"280.0\" height=\"14\"/><text x=\"406.0\" y=\"17.0\">2.00ms</text>",
            "<text x=\"114.0\" y=\"43.0\" text-anchor=\"end\">half</text><rect class=\"bar c0\" x=\"120\" y=\"32.0\" \
             width=\"140.0\" height=\"14\"/><text x=\"266.0\" y=\"43.0\">1.00ms</text>",
            "<text x=\"114.0\" y=\"69.0\" text-anchor=\"end\">none</text><rect class=\"bar c0\" x=\"120\" y=\"58.0\" \
             width=\"1.0\" height=\"14\"/><text x=\"127.0\" y=\"69.0\">0ns</text>",
            "viewBox=\"0 0 480 82\"",
        ] {
            assert!(html.contains(bar), "{bar} is not in {html}");
        }
        assert_eq!(measured(&[bars(&[])]), "");
        let two = measured(&[bars(&[]), bars(&[("one", 1.0)])]);
        assert!(two.contains("What was measured") && two.matches("<svg").count() == 1, "{two}");
        for (ms, expected) in [(-1.5, "-1.50ms"), (0.0, "0ns"), (2_500.0, "2.50s")] {
            assert_eq!(told(ms), expected);
        }
    }
}
