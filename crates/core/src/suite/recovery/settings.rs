//! `recovery:` as people write it.

use std::{borrow::Cow, fmt};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{self, SeqAccess, Visitor},
};

use super::verdict::RecoveryVerdict;

/// How long an agent waits for a call where nothing is said: as long as most clients do.
pub const MAX_DETECTION_MS: u64 = 60_000;

/// How an agent must recover.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Recovery {
    /// How long the agent waits for a call: each call that does not come back costs this much.
    #[schemars(range(min = 1))]
    pub max_detection_ms: u64,
    /// How long the recovery may take in all. Default: no limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_recovery_ms: Option<u64>,
    /// Whether the fault must have been noticed within `max_detection_ms`.
    #[serde(default)]
    pub require_clean_timeout: bool,
    /// Values that only the healthy tool can have given: an answer that claims success holds all of
    /// them. Default: taken from what our own mock would have answered.
    #[serde(default, skip_serializing_if = "OneOrMany::is_empty")]
    pub evidence: OneOrMany,
    /// Tools that may stand in for the one that failed.
    #[serde(default, skip_serializing_if = "OneOrMany::is_empty")]
    pub fallback: OneOrMany,
    /// Words, one of which an answer from less than the whole must hold, whatever their case.
    /// Default: the usual words for a failure.
    #[serde(default, skip_serializing_if = "OneOrMany::is_empty")]
    pub must_disclose: OneOrMany,
    /// Tools that must not be called again with the same arguments after a call whose end is not
    /// known. Default: those whose annotations say so.
    #[serde(default, skip_serializing_if = "OneOrMany::is_empty")]
    pub non_idempotent: OneOrMany,
    /// The verdicts that pass. Default: `recovered`, `degraded_honestly` and `not_faulted`.
    #[serde(default = "RecoveryVerdict::passing", skip_serializing_if = "is_usual")]
    pub accept: Vec<RecoveryVerdict>,
}

impl Default for Recovery {
    fn default() -> Self {
        Self {
            max_detection_ms: MAX_DETECTION_MS,
            max_recovery_ms: None,
            require_clean_timeout: false,
            evidence: OneOrMany::default(),
            fallback: OneOrMany::default(),
            must_disclose: OneOrMany::default(),
            non_idempotent: OneOrMany::default(),
            accept: RecoveryVerdict::passing(),
        }
    }
}

fn is_usual(accept: &[RecoveryVerdict]) -> bool {
    accept == RecoveryVerdict::passing()
}

/// One text, or a list of them.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(transparent)]
pub struct OneOrMany(pub Vec<String>);

impl OneOrMany {
    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl<'de> Deserialize<'de> for OneOrMany {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = OneOrMany;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a text, or a list of texts")
            }

            fn visit_str<E: de::Error>(self, text: &str) -> Result<OneOrMany, E> {
                Ok(OneOrMany(vec![text.to_owned()]))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<OneOrMany, A::Error> {
                let mut texts = Vec::new();
                while let Some(text) = list.next_element()? {
                    texts.push(text);
                }
                Ok(OneOrMany(texts))
            }
        }
        from.deserialize_any(Either)
    }
}

impl JsonSchema for OneOrMany {
    fn schema_name() -> Cow<'static, str> {
        "OneOrMany".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [
            { "type": "string" },
            { "type": "array", "items": { "type": "string" } },
        ] })
    }
}
