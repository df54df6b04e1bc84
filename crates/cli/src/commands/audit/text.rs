//! A row as text. What clients sent is shown, never obeyed: terminal escapes become visible.

use std::{fmt::Write as _, time::Duration};

use mcp_loadtest_core::{
    display::{self, visible},
    units::format_latency,
};
use mcp_loadtest_mock::audit::Row;

/// How much of a message is shown in a line.
const MESSAGE: usize = 100;

/// What a row says, in the order in which it is told.
pub(super) const MEMBERS: [&str; 30] = [
    "seq",
    "ts",
    "kind",
    "transport",
    "era",
    "revision",
    "session",
    "rpc_id",
    "method",
    "tool",
    "arguments",
    "arguments_truncated",
    "http_verb",
    "http_path",
    "headers",
    "http_status",
    "error_code",
    "error_message",
    "error_category",
    "success",
    "cancelled",
    "fault",
    "attempt",
    "bytes_in",
    "bytes_out",
    "duration_us",
    "events",
    "event_count",
    "client",
    "note",
];

/// The heads of the columns of [`cells`].
pub(super) const HEADS: [&str; 6] =
    ["seq", "time", "what", "outcome", "took", "arguments or error"];

/// A row in one line.
pub(super) fn cells(row: &Row) -> [String; 6] {
    [
        row.seq.to_string(),
        row.ts.to_string().replace('T', " ").trim_end_matches('Z').to_owned(),
        visible(&name(row), 48),
        visible(&outcome(row), 40),
        took(row.duration_us),
        visible(
            row.error_message.as_deref().or(row.arguments.as_deref()).unwrap_or_default(),
            MESSAGE,
        ),
    ]
}

/// What a row is about: its tool, its method, or what else it was.
pub(super) fn name(row: &Row) -> String {
    match (&row.method, &row.tool) {
        (Some(method), Some(tool)) => format!("{method} {tool}"),
        (Some(method), None) => method.to_string(),
        (None, _) => row.kind.to_string(),
    }
}

pub(super) fn outcome(row: &Row) -> String {
    let mut text = if row.success { "ok" } else { "failed" }.to_owned();
    if let Some(code) = row.error_code {
        let _ = write!(text, " {code}");
    }
    if let Some(category) = &row.error_category {
        let _ = write!(text, " {category}");
    }
    if let Some(status) = row.http_status.filter(|status| *status >= 400) {
        let _ = write!(text, " HTTP {status}");
    }
    // The category of a cancelled call says so already.
    if row.cancelled && row.error_category.is_none() {
        text.push_str(" cancelled");
    }
    // A fault that was asked and let the call pass has done nothing.
    if row.fault.as_deref().is_some_and(|fault| fault.contains("\"fired\":true")) {
        text.push_str(" (fault)");
    }
    if row.attempt > 1 {
        let _ = write!(text, " #{}", row.attempt);
    }
    text
}

pub(super) fn took(micros: u64) -> String {
    format_latency(Duration::from_micros(micros))
}

/// A row as a line of JSON, with its end.
pub(super) fn line(row: &Row) -> String {
    display::json(&row.to_line())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_row_in_a_line_has_nothing_that_a_terminal_obeys() {
        let mut row = Row { method: Some("tools/call\x1b[2J".into()), ..Row::default() };
        row.tool = Some("\r\n::set-env".into());
        row.error_message = Some("\u{202e}\x07".into());
        row.error_category = Some("\x1b]0;x\x07".into());
        let shown = cells(&row).concat();
        assert!(!shown.contains(|c: char| c.is_control() || c == '\u{202e}'), "{shown:?}");
    }
}
