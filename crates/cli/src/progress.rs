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
        let mut before = 0;
        loop {
            let ok = progress.ok.load(Ordering::Relaxed);
            let errors = progress.errors.load(Ordering::Relaxed);
            let hangs = progress.hangs.load(Ordering::Relaxed);
            let done = ok + errors;
            let rate = (done - before) as f64 / TICK.as_secs_f64();
            before = done;
            let mut message = format!("{done} calls, {rate:.0}/s");
            if errors > 0 {
                message.push_str(&format!(", {errors} failed"));
            }
            if hangs > 0 {
                message.push_str(&format!(", {hangs} overdue"));
            }
            self.bar.set_message(message);
            let elapsed = self.bar.elapsed().as_millis() as u64;
            self.bar.set_position(self.bar.length().map_or(elapsed, |length| elapsed.min(length)));
            self.bar.tick();
            tokio::time::sleep(TICK).await;
        }
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}
