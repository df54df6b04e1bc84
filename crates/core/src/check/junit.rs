//! JUnit XML, as CI servers read it: a family is a suite, a check of a tool is a test case.
//!
//! Written by hand: it is a page of XML, and the libraries bring a clock and a parser along.

use std::{collections::BTreeMap, fmt::Write as _};

use super::{CaseResult, CaseVerdict, Family};

/// A check, and the tool that it was about.
type Test<'r> = (&'r str, Option<&'r str>);

/// What was tried, as JUnit XML. `subject` names the server.
pub fn junit(subject: &str, results: &[CaseResult]) -> String {
    let mut suites: BTreeMap<Family, BTreeMap<Test<'_>, Vec<&CaseResult>>> = BTreeMap::new();
    for result in results {
        let key = (result.check.as_str(), result.tool.as_deref());
        suites.entry(result.family).or_default().entry(key).or_default().push(result);
    }
    let mut body = String::new();
    let mut total = Sums::default();
    for (family, cases) in &suites {
        let mut sums = Sums::default();
        let mut inner = String::new();
        for ((check, tool), results) in cases {
            sums.add(&case(&mut inner, *family, check, *tool, results));
        }
        let _ = writeln!(
            body,
            "  <testsuite name=\"{}\" {}>\n{inner}  </testsuite>",
            family.name(),
            sums.attributes()
        );
        total.add(&sums);
    }
    format!(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"{}\" {}>\n{body}</testsuites>\n",
        escaped(&format!("mcp-loadtest probe {subject}")),
        total.attributes()
    )
}

#[derive(Default)]
struct Sums {
    tests: usize,
    failures: usize,
    skipped: usize,
    seconds: f64,
}

impl Sums {
    fn add(&mut self, other: &Self) {
        self.tests += other.tests;
        self.failures += other.failures;
        self.skipped += other.skipped;
        self.seconds += other.seconds;
    }

    fn attributes(&self) -> String {
        let Self { tests, failures, skipped, seconds } = self;
        format!(
            "tests=\"{tests}\" failures=\"{failures}\" errors=\"0\" skipped=\"{skipped}\" \
             time=\"{seconds:.3}\""
        )
    }
}

/// One check of one tool: it fails with its worst cases, and is skipped where nothing is known.
fn case(
    out: &mut String,
    family: Family,
    check: &str,
    tool: Option<&str>,
    results: &[&CaseResult],
) -> Sums {
    let name = tool.map_or_else(|| check.to_owned(), |tool| format!("{check} [{tool}]"));
    let took =
        results.iter().filter_map(|result| result.took_ms).fold(0.0, |sum, ms| sum + ms) / 1e3;
    let _ = write!(
        out,
        "    <testcase classname=\"mcp-loadtest.{}\" name=\"{}\" time=\"{took:.3}\"",
        family.name(),
        escaped(&name)
    );
    let mut sums = Sums { tests: 1, seconds: took, ..Sums::default() };
    let failed: Vec<_> = results.iter().filter(|result| result.fails()).collect();
    if let Some(first) = failed.first() {
        sums.failures = 1;
        let told: String = failed.iter().map(|result| told(result) + "\n").collect();
        let _ = writeln!(
            out,
            ">\n      <failure type=\"{}\" message=\"{}\">{}</failure>\n    </testcase>",
            first.verdict.words(),
            escaped(&told_first(first)),
            escaped(&told)
        );
    } else if results.iter().all(|result| !result.verdict.is_known()) {
        sums.skipped = 1;
        let why = results.first().map_or("", |result| &result.detail);
        let word = match results.first().map(|result| result.verdict) {
            Some(CaseVerdict::CouldNotTell) => "could not tell: ",
            _ => "",
        };
        let message = escaped(&format!("{word}{why}"));
        let _ = writeln!(out, ">\n      <skipped message=\"{message}\"/>\n    </testcase>");
    } else {
        out.push_str("/>\n");
    }
    sums
}

fn told_first(result: &CaseResult) -> String {
    format!("{}: {}", result.case, result.verdict.words())
}

fn told(result: &CaseResult) -> String {
    let mut text = told_first(result);
    for (label, value) in [
        ("", Some(&result.detail)),
        ("see ", result.reference.as_ref()),
        ("sent ", result.sent.as_ref()),
    ] {
        if let Some(value) = value.filter(|value| !value.is_empty()) {
            let _ = write!(text, "; {label}{value}");
        }
    }
    text
}

/// Text for XML 1.0, which has no place for most control characters.
pub(crate) fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\n' | '\t' => out.push(c),
            c if c.is_control() || matches!(c, '\u{fffe}' | '\u{ffff}') => out.push('\u{fffd}'),
            c => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_failed_what_held_and_what_was_skipped_can_be_told_apart() {
        let case =
            |check, verdict| CaseResult::new(check, Family::Envelope, "a <b> & \"c\"", verdict);
        let results = [
            case("one", CaseVerdict::Held),
            case("two", CaseVerdict::Crashed).detail("exit 1\u{1b}[31m").tool("t"),
            case("two", CaseVerdict::Rejected).tool("t"),
            case("three", CaseVerdict::Skipped).detail("no tools"),
        ];
        insta::assert_snapshot!(junit("python3 'a b'.py", &results), @r#"
        <?xml version="1.0" encoding="UTF-8"?>
        <testsuites name="mcp-loadtest probe python3 'a b'.py" tests="3" failures="1" errors="0" skipped="1" time="0.000">
          <testsuite name="envelope" tests="3" failures="1" errors="0" skipped="1" time="0.000">
            <testcase classname="mcp-loadtest.envelope" name="one" time="0.000"/>
            <testcase classname="mcp-loadtest.envelope" name="three" time="0.000">
              <skipped message="no tools"/>
            </testcase>
            <testcase classname="mcp-loadtest.envelope" name="two [t]" time="0.000">
              <failure type="crashed" message="a &lt;b&gt; &amp; &quot;c&quot;: crashed">a &lt;b&gt; &amp; &quot;c&quot;: crashed; exit 1�[31m
        </failure>
            </testcase>
          </testsuite>
        </testsuites>
        "#);
    }
}
