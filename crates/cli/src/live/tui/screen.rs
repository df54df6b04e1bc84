//! What stands where. The less room there is, the less is shown; a screen of any size will do.

use mcp_loadtest::{Snapshot, live::State};
use ratatui::{
    Frame,
    layout::{Constraint, Layout, Rect},
    text::{Line, Span},
    widgets::{Block, BorderType, Clear, Gauge, Paragraph},
};

use super::{
    keys::{HELP, Keys},
    lists,
    panels::{self, clock},
    theme::Theme,
};

/// Narrower than this, panels stand below each other; lower, they lose their plots.
const WIDE: u16 = 64;
const HIGH: u16 = 20;
/// Lower than this there is room for figures alone.
const LEAST: u16 = 9;

/// Draws the run.
pub(super) fn draw(frame: &mut Frame<'_>, seen: &Snapshot, keys: &mut Keys, theme: &Theme) {
    let area = frame.area();
    let [head, body, foot] =
        Layout::vertical([Constraint::Length(2), Constraint::Fill(1), Constraint::Length(1)])
            .areas(area);
    draw_head(frame, head, seen, theme);
    if area.height >= HIGH && area.width >= WIDE {
        draw_wide(frame, body, seen, keys, theme);
    } else {
        draw_small(frame, body, seen, keys, theme);
    }
    draw_foot(frame, foot, seen, keys, theme);
    if keys.help {
        draw_help(frame, area, theme);
    }
}

fn draw_wide(frame: &mut Frame<'_>, area: Rect, seen: &Snapshot, keys: &mut Keys, theme: &Theme) {
    let tools = (seen.tools.len() as u16).clamp(1, 12) + 3;
    let [plots, counts, tools, log] = Layout::vertical([
        Constraint::Length(if area.height > 30 { 9 } else { 7 }),
        Constraint::Length(2),
        Constraint::Max(tools),
        Constraint::Min(3),
    ])
    .areas(area);
    let latency = panels::LATENCY_WIDTH.max(area.width * 54 / 100);
    let [rate, latency] =
        Layout::horizontal([Constraint::Fill(1), Constraint::Length(latency)]).areas(plots);
    panels::rate(frame, rate, seen, theme);
    panels::latency(frame, latency, seen, theme);
    panels::counts(frame, counts, seen, theme);
    lists::tools(frame, tools, seen, keys, theme);
    lists::log(frame, log, seen, theme);
}

fn draw_small(frame: &mut Frame<'_>, area: Rect, seen: &Snapshot, keys: &mut Keys, theme: &Theme) {
    let figures = panels::in_lines(seen, theme);
    let rows = (figures.len() as u16).min(area.height);
    let [top, tools] =
        Layout::vertical([Constraint::Length(rows), Constraint::Fill(1)]).areas(area);
    frame.render_widget(Paragraph::new(figures), top);
    if tools.height > 2 && area.height + 3 > LEAST {
        lists::tools(frame, tools, seen, keys, theme);
    }
}

fn draw_head(frame: &mut Frame<'_>, area: Rect, seen: &Snapshot, theme: &Theme) {
    let state = Span::styled(format!(" {} ", seen.state.as_str()), theme.state(seen.state));
    let mut words = vec![state, Span::raw(" ")];
    match seen.scenario.as_str() {
        "" => words.push(Span::raw("waiting for the server")),
        scenario => words.push(Span::styled(scenario, theme.strong())),
    }
    if seen.step > 0 {
        words.push(Span::raw(format!(", step {}", seen.step)));
    }
    if seen.paused_secs > 0.0 {
        words.push(Span::raw(format!(", held for {}", clock(seen.paused_secs))));
    }
    let [title, bar] = Layout::vertical([Constraint::Length(1), Constraint::Length(1)]).areas(area);
    frame.render_widget(Line::from(words), title);
    let target = Span::styled(seen.target.as_str(), theme.quiet());
    let Some(expected) = seen.expected_secs.filter(|expected| *expected > 0.0) else {
        let told = Line::from(vec![Span::raw(format!("{} ", clock(seen.load_secs))), target]);
        frame.render_widget(told, bar);
        return;
    };
    let [progress, server] =
        Layout::horizontal([Constraint::Max(30), Constraint::Fill(1)]).spacing(1).areas(bar);
    let label = format!("{} of {}", clock(seen.load_secs.min(expected)), clock(expected));
    let ratio = (seen.load_secs / expected).clamp(0.0, 1.0);
    let gauge = Gauge::default().gauge_style(theme.bar()).ratio(ratio).label(label);
    frame.render_widget(gauge, progress);
    frame.render_widget(Line::from(target), server);
}

fn draw_foot(frame: &mut Frame<'_>, area: Rect, seen: &Snapshot, keys: &Keys, theme: &Theme) {
    let told = match seen.state {
        State::Paused => "p go on   q quit   ? help",
        State::Stopping => "calls in flight have a moment to end   q end at once",
        State::Starting | State::Running => "p pause   q quit   ? help",
    };
    let line = match keys.refused {
        Some(refused) => Line::from(refused).style(theme.failed(1)),
        None => Line::from(told).style(theme.quiet()),
    };
    frame.render_widget(line, area);
}

fn draw_help(frame: &mut Frame<'_>, area: Rect, theme: &Theme) {
    let (width, height) = (50.min(area.width), (HELP.len() as u16 + 2).min(area.height));
    let place = Rect { x: (area.width - width) / 2, y: (area.height - height) / 2, width, height };
    let line = |(key, what): &(&'static str, &'static str)| {
        Line::from(vec![Span::styled(format!(" {key:<10} "), theme.strong()), Span::raw(*what)])
    };
    let lines: Vec<Line<'_>> = HELP.iter().map(line).collect();
    frame.render_widget(Clear, place);
    frame.render_widget(Paragraph::new(lines).block(framed(" Keys ", theme)), place);
}

/// The frame of a panel.
pub(super) fn framed<'a>(title: &'a str, theme: &Theme) -> Block<'a> {
    Block::bordered()
        .border_type(BorderType::Rounded)
        .border_style(theme.quiet())
        .title(Span::styled(title, theme.strong()))
}
