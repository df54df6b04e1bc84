//! Buckets of requests and tokens, one pair for each API key: they empty with every request and fill
//! up again with time, so that what headers say is true.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
    time::Duration,
};

use mcp_loadtest_core::llm::{Limits, Provider};

use crate::audit::Timestamp;

/// Keys beyond this share one bucket: a client could invent them for ever.
const MOST_KEYS: usize = 10_000;

/// The buckets of all keys.
#[derive(Debug)]
pub(super) struct Buckets {
    limits: Limits,
    keys: Mutex<HashMap<u64, Pair>>,
}

#[derive(Debug, Clone, Copy)]
struct Pair {
    requests: f64,
    tokens: f64,
    at: Duration,
}

/// What is left, and how long until everything is there again.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Left {
    pub(super) requests: Option<Level>,
    pub(super) tokens: Option<Level>,
}

/// One bucket.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Level {
    pub(super) limit: u32,
    pub(super) left: u32,
    pub(super) full_in: Duration,
}

impl Buckets {
    pub(super) fn new(limits: Limits) -> Self {
        Self { limits, keys: Mutex::default() }
    }

    /// Takes one request with so many tokens out of the buckets of a key. `Err`: how long it takes
    /// until there is enough.
    pub(super) fn take(
        &self,
        key: u64,
        tokens: u64,
        now: Duration,
    ) -> Result<Left, (Duration, Left)> {
        if self.limits == Limits::default() {
            return Ok(Left { requests: None, tokens: None });
        }
        let mut keys = self.keys.lock().unwrap_or_else(PoisonError::into_inner);
        let key = if keys.len() >= MOST_KEYS && !keys.contains_key(&key) { 0 } else { key };
        let full = Pair {
            requests: self.limits.requests_per_minute.map_or(0.0, f64::from),
            tokens: self.limits.tokens_per_minute.map_or(0.0, f64::from),
            at: now,
        };
        let pair = keys.entry(key).or_insert(full);
        let passed = now.saturating_sub(pair.at).as_secs_f64() / 60.0;
        pair.requests = (pair.requests + full.requests * passed).min(full.requests);
        pair.tokens = (pair.tokens + full.tokens * passed).min(full.tokens);
        pair.at = now;
        let tokens = tokens as f64;
        let wait = [
            missing(1.0, pair.requests, full.requests),
            // A request larger than the whole bucket is let through when the bucket is full.
            missing(tokens.min(full.tokens), pair.tokens, full.tokens),
        ];
        let wait = wait.into_iter().flatten().max();
        if wait.is_none() {
            pair.requests -= 1.0;
            pair.tokens -= tokens.min(full.tokens);
        }
        let left = self.left(*pair);
        wait.map_or(Ok(left), |wait| Err((wait, left)))
    }

    fn left(&self, pair: Pair) -> Left {
        let level = |limit: Option<u32>, left: f64| {
            let limit = limit?;
            let missing = (f64::from(limit) - left).max(0.0);
            let full_in = Duration::from_secs_f64(missing * 60.0 / f64::from(limit));
            Some(Level { limit, left: left.max(0.0) as u32, full_in })
        };
        Left {
            requests: level(self.limits.requests_per_minute, pair.requests),
            tokens: level(self.limits.tokens_per_minute, pair.tokens),
        }
    }
}

/// How long until there is enough in a bucket; nothing where there is, or where there is no limit.
fn missing(wanted: f64, there: f64, a_minute: f64) -> Option<Duration> {
    (a_minute > 0.0 && wanted > there)
        .then(|| Duration::from_secs_f64((wanted - there) * 60.0 / a_minute))
}

/// The moment of the wall clock that is so far away, as Anthropic writes it.
pub(super) fn moment_in(wait: Duration) -> String {
    let micros = i64::try_from(wait.as_micros()).unwrap_or_default();
    Timestamp(Timestamp::now().0.saturating_add(micros)).to_string()
}

impl Left {
    /// The headers in which a provider tells it.
    pub(super) fn headers(&self, provider: Provider, out: &mut Vec<(String, String)>) {
        let prefix = match provider {
            Provider::Openai | Provider::Responses => "x-ratelimit",
            Provider::Anthropic => "anthropic-ratelimit",
            // Google tells it in the bodies of errors.
            Provider::Gemini => return,
        };
        for (what, level) in [("requests", self.requests), ("tokens", self.tokens)] {
            let Some(Level { limit, left, full_in }) = level else { continue };
            let reset = match provider {
                Provider::Anthropic => moment_in(full_in),
                _ => format!("{}ms", full_in.as_millis()),
            };
            let values =
                [("limit", limit.to_string()), ("remaining", left.to_string()), ("reset", reset)];
            for (word, value) in values {
                let name = match provider {
                    Provider::Anthropic => format!("{prefix}-{what}-{word}"),
                    _ => format!("{prefix}-{word}-{what}"),
                };
                out.push((name, value));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn buckets(requests: u32, tokens: u32) -> Buckets {
        Buckets::new(Limits {
            requests_per_minute: Some(requests),
            tokens_per_minute: Some(tokens),
        })
    }

    #[test]
    fn what_is_told_is_true() {
        let buckets = buckets(2, 1_000);
        let second = Duration::from_secs;
        assert_eq!(buckets.take(1, 10, second(0)).unwrap().requests.unwrap().left, 1);
        assert_eq!(buckets.take(1, 10, second(0)).unwrap().requests.unwrap().left, 0);
        let (wait, left) = buckets.take(1, 10, second(0)).unwrap_err();
        assert_eq!((wait, left.requests.unwrap().left), (second(30), 0));
        assert!(buckets.take(2, 10, second(0)).is_ok(), "another key has its own");
        assert!(buckets.take(1, 10, second(29)).is_err());
        assert!(buckets.take(1, 10, second(31)).is_ok());
    }

    #[test]
    fn tokens_count_too() {
        let buckets = buckets(1_000, 60);
        assert!(buckets.take(1, 50, Duration::ZERO).is_ok());
        let (wait, _) = buckets.take(1, 20, Duration::ZERO).unwrap_err();
        assert_eq!(wait, Duration::from_secs(10));
    }
}
