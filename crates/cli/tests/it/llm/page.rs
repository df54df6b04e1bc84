//! docs/reference/sdk-behaviour.md.

use super::{
    case::{Case, Part},
    sdk::{Column, Outcomes},
};

const INTRODUCTION: &str = "\
# What the official SDKs do with failures

Each SDK with its default settings, asked against `mcp-loadtest llm` with the fixtures of
tests/llm/matrix.yml. Written by a test, which fails when an SDK or the mock behaves otherwise:
`cargo test -p mcp-loadtest-cli --test it llm::sdk`, with `INSTA_UPDATE=always` to write it anew.

A cell says what the application gets. `ok` is the whole answer. An exception is told by its class, with
the HTTP status or the provider's code; one that is not the SDK's own has its module before it.
**silent** means that nothing was raised although something was wrong: the application has to notice by
itself. **hangs** means that no end came, long after the timeout; **ok, after the timeout**, that the
answer was waited for although the timeout was over. Attempts are counted by the server.

Answers come whole, in one JSON body, or as a stream that is read event by event with `stream=True` or
its like; `both` where there is no difference. The clients have their own timeouts, which are minutes,
but for `silence` and `stall_ms`: there it is two seconds. A dash stands where an API has nothing of the
kind.
";

/// The whole page.
pub(super) fn render(columns: &[Column], cases: &[Case], outcomes: &Outcomes) -> String {
    let mut page = INTRODUCTION.to_owned();
    page.push_str("\n| column | package | call |\n|---|---|---|\n");
    for column in columns {
        page.push_str(&format!("| {} | {} | `{}` |\n", column.title, column.package, column.call));
    }
    for (part, title) in Part::ALL {
        page.push_str(&format!("\n## {title}\n\n| | answer |"));
        columns.iter().for_each(|column| page.push_str(&format!(" {} |", column.title)));
        page.push_str(&format!("\n|---|---|{}\n", "---|".repeat(columns.len())));
        for case in cases.iter().filter(|case| case.part == part) {
            page.push_str(&rows(case, columns, outcomes));
        }
    }
    page
}

/// One row, or two where a stream differs.
fn rows(case: &Case, columns: &[Column], outcomes: &Outcomes) -> String {
    let row = |answer: &str, stream: bool| {
        let cells = columns.iter().map(|column| {
            let told = outcomes.get(&(column.title, case.name.clone(), stream));
            told.map_or("-", String::as_str)
        });
        let cells: Vec<_> = cells.collect();
        format!("| {} | {answer} | {} |\n", case.words(), cells.join(" | "))
    };
    if case.is_for_streams() {
        row("stream", true)
    } else if case.is_for_whole_answers() {
        row("whole", false)
    } else if row("", true) == row("", false) {
        row("both", true)
    } else {
        row("whole", false) + &row("stream", true)
    }
}

/// The lines that differ.
pub(super) fn difference(old: &str, new: &str) -> String {
    let missing = |from: &str, other: &str, mark: &str| {
        let lines = from.lines().filter(|line| !other.lines().any(|known| known == *line));
        lines.map(|line| format!("{mark} {line}\n")).collect::<String>()
    };
    missing(old, new, "-") + &missing(new, old, "+")
}
