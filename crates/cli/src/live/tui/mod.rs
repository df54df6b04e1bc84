//! `--tui`: the run on the whole terminal.
//!
//! | file       | what it does                                                     |
//! |------------|------------------------------------------------------------------|
//! | `terminal` | takes the terminal, and gives it back whatever happens           |
//! | `keys`     | what a key does                                                  |
//! | `screen`   | what stands where, by how much room there is                     |
//! | `panels`   | rate, latency, counts and server                                 |
//! | `lists`    | tools and log                                                    |
//! | `theme`    | colours, or none                                                 |

mod keys;
mod lists;
mod panels;
mod screen;
mod terminal;
#[cfg(test)]
mod tests;
mod theme;

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread::JoinHandle,
    time::Duration,
};

use mcp_loadtest::Watch;
use ratatui::crossterm::event;

use self::{
    keys::{Deed, Keys},
    terminal::Taken,
    theme::Theme,
};
use super::Controls;

/// How often the screen is drawn anew; a key is answered at once.
const REFRESH: Duration = Duration::from_millis(250);

/// The view, in a thread of its own.
pub(crate) struct Tui {
    over: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Tui {
    /// Takes the terminal.
    pub(super) fn start(
        watch: Watch,
        controls: Controls,
        screen: io::Stderr,
        color: bool,
    ) -> io::Result<Self> {
        let over = Arc::new(AtomicBool::new(false));
        let mut terminal = Taken::take(screen)?;
        let is_over = over.clone();
        let thread = std::thread::Builder::new().name("tui".into()).spawn(move || {
            let theme = Theme::new(color);
            // Without its terminal the run goes on; what it found is told at the end.
            let _ = follow(&mut terminal, watch, &controls, &theme, &is_over);
        })?;
        Ok(Self { over, thread: Some(thread) })
    }

    /// Gives the terminal back.
    pub(super) fn finish(mut self) {
        self.end();
    }

    fn end(&mut self) {
        self.over.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            // A thread that panicked has given the terminal back as well.
            let _ = thread.join();
        }
    }
}

impl Drop for Tui {
    fn drop(&mut self) {
        self.end();
    }
}

fn follow(
    terminal: &mut Taken,
    mut watch: Watch,
    controls: &Controls,
    theme: &Theme,
    over: &AtomicBool,
) -> io::Result<()> {
    let mut keys = Keys::default();
    while !over.load(Ordering::Acquire) {
        let snapshot = watch.snapshot();
        terminal.draw(|frame| screen::draw(frame, &snapshot, &mut keys, theme))?;
        if !event::poll(REFRESH)? {
            continue;
        }
        match keys.press(&event::read()?, &snapshot) {
            Deed::None => {}
            Deed::Pause => keys.tell_pause(controls.pause.hold()),
            Deed::Resume => controls.pause.resume(),
            Deed::Stop => controls.stop.stop(),
            Deed::Leave => controls.leave.stop(),
        }
    }
    Ok(())
}
