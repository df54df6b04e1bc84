//! The kinds of bad input, and in which order they come. To add one: a variant here, also in `ALL`, and
//! what is sent in `Deck::case`.

use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A kind of bad input.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum Payload {
    /// A method that no server has.
    UnknownMethod,
    /// A method that is no text.
    NumericMethod,
    /// Far more than is needed.
    GiantPayload,
    /// Control characters, escaped and as they are.
    ControlChars,
    /// Values in values in values.
    DeepNesting,
    /// `"params": null`.
    NullParams,
    /// Parameters that are no object.
    StringParams,
    /// Bytes: flipped, cut, spliced, random.
    RawBytes,
    /// Tool arguments at and beyond the limits of the tool's schema.
    Arguments,
}

impl Payload {
    /// All of them.
    pub const ALL: [Self; 9] = [
        Self::UnknownMethod,
        Self::NumericMethod,
        Self::GiantPayload,
        Self::ControlChars,
        Self::DeepNesting,
        Self::NullParams,
        Self::StringParams,
        Self::RawBytes,
        Self::Arguments,
    ];

    /// The word used in configurations, flags and reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::UnknownMethod => "unknown_method",
            Self::NumericMethod => "numeric_method",
            Self::GiantPayload => "giant_payload",
            Self::ControlChars => "control_chars",
            Self::DeepNesting => "deep_nesting",
            Self::NullParams => "null_params",
            Self::StringParams => "string_params",
            Self::RawBytes => "raw_bytes",
            Self::Arguments => "arguments",
        }
    }

    /// How many cases of it come in one round. There are few unknown methods that differ in what
    /// they break, and many bytes and arguments.
    const fn share(self) -> u64 {
        match self {
            Self::RawBytes => 7,
            Self::Arguments => 14,
            _ => 1,
        }
    }
}

impl FromStr for Payload {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let word = text.replace('-', "_");
        let found = Self::ALL.into_iter().find(|payload| payload.as_str() == word);
        found.ok_or_else(|| {
            format!("there is no payload `{word}`; use {}", Self::ALL.map(Self::as_str).join(", "))
        })
    }
}

/// Which case comes when: a round has each payload as often as its share.
#[derive(Debug, Clone)]
pub(super) struct Wheel {
    payloads: Vec<Payload>,
    round: u64,
}

impl Wheel {
    pub(super) fn new(payloads: Vec<Payload>) -> Self {
        let round = payloads.iter().map(|payload| payload.share()).sum();
        Self { payloads, round }
    }

    /// The payload of the n-th case, and which of that payload it is.
    pub(super) fn turn(&self, number: u64) -> Option<(Payload, u64)> {
        let (round, mut place) = (number.checked_div(self.round)?, number % self.round);
        for payload in &self.payloads {
            if place < payload.share() {
                return Some((*payload, round * payload.share() + place));
            }
            place -= payload.share();
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_the_serialized_words() {
        for payload in Payload::ALL {
            assert_eq!(serde_json::to_value(payload).unwrap(), payload.as_str());
            assert_eq!(payload.as_str().parse(), Ok(payload));
        }
        assert!("nonsense".parse::<Payload>().unwrap_err().contains("raw_bytes"));
    }

    #[test]
    fn every_payload_has_its_turn_and_no_case_comes_twice() {
        let wheel = Wheel::new(Payload::ALL.to_vec());
        let turns: BTreeSet<_> = (0..2_800).filter_map(|number| wheel.turn(number)).collect();
        assert_eq!(turns.len(), 2_800);
        let arguments = turns.iter().filter(|(payload, _)| *payload == Payload::Arguments).count();
        assert_eq!(arguments, 1_400);
        assert_eq!(Wheel::new(Vec::new()).turn(0), None);
    }

    #[test]
    fn a_round_has_each_payload_as_often_as_its_share() {
        let wheel = Wheel::new(vec![Payload::NullParams, Payload::RawBytes]);
        for (number, expected) in [
            (0, (Payload::NullParams, 0)),
            (1, (Payload::RawBytes, 0)),
            (7, (Payload::RawBytes, 6)),
            (8, (Payload::NullParams, 1)),
            (9, (Payload::RawBytes, 7)),
            (23, (Payload::RawBytes, 20)),
        ] {
            assert_eq!(wheel.turn(number), Some(expected), "{number}");
        }
        assert_eq!("raw-bytes".parse(), Ok(Payload::RawBytes));
    }
}
