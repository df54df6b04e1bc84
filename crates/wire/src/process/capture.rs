//! What a server wrote to stdout, kept up to a limit.

use std::{
    fs::OpenOptions,
    io::{self, Write as _},
    path::Path,
    sync::{Arc, OnceLock},
};

use mcp_loadtest_core::secrets::Veil;

use crate::disk::File;

/// How much of stdout is kept in `server.stdout.log`.
const CAPTURE_LIMIT: u64 = 4 << 20;

/// What the server wrote, kept up to a limit.
pub(crate) struct Capture {
    file: Option<File>,
    veil: Veil,
    left: u64,
    trouble: Trouble,
}

/// Why the log is incomplete, if it is; for whoever ends the server.
pub(super) type Trouble = Arc<OnceLock<String>>;

impl Capture {
    pub(super) fn new(path: Option<&Path>, veil: Veil, trouble: Trouble) -> Self {
        let mut capture = Self { file: None, veil, left: CAPTURE_LIMIT, trouble };
        if let Some(path) = path {
            let opened = File::open(path, OpenOptions::new().create(true).append(true));
            capture.file = opened.map_err(|error| capture.tell(&error)).ok();
        }
        capture
    }

    fn tell(&self, error: &io::Error) {
        let _ = self.trouble.set(format!("the server's stdout could not be kept: {error}"));
    }

    pub(crate) fn take(&mut self, bytes: &[u8]) {
        if self.file.is_some() {
            let shown = self.veil.pass(bytes);
            self.keep(&shown);
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        let Some(file) = &mut self.file else { return };
        let part = &bytes[..bytes.len().min(self.left as usize)];
        self.left -= part.len() as u64;
        // The log is a convenience: a full disk must not end the run.
        let written = file.write_all(part);
        if self.left == 0 {
            let _ = file.write_all(b"\n[mcp-loadtest: the rest of stdout was not kept]\n");
        }
        if self.left == 0 || written.is_err() {
            self.file = None;
        }
        if let Err(error) = written {
            self.tell(&error);
        }
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        let rest = self.veil.end();
        self.keep(&rest);
    }
}
