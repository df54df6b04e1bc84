//! What the system allows. Many connections need many file descriptors: as many as we may have are
//! asked for.

use std::path::Path;

/// How much of something the system gives us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Limit {
    /// So much.
    #[cfg_attr(not(unix), allow(dead_code, reason = "only Unix has such limits"))]
    At(u64),
    /// As much as there is.
    None,
}

/// Raises the soft limit of open files to the hard one. Where that fails, the default must do.
#[cfg(unix)]
pub(crate) fn raise_open_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
}

/// Elsewhere there is no such limit.
#[cfg(not(unix))]
pub(crate) fn raise_open_files() {}

/// How many files may be open at once.
#[cfg(unix)]
pub(crate) fn open_files() -> Limit {
    limit(rustix::process::Resource::Nofile)
}

/// How many processes a user may have.
#[cfg(unix)]
pub(crate) fn processes() -> Limit {
    limit(rustix::process::Resource::Nproc)
}

#[cfg(unix)]
fn limit(of: rustix::process::Resource) -> Limit {
    rustix::process::getrlimit(of).current.map_or(Limit::None, Limit::At)
}

/// How many files may be open at once.
#[cfg(not(unix))]
pub(crate) fn open_files() -> Limit {
    Limit::None
}

/// How many processes a user may have.
#[cfg(not(unix))]
pub(crate) fn processes() -> Limit {
    Limit::None
}

/// How many bytes may still be written in this directory.
#[cfg(unix)]
pub(crate) fn free_space(dir: &Path) -> Option<u64> {
    let disk = rustix::fs::statvfs(dir).ok()?;
    disk.f_bavail.checked_mul(disk.f_frsize)
}

/// How many bytes may still be written in this directory.
#[cfg(not(unix))]
pub(crate) fn free_space(_dir: &Path) -> Option<u64> {
    None
}

/// Whether we may write into this directory.
#[cfg(unix)]
pub(crate) fn is_writable(dir: &Path) -> Option<bool> {
    Some(rustix::fs::access(dir, rustix::fs::Access::WRITE_OK).is_ok())
}

/// Whether we may write into this directory.
#[cfg(not(unix))]
pub(crate) fn is_writable(_dir: &Path) -> Option<bool> {
    None
}
