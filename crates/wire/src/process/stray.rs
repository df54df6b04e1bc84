//! A process that was left behind by a server.

/// A process that a server started and that was still there after the server had ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stray {
    /// Its number.
    pub pid: u32,
    /// Its command line, cut to a kilobyte. Raw: whoever shows it must make it safe.
    pub command_line: String,
}

/// How much of a command line is kept.
pub(super) const COMMAND_LINE_LIMIT: usize = 1024;
