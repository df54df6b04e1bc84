//! What the screen shows, on a screen in memory.

use std::time::Duration;

use mcp_loadtest::{
    ErrorCategory, Snapshot,
    live::{LatencyFigures, LogLine, State, ToolFigures},
};
use ratatui::{
    Terminal,
    backend::TestBackend,
    crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers},
};

use super::{
    keys::{Deed, Keys},
    screen::draw,
    theme::Theme,
};

fn times(p50: f64) -> LatencyFigures {
    LatencyFigures {
        p50_ms: Some(p50),
        p90_ms: Some(p50 * 2.0),
        p99_ms: Some(p50 * 9.0),
        p999_ms: Some(p50 * 20.0),
        max_ms: Some(p50 * 300.0),
    }
}

fn seen(tools: usize) -> Snapshot {
    let tool = |at: usize| ToolFigures {
        name: format!("tool_{at}"),
        calls: 1_000 * (at as u64 + 1),
        failed: at as u64 % 3,
        in_flight: 4,
        overall: times(0.5 + at as f64),
    };
    Snapshot {
        state: State::Running,
        target: "python3 -m my_server".into(),
        scenario: "Sustained, 50 concurrent, 60s".into(),
        load_secs: 12.4,
        expected_secs: Some(60.0),
        paused_secs: 0.0,
        step: 0,
        issued: 12_397,
        ok: 12_300,
        failed: 45,
        dropped: 0,
        in_flight: 50,
        hangs: 2,
        per_sec: 1_024.4,
        asked_per_sec: Some(1_100.0),
        errors: [(ErrorCategory::ToolError, 40), (ErrorCategory::Hang, 5)].into(),
        recent: times(1.25),
        overall: times(1.5),
        rss_mb: Some(48.2),
        first_rss_mb: Some(40.0),
        cpu_pct: Some(87.5),
        tools: (0..tools).map(tool).collect(),
        rates: (0..40).map(|at| 900 + at % 7 * 40).collect(),
        failures: (0..40).map(|at| u64::from(at % 9 == 0)).collect(),
        p99_ms: (0..40).map(|at| (at % 5 > 0).then_some(10.0 + at as f64)).collect(),
        log: vec![
            LogLine {
                at: Duration::from_secs(3),
                what: "tool_error".into(),
                text: "no such row".into(),
            },
            LogLine {
                at: Duration::from_secs(9),
                what: "server_exit".into(),
                text: "code 1".into(),
            },
        ],
    }
}

fn shown(seen: &Snapshot, keys: &mut Keys, (width, height): (u16, u16)) -> String {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(frame, seen, keys, &Theme::new(true))).unwrap();
    let buffer = terminal.backend().buffer().clone();
    let row = |y| (0..width).map(|x| buffer[(x, y)].symbol()).collect::<String>();
    (0..height).map(|y| row(y).trim_end().to_owned() + "\n").collect()
}

fn key(code: KeyCode) -> Event {
    Event::Key(KeyEvent::new(code, KeyModifiers::NONE))
}

#[test]
fn a_usual_terminal_shows_everything() {
    insta::assert_snapshot!(shown(&seen(2), &mut Keys::default(), (80, 24)));
}

#[test]
fn a_small_terminal_shows_figures_and_tools() {
    insta::assert_snapshot!(shown(&seen(2), &mut Keys::default(), (40, 12)));
}

#[test]
fn the_help_lies_above() {
    let mut keys = Keys { help: true, ..Keys::default() };
    insta::assert_snapshot!(shown(&seen(2), &mut keys, (80, 24)));
}

#[test]
fn any_size_will_do() {
    let starting = Snapshot { state: State::Starting, tools: Vec::new(), ..seen(0) };
    for width in [1, 2, 7, 20, 39, 64, 80, 300] {
        for height in [1, 2, 3, 5, 8, 12, 20, 24, 90] {
            for (seen, help) in [(&seen(40), false), (&seen(1), true), (&starting, false)] {
                let mut keys = Keys { help, scrolled: 39, ..Keys::default() };
                shown(seen, &mut keys, (width, height));
            }
        }
    }
}

#[test]
fn many_tools_are_scrolled_through() {
    let (seen, mut keys) = (seen(40), Keys::default());
    assert!(shown(&seen, &mut keys, (100, 30)).contains("│tool_0 "));
    for _ in 0..60 {
        assert_eq!(keys.press(&key(KeyCode::Down), &seen), Deed::None);
    }
    let end = shown(&seen, &mut keys, (100, 30));
    assert!(end.contains("tool_39") && end.contains("of 40"), "{end}");
    keys.press(&key(KeyCode::Up), &seen);
    assert!(shown(&seen, &mut keys, (100, 30)).contains("tool_38"));
}

#[test]
fn keys_do_what_the_help_says() {
    let (running, mut keys) = (seen(1), Keys::default());
    let paused = Snapshot { state: State::Paused, ..running.clone() };
    let stopping = Snapshot { state: State::Stopping, ..running.clone() };
    let interrupt = Event::Key(KeyEvent::new(KeyCode::Char('c'), KeyModifiers::CONTROL));
    for (event, seen, deed) in [
        (key(KeyCode::Char('p')), &running, Deed::Pause),
        (key(KeyCode::Char(' ')), &paused, Deed::Resume),
        (key(KeyCode::Char('q')), &running, Deed::Stop),
        (key(KeyCode::Char('q')), &paused, Deed::Stop),
        (interrupt.clone(), &running, Deed::Stop),
        (interrupt, &stopping, Deed::Leave),
        (key(KeyCode::Char('c')), &running, Deed::None),
        (Event::Resize(4, 4), &running, Deed::None),
    ] {
        assert_eq!(keys.press(&event, seen), deed, "{event:?}");
    }
    keys.press(&key(KeyCode::Char('?')), &running);
    assert!(keys.help);
    keys.press(&key(KeyCode::Esc), &running);
    assert!(!keys.help);
}

#[test]
fn what_cannot_be_paused_says_so() {
    let mut keys = Keys::default();
    keys.tell_pause(false);
    assert!(shown(&seen(1), &mut keys, (80, 24)).contains("cannot be paused"));
}

#[test]
fn without_colours_no_cell_has_one() {
    let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
    let mut keys = Keys::default();
    terminal.draw(|frame| draw(frame, &seen(3), &mut keys, &Theme::new(false))).unwrap();
    let reset = ratatui::style::Color::Reset;
    let cells = &terminal.backend().buffer().content;
    assert!(cells.iter().all(|cell| cell.fg == reset && cell.bg == reset));
}
