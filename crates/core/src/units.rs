//! Quantities as people write them: `"60s"`, `"1m30s"`, `"500ms"`, `"10KB"`, and back again.

use std::{
    fmt::Write as _,
    time::{Duration, SystemTime},
};

use thiserror::Error;

use crate::hint::Hint;

/// Why a quantity could not be read.
#[derive(Debug, Error, Clone, PartialEq, Eq)]
pub enum UnitError {
    /// Nothing was written.
    #[error("the {what} is empty")]
    Empty {
        /// `duration` or `size`.
        what: &'static str,
    },
    /// A number without a unit, or a unit that does not exist.
    #[error("`{text}` is not a {what}: {}", told(unit))]
    Unit {
        /// `duration` or `size`.
        what: &'static str,
        /// What was written.
        text: String,
        /// The part that was not understood.
        unit: String,
    },
    /// The number itself cannot be read or is too large.
    #[error("`{text}` is not a {what}: the number cannot be read")]
    Number {
        /// `duration` or `size`.
        what: &'static str,
        /// What was written.
        text: String,
    },
}

fn told(unit: &str) -> String {
    match unit {
        "" => "a unit is missing".into(),
        unit => format!("`{unit}` is not one of its units"),
    }
}

impl Hint for UnitError {
    fn hint(&self) -> Option<String> {
        let what = match self {
            Self::Empty { what } | Self::Unit { what, .. } | Self::Number { what, .. } => *what,
        };
        Some(match what {
            "size" => "write a number and a unit, for example `512B`, `10KB` or `16MiB`".into(),
            _ => "write numbers with units, for example `500ms`, `60s`, `1m30s` or `2h`".into(),
        })
    }
}

/// A time in nanoseconds, at most `u64::MAX`; without the 128 bits that `as_nanos` takes.
#[inline]
pub fn nanos(duration: Duration) -> u64 {
    let seconds = duration.as_secs().saturating_mul(1_000_000_000);
    seconds.saturating_add(u64::from(duration.subsec_nanos()))
}

const DURATION_UNITS: &[(&str, f64)] =
    &[("ns", 1.0), ("us", 1e3), ("µs", 1e3), ("ms", 1e6), ("s", 1e9), ("m", 60e9), ("h", 3600e9)];

const SIZE_UNITS: &[(&str, f64)] = &[
    ("B", 1.0),
    ("KB", 1e3),
    ("MB", 1e6),
    ("GB", 1e9),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("GiB", 1_073_741_824.0),
];

/// Reads a duration such as `250ms`, `1.5s` or `1m30s`.
pub fn parse_duration(text: &str) -> Result<Duration, UnitError> {
    let nanos = parse_sum("duration", text, DURATION_UNITS)?;
    Ok(Duration::from_nanos(nanos))
}

/// Reads a size in bytes such as `512B`, `10KB` or `16MiB`.
pub fn parse_size(text: &str) -> Result<u64, UnitError> {
    parse_sum("size", text, SIZE_UNITS)
}

/// A size in bytes, written with units: `10KB`, `16MiB`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size(pub u64);

impl std::str::FromStr for Size {
    type Err = UnitError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        parse_size(text).map(Self)
    }
}

impl std::fmt::Display for Size {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (value, unit) = match self.0 {
            bytes if bytes > 0 && bytes % (1 << 20) == 0 => (bytes >> 20, "MiB"),
            bytes if bytes > 0 && bytes % (1 << 10) == 0 => (bytes >> 10, "KiB"),
            bytes => (bytes, "B"),
        };
        write!(f, "{value}{unit}")
    }
}

impl serde::Serialize for Size {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> serde::Deserialize<'de> for Size {
    fn deserialize<D: serde::Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = String::deserialize(from)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl schemars::JsonSchema for Size {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Size".into()
    }

    fn json_schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
        schemars::json_schema!({
            "type": "string",
            "pattern": r"^\s*(0|(([0-9]+(\.[0-9]*)?|\.[0-9]+)\s*(B|KB|MB|GB|KiB|MiB|GiB)\s*)+)\s*$",
            "examples": ["16MiB", "10KB"]
        })
    }
}

/// Sums up a run of `number unit` pairs. A lone `0` needs no unit.
fn parse_sum(what: &'static str, text: &str, units: &[(&str, f64)]) -> Result<u64, UnitError> {
    let trimmed = text.trim();
    if trimmed.is_empty() {
        return Err(UnitError::Empty { what });
    }
    if trimmed == "0" {
        return Ok(0);
    }
    let mut rest = trimmed;
    let mut total = 0.0_f64;
    while !rest.is_empty() {
        let digits = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
        let number: f64 = rest[..digits]
            .parse()
            .map_err(|_| UnitError::Number { what, text: text.to_owned() })?;
        rest = rest[digits..].trim_start();
        let end = rest.find(|c: char| c.is_ascii_digit() || c == '.').unwrap_or(rest.len());
        let unit = rest[..end].trim();
        let factor = units.iter().find(|(name, _)| *name == unit).map(|(_, factor)| *factor);
        let factor = factor.ok_or_else(|| UnitError::Unit {
            what,
            text: text.to_owned(),
            unit: unit.to_owned(),
        })?;
        total += number * factor;
        rest = rest[end..].trim_start();
    }
    if !total.is_finite() || total >= u64::MAX as f64 {
        return Err(UnitError::Number { what, text: text.to_owned() });
    }
    Ok(total.round() as u64)
}

