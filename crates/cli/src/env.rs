//! The door to the process: arguments, variables, streams, directories. Nothing else reads them.

use std::{
    ffi::OsString,
    io::{self, IsTerminal as _, Write},
    path::{Path, PathBuf},
};

use anstream::StripStream;
use clap::ValueEnum;
use mcp_loadtest_core::{report::terminal::Signs, secrets::Secrets};

/// When to colour what is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Default)]
pub enum Color {
    /// On a terminal that wants it.
    #[default]
    Auto,
    /// Always.
    Always,
    /// Never.
    Never,
}

/// One output stream.
pub struct Stream {
    write: Box<dyn Write + Send>,
    is_terminal: bool,
    color: bool,
    failed: Option<io::Error>,
}

impl Stream {
    fn print(&mut self, text: &str) {
        let written = if self.color {
            self.write.write_all(text.as_bytes())
        } else {
            StripStream::new(&mut *self.write).write_all(text.as_bytes())
        };
        if let Err(error) = written.and_then(|()| self.write.flush()) {
            self.failed.get_or_insert(error);
        }
    }
}

/// Looks an environment variable up.
pub type Lookup = Box<dyn Fn(&str) -> Option<String> + Send>;

/// The process, as commands see it.
pub struct Env {
    /// The command line, the program's name first.
    pub args: Vec<OsString>,
    /// Looks a variable up.
    pub var: Lookup,
    /// The working directory.
    pub cwd: PathBuf,
    /// This program, to start itself as a mock.
    pub program: PathBuf,
    stdout: Stream,
    stderr: Stream,
    secrets: Secrets,
}

impl Env {
    /// The real process.
    #[expect(clippy::disallowed_methods, reason = "this is the door")]
    pub fn from_process() -> Self {
        let var = |name: &str| std::env::var(name).ok();
        Self {
            args: std::env::args_os().collect(),
            var: Box::new(var),
            cwd: std::env::current_dir().unwrap_or_default(),
            program: std::env::current_exe().unwrap_or_default(),
            stdout: Stream {
                is_terminal: io::stdout().is_terminal(),
                write: Box::new(io::stdout()),
                color: false,
                failed: None,
            },
            stderr: Stream {
                is_terminal: io::stderr().is_terminal(),
                write: Box::new(io::stderr()),
                color: false,
                failed: None,
            },
            secrets: Secrets::default(),
        }
    }

    /// A process for tests: nothing inherited, everything captured.
    pub fn for_tests(
        args: &[&str],
        cwd: PathBuf,
        program: PathBuf,
        stdout: Box<dyn Write + Send>,
        stderr: Box<dyn Write + Send>,
    ) -> Self {
        let args = std::iter::once("mcp-loadtest").chain(args.iter().copied()).map(OsString::from);
        Self {
            args: args.collect(),
            var: Box::new(|_| None),
            cwd,
            program,
            stdout: Stream { write: stdout, is_terminal: false, color: false, failed: None },
            stderr: Stream { write: stderr, is_terminal: false, color: false, failed: None },
            secrets: Secrets::default(),
        }
    }

    /// Decides about colours, as `NO_COLOR`, `CLICOLOR_FORCE` and the terminals say.
    pub fn set_color(&mut self, color: Color) {
        let set =
            |name: &str| (self.var)(name).is_some_and(|value| !value.is_empty() && value != "0");
        let forced = set("CLICOLOR_FORCE") || set("FORCE_COLOR");
        let refused = (self.var)("NO_COLOR").is_some_and(|value| !value.is_empty())
            || (self.var)("TERM").is_some_and(|term| term == "dumb");
        let wanted = |is_terminal: bool| match color {
            Color::Always => true,
            Color::Never => false,
            Color::Auto => !refused && (forced || is_terminal),
        };
        (self.stdout.color, self.stderr.color) =
            (wanted(self.stdout.is_terminal), wanted(self.stderr.is_terminal));
    }

    /// Keeps these out of all that is printed and written from now on.
    pub(crate) fn keep(&mut self, secrets: &Secrets) {
        self.secrets = self.secrets.and(secrets);
    }

    /// What is kept out of all that is printed and written.
    pub(crate) fn secrets(&self) -> &Secrets {
        &self.secrets
    }

    /// Prints data.
    pub fn out(&mut self, text: &str) {
        self.stdout.print(&self.secrets.text(text));
    }

    /// Prints data as one JSON document that does no harm to a terminal.
    pub fn out_json(&mut self, value: &impl serde::Serialize) {
        let text = serde_json::to_string_pretty(value).unwrap_or_default();
        self.out(&(mcp_loadtest_core::display::json(&text) + "\n"));
    }

    /// Prints talk.
    pub fn err(&mut self, text: &str) {
        self.stderr.print(&self.secrets.text(text));
    }

    /// Why what was printed did not arrive. A reader that went away (`| head`) is no reason to fail.
    pub fn write_error(&self) -> Option<String> {
        let error = self.stdout.failed.as_ref()?;
        (error.kind() != io::ErrorKind::BrokenPipe).then(|| error.to_string())
    }

    /// Whether what is printed no longer arrives, as after `| head`: whoever prints on and on may stop.
    pub fn is_unread(&self) -> bool {
        self.stdout.failed.is_some()
    }

    /// Whether somebody looks at stderr.
    pub fn has_audience(&self) -> bool {
        self.stderr.is_terminal
    }

    /// What small plots on stdout are made of: blocks where somebody looks who can see them.
    pub(crate) fn signs(&self) -> Signs {
        let set = |name: &&str| (self.var)(name).filter(|value| !value.is_empty());
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].iter().find_map(set).unwrap_or_default();
        let locale = locale.to_ascii_lowercase();
        let knows_blocks = locale.contains("utf-8") || locale.contains("utf8");
        if self.stdout.is_terminal && knows_blocks { Signs::Blocks } else { Signs::Ascii }
    }

    /// A terminal to draw on, and whether in colour; nothing where nobody looks.
    pub(crate) fn screen(&self) -> Option<(io::Stderr, bool)> {
        self.stderr.is_terminal.then(|| (io::stderr(), self.stderr.color))
    }

    /// A path as the user wrote it, from the working directory.
    pub fn path(&self, written: &Path) -> PathBuf {
        // Collecting the components takes the `./` out of the middle.
        self.cwd.join(written).components().collect()
    }

    /// The user's home directory.
    pub fn home(&self) -> Option<PathBuf> {
        (self.var)("HOME").or_else(|| (self.var)("USERPROFILE")).map(PathBuf::from)
    }
}
