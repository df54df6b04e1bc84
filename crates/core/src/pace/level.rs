//! How high a load is: calls in flight, or calls a second.

use std::{fmt, str::FromStr};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{Error, Visitor},
};

use super::{Rate, RateError};

/// `50` calls in flight, or `"500/s"`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Level {
    /// Calls in flight: the closed model.
    Concurrent(u32),
    /// Calls a second: the open model.
    Rate(Rate),
}

impl Level {
    /// The number, whatever it counts.
    pub fn get(self) -> f64 {
        match self {
            Self::Concurrent(count) => f64::from(count),
            Self::Rate(rate) => rate.get(),
        }
    }

    /// The same kind of level with another number.
    #[must_use]
    pub fn with(self, number: f64) -> Self {
        match self {
            Self::Concurrent(_) => Self::Concurrent(number.round().max(0.0) as u32),
            Self::Rate(_) => Self::Rate(Rate::per_second(number)),
        }
    }

    /// Whether calls start on a schedule.
    pub const fn is_rate(self) -> bool {
        matches!(self, Self::Rate(_))
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Concurrent(count) => write!(f, "{count} concurrent"),
            Self::Rate(rate) => write!(f, "{rate}"),
        }
    }
}

impl FromStr for Level {
    type Err = RateError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.trim().parse() {
            Ok(count) => Ok(Self::Concurrent(count)),
            Err(_) => text.parse().map(Self::Rate),
        }
    }
}

impl Serialize for Level {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Concurrent(count) => to.serialize_u32(*count),
            Self::Rate(rate) => rate.serialize(to),
        }
    }
}

struct LevelVisitor;

impl Visitor<'_> for LevelVisitor {
    type Value = Level;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a number of calls in flight, or a rate such as \"500/s\"")
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<Level, E> {
        u32::try_from(value).map(Level::Concurrent).map_err(|_| E::custom("too many calls"))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<Level, E> {
        u32::try_from(value)
            .map(Level::Concurrent)
            .map_err(|_| E::custom(format!("{value} is no number of calls")))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<Level, E> {
        value.parse().map(Level::Rate).map_err(E::custom)
    }
}

impl<'de> Deserialize<'de> for Level {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(LevelVisitor)
    }
}

impl JsonSchema for Level {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Level".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": ["integer", "string"], "examples": [50, "500/s"] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_is_concurrency_and_a_text_a_rate() {
        for (text, level) in
            [("50", Level::Concurrent(50)), ("\"500/s\"", Level::Rate(Rate::per_second(500.0)))]
        {
            assert_eq!(serde_json::from_str::<Level>(text).unwrap(), level);
            assert_eq!(serde_json::to_string(&level).unwrap(), text);
        }
        assert_eq!("50".parse(), Ok(Level::Concurrent(50)));
        assert!(serde_json::from_str::<Level>("-1").is_err());
        assert!(serde_json::from_str::<Level>("\"50\"").is_err());
    }

    #[test]
    fn a_level_is_told_and_changed_as_what_it_counts() {
        let rate = |count| Level::Rate(Rate::per_second(count));
        for (level, number, text, is_rate) in
            [(Level::Concurrent(50), 50.0, "50 concurrent", false), (rate(2.5), 2.5, "2.5/s", true)]
        {
            assert_eq!((level.get(), level.is_rate()), (number, is_rate), "{text}");
            assert_eq!(level.to_string(), text);
        }
        assert_eq!(Level::Concurrent(1).with(7.5), Level::Concurrent(8));
        assert_eq!(Level::Concurrent(1).with(-3.0), Level::Concurrent(0));
        assert_eq!(rate(1.0).with(7.5), rate(7.5));
        assert_eq!(" 7 ".parse(), Ok(Level::Concurrent(7)));
        assert_eq!("30/m".parse(), Ok(rate(0.5)));
    }

    #[test]
    fn what_is_no_level_is_refused_with_a_reason() {
        for (text, reason) in [
            ("true", "expected a number of calls in flight, or a rate such as \"500/s\""),
            ("4294967296", "too many calls"),
            ("-1", "-1 is no number of calls"),
            ("\"50\"", "`50` is not a rate"),
        ] {
            let error = serde_json::from_str::<Level>(text).unwrap_err().to_string();
            assert!(error.contains(reason), "{text}: {error}");
        }
    }
}
