//! The files that we write ourselves: run directories, traces, logs. One way to them, so that tests can
//! try what becomes of a run when any of them fails.

use std::{
    fs::{self, OpenOptions},
    io::{self, Write as _},
    path::Path,
};

use crate::torture::{Deed, strike};

/// A file that is being written.
#[derive(Debug)]
pub struct File {
    file: fs::File,
    name: String,
}

impl File {
    /// Makes a file, or empties the one that is there.
    pub fn create(path: &Path) -> io::Result<Self> {
        Self::open(path, OpenOptions::new().write(true).create(true).truncate(true))
    }

    /// Opens a file for what its options say.
    pub fn open(path: &Path, options: &OpenOptions) -> io::Result<Self> {
        strike(Deed::Create, path.display())?;
        Ok(Self { file: options.open(path)?, name: path.display().to_string() })
    }

    /// Waits until what was written would survive the machine.
    pub fn sync_data(&self) -> io::Result<()> {
        strike(Deed::Sync, &self.name)?;
        self.file.sync_data()
    }

    /// The file as the system has it.
    pub fn as_file(&mut self) -> &mut fs::File {
        &mut self.file
    }
}

impl io::Write for File {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if let Err(error) = strike(Deed::Store, &self.name) {
            // As a disk does that is full: part of it is there.
            self.file.write_all(&bytes[..bytes.len() / 2])?;
            return Err(error);
        }
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// Writes a whole file.
pub fn write(path: &Path, bytes: impl AsRef<[u8]>) -> io::Result<()> {
    File::create(path)?.write_all(bytes.as_ref())
}

/// Gives a file its name.
pub fn rename(from: &Path, to: &Path) -> io::Result<()> {
    strike(Deed::Rename, to.display())?;
    fs::rename(from, to)
}

/// Makes a directory that is not there yet.
pub fn create_dir(path: &Path) -> io::Result<()> {
    strike(Deed::Create, path.display())?;
    fs::create_dir(path)
}

/// Makes a directory and those around it, as far as they are missing.
pub fn create_dir_all(path: &Path) -> io::Result<()> {
    strike(Deed::Create, path.display())?;
    fs::create_dir_all(path)
}
