//! What a test expects of a document: paths to values, and matchers that judge them.
//!
//! | file       | what it holds                                                  |
//! |------------|----------------------------------------------------------------|
//! | `path`     | `result.content[0].text`                                       |
//! | `pattern`  | regular expressions and schemas, checked when they are read    |
//! | `matcher`  | what can be asked of a value; to add one: a variant            |
//! | `judge`    | whether a value is as it should be, and if not, why            |
//! | `unfit`    | what a matcher cannot be asked of, so that `not` says nothing  |
//! | `snapshot` | values that were seen before                                   |
//!
//! Nothing at the end of a path counts as `null`, which only `exact: null` takes: a test cannot pass
//! because what it looks for is not there, nor because a matcher that is turned round never holds.

mod judge;
mod matcher;
mod path;
mod pattern;
mod snapshot;
#[cfg(test)]
mod tests;
mod unfit;

use std::{borrow::Cow, fmt};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{
    Deserialize, Deserializer, Serialize,
    de::{self, MapAccess, SeqAccess, Visitor, value::MapAccessDeserializer},
    ser::Serializer,
};

pub use self::{
    judge::{Judge, Mismatch},
    matcher::Matcher,
    path::Target,
    pattern::{Pattern, SchemaPattern},
    snapshot::{Snapshots, Store},
};

/// One thing that must be so.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Assertion {
    /// Where to look: `result.content[0].text`, `error.code`, `duration_ms`, `tool_calls.length`.
    pub target: Target,
    /// What must be so there.
    pub matcher: Matcher,
    /// What is told when it is not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// Everything that a test expects: a list of assertions, or an object that holds them and more.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Expect {
    /// What must be so.
    pub assertions: Vec<Assertion>,
    /// How long it may take, in milliseconds.
    pub max_duration_ms: Option<u64>,
}

impl Expect {
    /// Whether nothing is expected.
    pub fn is_empty(&self) -> bool {
        self.assertions.is_empty() && self.max_duration_ms.is_none()
    }

    /// Whether something is said about values under this key.
    pub fn looks_at(&self, root: &str) -> bool {
        self.assertions.iter().any(|assertion| assertion.target.root() == root)
    }
}

/// The object form.
#[derive(Debug, Clone, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
struct ExpectObject {
    /// What must be so.
    assertions: Vec<Assertion>,
    /// How long it may take, in milliseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_duration_ms: Option<u64>,
}

impl<'de> Deserialize<'de> for Expect {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Either;
        impl<'de> Visitor<'de> for Either {
            type Value = Expect;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of assertions, or an object with `assertions`")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Expect, A::Error> {
                let mut assertions = Vec::new();
                while let Some(assertion) = list.next_element()? {
                    assertions.push(assertion);
                }
                Ok(Expect { assertions, max_duration_ms: None })
            }

            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Expect, A::Error> {
                let object = ExpectObject::deserialize(MapAccessDeserializer::new(map))?;
                let ExpectObject { assertions, max_duration_ms } = object;
                Ok(Expect { assertions, max_duration_ms })
            }

            fn visit_unit<E: de::Error>(self) -> Result<Expect, E> {
                Ok(Expect::default())
            }
        }
        from.deserialize_any(Either)
    }
}

impl Serialize for Expect {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let Self { assertions, max_duration_ms } = self.clone();
        match max_duration_ms {
            None => assertions.serialize(to),
            Some(_) => ExpectObject { assertions, max_duration_ms }.serialize(to),
        }
    }
}

impl JsonSchema for Expect {
    fn schema_name() -> Cow<'static, str> {
        "Expect".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let list = generator.subschema_for::<Vec<Assertion>>();
        let object = generator.subschema_for::<ExpectObject>();
        json_schema!({ "anyOf": [list, object] })
    }
}
