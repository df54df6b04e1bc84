//! What a run shows while it goes on: one line on the terminal, nothing elsewhere.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use mcp_loadtest::Progress;

const TICK: Duration = Duration::from_millis(250);

/// A line on stderr that follows a run.
pub(crate) struct ProgressLine {
    bar: ProgressBar,
}

impl ProgressLine {
    /// A line for a run that takes about this long; hidden where nobody looks.
    pub(crate) fn new(label: &str, expected: Option<Duration>, visible: bool) -> Self {
        let target =
            if visible { ProgressDrawTarget::stderr() } else { ProgressDrawTarget::hidden() };
        let (length, template) = match expected {
            Some(expected) => {
                (Some(expected.as_millis() as u64), "{spinner} {prefix} [{bar:24}] {elapsed} {msg}")
            }
            None => (None, "{spinner} {prefix} {elapsed} {msg}"),
        };
        let bar = ProgressBar::with_draw_target(length, target);
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style.progress_chars("=> "));
        }
        bar.set_prefix(label.to_owned());
        Self { bar }
    }

    /// Follows the run until it is dropped.
    pub(crate) async fn follow(&self, progress: Arc<Progress>) {
        let mut before = None;
        loop {
            let now = Seen::of(&progress);
            if before.is_none() && now.issued > 0 {
                // The server may have taken its time to start; the load takes as long as it was told.
                self.bar.reset_elapsed();
            }
            self.tick(&now.told(before.as_ref(), TICK));
            before = (now.issued > 0).then_some(now);
            tokio::time::sleep(TICK).await;
        }
    }

    /// Says what is being done, from any thread.
    pub(crate) fn label(&self) -> impl Fn(&str) + Send + Sync + use<> {
        let bar = self.bar.clone();
        move |what| bar.set_message(what.to_owned())
    }

    /// Shows for as long as it takes that something goes on.
    pub(crate) async fn wait(&self) {
        loop {
            self.bar.tick();
            tokio::time::sleep(TICK).await;
        }
    }

    fn tick(&self, message: &str) {
        self.bar.set_message(message.to_owned());
        let elapsed = self.bar.elapsed().as_millis() as u64;
        self.bar.set_position(self.bar.length().map_or(elapsed, |length| elapsed.min(length)));
        self.bar.tick();
    }
}

/// How far a run has come.
#[derive(Default)]
pub(crate) struct Seen {
    issued: u64,
    done: u64,
    errors: u64,
    hangs: u64,
}

impl Seen {
    pub(crate) fn of(progress: &Progress) -> Self {
        let errors = progress.errors.load(Ordering::Relaxed);
        Self {
            issued: progress.issued.load(Ordering::Relaxed),
            done: progress.ok.load(Ordering::Relaxed) + errors,
            errors,
            hangs: progress.hangs.load(Ordering::Relaxed),
        }
    }

    /// In a few words, with what has come in `since` it was looked at before; before the first call the
    /// server is being started.
    pub(crate) fn told(&self, before: Option<&Self>, since: Duration) -> String {
        if self.issued == 0 {
            return "starting the server".to_owned();
        }
        let fresh = self.done - before.map_or(0, |before| before.done);
        let mut told = {
            let calls = if self.done == 1 { "call" } else { "calls" };
            format!("{} {calls}, {:.0}/s", self.done, fresh as f64 / since.as_secs_f64())
        };
        if self.errors > 0 {
            told.push_str(&format!(", {} failed", self.errors));
        }
        if self.hangs > 0 {
            told.push_str(&format!(", {} overdue", self.hangs));
        }
        told
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_that_has_not_called_yet_is_starting() {
        assert_eq!(Seen::default().told(None, TICK), "starting the server");
        let first = Seen { issued: 9, done: 5, ..Seen::default() };
        assert_eq!(first.told(None, TICK), "5 calls, 20/s");
        let later = Seen { issued: 30, done: 25, errors: 2, hangs: 1 };
        assert_eq!(later.told(Some(&first), TICK), "25 calls, 80/s, 2 failed, 1 overdue");
    }
}
