//! docs/reference/sdk-behaviour.md.

use super::{
    case::{Case, How, Part},
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

const HELPERS: &str = "
## Streams that the SDK gathers

The same streams, but not read event by event: `.stream(...)` and what gives its result. Only what comes
out otherwise than above is listed; an empty cell is the same as above.
";

/// The whole page.
pub(super) fn render(columns: &[Column], cases: &[Case], outcomes: &Outcomes) -> String {
    let mut page = INTRODUCTION.to_owned();
    page.push_str("\n| column | package | call | result of a stream |\n|---|---|---|---|\n");
    for Column { title, package, call, helper, .. } in columns {
        let helper = if helper.is_empty() { "-".to_owned() } else { format!("`{helper}`") };
        page.push_str(&format!("| {title} | {package} | `{call}` | {helper} |\n"));
    }
    for (part, title) in Part::ALL {
        page.push_str(&format!("\n## {title}\n\n| | answer |{}", head(columns)));
        for case in cases.iter().filter(|case| case.part == part) {
            page.push_str(&rows(case, columns, outcomes));
        }
    }
    page + HELPERS + &helpers(columns, cases, outcomes)
}

/// The columns, and the line below them; two cells stand before.
fn head(columns: &[Column]) -> String {
    let titles: String = columns.iter().map(|column| format!(" {} |", column.title)).collect();
    format!("{titles}\n|---|---|{}\n", "---|".repeat(columns.len()))
}

fn row(case: &Case, answer: &str, cells: &[&str]) -> String {
    format!("| {} | {answer} | {} |\n", case.words(), cells.join(" | "))
}

/// One row, or two where a stream differs.
fn rows(case: &Case, columns: &[Column], outcomes: &Outcomes) -> String {
    let cells = |how: How| -> Vec<&str> {
        let told = |column: &Column| outcomes.get(&(column.title, case.name.clone(), how));
        columns.iter().map(|column| told(column).map_or("-", String::as_str)).collect()
    };
    let (whole, stream) = (cells(How::Whole), cells(How::Stream));
    if case.is_for_streams() {
        row(case, "stream", &stream)
    } else if stream.iter().all(|cell| *cell == "-") {
        row(case, "whole", &whole)
    } else if whole == stream {
        row(case, "both", &whole)
    } else {
        row(case, "whole", &whole) + &row(case, "stream", &stream)
    }
}

/// Where the helper of an SDK does not do what its plain stream does.
fn helpers(columns: &[Column], cases: &[Case], outcomes: &Outcomes) -> String {
    let with_helper = |column: &&Column| !column.helper.is_empty();
    let titles = columns.iter().filter(with_helper);
    let titles: Vec<_> = titles.map(|column| column.title).collect();
    let mut text =
        format!("\n| | {} |\n|---|{}\n", titles.join(" | "), "---|".repeat(titles.len()));
    for case in cases {
        let cells = titles.iter().map(|title| {
            let told = |how: How| outcomes.get(&(*title, case.name.clone(), how));
            let helper = told(How::Helper).filter(|helper| told(How::Stream) != Some(*helper));
            helper.map_or("", String::as_str)
        });
        let cells: Vec<_> = cells.collect();
        if cells.iter().any(|cell| !cell.is_empty()) {
            text.push_str(&format!("| {} | {} |\n", case.words(), cells.join(" | ")));
        }
    }
    text
}

/// The lines that differ.
pub(super) fn difference(old: &str, new: &str) -> String {
    let missing = |from: &str, other: &str, mark: &str| {
        let lines = from.lines().filter(|line| !other.lines().any(|known| known == *line));
        lines.map(|line| format!("{mark} {line}\n")).collect::<String>()
    };
    missing(old, new, "-") + &missing(new, old, "+")
}
