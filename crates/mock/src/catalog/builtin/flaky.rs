//! Fails now and then, in a way that can be repeated.
//!
//! With a seed, a call is decided by `(seed, call_id)` alone, on every machine: the roll is the first
//! number of a generator that is fed with two hashes of them. See `pcg`.

use std::{
    collections::{HashMap, VecDeque},
    hash::{BuildHasher as _, RandomState},
    sync::{Mutex, PoisonError},
};

use serde_json::json;

use super::{
    pcg::{Pcg, fnv1a},
    whole,
};
use crate::{
    catalog::tool::{Call, Tool, listing},
    mcp::{
        refusal::{Refusal, code},
        result::{CallResult, Outcome},
    },
};

/// How many keys are remembered; beyond that the oldest is forgotten.
const MOST_KEYS: usize = 100_000;

pub(super) fn tool() -> Tool {
    let properties = json!({
        "fail_rate": { "type": "number", "description": "How many of all calls fail, 0 to 1." },
        "seed": { "type": "string", "description": "The same seed and call_id give the same roll." },
        "call_id": { "type": "integer", "description": "Which call of the seed [default: 0]." },
        "mode": {
            "type": "string",
            "enum": ["roll", "fail_first", "burst"],
            "description": "roll (default): by chance; fail_first: the first `n` attempts of a `key` \
                            fail; burst: of every `period` calls of a `key`, the first `n` fail.",
        },
        "n": { "type": "integer", "minimum": 0, "description": "How many fail [default: 1]." },
        "period": { "type": "integer", "minimum": 1, "description": "For burst [default: 10]." },
        "key": { "type": "string", "description": "What attempts are counted by [default: the seed]." },
    });
    let description =
        "Fails with a probability, by seed and call, or for the first attempts of a key.";
    let attempts = Attempts::default();
    Tool::now(listing("flaky", description, properties, &[]), move |call| decide(call, &attempts))
}

fn decide(call: &Call<'_>, attempts: &Attempts) -> Outcome {
    let arguments = call.arguments;
    let seed = arguments["seed"].as_str().unwrap_or_default();
    let count = |key: &str| whole(&arguments[key]).and_then(|number| u64::try_from(number).ok());
    let n = count("n").unwrap_or(1);
    let key = || arguments["key"].as_str().unwrap_or(seed);
    match arguments["mode"].as_str() {
        Some("fail_first") => attempt(attempts.next(key()), n, u64::MAX),
        Some("burst") => attempt(attempts.next(key()), n, count("period").unwrap_or(10)),
        _ => match arguments["fail_rate"].as_f64() {
            Some(rate) => chance(rate, roll(seed, whole(&arguments["call_id"]).unwrap_or(0))),
            None => Refusal::invalid_params("`fail_rate` is missing").into(),
        },
    }
}

fn chance(rate: f64, roll: f64) -> Outcome {
    let rate = rate.clamp(0.0, 1.0);
    if roll < rate {
        return failed(format!("flaky failure (roll={roll:.4} < rate={rate:.4})"));
    }
    CallResult::value(&json!({ "fail_rate": rate, "failed": false, "roll": roll })).into()
}

fn attempt(attempt: u64, n: u64, period: u64) -> Outcome {
    if attempt % period < n {
        return failed(format!("flaky failure (attempt={}, n={n})", attempt + 1));
    }
    CallResult::value(&json!({ "attempt": attempt + 1, "failed": false })).into()
}

fn failed(message: String) -> Outcome {
    Outcome::Refused(Refusal::new(code::INTERNAL_ERROR, message), Some("protocol"))
}

/// The roll of a call. Without a seed it is a new one each time.
fn roll(seed: &str, call_id: i64) -> f64 {
    let (high, low) = match seed {
        "" => (entropy(), entropy()),
        _ => (fnv1a(&format!("{seed}|{call_id}")), fnv1a(&format!("salt|{seed}|{call_id}"))),
    };
    Pcg::new(high, low).unit()
}

/// Bits that nobody can foresee: the standard library seeds its hashers from the system.
pub(crate) fn entropy() -> u64 {
    RandomState::new().hash_one(0)
}

