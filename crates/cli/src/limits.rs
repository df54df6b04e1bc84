//! Many connections need many file descriptors: ask for as many as we are allowed.

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
