//! Shows a server's stderr on ours, line by line, without ever holding the server up.
//!
//! Lines travel through a bounded queue to a thread of their own. When our stderr is slow or stuck,
//! the queue fills and lines are left out, with a note; the server never waits for a terminal, and
//! neither does the end of the runtime.

use std::io::Write;

use mcp_loadtest_core::display::visible_bytes;
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio::sync::oneshot;

/// How many characters of a line are shown.
const LINE_LIMIT: usize = 8 * 1024;
/// How many lines may wait for our stderr.
const QUEUE_LIMIT: usize = 256;

/// Cuts a stream of bytes into lines and passes them on.
pub(super) struct Tee {
    /// What every line begins with: no server's line can pass for ours, nor start with the `::` or
    /// `##` that makes a CI system take it for a command.
    speaker: &'static str,
    line: Vec<u8>,
    left_out: u64,
    queue: Sender<String>,
    written: oneshot::Receiver<()>,
}

impl Tee {
    /// Starts the thread that writes the lines to `screen`.
    pub(super) fn start(
        screen: impl Write + Send + 'static,
        speaker: &'static str,
    ) -> std::io::Result<Self> {
        let (queue, lines) = mpsc::channel(QUEUE_LIMIT);
        let (done, written) = oneshot::channel();
        let thread = std::thread::Builder::new().name("server-stderr".into());
        thread.spawn(move || {
            write(lines, screen);
            let _ = done.send(());
        })?;
        Ok(Tee { speaker, line: Vec::new(), left_out: 0, queue, written })
    }

    pub(super) fn feed(&mut self, chunk: &[u8]) {
        for piece in chunk.split_inclusive(|byte| *byte == b'\n') {
            let (text, ended) = match piece.strip_suffix(b"\n") {
                Some(text) => (text, true),
                None => (piece, false),
            };
            // A few bytes more than can be shown, so that the cut is shown, too.
            let room = (LINE_LIMIT + 8).saturating_sub(self.line.len());
            self.line.extend_from_slice(&text[..text.len().min(room)]);
            if ended {
                self.pass_on();
            }
        }
    }

    /// Passes on the last, unfinished line and waits until everything is written.
    pub(super) async fn finish(mut self) {
        if !self.line.is_empty() {
            self.pass_on();
        }
        if self.left_out > 0 {
            let note = self.left_out_note(self.left_out);
            let _ = self.queue.send(note).await;
        }
        drop(self.queue);
        let _ = self.written.await;
    }

    fn pass_on(&mut self) {
        // Room for a note as well; and nothing is formatted that cannot be sent.
        if self.queue.capacity() < 2 {
            self.left_out += 1;
        } else {
            if self.left_out > 0 {
                let lines = std::mem::take(&mut self.left_out);
                let note = self.left_out_note(lines);
                let _ = self.queue.try_send(note);
            }
            let text = self.line.strip_suffix(b"\r").unwrap_or(&self.line);
            let line = format!("{}: {}\n", self.speaker, visible_bytes(text, LINE_LIMIT));
            let _ = self.queue.try_send(line);
        }
        self.line.clear();
    }

    fn left_out_note(&self, lines: u64) -> String {
        format!("{}: (too fast to show: {lines} lines left out)\n", self.speaker)
    }
}

fn write(mut lines: Receiver<String>, mut screen: impl Write) {
    // A closed stderr is no reason to stop anything else: without a reader, lines are left out.
    while let Some(line) = lines.blocking_recv() {
        if screen.write_all(line.as_bytes()).is_err() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use mcp_loadtest_core::display::visible;
    use std::sync::{Arc, Mutex};

    #[derive(Clone, Default)]
    struct Screen(Arc<Mutex<Vec<u8>>>);

    impl Write for Screen {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    impl Screen {
        fn text(&self) -> String {
            String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
        }
    }

    async fn shown(chunks: &[&[u8]]) -> String {
        let screen = Screen::default();
        let mut tee = Tee::start(screen.clone(), "server").unwrap();
        for chunk in chunks {
            tee.feed(chunk);
        }
        tee.finish().await;
        screen.text()
    }

    #[tokio::test]
    async fn each_line_is_marked_and_made_safe() {
        let text = shown(&[b"he", b"llo\r\n::error::x\n\x1b[2J"]).await;
        let safe = visible("::error::x", 80);
        let expected = ["server: hello", &format!("server: {safe}"), "server: \\x1b[2J"];
        assert_eq!(text.lines().collect::<Vec<_>>(), expected);
    }

    #[tokio::test]
    async fn a_long_line_is_cut() {
        let line = vec![b'a'; 100_000];
        let text = shown(&[&line, b"\nnext\n"]).await;
        assert!(text.ends_with("a…\nserver: next\n"));
        assert!(text.len() < LINE_LIMIT + 100);
    }

    #[tokio::test]
    async fn lines_that_cannot_be_shown_in_time_are_counted() {
        let screen = Screen::default();
        // Nobody can write while the screen is held: all lines but the first ones find no room.
        let held = screen.0.lock().unwrap();
        let mut tee = Tee::start(screen.clone(), "server").unwrap();
        tee.feed(&b"x\n".repeat(1000));
        drop(held);
        tee.finish().await;
        let text = screen.text();
        let shown = text.lines().filter(|line| *line == "server: x").count();
        let notes = text.lines().filter_map(|line| line.split_once("show: "));
        let counts = notes.filter_map(|(_, rest)| rest.split(' ').next()?.parse::<usize>().ok());
        let left_out: usize = counts.sum();
        assert_eq!(shown + left_out, 1000, "{text}");
        assert!(left_out > 0);
    }
}
