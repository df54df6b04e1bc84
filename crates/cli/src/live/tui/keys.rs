//! What a key does, and what stays of it.

use mcp_loadtest::{Snapshot, live::State};
use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// The keys, as the help has them.
pub(super) const HELP: &[(&str, &str)] = &[
    ("p, space", "pause the load, and let it go on"),
    ("up, down", "scroll the tools"),
    ("?, h", "this help"),
    ("q, Ctrl-C", "end the run and write its report"),
    ("q again", "end at once, without a report"),
];

/// What was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Deed {
    None,
    Pause,
    Resume,
    Stop,
    Leave,
}

/// What keys have changed about the screen.
#[derive(Debug, Default)]
pub(super) struct Keys {
    pub(super) help: bool,
    /// How many tools are above the first that is shown.
    pub(super) scrolled: usize,
    /// What a key could not do.
    pub(super) refused: Option<&'static str>,
}

impl Keys {
    /// Takes a key; what it asks of the run is for the caller to do.
    pub(super) fn press(&mut self, event: &Event, seen: &Snapshot) -> Deed {
        let Event::Key(KeyEvent { code, modifiers, kind, .. }) = event else { return Deed::None };
        if *kind == KeyEventKind::Release {
            return Deed::None;
        }
        self.refused = None;
        let control = modifiers.contains(KeyModifiers::CONTROL);
        match code {
            KeyCode::Char('c') if control => self.quit(seen),
            KeyCode::Char('q') => self.quit(seen),
            KeyCode::Esc => {
                self.help = false;
                Deed::None
            }
            KeyCode::Char('?' | 'h') => {
                self.help = !self.help;
                Deed::None
            }
            KeyCode::Char('p' | ' ') => match seen.state {
                State::Paused => Deed::Resume,
                _ => Deed::Pause,
            },
            KeyCode::Down | KeyCode::Char('j') => {
                self.scrolled = (self.scrolled + 1).min(seen.tools.len().saturating_sub(1));
                Deed::None
            }
            KeyCode::Up | KeyCode::Char('k') => {
                self.scrolled = self.scrolled.saturating_sub(1);
                Deed::None
            }
            _ => Deed::None,
        }
    }

    fn quit(&self, seen: &Snapshot) -> Deed {
        if seen.state == State::Stopping { Deed::Leave } else { Deed::Stop }
    }

    /// Whether the load could be held.
    pub(super) fn tell_pause(&mut self, held: bool) {
        self.refused = (!held).then_some("this cannot be paused: no steady load is on");
    }
}
