//! The pause between a reply and the next call: fixed, or any time of a range.

use std::{fmt, str::FromStr, time::Duration};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use crate::{
    seed::Dice,
    units::{UnitError, format_duration, parse_duration},
};

/// A pause such as `200ms`, or `100ms..500ms` for any time between the two.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ThinkTime {
    shortest: Duration,
    longest: Duration,
}

impl ThinkTime {
    /// Always the same pause.
    pub const fn fixed(pause: Duration) -> Self {
        Self { shortest: pause, longest: pause }
    }

    /// Any pause of a range.
    pub fn between(one: Duration, other: Duration) -> Self {
        Self { shortest: one.min(other), longest: one.max(other) }
    }

    /// Whether there is no pause at all.
    pub const fn is_none(&self) -> bool {
        self.longest.is_zero()
    }

    /// The next pause.
    pub fn draw(&self, dice: &mut Dice) -> Duration {
        if self.shortest == self.longest {
            return self.shortest;
        }
        self.shortest + (self.longest - self.shortest).mul_f64(dice.unit())
    }
}

impl fmt::Display for ThinkTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&format_duration(self.shortest))?;
        if self.shortest != self.longest {
            write!(f, "..{}", format_duration(self.longest))?;
        }
        Ok(())
    }
}

impl FromStr for ThinkTime {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text.split_once("..") {
            None => Ok(Self::fixed(parse_duration(text)?)),
            Some((one, other)) => {
                Ok(Self::between(parse_duration(one.trim())?, parse_duration(other.trim())?))
            }
        }
    }
}

impl Serialize for ThinkTime {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ThinkTime {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

impl JsonSchema for ThinkTime {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ThinkTime".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "examples": ["200ms", "100ms..500ms"] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::seed::Seed;

    #[test]
    fn pauses_stay_in_their_range_and_read_back() {
        let think: ThinkTime = "500ms..100ms".parse().unwrap();
        assert_eq!(think.to_string(), "100ms..500ms");
        assert_eq!(think.to_string().parse(), Ok(think));
        let mut dice = Seed(1).dice(0);
        let range = Duration::from_millis(100)..=Duration::from_millis(500);
        assert!((0..1_000).all(|_| range.contains(&think.draw(&mut dice))));
        assert_eq!("2s".parse(), Ok(ThinkTime::fixed(Duration::from_secs(2))));
        assert!("fast".parse::<ThinkTime>().is_err());
        assert!("1s..".parse::<ThinkTime>().is_err());
    }

    #[test]
    fn a_range_is_used_from_end_to_end_and_a_fixed_pause_is_what_it_is() {
        let millis = Duration::from_millis;
        let (mut dice, range) = (Seed(1).dice(0), ThinkTime::between(millis(100), millis(500)));
        let mut drawn: Vec<_> = (0..1_000).map(|_| range.draw(&mut dice)).collect();
        drawn.sort_unstable();
        assert!(drawn[0] < millis(110) && drawn[999] > millis(490), "{drawn:?}");
        assert!(drawn[500].abs_diff(millis(300)) < millis(30), "{:?}", drawn[500]);
        assert_eq!(ThinkTime::fixed(millis(7)).draw(&mut dice), millis(7));
        assert_eq!(ThinkTime::fixed(millis(7)).to_string(), "7ms");
        assert!(ThinkTime::default().is_none());
        assert!(!ThinkTime::between(Duration::ZERO, millis(5)).is_none());
    }

    #[test]
    fn a_pause_is_a_text_in_files() {
        let think: ThinkTime = serde_json::from_str("\"500ms..100ms\"").unwrap();
        assert_eq!(serde_json::to_string(&think).unwrap(), "\"100ms..500ms\"");
        assert!(serde_json::from_str::<ThinkTime>("\"fast\"").is_err());
    }
}
