//! The exit codes of the commands. They are part of the interface and change only with a major
//! version.

use serde::{Deserialize, Serialize};

/// How a command ended, as the shell sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Exit {
    /// Everything asked for was done and nothing was found wrong.
    Pass,
    /// A gate failed or a bug was found.
    Fail,
    /// Bad usage or configuration, or the server could not be started or reached.
    Usage,
    /// Interrupted by a signal; what had been measured was written.
    Interrupted,
    /// The code that a fault asked for, or that of a program that we stood in for.
    As(u8),
}

impl Exit {
    /// Everything asked for was done and nothing was found wrong.
    pub const PASS: u8 = 0;
    /// A gate failed or a bug was found, or the run is not valid.
    pub const FAIL: u8 = 1;
    /// Bad usage or configuration, or the server could not be started or reached.
    pub const USAGE: u8 = 2;
    /// Interrupted (Ctrl-C or SIGTERM).
    pub const INTERRUPTED: u8 = 130;

    /// What each code means, for people.
    pub const CODES: [(u8, &'static str); 4] = [
        (
            Self::PASS,
            "everything asked for was done; no gate failed and no bug was found (warnings may stand)",
        ),
        (
            Self::FAIL,
            "a gate failed or a bug was found; of `doctor`: something that it looked at does not work",
        ),
        (Self::USAGE, "bad usage or configuration, or the server could not be started or reached"),
        (Self::INTERRUPTED, "interrupted; what had been measured was written"),
    ];

    /// The commands that end otherwise, and with which code.
    pub const OTHERWISE: [(&'static str, &'static str); 3] = [
        (
            "`proxy -- COMMAND`, `llm -- COMMAND`",
            "the code of COMMAND, or 128 and the number of the signal that ended it",
        ),
        ("`mock` and `proxy`, after `--fault crash:CODE`", "CODE"),
        (
            "`mock`, `proxy`, `serve`, `llm` and `audit tail --follow`, on Ctrl-C",
            "0: to be told to stop is how they end; `llm -- COMMAND` ends with 130",
        ),
    ];

    /// The number that the shell sees.
    pub const fn code(self) -> u8 {
        match self {
            Self::Pass => Self::PASS,
            Self::Fail => Self::FAIL,
            Self::Usage => Self::USAGE,
            Self::Interrupted => Self::INTERRUPTED,
            Self::As(code) => code,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_are_those_of_the_interface() {
        let all = [Exit::Pass, Exit::Fail, Exit::Usage, Exit::Interrupted, Exit::As(7)];
        assert_eq!(all.map(Exit::code), [0, 1, 2, 130, 7]);
        assert_eq!(Exit::CODES.map(|(code, _)| code), [0, 1, 2, 130]);
    }
}
