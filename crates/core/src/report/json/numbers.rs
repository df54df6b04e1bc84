//! Times as the numbers of a JSON file. Each reads back to the same nanosecond for as long as a run
//! can be (26 days), and none is ever NaN or infinite, which JSON does not have.

use std::{
    borrow::Cow,
    time::{Duration, SystemTime},
};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use crate::{event::as_secs, report::phrases::printable};

/// Seconds as a number.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
#[serde(transparent)]
pub(in crate::report) struct Seconds(#[serde(with = "as_secs")] pub(in crate::report) Duration);

/// Milliseconds as a number.
#[derive(Debug, Clone, Copy)]
pub(in crate::report) struct Millis(pub(in crate::report) Duration);

/// A date and time in UTC as RFC 3339 has it.
#[derive(Debug, Clone, Copy)]
pub(in crate::report) struct Timestamp(pub(in crate::report) SystemTime);

const NANOS_PER_MILLI: f64 = 1e6;

impl Serialize for Millis {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_f64(self.0.as_nanos() as f64 / NANOS_PER_MILLI)
    }
}

impl<'de> Deserialize<'de> for Millis {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let millis = f64::deserialize(from)?;
        if !(millis >= 0.0 && millis.is_finite()) {
            return Err(D::Error::custom(format!("{millis} is not a time in milliseconds")));
        }
        Ok(Self(Duration::from_nanos((millis * NANOS_PER_MILLI).round() as u64)))
    }
}

impl Serialize for Timestamp {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(&humantime::format_rfc3339(printable(self.0)))
    }
}

impl<'de> Deserialize<'de> for Timestamp {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let text = Cow::<str>::deserialize(from)?;
        humantime::parse_rfc3339(&text).map(Self).map_err(D::Error::custom)
    }
}

impl JsonSchema for Seconds {
    fn schema_name() -> Cow<'static, str> {
        "Seconds".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "minimum": 0 })
    }

    fn inline_schema() -> bool {
        true
    }
}

impl JsonSchema for Millis {
    fn schema_name() -> Cow<'static, str> {
        "Millis".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number", "minimum": 0 })
    }

    fn inline_schema() -> bool {
        true
    }
}

impl JsonSchema for Timestamp {
    fn schema_name() -> Cow<'static, str> {
        "Timestamp".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "format": "date-time" })
    }

    fn inline_schema() -> bool {
        true
    }
}

/// What JSON cannot say is nothing.
pub(in crate::report) fn finite(number: f64) -> f64 {
    if number.is_finite() { number } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn what_is_no_time_is_refused() {
        for text in ["-1", "1e999", "\"1\"", "null"] {
            assert!(serde_json::from_str::<Millis>(text).is_err(), "{text}");
            assert!(serde_json::from_str::<Seconds>(text).is_err(), "{text}");
        }
        for text in ["\"yesterday\"", "\"2026-05-10\"", "7"] {
            assert!(serde_json::from_str::<Timestamp>(text).is_err(), "{text}");
        }
    }

    #[test]
    fn schemas_say_what_a_time_is_where_it_stands() {
        let schema = super::super::schema();
        let number = serde_json::json!({ "type": "number", "minimum": 0 });
        let member = |name: &str, part: &str| schema["properties"][name][part].clone();
        for (part, expected) in number.as_object().unwrap() {
            assert_eq!(&member("duration_secs", part), expected, "{part}");
            assert_eq!(&schema["properties"]["hung_for_ms"]["items"][part], expected, "{part}");
        }
        assert_eq!(member("started_at", "type"), "string");
        assert_eq!(member("started_at", "format"), "date-time");
    }

    #[test]
    fn times_are_written_as_the_design_has_them() {
        let at = SystemTime::UNIX_EPOCH + Duration::from_secs(1_778_398_200);
        assert_eq!(serde_json::to_value(Timestamp(at)).unwrap(), "2026-05-10T07:30:00Z");
        assert_eq!(
            serde_json::to_string(&Millis(Duration::from_micros(123_400))).unwrap(),
            "123.4"
        );
        assert_eq!(serde_json::to_string(&Seconds(Duration::from_secs(60))).unwrap(), "60.0");
    }

    proptest! {
        #[test]
        fn every_nanosecond_reads_back(nanos in 0_u64..26 * 86_400_000_000_000) {
            let time = Duration::from_nanos(nanos);
            let millis: Millis = serde_json::from_str(&serde_json::to_string(&Millis(time)).unwrap()).unwrap();
            let seconds: Seconds = serde_json::from_str(&serde_json::to_string(&Seconds(time)).unwrap()).unwrap();
            let at = SystemTime::UNIX_EPOCH + time;
            let stamp: Timestamp = serde_json::from_str(&serde_json::to_string(&Timestamp(at)).unwrap()).unwrap();
            prop_assert_eq!((millis.0, seconds.0, stamp.0), (time, time, at));
        }
    }
}
