//! Where both threads write.

use std::{
    io::{self, Write},
    sync::{Mutex, MutexGuard, PoisonError},
};

/// The client's end of the line. A fault may close it while the client still talks.
pub(super) struct Output<W>(Mutex<Option<W>>);

impl<W: Write> Output<W> {
    pub(super) fn new(output: W) -> Self {
        Self(Mutex::new(Some(output)))
    }

    /// The line belongs to whoever writes until they are done: bytes of two messages must not mix.
    pub(super) fn write(&self, write: impl FnOnce(&mut W) -> io::Result<()>) -> io::Result<()> {
        match &mut *self.lock() {
            Some(output) => write(output).and_then(|()| output.flush()),
            None => Err(io::ErrorKind::BrokenPipe.into()),
        }
    }

    /// Nothing more is written.
    pub(super) fn close(&self) {
        *self.lock() = None;
    }

    fn lock(&self) -> MutexGuard<'_, Option<W>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
