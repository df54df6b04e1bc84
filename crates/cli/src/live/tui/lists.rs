//! The tools, one a row, and what was noted last.

use mcp_loadtest::{Snapshot, live::ToolFigures};
use mcp_loadtest_core::report::figures::grouped;
use ratatui::{
    Frame,
    layout::{Alignment, Constraint, Rect},
    text::{Line, Span, Text},
    widgets::{Cell, Paragraph, Row, Table},
};

use super::{
    keys::Keys,
    panels::{clock, time},
    screen::framed,
    theme::Theme,
};

const HEAD: [&str; 7] = ["tool", "calls", "failed", "in flight", "p50", "p99", "max"];
/// On a narrow screen only these are told besides the name: calls, failed, p99.
const FEW: [usize; 3] = [1, 2, 5];
const NARROW: u16 = 60;

/// The tools, from the first that is scrolled to.
pub(super) fn tools(
    frame: &mut Frame<'_>,
    area: Rect,
    seen: &Snapshot,
    keys: &mut Keys,
    theme: &Theme,
) {
    let columns: Vec<usize> =
        if area.width < NARROW { FEW.to_vec() } else { (1..HEAD.len()).collect() };
    let room = usize::from(area.height.saturating_sub(3)).max(1);
    keys.scrolled = keys.scrolled.min(seen.tools.len().saturating_sub(room));
    let shown = seen.tools.iter().skip(keys.scrolled).take(room);
    let rows: Vec<Row<'_>> = shown.map(|tool| row(tool, &columns, theme)).collect();
    let head = [0].into_iter().chain(columns.iter().copied()).map(|at| cell(at, HEAD[at].into()));
    let widths: Vec<Constraint> = [Constraint::Fill(1)]
        .into_iter()
        .chain(columns.iter().map(|at| Constraint::Length(HEAD[*at].len().max(8) as u16)))
        .collect();
    let title = match seen.tools.len() {
        all if all > room => {
            format!(" Tools {}-{} of {all} ", keys.scrolled + 1, (keys.scrolled + room).min(all))
        }
        _ => " Tools ".to_owned(),
    };
    let table = Table::new(rows, widths).header(Row::new(head).style(theme.quiet()));
    frame.render_widget(table.block(framed(&title, theme)), area);
}

fn cell<'a>(column: usize, told: String) -> Cell<'a> {
    let side = if column == 0 { Alignment::Left } else { Alignment::Right };
    Cell::from(Text::from(told).alignment(side))
}

fn row<'a>(tool: &ToolFigures, columns: &[usize], theme: &Theme) -> Row<'a> {
    let told = |column: usize| match column {
        1 => grouped(tool.calls),
        2 => grouped(tool.failed),
        3 => grouped(tool.in_flight),
        4 => time(tool.overall.p50_ms),
        5 => time(tool.overall.p99_ms),
        _ => time(tool.overall.max_ms),
    };
    let cells = columns.iter().map(|column| {
        let cell = cell(*column, told(*column));
        if *column == 2 { cell.style(theme.failed(tool.failed)) } else { cell }
    });
    Row::new([cell(0, tool.name.clone())].into_iter().chain(cells))
}

/// What was noted last, the newest at the bottom.
pub(super) fn log(frame: &mut Frame<'_>, area: Rect, seen: &Snapshot, theme: &Theme) {
    let room = usize::from(area.height.saturating_sub(2));
    let last = &seen.log[seen.log.len().saturating_sub(room)..];
    let line = |line: &mcp_loadtest::live::LogLine| {
        Line::from(vec![
            Span::styled(format!("{:>6} ", clock(line.at.as_secs_f64())), theme.quiet()),
            Span::styled(line.what.clone(), theme.strong()),
            Span::raw(format!(" {}", line.text)),
        ])
    };
    let lines: Vec<Line<'_>> = match last {
        [] => vec![Line::styled("nothing to tell so far", theme.quiet())],
        last => last.iter().map(line).collect(),
    };
    frame.render_widget(Paragraph::new(lines).block(framed(" Log ", theme)), area);
}
