//! The variable by which our processes are known, however far they stray.
//!
//! Its value is a list `outer:inner` of markers, because a server under test may be one of ours
//! that starts servers itself: the outermost run must still recognise the innermost process.

use std::ffi::{OsStr, OsString};
use std::hash::BuildHasher;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

/// The environment variable that every process we start carries, and its descendants inherit.
pub const MARKER_VARIABLE: &str = "MCP_LOADTEST_RUN";

/// Runs inside runs inside runs stop being told apart when the list gets longer than this.
const LIST_LIMIT: usize = 1024;

/// The mark of one server: our token, a dot and a number.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Marker(String);

impl Marker {
    /// A marker that no other server has, of this process or any other.
    pub(super) fn unique() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Marker(format!("{}.{number}", token()))
    }

    /// What the server gets as [`MARKER_VARIABLE`], given what we got ourselves.
    pub(super) fn value_within(&self, outer: Option<&OsStr>) -> OsString {
        match outer {
            Some(outer) if !outer.is_empty() && outer.len() <= LIST_LIMIT => {
                let mut list = outer.to_owned();
                list.push(":");
                list.push(&self.0);
                list
            }
            _ => self.0.clone().into(),
        }
    }

    /// Whether a process with this value of [`MARKER_VARIABLE`] is one of ours.
    #[cfg(unix)]
    pub(super) fn is_in(&self, list: &[u8]) -> bool {
        list.split(|byte| *byte == b':').any(|marker| marker == self.0.as_bytes())
    }
}

/// What all markers of this process of ours begin with. The guard looks for it.
pub(super) fn token() -> &'static str {
    static TOKEN: OnceLock<String> = OnceLock::new();
    TOKEN.get_or_init(|| {
        let pid = std::process::id();
        // The keys of a `RandomState` come from the operating system. This is not `Seed`'s
        // business: a replayed run must still not be mistaken for the first one.
        let chance = std::collections::hash_map::RandomState::new().hash_one(pid);
        format!("{pid:x}-{chance:016x}")
    })
}

#[cfg(test)]
#[cfg(unix)]
mod tests {
    use super::*;

    #[test]
    fn a_marker_is_found_in_a_list_and_not_in_a_longer_number() {
        let marker = Marker("ab-01.1".into());
        assert!(marker.is_in(b"ab-01.1"));
        assert!(marker.is_in(b"ff-02.7:ab-01.1:cd-03.2"));
        assert!(!marker.is_in(b"ab-01.11"));
        assert!(!marker.is_in(b""));
    }

    #[test]
    fn a_run_inside_a_run_carries_both_markers() {
        let marker = Marker("in-1.1".into());
        assert_eq!(marker.value_within(None), "in-1.1");
        assert_eq!(marker.value_within(Some(OsStr::new("out-1.4"))), "out-1.4:in-1.1");
        let endless = "x".repeat(LIST_LIMIT + 1);
        assert_eq!(marker.value_within(Some(OsStr::new(&endless))), "in-1.1");
    }

    #[test]
    fn two_servers_have_two_markers_of_one_token() {
        let (one, two) = (Marker::unique(), Marker::unique());
        assert_ne!(one, two);
        assert!(one.0.starts_with(token()) && two.0.starts_with(token()));
    }
}
