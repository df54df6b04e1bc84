//! A table for each kind of file that people write.

use super::File;

/// All of them.
pub(super) const FILES: &[File] = &[];
