//! The list for people: a mark, what was seen, and what to do.

use anstyle::{AnsiColor, Style};
use mcp_loadtest_core::{
    display::visible,
    doctor::{Checked, DoctorReport, Health, Seen},
};

use super::checks::widest;

const HEALTHS: [Health; 3] = [Health::Failed, Health::Warning, Health::CouldNotTell];
/// How much of a line is shown; `--json` has all.
const LIMIT: usize = 600;

fn mark(health: Health) -> (&'static str, Style) {
    let (mark, color) = match health {
        Health::Ok => ("✓", AnsiColor::Green),
        Health::CouldNotTell => ("?", AnsiColor::Cyan),
        Health::Warning => ("!", AnsiColor::Yellow),
        Health::Failed => ("✗", AnsiColor::Red),
    };
    (mark, Style::new().bold().fg_color(Some(color.into())))
}

/// The whole list; the sums come last.
pub(super) fn render(report: &DoctorReport) -> String {
    let mut text = format!("mcp-loadtest {} on {}\n\n", report.version, report.system);
    for checked in &report.checks {
        text.push_str(&check(checked));
    }
    let seen = || report.checks.iter().flat_map(|checked| &checked.seen);
    let count = |health| seen().filter(|seen| seen.health == health).count();
    let told: Vec<_> = HEALTHS
        .iter()
        .map(|health| (count(*health), health.words()))
        .filter(|(count, _)| *count > 0)
        .map(|(count, words)| match (count, words) {
            (2.., "warning") => format!("{count} warnings"),
            _ => format!("{count} {words}"),
        })
        .collect();
    let told = if told.is_empty() { "nothing stands in the way".into() } else { told.join(", ") };
    text.push_str(&format!("\n{told}\n"));
    if seen().any(|seen| seen.fixable && seen.done.is_none()) {
        text.push_str("--fix mends what can be mended without loss, and says what it did.\n");
    }
    if !report.checks.iter().any(|checked| checked.check == "server") {
        text.push_str("Name a server, as in `doctor -s \"python -m my_mcp\"`, to try its start.\n");
    }
    text
}

fn check(checked: &Checked) -> String {
    let mut text = String::new();
    for (at, seen) in checked.seen.iter().enumerate() {
        let (mark, style) = mark(seen.health);
        let name = if at == 0 { checked.check.as_str() } else { "" };
        let width = widest();
        text.push_str(&format!(
            "{style}{mark}{style:#} {name:<width$} {}\n",
            visible(&seen.what, LIMIT)
        ));
        text.push_str(&below(seen));
    }
    text
}

fn below(seen: &Seen) -> String {
    let mut text = String::new();
    // Below the text of the check: behind the mark, the id and the spaces between them.
    let indent = widest() + 3;
    for detail in &seen.details {
        text.push_str(&format!("{:indent$}| {}\n", "", visible(detail, LIMIT)));
    }
    match (&seen.done, &seen.fix) {
        (Some(done), _) => {
            text.push_str(&format!("{:indent$}done: {}\n", "", visible(done, LIMIT)))
        }
        (None, Some(fix)) => {
            text.push_str(&format!("{:indent$}fix: {}\n", "", visible(fix, LIMIT)));
        }
        (None, None) => {}
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_line_has_its_mark_and_nothing_from_outside_is_obeyed() {
        let mut crashed = Seen::new(Health::Failed, "it ended with code 3").fix("look at its log");
        crashed.details.push("\u{1b}[2Jboom".into());
        let mut old = Seen::new(Health::Ok, "an empty run");
        old.done = Some("removed runs/x".into());
        let mut mendable = Seen::new(Health::Warning, "another empty run");
        mendable.fixable = true;
        let checks = vec![
            Checked::new("disk", vec![Seen::new(Health::Ok, "12 GB free")]),
            Checked::new("runs", vec![old, mendable]),
            Checked::new("ports", vec![Seen::new(Health::CouldNotTell, "no such file")]),
            Checked::new("server", vec![crashed]),
        ];
        let text = render(&DoctorReport::new("1.2.3", "linux x86_64", checks));
        insta::assert_snapshot!(anstream::adapter::strip_str(&text).to_string());
    }
}
