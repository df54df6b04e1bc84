//! The counters, and the one that fails. They belong to the process: threads of a run share nothing
//! else, and what is counted is what the system does for all of them.

use std::{
    fmt::Display,
    fs::File,
    io::{self, Write as _},
    path::Path,
    str::FromStr,
    sync::{Mutex, OnceLock, PoisonError},
};

use thiserror::Error;

use super::Deed;

impl Deed {
    /// All of them, in the order of the enum.
    pub const ALL: [Self; 8] = [
        Self::Read,
        Self::Write,
        Self::Spawn,
        Self::Connect,
        Self::Create,
        Self::Store,
        Self::Sync,
        Self::Rename,
    ];

    /// Its word in `MCP_LOADTEST_TORTURE` and in the log.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Spawn => "spawn",
            Self::Connect => "connect",
            Self::Create => "create",
            Self::Store => "store",
            Self::Sync => "sync",
            Self::Rename => "rename",
        }
    }
}

/// Which deed fails; none where only the log is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Torture(Option<(Deed, u64)>);

/// A text that is no torture.
#[derive(Debug, Error)]
#[error("`{0}` is no torture; write `count`, or a deed and its number as in `write:17`")]
pub struct NotATorture(String);

impl FromStr for Torture {
    type Err = NotATorture;

    fn from_str(text: &str) -> Result<Self, NotATorture> {
        if text == "count" {
            return Ok(Self(None));
        }
        let (word, number) = text.split_once(':').ok_or_else(|| NotATorture(text.into()))?;
        let deed = Deed::ALL.into_iter().find(|deed| deed.as_str() == word);
        let number = number.parse::<u64>().ok().filter(|number| *number > 0);
        deed.zip(number).map(|chosen| Self(Some(chosen))).ok_or_else(|| NotATorture(text.into()))
    }
}

struct Armed {
    torture: Torture,
    counts: [u64; Deed::ALL.len()],
    log: File,
}

impl Armed {
    fn new(torture: Torture, log: &Path) -> io::Result<Self> {
        let log = File::options().create(true).append(true).open(log)?;
        Ok(Self { torture, counts: [0; Deed::ALL.len()], log })
    }

    fn strike(&mut self, deed: Deed, place: &dyn Display) -> io::Result<()> {
        self.counts[deed as usize] += 1;
        let number = self.counts[deed as usize];
        let fails = self.torture.0 == Some((deed, number));
        let end = if fails { "failed" } else { "done" };
        writeln!(self.log, "{} {number} {end} {place}", deed.as_str())?;
        if fails {
            return Err(io::Error::other(format!("tortured: {} {number}", deed.as_str())));
        }
        Ok(())
    }
}

static ARMED: OnceLock<Mutex<Armed>> = OnceLock::new();

/// Counts from now on, writes every deed to a log, and lets the chosen one fail. Only the first call
/// has an effect.
pub fn arm(torture: Torture, log: &Path) -> io::Result<()> {
    let armed = Armed::new(torture, log)?;
    ARMED.get_or_init(|| Mutex::new(armed));
    Ok(())
}

pub(super) fn strike(deed: Deed, place: &dyn Display) -> io::Result<()> {
    let Some(armed) = ARMED.get() else { return Ok(()) };
    armed.lock().unwrap_or_else(PoisonError::into_inner).strike(deed, place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_deed_and_its_number_are_read() {
        assert_eq!("count".parse::<Torture>().unwrap(), Torture(None));
        assert_eq!("write:17".parse::<Torture>().unwrap(), Torture(Some((Deed::Write, 17))));
        for wrong in ["", "write", "write:", "write:0", "write:-1", "wrote:1", "count:1"] {
            assert!(wrong.parse::<Torture>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn counters_have_the_places_of_their_deeds() {
        for (index, deed) in Deed::ALL.into_iter().enumerate() {
            assert_eq!(deed as usize, index);
        }
    }

    #[test]
    fn the_chosen_one_fails_and_no_other() {
        let dir = tempfile::tempdir().unwrap();
        let log = dir.path().join("log");
        let mut armed = Armed::new("store:2".parse().unwrap(), &log).unwrap();
        let ends = [1, 2, 3].map(|n| armed.strike(Deed::Store, &format!("file {n}")).is_ok());
        assert_eq!(ends, [true, false, true]);
        let text = std::fs::read_to_string(&log).unwrap();
        assert_eq!(text, "store 1 done file 1\nstore 2 failed file 2\nstore 3 done file 3\n");
    }
}
