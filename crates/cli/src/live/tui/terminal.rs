//! The terminal while it is ours. It is given back at the end, on errors and on panics of any thread.

use std::{
    io::{self, BufWriter, Stderr},
    panic,
    sync::{
        Once,
        atomic::{AtomicBool, Ordering},
    },
};

use ratatui::{
    Frame, Terminal,
    backend::CrosstermBackend,
    crossterm::{
        cursor::Show,
        execute,
        terminal::{EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode},
    },
};

/// Whether the terminal is ours.
static TAKEN: AtomicBool = AtomicBool::new(false);
static HOOK: Once = Once::new();

/// The terminal, taken. A screen is written at once: stderr by itself writes every colour and every
/// move of the cursor by itself, and whoever reads wakes up each time.
pub(super) struct Taken {
    terminal: Terminal<CrosstermBackend<BufWriter<Stderr>>>,
}

impl Taken {
    pub(super) fn take(screen: Stderr) -> io::Result<Self> {
        // What a panic says must not be lost with the screen that it was said on.
        HOOK.call_once(|| {
            let before = panic::take_hook();
            panic::set_hook(Box::new(move |info| {
                give_back();
                before(info);
            }));
        });
        enable_raw_mode()?;
        TAKEN.store(true, Ordering::Release);
        let taken = execute!(io::stderr(), EnterAlternateScreen)
            .and_then(|()| Terminal::new(CrosstermBackend::new(BufWriter::new(screen))));
        taken.map(|terminal| Self { terminal }).inspect_err(|_| give_back())
    }

    pub(super) fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> io::Result<()> {
        self.terminal.draw(draw).map(|_| ())
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        give_back();
    }
}

/// Leaves the terminal as it was; once is enough, and more does no harm.
fn give_back() {
    if TAKEN.swap(false, Ordering::AcqRel) {
        let _ = execute!(io::stderr(), LeaveAlternateScreen, Show);
        let _ = disable_raw_mode();
    }
}
