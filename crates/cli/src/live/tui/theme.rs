//! Colours, or none: without them the words and bold letters say the same.

use mcp_loadtest::live::State;
use ratatui::style::{Color, Modifier, Style};

/// How things look.
pub(super) struct Theme {
    color: bool,
}

impl Theme {
    pub(super) fn new(color: bool) -> Self {
        Self { color }
    }

    fn of(&self, color: Color) -> Style {
        if self.color { Style::new().fg(color) } else { Style::new() }
    }

    /// What is read first.
    pub(super) fn strong(&self) -> Style {
        Style::new().add_modifier(Modifier::BOLD)
    }

    /// Names of figures, edges.
    pub(super) fn quiet(&self) -> Style {
        if self.color { Style::new().fg(Color::DarkGray) } else { Style::new() }
    }

    /// Calls that ended well.
    pub(super) fn rate(&self) -> Style {
        self.of(Color::Cyan)
    }

    /// How far the run has come: its words are read on the bar as well as beside it.
    pub(super) fn bar(&self) -> Style {
        if self.color { Style::new().fg(Color::Cyan).bg(Color::Black) } else { Style::new() }
    }

    /// Times.
    pub(super) fn time(&self) -> Style {
        self.of(Color::Yellow)
    }

    /// Failures, where there are any.
    pub(super) fn failed(&self, count: u64) -> Style {
        if count > 0 { self.of(Color::LightRed).add_modifier(Modifier::BOLD) } else { Style::new() }
    }

    /// The word for what the run does.
    pub(super) fn state(&self, state: State) -> Style {
        let color = match state {
            State::Running => Color::Green,
            State::Starting => Color::Blue,
            State::Paused | State::Stopping => Color::Yellow,
        };
        let style = Style::new().add_modifier(Modifier::REVERSED | Modifier::BOLD);
        if self.color { style.fg(color) } else { style }
    }
}
