//! The Python mocks.

use std::path::PathBuf;

use mcp_loadtest::Server;

/// The root of the repository.
pub(crate) fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// A mock over stdio, in the legacy era: its start costs one Python process.
pub(crate) fn mock(name: &str) -> Server {
    let script = root().join("tests/fixtures").join(name);
    assert!(script.is_file(), "{} is missing", script.display());
    let legacy = mcp_loadtest::Revision::V2025_11_25;
    Server::stdio("python3").arg(script.to_str().unwrap()).protocol(legacy).into()
}
