//! The published revisions of MCP and the era that each belongs to.

use std::{fmt, str::FromStr};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::hint::{Hint, nearest};

/// The two protocols that share the name MCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Era {
    /// Handshake, sessions, requests in both directions.
    Legacy,
    /// No handshake and no session: every request stands alone.
    Modern,
}

impl fmt::Display for Era {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Legacy => "legacy",
            Self::Modern => "modern",
        })
    }
}

/// A published revision, oldest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Revision {
    /// The first: HTTP+SSE.
    #[serde(rename = "2024-11-05")]
    V2024_11_05,
    /// Streamable HTTP, batching.
    #[serde(rename = "2025-03-26")]
    V2025_03_26,
    /// Structured output, elicitation, the version header.
    #[serde(rename = "2025-06-18")]
    V2025_06_18,
    /// Tasks, polling streams; the last with a handshake.
    #[serde(rename = "2025-11-25")]
    V2025_11_25,
    /// Stateless.
    #[serde(rename = "2026-07-28")]
    V2026_07_28,
}

impl Revision {
    /// All revisions, oldest first.
    pub const ALL: [Self; 5] = [
        Self::V2024_11_05,
        Self::V2025_03_26,
        Self::V2025_06_18,
        Self::V2025_11_25,
        Self::V2026_07_28,
    ];

    /// What a client asks for in the legacy era.
    pub const NEWEST_LEGACY: Self = Self::V2025_11_25;
    /// What a client asks for in the modern era.
    pub const NEWEST_MODERN: Self = Self::V2026_07_28;

    /// The date that names the revision on the wire.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::V2024_11_05 => "2024-11-05",
            Self::V2025_03_26 => "2025-03-26",
            Self::V2025_06_18 => "2025-06-18",
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }

    /// The era that the revision belongs to.
    pub const fn era(self) -> Era {
        match self {
            Self::V2024_11_05 | Self::V2025_03_26 | Self::V2025_06_18 | Self::V2025_11_25 => {
                Era::Legacy
            }
            Self::V2026_07_28 => Era::Modern,
        }
    }

    /// Whether messages may come several at once, as an array.
    pub fn has_batches(self) -> bool {
        self <= Self::V2025_03_26
    }

    /// Whether HTTP requests after the handshake carry `MCP-Protocol-Version`.
    pub fn has_version_header(self) -> bool {
        self >= Self::V2025_06_18
    }
}

impl fmt::Display for Revision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// A date that names no published revision.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{0}` is not a published MCP revision")]
pub struct UnknownRevision(pub String);

impl Hint for UnknownRevision {
    fn hint(&self) -> Option<String> {
        let known = Revision::ALL.map(Revision::as_str);
        Some(match nearest(&self.0, known) {
            Some(name) => format!("did you mean `{name}`?"),
            None => format!("use `auto` or one of {}", known.join(", ")),
        })
    }
}

impl FromStr for Revision {
    type Err = UnknownRevision;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|revision| revision.as_str() == text)
            .ok_or_else(|| UnknownRevision(text.to_owned()))
    }
}

impl JsonSchema for Revision {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Revision".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "enum": Self::ALL.map(Self::as_str) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_revision_reads_back() {
        for revision in Revision::ALL {
            assert_eq!(revision.to_string().parse(), Ok(revision));
            assert_eq!(serde_json::to_value(revision).unwrap(), revision.as_str());
        }
        assert!("2025-13-01".parse::<Revision>().is_err());
    }

    #[test]
    fn an_unknown_revision_is_answered_with_the_nearest() {
        let hint = |text: &str| text.parse::<Revision>().unwrap_err().hint().unwrap();
        assert_eq!(hint("2025-11-26"), "did you mean `2025-11-25`?");
        assert!(
            hint("latest").starts_with("use `auto` or one of 2024-11-05, "),
            "{}",
            hint("latest")
        );
    }

    #[test]
    fn only_the_newest_revision_is_modern() {
        assert_eq!(Revision::NEWEST_LEGACY.era(), Era::Legacy);
        assert_eq!(Revision::NEWEST_MODERN.era(), Era::Modern);
    }

    #[test]
    fn the_header_of_the_version_came_with_the_third_revision() {
        let with = Revision::ALL.map(Revision::has_version_header);
        assert_eq!(with, [false, false, true, true, true]);
    }

    #[test]
    fn the_words_of_eras_and_revisions_are_those_of_the_schema() {
        assert_eq!([Era::Legacy, Era::Modern].map(|era| era.to_string()), ["legacy", "modern"]);
        let schema = schemars::schema_for!(Revision).to_value();
        assert_eq!(schema["enum"], serde_json::json!(Revision::ALL));
        assert_eq!(Revision::schema_name(), "Revision");
    }
}
