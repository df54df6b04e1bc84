//! What a server wrote to stdout, kept up to a limit.

use std::{fs::OpenOptions, io::Write as _, path::Path};

use crate::disk::File;

/// How much of stdout is kept in `server.stdout.log`.
const CAPTURE_LIMIT: u64 = 4 << 20;

/// What the server wrote, kept up to a limit.
pub(crate) struct Capture {
    file: Option<File>,
    left: u64,
}

impl Capture {
    pub(crate) fn new(path: Option<&Path>) -> Self {
        let file = path
            .and_then(|path| File::open(path, OpenOptions::new().create(true).append(true)).ok());
        Self { file, left: CAPTURE_LIMIT }
    }

    pub(crate) fn take(&mut self, bytes: &[u8]) {
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
    }
}
