//! Calls per second, as people write them: `500/s`, `30/m`.

use std::{fmt, str::FromStr, time::Duration};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use thiserror::Error;

use crate::hint::Hint;

/// How often something happens.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd)]
pub struct Rate(f64);

/// Why a rate could not be read.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{0}` is not a rate such as `500/s` or `30/m`")]
pub struct RateError(String);

impl Hint for RateError {
    fn hint(&self) -> Option<String> {
        Some("write calls per second, minute or hour, for example `500/s` or `30/m`".into())
    }
}

impl Rate {
    /// So many a second.
    pub const fn per_second(count: f64) -> Self {
        Self(count)
    }

    /// How many a second.
    pub const fn get(self) -> f64 {
        self.0
    }

    /// The time from one to the next.
    pub fn gap(self) -> Duration {
        Duration::try_from_secs_f64(1.0 / self.0).unwrap_or(Duration::MAX)
    }

    /// Whether something happens at all, and not infinitely often.
    pub fn is_usable(self) -> bool {
        self.0.is_finite() && self.0 > 0.0
    }
}

impl fmt::Display for Rate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/s", self.0)
    }
}

impl FromStr for Rate {
    type Err = RateError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let wrong = || RateError(text.to_owned());
        let (count, unit) = text.split_once('/').ok_or_else(wrong)?;
        let seconds = match unit.trim() {
            "s" | "sec" | "second" => 1.0,
            "m" | "min" | "minute" => 60.0,
            "h" | "hour" => 3600.0,
            _ => return Err(wrong()),
        };
        let count: f64 = count.trim().parse().map_err(|_| wrong())?;
        let rate = Self(count / seconds);
        if count.is_finite() && count >= 0.0 { Ok(rate) } else { Err(wrong()) }
    }
}

impl Serialize for Rate {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Rate {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

impl JsonSchema for Rate {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Rate".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "pattern": r"^\s*[0-9.eE+]+\s*/\s*(s|sec|second|m|min|minute|h|hour)\s*$",
            "examples": ["500/s"],
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rates_read_as_they_are_written() {
        for (text, per_second) in
            [("500/s", 500.0), ("30/m", 0.5), ("2.5 / s", 2.5), ("7200/h", 2.0)]
        {
            let rate: Rate = text.parse().unwrap();
            assert_eq!(rate.get(), per_second, "{text}");
            assert_eq!(rate.to_string().parse(), Ok(rate));
        }
        for text in ["", "500", "/s", "-1/s", "NaN/s", "inf/s", "5/x", "five/s"] {
            assert!(text.parse::<Rate>().is_err(), "{text}");
        }
        assert_eq!(Rate::per_second(200.0).gap(), Duration::from_millis(5));
        assert_eq!(Rate::per_second(0.0).gap(), Duration::MAX);
    }

    #[test]
    fn only_a_rate_above_nothing_and_below_infinity_is_usable() {
        let rates = [0.5, 0.0, -1.0, f64::INFINITY, f64::NAN];
        let usable = rates.map(|rate| Rate::per_second(rate).is_usable());
        assert_eq!(usable, [true, false, false, false, false]);
    }

    #[test]
    fn a_rate_is_a_text_in_files_and_one_that_cannot_be_read_has_a_hint() {
        assert_eq!(serde_json::to_string(&Rate::per_second(2.5)).unwrap(), "\"2.5/s\"");
        assert_eq!(serde_json::from_str::<Rate>("\"30/m\"").unwrap(), Rate::per_second(0.5));
        assert_eq!("0/s".parse(), Ok(Rate::per_second(0.0)));
        let wrong = "5/x".parse::<Rate>().unwrap_err();
        assert_eq!(wrong.to_string(), "`5/x` is not a rate such as `500/s` or `30/m`");
        assert!(wrong.hint().is_some_and(|hint| hint.starts_with("write calls per second")));
    }
}
