//! How the mock misbehaves.

use std::{fmt, str::FromStr};

use mcp_loadtest_core::hint::{Hint, nearest};
use thiserror::Error;

/// What is wrong with the mock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Fault {
    /// Nothing.
    #[default]
    None,
    /// The first `tools/call` wedges the whole server, as an import under a lock does: what came
    /// before it works, nothing is answered after it.
    LazyInitDeadlock,
}

impl Fault {
    /// All of them, the healthy one first.
    pub const ALL: [Self; 2] = [Self::None, Self::LazyInitDeadlock];

    /// The word for it in flags and files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::LazyInitDeadlock => "lazy-init-deadlock",
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A word that names no fault.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{0}` is not a fault of the mock")]
pub struct UnknownFault(pub String);

impl Hint for UnknownFault {
    fn hint(&self) -> Option<String> {
        let known = Fault::ALL.map(Fault::as_str);
        Some(match nearest(&self.0, known) {
            Some(name) => format!("did you mean `{name}`?"),
            None => format!("use one of {}", known.join(", ")),
        })
    }
}

impl FromStr for Fault {
    type Err = UnknownFault;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|fault| fault.as_str() == text)
            .ok_or_else(|| UnknownFault(text.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_fault_reads_back() {
        for fault in Fault::ALL {
            assert_eq!(fault.to_string().parse(), Ok(fault));
        }
    }

    #[test]
    fn a_misspelt_fault_is_told_what_was_meant() {
        let hint = |text: &str| text.parse::<Fault>().unwrap_err().hint().unwrap();
        assert_eq!(hint("lazy-init-deadlok"), "did you mean `lazy-init-deadlock`?");
        assert_eq!(hint("zzzzzzzz"), "use one of none, lazy-init-deadlock");
    }
}
