//! Rate, latency, counts and server: as panels with plots, or in a few lines.

use std::time::Duration;

use mcp_loadtest::{Snapshot, live::LatencyFigures};
use mcp_loadtest_core::{
    report::figures::{grouped, percent},
    units::format_latency,
};
use ratatui::{
    Frame,
    layout::{Constraint, Layout, Rect},
    style::Style,
    text::{Line, Span},
    widgets::{Paragraph, Sparkline},
};

use super::{screen::framed, theme::Theme};

/// Minutes and seconds.
pub(super) fn clock(secs: f64) -> String {
    let whole = secs as u64;
    match whole / 3600 {
        0 => format!("{}:{:02}", whole / 60, whole % 60),
        hours => format!("{hours}:{:02}:{:02}", whole / 60 % 60, whole % 60),
    }
}

/// A time that may not be known.
pub(super) fn time(millis: Option<f64>) -> String {
    let time = millis.and_then(|millis| Duration::try_from_secs_f64(millis / 1e3).ok());
    time.map_or_else(|| "-".into(), format_latency)
}

fn per_sec(rate: f64) -> String {
    if rate < 10.0 { format!("{rate:.1}/s") } else { format!("{}/s", grouped(rate.round() as u64)) }
}

/// Calls a second, and their course.
pub(super) fn rate(frame: &mut Frame<'_>, area: Rect, seen: &Snapshot, theme: &Theme) {
    let block = framed(" Calls a second ", theme);
    let inside = block.inner(area);
    frame.render_widget(block, area);
    let [figure, plot, failures] =
        Layout::vertical([Constraint::Length(1), Constraint::Fill(1), Constraint::Length(1)])
            .areas(inside);
    let mut words = vec![Span::styled(per_sec(seen.per_sec), theme.rate().patch(theme.strong()))];
    if let Some(asked) = seen.asked_per_sec {
        words.push(Span::raw(format!("  of {} asked for", per_sec(asked))));
    }
    frame.render_widget(Line::from(words), figure);
    course(frame, plot, &seen.rates, theme.rate());
    if seen.failures.iter().any(|count| *count > 0) {
        let [name, plot] =
            Layout::horizontal([Constraint::Length(7), Constraint::Fill(1)]).areas(failures);
        frame.render_widget(Line::styled("failed ", theme.failed(1)), name);
        course(frame, plot, &seen.failures, theme.failed(1));
    }
}

/// The last values that there is room for, the newest on the right.
fn course(frame: &mut Frame<'_>, area: Rect, values: &[u64], style: Style) {
    let room = usize::from(area.width);
    let last = &values[values.len().saturating_sub(room)..];
    let empty = room - last.len();
    let padded: Vec<u64> = std::iter::repeat_n(0, empty).chain(last.iter().copied()).collect();
    frame.render_widget(Sparkline::default().data(padded).style(style), area);
}

/// What five figures need, with their names and a frame.
pub(super) const LATENCY_WIDTH: u16 = 46;

const NAMES: [&str; 5] = ["p50", "p90", "p99", "p99.9", "max"];

fn figures(times: &LatencyFigures) -> [String; 5] {
    [times.p50_ms, times.p90_ms, times.p99_ms, times.p999_ms, times.max_ms].map(time)
}

fn row(name: &str, cells: impl IntoIterator<Item = String>, style: Style) -> Line<'static> {
    let cells: String = cells.into_iter().map(|cell| format!("{cell:>8}")).collect();
    Line::from(vec![Span::raw(format!("{name:<4}")), Span::styled(cells, style)])
}

