//! Moments of the wall clock: microseconds inside, RFC 3339 in UTC outside.

use std::{
    fmt,
    str::FromStr,
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use mcp_loadtest_core::{hint::Hint, units::parse_duration};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use thiserror::Error;

/// A moment, in microseconds since 1970.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Timestamp(pub i64);

impl Timestamp {
    /// The last moment that RFC 3339 can write.
    const LAST: i64 = 253_402_300_799_999_999;

    /// This moment. A log is compared with other logs, so it has the time of the wall.
    #[expect(clippy::disallowed_methods, reason = "a row of the log says when it was, on the wall")]
    pub fn now() -> Self {
        Self::from(SystemTime::now())
    }

    /// Reads a moment, or how long ago it was: `2026-05-10T14:30:00Z`, `10m`.
    pub fn parse(text: &str, now: Self) -> Result<Self, TimestampError> {
        match parse_duration(text) {
            Ok(ago) => {
                let ago = i64::try_from(ago.as_micros()).unwrap_or(i64::MAX);
                Ok(Self(now.0.saturating_sub(ago)))
            }
            Err(_) => text.parse(),
        }
    }
}

impl From<SystemTime> for Timestamp {
    fn from(time: SystemTime) -> Self {
        let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
        Self(i64::try_from(since.as_micros()).unwrap_or(Self::LAST))
    }
}

impl fmt::Display for Timestamp {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let micros = u64::try_from(self.0.clamp(0, Self::LAST)).unwrap_or_default();
        let time = UNIX_EPOCH + Duration::from_micros(micros);
        humantime::format_rfc3339_micros(time).fmt(f)
    }
}

/// A text that names no moment.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{0}` is not a time")]
pub struct TimestampError(pub String);

impl Hint for TimestampError {
    fn hint(&self) -> Option<String> {
        Some("write `2026-05-10T14:30:00Z`, or how long ago: `10m`, `1h30m`".into())
    }
}

impl FromStr for Timestamp {
    type Err = TimestampError;

    /// Reads RFC 3339; a time without a zone is in UTC.
    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let error = || TimestampError(text.to_owned());
        let (local, east_us) = split_zone(text).ok_or_else(error)?;
        let time = humantime::parse_rfc3339_weak(local).map_err(|_| error())?;
        Ok(Self(Self::from(time).0.saturating_sub(east_us)))
    }
}

/// A text without its zone, and how far east of Greenwich that is in microseconds.
fn split_zone(text: &str) -> Option<(&str, i64)> {
    if let Some(local) = text.strip_suffix(['Z', 'z']) {
        return Some((local, 0));
    }
    let Some((local, zone)) = text.len().checked_sub(6).and_then(|at| text.split_at_checked(at))
    else {
        return Some((text, 0));
    };
    let sign = match zone.as_bytes() {
        [b'+', _, _, b':', _, _] => 1,
        // A date also ends in `-dd`, but never with a colon after it.
        [b'-', _, _, b':', _, _] => -1,
        _ => return Some((text, 0)),
    };
    let (hours, minutes) =
        (zone.get(1..3)?.parse::<i64>().ok()?, zone.get(4..)?.parse::<i64>().ok()?);
    (hours < 24 && minutes < 60).then_some((local, sign * (hours * 60 + minutes) * 60_000_000))
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_written_to_the_microsecond_and_read_in_any_zone() {
        let at = Timestamp(1_778_423_400_000_042);
        assert_eq!(at.to_string(), "2026-05-10T14:30:00.000042Z");
        assert_eq!(at.to_string().parse(), Ok(at));
        let same = ["2026-05-10T14:30:00Z", "2026-05-10T16:30:00+02:00", "2026-05-10 14:30:00"];
        for text in same {
            assert_eq!(text.parse(), Ok(Timestamp(1_778_423_400_000_000)), "{text}");
        }
        assert_eq!("2026-05-10T09:30:00-05:00".parse(), Ok(Timestamp(1_778_423_400_000_000)));
    }

    #[test]
    fn how_long_ago_is_a_moment_too() {
        let now = Timestamp(1_000_000_000);
        assert_eq!(Timestamp::parse("1m30s", now), Ok(Timestamp(910_000_000)));
        assert_eq!(Timestamp::parse("1970-01-01T00:00:01Z", now), Ok(Timestamp(1_000_000)));
        for text in ["yesterday", "", "2026-05-10T14:30:00+99:00", "+02:00", "é+2:00"] {
            assert!(Timestamp::parse(text, now).is_err(), "{text}");
        }
    }
}
