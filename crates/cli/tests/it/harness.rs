//! Runs a command line in-process and captures what it prints.

use std::{
    io::{self, Write},
    path::{Path, PathBuf},
    sync::{Arc, Mutex},
};

use mcp_loadtest_cli::env::Env;

#[derive(Clone, Default)]
struct Captured(Arc<Mutex<Vec<u8>>>);

impl Write for Captured {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Captured {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

/// What a command did.
pub(crate) struct Ran {
    pub(crate) code: u8,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// Runs a command line in this directory.
pub(crate) fn run_in(dir: &Path, args: &[&str]) -> Ran {
    let (out, err) = (Captured::default(), Captured::default());
    let program = PathBuf::from(env!("CARGO_BIN_EXE_mcp-loadtest"));
    let env =
        Env::for_tests(args, dir.to_owned(), program, Box::new(out.clone()), Box::new(err.clone()));
    let code = mcp_loadtest_cli::run(env).code();
    Ran { code, out: out.text(), err: err.text() }
}

/// Runs a command line in a directory of its own.
pub(crate) fn run(args: &[&str]) -> Ran {
    run_in(tempfile::tempdir().unwrap().path(), args)
}

/// The command line of a Python mock.
pub(crate) fn mock(name: &str) -> String {
    let script = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/fixtures").join(name);
    format!("python3 {}", script.canonicalize().unwrap().display())
}
