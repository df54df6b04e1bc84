//! GitHub Actions: annotations beside the code, the summary of a step, and outputs for later steps.

use super::Remark;
use crate::{display::visible, report::Severity};

/// GitHub shows ten annotations of a kind and step, and drops the rest without a word.
const SHOWN: usize = 9;
/// A summary of more than a mebibyte is dropped whole.
const LARGEST_SUMMARY: usize = 900 << 10;
const LONGEST_LINE: usize = 1_000;

/// One line for each remark, the gravest first; what is too many to be shown is counted.
pub fn annotations(remarks: &[Remark]) -> String {
    let mut sorted: Vec<_> = remarks.iter().collect();
    sorted.sort_by_key(|remark| std::cmp::Reverse(remark.severity));
    let mut text: String = sorted.iter().take(SHOWN).map(|remark| annotation(remark)).collect();
    let more = sorted.len().saturating_sub(SHOWN);
    if more > 0 {
        let word = sorted.get(SHOWN).map_or("notice", |remark| word(remark.severity));
        text.push_str(&format!("::{word} title=mcp-loadtest::and {more} more: see the summary\n"));
    }
    text
}

const fn word(severity: Severity) -> &'static str {
    match severity {
        Severity::Critical => "error",
        Severity::Warning => "warning",
        Severity::Info => "notice",
    }
}

fn annotation(remark: &Remark) -> String {
    let file = remark.file.as_ref().map(|file| format!("file={},", property(file)));
    let line = remark.line.filter(|_| file.is_some()).map(|line| format!("line={line},"));
    let again = remark.reproduce.as_ref().map(|command| format!("again: {command}"));
    let told: Vec<_> = remark.details.iter().cloned().chain(again).collect();
    // An annotation without a message is not shown.
    let message = if told.is_empty() { remark.title.clone() } else { told.join("\n") };
    format!(
        "::{} {}{}title={}::{}\n",
        word(remark.severity),
        file.unwrap_or_default(),
        line.unwrap_or_default(),
        property(&remark.title),
        data(&message)
    )
}

/// Text of a message; the runner takes these escapes back.
fn data(text: &str) -> String {
    let safe: Vec<_> = text.lines().map(|line| visible(line, LONGEST_LINE)).collect();
    safe.join("\n").replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Text of a property, in which colons and commas have a meaning, too.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}

/// A page that is not dropped: what is too much is left out, at the end of a line, and told.
pub fn step_summary(page: &str) -> String {
    if page.len() <= LARGEST_SUMMARY {
        return format!("{page}\n");
    }
    let end = (0..=LARGEST_SUMMARY).rev().find(|at| page.is_char_boundary(*at)).unwrap_or(0);
    let kept = page[..end].rsplit_once('\n').map_or("", |(kept, _)| kept);
    format!("{kept}\n\nThe rest is too large for a summary; the run directory has all of it.\n")
}

/// Lines for `$GITHUB_OUTPUT`. What could end a line or begin another is left out.
pub fn outputs(pairs: &[(&str, String)]) -> String {
    let line =
        |(name, value): &(&str, String)| format!("{name}={}\n", visible(value, LONGEST_LINE));
    pairs.iter().map(line).collect()
}