/// How often each key was tried.
#[derive(Default)]
struct Attempts {
    counts: Mutex<(HashMap<String, u64>, VecDeque<String>)>,
}

impl Attempts {
    /// How often the key was tried before.
    fn next(&self, key: &str) -> u64 {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let (by_key, order) = &mut *counts;
        if let Some(count) = by_key.get_mut(key) {
            *count += 1;
            return *count;
        }
        if order.len() >= MOST_KEYS
            && let Some(oldest) = order.pop_front()
        {
            by_key.remove(&oldest);
        }
        by_key.insert(key.to_owned(), 0);
        order.push_back(key.to_owned());
        0
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::{
        super::tests::{call, result},
        *,
    };

    fn fails(tool: &Tool, arguments: Value) -> bool {
        matches!(call(tool, arguments), Outcome::Refused(..))
    }

    /// Seed, call, and the roll that other servers of this kind give.
    #[test]
    fn rolls_are_the_same_everywhere() {
        let vectors = include_str!("flaky_vectors.tsv");
        for line in vectors.lines().skip(1) {
            let [seed, call_id, high, low, first, unit, rounded] =
                line.split('\t').collect::<Vec<_>>().try_into().unwrap();
            let id: i64 = call_id.parse().unwrap();
            let hex = |text: &str| u64::from_str_radix(text, 16).unwrap();
            assert_eq!(fnv1a(&format!("{seed}|{id}")), hex(high), "{line}");
            assert_eq!(fnv1a(&format!("salt|{seed}|{id}")), hex(low), "{line}");
            assert_eq!(Pcg::new(hex(high), hex(low)).next(), hex(first), "{line}");
            assert_eq!(roll(seed, id), unit.parse::<f64>().unwrap(), "{line}");
            assert_eq!(format!("{:.4}", roll(seed, id)), rounded, "{line}");
        }
        assert!(vectors.lines().count() > 30);
    }

    #[test]
    fn the_calls_that_fail_are_known_beforehand() {
        let tool = tool();
        let failing = |seed: &str| -> Vec<i64> {
            let arguments = |id: &i64| json!({"fail_rate": 0.5, "seed": seed, "call_id": id});
            (0..20).filter(|id| fails(&tool, arguments(id))).collect()
        };
        assert_eq!(failing("test"), [0, 1, 5, 7, 8, 9, 10, 11, 14, 15, 16, 17, 18, 19]);
        assert_eq!(failing("abc"), [6, 7, 9, 10, 13, 19]);
    }

    #[test]
    fn a_failure_says_its_roll() {
        let arguments = json!({"fail_rate": 7, "seed": "abc", "call_id": 1});
        let Outcome::Refused(refusal, _) = call(&tool(), arguments) else { panic!() };
        assert_eq!(refusal.message, "flaky failure (roll=0.5675 < rate=1.0000)");
        let good = result(call(&tool(), json!({"fail_rate": -1, "seed": "abc", "call_id": 1})));
        let told: Value = serde_json::from_str(good.structured.unwrap().get()).unwrap();
        assert_eq!((&told["failed"], &told["fail_rate"]), (&json!(false), &json!(0.0)));
    }

    #[test]
    fn the_first_attempts_of_a_key_fail() {
        let tool = tool();
        let arguments = |key: &str| json!({"mode": "fail_first", "n": 2, "key": key});
        let tried: Vec<_> = (0..4).map(|_| fails(&tool, arguments("a"))).collect();
        assert_eq!(tried, [true, true, false, false]);
        assert!(fails(&tool, arguments("b")));
    }

    #[test]
    fn bursts_come_again() {
        let tool = tool();
        let arguments = json!({"mode": "burst", "n": 2, "period": 5, "key": "k"});
        let tried: Vec<_> = (0..10).map(|_| fails(&tool, arguments.clone())).collect();
        let period = [true, true, false, false, false];
        assert_eq!(tried, [period, period].concat());
    }

    #[test]
    fn without_a_seed_it_is_chance() {
        let tool = tool();
        let failed = (0..200).filter(|_| fails(&tool, json!({"fail_rate": 0.5}))).count();
        assert!((50..150).contains(&failed), "{failed} of 200");
    }
}
