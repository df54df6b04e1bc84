//! Which calls are the same call again.

use std::{
    collections::{HashMap, VecDeque},
    hash::{BuildHasher as _, RandomState},
    sync::{Mutex, PoisonError},
};

/// How many different calls are remembered. The oldest is forgotten first: if it comes again after
/// so many others, it counts as new.
const REMEMBERED: usize = 65_536;

/// Counts calls by the hash of what makes them the same.
#[derive(Debug, Default)]
pub(super) struct Attempts {
    hasher: RandomState,
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    counts: HashMap<u64, u32>,
    order: VecDeque<u64>,
}

impl Attempts {
    /// How often this call has come, this time included.
    pub(super) fn count(&self, method: &str, tool: &str, arguments: &str) -> u32 {
        let hash = self.hasher.hash_one((method, tool, arguments));
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(count) = seen.counts.get_mut(&hash) {
            *count = count.saturating_add(1);
            return *count;
        }
        if seen.order.len() == REMEMBERED
            && let Some(oldest) = seen.order.pop_front()
        {
            seen.counts.remove(&oldest);
        }
        seen.order.push_back(hash);
        seen.counts.insert(hash, 1);
        1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_call_is_counted_whoever_makes_it() {
        let attempts = Attempts::default();
        assert_eq!(attempts.count("tools/call", "echo", r#"{"a":1}"#), 1);
        assert_eq!(attempts.count("tools/call", "echo", r#"{"a":2}"#), 1);
        assert_eq!(attempts.count("tools/call", "echo", r#"{"a":1}"#), 2);
        assert_eq!(attempts.count("tools/call", "sum", r#"{"a":1}"#), 1);
    }

    #[test]
    fn memory_is_bounded_and_the_oldest_is_forgotten() {
        let attempts = Attempts::default();
        for call in 0..=REMEMBERED {
            attempts.count("tools/call", "echo", &call.to_string());
        }
        assert_eq!(attempts.seen.lock().unwrap().counts.len(), REMEMBERED);
        let last = REMEMBERED.to_string();
        assert_eq!(attempts.count("tools/call", "echo", "0"), 1, "forgotten");
        assert_eq!(attempts.count("tools/call", "echo", &last), 2, "remembered");
    }
}
