//! How a process ended.

use std::fmt;
use std::process::ExitStatus;

use mcp_loadtest_core::server::MOST_PROCESSES;

/// How the end of a server reads that we ended while it was needed.
pub(crate) const FROM_US: &str = "SIGKILL from us";

/// How a process ended: with a code, by a signal, or in a way the system did not tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ExitInfo {
    /// The code it returned, if it ended by itself.
    pub code: Option<i32>,
    /// The signal that ended it, if one did. Always `None` on Windows.
    pub signal: Option<i32>,
    /// How many processes it had, where we ended it for that.
    pub crowd: Option<usize>,
}

impl ExitInfo {
    /// The system would not say: somebody else in this program reaped the process.
    pub(crate) const UNKNOWN: ExitInfo = ExitInfo { code: None, signal: None, crowd: None };

    /// Whether it ended by itself with code 0.
    pub fn success(&self) -> bool {
        self.code == Some(0)
    }
}

impl From<ExitStatus> for ExitInfo {
    fn from(status: ExitStatus) -> Self {
        #[cfg(unix)]
        let signal = std::os::unix::process::ExitStatusExt::signal(&status);
        #[cfg(not(unix))]
        let signal = None;
        ExitInfo { code: status.code(), signal, crowd: None }
    }
}

impl fmt::Display for ExitInfo {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(crowd) = self.crowd {
            return write!(f, "{FROM_US}, at {crowd} processes (at most {MOST_PROCESSES} may run)");
        }
        match (self.code, self.signal) {
            // Windows reports a crash as a code such as 0xC0000005, unreadable in decimal.
            (Some(code), _) if code < 0 => write!(f, "exit code {code} ({code:#010x})"),
            (Some(code), _) => write!(f, "exit code {code}"),
            (None, Some(signal)) => match signal_name(signal) {
                Some(name) => write!(f, "signal {signal} ({name})"),
                None => write!(f, "signal {signal}"),
            },
            (None, None) => f.write_str("ended, in a way the system did not tell"),
        }
    }
}

/// Names by number come from the platform, as the numbers differ between systems.
#[cfg(unix)]
fn signal_name(number: i32) -> Option<&'static str> {
    use rustix::process::Signal;
    const NAMES: &[(Signal, &str)] = &[
        (Signal::HUP, "SIGHUP"),
        (Signal::INT, "SIGINT"),
        (Signal::QUIT, "SIGQUIT"),
        (Signal::ILL, "SIGILL"),
        (Signal::TRAP, "SIGTRAP"),
        (Signal::ABORT, "SIGABRT"),
        (Signal::BUS, "SIGBUS"),
        (Signal::FPE, "SIGFPE"),
        (Signal::KILL, "SIGKILL"),
        (Signal::USR1, "SIGUSR1"),
        (Signal::SEGV, "SIGSEGV"),
        (Signal::USR2, "SIGUSR2"),
        (Signal::PIPE, "SIGPIPE"),
        (Signal::ALARM, "SIGALRM"),
        (Signal::TERM, "SIGTERM"),
        (Signal::XCPU, "SIGXCPU"),
        (Signal::XFSZ, "SIGXFSZ"),
        (Signal::VTALARM, "SIGVTALRM"),
        (Signal::PROF, "SIGPROF"),
        (Signal::SYS, "SIGSYS"),
    ];
    let known = NAMES.iter().find(|(signal, _)| signal.as_raw() == number);
    known.map(|(_, name)| *name)
}

#[cfg(not(unix))]
fn signal_name(_number: i32) -> Option<&'static str> {
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn endings_read_as_people_say_them() {
        let ended = |code, signal| ExitInfo { code, signal, crowd: None }.to_string();
        let crowded = ExitInfo { code: None, signal: Some(9), crowd: Some(700) };
        assert_eq!(crowded.to_string(), "SIGKILL from us, at 700 processes (at most 512 may run)");
        assert_eq!(ended(Some(1), None), "exit code 1");
        assert_eq!(ended(Some(-1073741819), None), "exit code -1073741819 (0xc0000005)");
        assert_eq!(ended(None, None), "ended, in a way the system did not tell");
        #[cfg(unix)]
        assert_eq!(ended(None, Some(9)), "signal 9 (SIGKILL)");
        #[cfg(unix)]
        assert_eq!(ended(None, Some(250)), "signal 250");
    }
}