/// Percentiles, and the course of p99.
pub(super) fn latency(frame: &mut Frame<'_>, area: Rect, seen: &Snapshot, theme: &Theme) {
    let block = framed(" Latency ", theme);
    let inside = block.inner(area);
    frame.render_widget(block, area);
    let [table, plot] =
        Layout::vertical([Constraint::Length(3), Constraint::Fill(1)]).areas(inside);
    let lines = vec![
        row("", NAMES.map(String::from), theme.quiet()),
        row("now", figures(&seen.recent), theme.time().patch(theme.strong())),
        row("all", figures(&seen.overall), Style::new()),
    ];
    frame.render_widget(Paragraph::new(lines), table);
    let [name, plot] = Layout::horizontal([Constraint::Length(4), Constraint::Fill(1)]).areas(plot);
    frame.render_widget(Line::styled("p99 ", theme.quiet()), name);
    let micros: Vec<u64> =
        seen.p99_ms.iter().map(|millis| (millis.unwrap_or(0.0) * 1e3) as u64).collect();
    course(frame, plot, &micros, theme.time());
}

/// How calls ended, and the server's processes.
pub(super) fn counts(frame: &mut Frame<'_>, area: Rect, seen: &Snapshot, theme: &Theme) {
    frame.render_widget(Paragraph::new(vec![calls(seen, theme), server(seen, theme)]), area);
}

fn figure<'a>(name: &'a str, told: String, style: Style, theme: &Theme) -> [Span<'a>; 3] {
    [Span::styled(name, theme.quiet()), Span::styled(format!(" {told}"), style), Span::raw("   ")]
}

fn calls<'a>(seen: &Snapshot, theme: &Theme) -> Line<'a> {
    let ended = seen.ok + seen.failed;
    let share = if ended > 0 { seen.failed as f64 / ended as f64 } else { 0.0 };
    let failed = match seen.failed {
        0 => "0".to_owned(),
        count => format!("{} ({})", grouped(count), percent(share)),
    };
    let plain = theme.strong();
    let mut words = Vec::new();
    words.extend(figure(" in flight", grouped(seen.in_flight), plain, theme));
    words.extend(figure("ok", grouped(seen.ok), plain, theme));
    words.extend(figure("failed", failed, theme.failed(seen.failed), theme));
    words.extend(figure("overdue", grouped(seen.hangs), theme.failed(seen.hangs), theme));
    if seen.dropped > 0 {
        words.extend(figure("not sent", grouped(seen.dropped), theme.failed(1), theme));
    }
    Line::from(words)
}

fn server<'a>(seen: &Snapshot, theme: &Theme) -> Line<'a> {
    let Some(rss) = seen.rss_mb else {
        return Line::styled(" the server's processes are not known here", theme.quiet());
    };
    let grown = rss - seen.first_rss_mb.unwrap_or(rss);
    let cpu = seen.cpu_pct.unwrap_or(0.0);
    let mut words = Vec::new();
    let memory = format!("{rss:.1} MB ({grown:+.1})");
    words.extend(figure(" RSS", memory, theme.strong(), theme));
    words.extend(figure("CPU", format!("{cpu:.0}%"), theme.strong(), theme));
    let mut errors: Vec<_> = seen.errors.iter().collect();
    errors.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    for (category, count) in errors.into_iter().take(2) {
        words.extend(figure(category.name(), grouped(*count), theme.failed(*count), theme));
    }
    Line::from(words)
}

/// The same in a few lines, where there is no room for panels.
pub(super) fn in_lines<'a>(seen: &Snapshot, theme: &Theme) -> Vec<Line<'a>> {
    let told = |name: &str, times: &LatencyFigures| {
        let [p50, _, p99, _, max] = figures(times);
        Line::from(format!("{name} p50 {p50}  p99 {p99}  max {max}"))
    };
    let asked = seen.asked_per_sec.map_or(String::new(), |asked| format!(" of {}", per_sec(asked)));
    vec![
        Line::from(vec![
            Span::styled(per_sec(seen.per_sec), theme.rate().patch(theme.strong())),
            Span::raw(format!("{asked}  in flight {}", grouped(seen.in_flight))),
        ]),
        told("now", &seen.recent),
        told("all", &seen.overall),
        Line::from(vec![
            Span::raw(format!("ok {}  ", grouped(seen.ok))),
            Span::styled(format!("failed {}", grouped(seen.failed)), theme.failed(seen.failed)),
            Span::raw(seen.rss_mb.map_or(String::new(), |rss| format!("  RSS {rss:.1} MB"))),
        ]),
    ]
}