/// A configured time as it is told: `60s` rather than `1m`, but `1m30s` rather than `90s`.
pub fn format_span(duration: Duration) -> String {
    if duration == Duration::from_secs(60) { "60s".into() } else { format_duration(duration) }
}

/// Writes a duration so that [`parse_duration`] reads the same value back: `1m30s`, `250ms`.
pub fn format_duration(duration: Duration) -> String {
    if duration.is_zero() {
        return "0s".into();
    }
    let mut left = duration.as_nanos();
    let mut text = String::new();
    for (unit, size) in [
        ("h", 3_600_000_000_000),
        ("m", 60_000_000_000),
        ("s", 1_000_000_000),
        ("ms", 1_000_000),
        ("us", 1_000),
        ("ns", 1),
    ] {
        if left >= size {
            let _ = write!(text, "{}{unit}", left / size);
            left %= size;
        }
    }
    text
}

/// Writes a measured time for people: at least three figures, and the unit that fits.
///
/// ```
/// # use mcp_loadtest_core::units::format_latency;
/// # use std::time::Duration;
/// assert_eq!(format_latency(Duration::from_micros(123_400)), "123.4ms");
/// assert_eq!(format_latency(Duration::from_micros(1_234)), "1.23ms");
/// ```
pub fn format_latency(duration: Duration) -> String {
    let nanos = duration.as_nanos() as f64;
    // The bounds lie half a figure below the unit, so that 999.96 ms is 1.00 s and not 1000.0 ms.
    let (value, unit) = match nanos {
        n if n < 1e3 => return format!("{n}ns"),
        n if n < 999.95e3 => (n / 1e3, "µs"),
        n if n < 999.95e6 => (n / 1e6, "ms"),
        n if n < 599.95e9 => (n / 1e9, "s"),
        n => (n / 60e9, "min"),
    };
    let decimals = if value >= 9.995 { 1 } else { 2 };
    format!("{value:.decimals$}{unit}")
}

/// Writes a measured size for people, in the unit that fits.
///
/// ```
/// # use mcp_loadtest_core::units::format_size;
/// assert_eq!(format_size(38_755_880_960), "36.1GiB");
/// assert_eq!(format_size(512), "512B");
/// ```
pub fn format_size(bytes: u64) -> String {
    if bytes < 1_024 {
        return format!("{bytes}B");
    }
    let (kib, mib, gib) =
        (bytes as f64 / 1_024.0, bytes as f64 / 1_048_576.0, bytes as f64 / 1_073_741_824.0);
    // What would be rounded up to 1024.0 is one of the next unit.
    let (value, unit) = match () {
        () if kib < 1_023.95 => (kib, "KiB"),
        () if mib < 1_023.95 => (mib, "MiB"),
        () => (gib, "GiB"),
    };
    format!("{value:.1}{unit}")
}

/// Writes a moment as RFC 3339 in UTC, to the second.
pub fn format_utc(at: SystemTime) -> String {
    humantime::format_rfc3339_seconds(at).to_string()
}

/// Serde form of a [`Duration`] as text with units, for everything that a person writes.
pub mod as_text {
    use super::{Duration, format_duration, parse_duration};
    use crate::hint::Hint as _;
    use serde::{Deserialize as _, Deserializer, Serializer, de::Error as _};

    /// Writes the duration with units.
    pub fn serialize<S: Serializer>(duration: &Duration, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&format_duration(*duration))
    }

    /// Reads the duration with units.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Duration, D::Error> {
        let text = String::deserialize(from)?;
        parse_duration(&text).map_err(|error| {
            D::Error::custom(match error.hint() {
                Some(hint) => format!("{error}; {hint}"),
                None => error.to_string(),
            })
        })
    }
}

/// The same for an optional duration.
pub mod as_text_option {
    use super::{Duration, as_text, format_duration};
    use serde::{Deserialize, Deserializer, Serializer};

    /// Writes the duration with units, or nothing.
    pub fn serialize<S: Serializer>(duration: &Option<Duration>, to: S) -> Result<S::Ok, S::Error> {
        match duration {
            Some(duration) => to.serialize_some(&format_duration(*duration)),
            None => to.serialize_none(),
        }
    }

    /// Reads the duration with units, or nothing.
    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Duration>, D::Error> {
        #[derive(Deserialize)]
        struct Text(#[serde(with = "as_text")] Duration);
        Ok(Option::<Text>::deserialize(from)?.map(|Text(duration)| duration))
    }
}

#[cfg(test)]
mod tests;
