//! The points at which tests make the system fail us: the k-th read, write, spawn, rename… of a process
//! is an error. See docs/design/torture.md.
//!
//! Without the feature `torture` nothing is counted and nothing fails: [`strike`] is empty.

#[cfg(feature = "torture")]
mod armed;

use std::{fmt::Display, io};

#[cfg(feature = "torture")]
pub use armed::{NotATorture, Torture, arm};

/// What the system does for us, and may refuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Deed {
    /// Bytes of a pipe or a socket.
    Read,
    /// Bytes for a pipe or a socket.
    Write,
    /// A process or a thread.
    Spawn,
    /// A connection.
    Connect,
    /// A file, a directory or a runtime.
    Create,
    /// Bytes for a file.
    Store,
    /// A file that is to outlive the machine.
    Sync,
    /// A file that gets its name.
    Rename,
}

/// Fails if this is the one that was chosen to fail. To be asked right before the deed, or right after
/// one that may have to wait.
#[inline]
pub fn strike(deed: Deed, place: impl Display) -> io::Result<()> {
    #[cfg(feature = "torture")]
    return armed::strike(deed, &place);
    #[cfg(not(feature = "torture"))]
    {
        let _ = (deed, place);
        Ok(())
    }
}
