//! A store as people write it: `sqlite:audit.db`, `postgres://…`, `calls.jsonl`, `none`.

use std::{fmt, path::Path, str::FromStr};

use mcp_loadtest_core::hint::{Hint, nearest};
use thiserror::Error;

use super::store::{Opened, STORES, Source, Store, StoreError};

/// Which store, and where.
#[derive(Clone)]
pub struct StoreSpec {
    store: &'static Store,
    place: String,
}

impl StoreSpec {
    /// Where the log goes when one is asked for and nothing is said about it.
    pub const DEFAULT: &str = "sqlite:mcp-loadtest-audit.db";

    /// The same store, with a relative path taken from this directory.
    #[must_use]
    pub fn in_dir(mut self, dir: &Path) -> Self {
        if self.store.is_file {
            self.place = dir.join(&self.place).to_string_lossy().into_owned();
        }
        self
    }

    /// Opens it for writing; nothing for `none`.
    pub(super) fn open(&self) -> Result<Option<Opened>, StoreError> {
        self.store.open.map(|open| open(&self.place)).transpose()
    }

    /// Opens a log that is there for reading. Nothing is made or changed.
    pub fn read(&self) -> Result<Box<dyn Source>, StoreError> {
        (self.store.read)(&self.place)
    }
}

impl fmt::Display for StoreSpec {
    /// As it may be shown: without a password.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&(self.store.show)(&self.place))
    }
}

impl fmt::Debug for StoreSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "StoreSpec({self})")
    }
}

/// A text that names no store.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum StoreSpecError {
    /// There is no such store.
    #[error("`{0}` is not a store for an audit log")]
    Unknown(String),
    /// A store that needs to be told where.
    #[error("`{0}:` does not say which file")]
    NoPlace(&'static str),
}

impl Hint for StoreSpecError {
    fn hint(&self) -> Option<String> {
        let forms = STORES.iter().map(|store| store.form).collect::<Vec<_>>().join(", ");
        Some(match self {
            Self::NoPlace(name) => format!("write `{name}:PATH`"),
            Self::Unknown(text) => {
                let word = text.split(':').next().unwrap_or_default();
                match nearest(word, STORES.iter().map(|store| store.name)) {
                    Some(name) if name != word => {
                        format!("did you mean `{name}`? use one of {forms}")
                    }
                    _ => format!("use one of {forms}"),
                }
            }
        })
    }
}

impl FromStr for StoreSpec {
    type Err = StoreSpecError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let found = STORES.iter().find_map(|store| Some((store, (store.place)(text)?)));
        let (store, place) = found.ok_or_else(|| StoreSpecError::Unknown(text.to_owned()))?;
        if store.is_file && place.is_empty() {
            return Err(StoreSpecError::NoPlace(store.name));
        }
        Ok(Self { store, place: place.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_store_is_known_by_its_word_or_by_the_end_of_its_path() {
        let cases = [
            ("memory", "memory"),
            ("none", "none"),
            ("sqlite:a b.txt", "sqlite:a b.txt"),
            ("dir/x.db", "sqlite:dir/x.db"),
            ("x.sqlite", "sqlite:x.sqlite"),
            ("x.jsonl", "jsonl:x.jsonl"),
            ("postgres://ann:pw@host/db", "postgres://ann:***@host/db"),
            ("postgresql://host/db?user=a&password=b", "postgresql://host/db?user=a&password=***"),
            (StoreSpec::DEFAULT, StoreSpec::DEFAULT),
        ];
        for (text, shown) in cases {
            assert_eq!(text.parse::<StoreSpec>().unwrap().to_string(), shown, "{text}");
        }
    }

    #[test]
    fn relative_paths_are_taken_from_a_directory() {
        let at =
            |text: &str| text.parse::<StoreSpec>().unwrap().in_dir("/logs".as_ref()).to_string();
        assert_eq!(at("sqlite:x"), "sqlite:/logs/x");
        assert_eq!(at("/a/x.jsonl"), "jsonl:/a/x.jsonl");
        assert_eq!(at("memory"), "memory");
    }

    #[test]
    fn what_is_no_store_is_told_what_is_one() {
        let hint = |text: &str| text.parse::<StoreSpec>().unwrap_err().hint().unwrap();
        assert!(hint("sqlit:x").starts_with("did you mean `sqlite`?"), "{}", hint("sqlit:x"));
        assert!(hint("mysql://x").contains("sqlite:PATH"), "{}", hint("mysql://x"));
        assert_eq!(hint("sqlite:"), "write `sqlite:PATH`");
    }
}
