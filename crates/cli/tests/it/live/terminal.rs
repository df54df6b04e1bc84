//! A terminal that a test can look at: a tmux server of its own.

use std::{
    path::{Path, PathBuf},
    process::Command,
};

use crate::browser::environment;

/// A terminal with a shell in it.
pub(crate) struct Terminal {
    tmux: PathBuf,
    /// Where its server listens; in the test's own directory, so that none meets another.
    socket: PathBuf,
}

impl Terminal {
    pub(crate) fn open(dir: &Path, (width, height): (u16, u16)) -> Self {
        let tmux = environment("tmux").join("bin/tmux");
        let terminal = Self { tmux, socket: dir.join("tmux.sock") };
        let (width, height) = (width.to_string(), height.to_string());
        let directory = dir.to_string_lossy();
        terminal.tell(&[
            "-f",
            "/dev/null",
            "new-session",
            "-d",
            "-x",
            &width,
            "-y",
            &height,
            "-c",
            &directory,
            "env",
            "PS1=ready> ",
            "TERM=tmux-256color",
            "sh",
        ]);
        terminal.wait("the shell", |screen| screen.contains("ready>"));
        terminal
    }

    fn tell(&self, args: &[&str]) -> String {
        let told = Command::new(&self.tmux).arg("-S").arg(&self.socket).args(args).output();
        let told = told.unwrap();
        assert!(told.status.success(), "{args:?}: {}", String::from_utf8_lossy(&told.stderr));
        String::from_utf8_lossy(&told.stdout).into_owned()
    }

    /// Writes all that is drawn from now on to a file.
    pub(crate) fn keep(&self, file: &Path) {
        self.tell(&["pipe-pane"]);
        self.tell(&["pipe-pane", &format!("cat > '{}'", file.display())]);
    }

    /// Types a line.
    pub(crate) fn type_line(&self, line: &str) {
        self.tell(&["send-keys", "-l", line]);
        self.press("Enter");
    }

    /// Presses a key, by tmux's name for it.
    pub(crate) fn press(&self, key: &str) {
        self.tell(&["send-keys", key]);
    }

    pub(crate) fn resize(&self, (width, height): (u16, u16)) {
        self.tell(&["resize-window", "-x", &width.to_string(), "-y", &height.to_string()]);
    }

    /// What it shows.
    pub(crate) fn screen(&self) -> String {
        self.tell(&["capture-pane", "-p"])
    }

    /// The process id of what its shell runs.
    pub(crate) fn child(&self) -> i32 {
        let shell = self.tell(&["display-message", "-p", "#{pane_pid}"]);
        let shell = shell.trim();
        let children = std::fs::read_to_string(format!("/proc/{shell}/task/{shell}/children"));
        children.unwrap().split_whitespace().next().unwrap().parse().unwrap()
    }

    /// Whether a program has taken the screen.
    pub(crate) fn is_taken(&self) -> bool {
        self.tell(&["display-message", "-p", "#{alternate_on}"]).trim() == "1"
    }

    /// Waits until it shows something. What never comes ends by the test's own limit; the last
    /// screen is printed when that is long in coming.
    pub(crate) fn wait(&self, what: &str, mut is_there: impl FnMut(&str) -> bool) -> String {
        for looked in 0_u64.. {
            let screen = self.screen();
            if is_there(&screen) {
                return screen;
            }
            assert!(looked < 20_000, "waited for {what}:\n{screen}");
        }
        unreachable!("the loop has no end")
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = Command::new(&self.tmux).arg("-S").arg(&self.socket).arg("kill-server").output();
    }
}
