//! The two choices that every server leaves open: which revision to speak, and which environment
//! variables to pass on.

use std::{fmt, str::FromStr};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Serialize};

use crate::mcp::revision::{Revision, UnknownRevision};

/// Which revision of MCP to speak.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub enum ProtocolChoice {
    /// Find out from the server.
    #[default]
    Auto,
    /// This one, whatever the server prefers.
    Fixed(Revision),
}

impl ProtocolChoice {
    const AUTO: &str = "auto";
}

impl fmt::Display for ProtocolChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Auto => f.write_str(Self::AUTO),
            Self::Fixed(revision) => revision.fmt(f),
        }
    }
}

impl FromStr for ProtocolChoice {
    type Err = UnknownRevision;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == Self::AUTO { Ok(Self::Auto) } else { text.parse().map(Self::Fixed) }
    }
}

impl TryFrom<String> for ProtocolChoice {
    type Error = UnknownRevision;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl From<ProtocolChoice> for String {
    fn from(choice: ProtocolChoice) -> Self {
        choice.to_string()
    }
}

impl From<Revision> for ProtocolChoice {
    fn from(revision: Revision) -> Self {
        Self::Fixed(revision)
    }
}

impl JsonSchema for ProtocolChoice {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        "ProtocolChoice".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        let words: Vec<&str> =
            [Self::AUTO].into_iter().chain(Revision::ALL.map(Revision::as_str)).collect();
        json_schema!({ "type": "string", "enum": words })
    }
}

/// Which of our own environment variables a started server sees. Written as a boolean.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(from = "bool", into = "bool")]
pub enum InheritEnv {
    /// Only what a program needs to run, as MCP clients do it: a server that works here works there.
    #[default]
    Safe,
    /// Everything, secrets included.
    All,
}

/// What [`InheritEnv::Safe`] lets through: the lists of the official SDKs, plus locale and time
/// zone. Names that begin with `LC_` pass too.
const SAFE: &[&str] = &[
    "APPDATA",
    "COMSPEC",
    "HOME",
    "HOMEDRIVE",
    "HOMEPATH",
    "LANG",
    "LOCALAPPDATA",
    "LOGNAME",
    "PATH",
    "PATHEXT",
    "PROCESSOR_ARCHITECTURE",
    "PROGRAMFILES",
    "SHELL",
    "SYSTEMDRIVE",
    "SYSTEMROOT",
    "TEMP",
    "TERM",
    "TMP",
    "TMPDIR",
    "TZ",
    "USER",
    "USERNAME",
    "USERPROFILE",
    "WINDIR",
];

impl InheritEnv {
    /// Whether the variable reaches the server. Windows spells names in any case (`Path`).
    pub fn passes(self, name: &str) -> bool {
        self == Self::All
            || name.starts_with("LC_")
            || SAFE.iter().any(|safe| safe.eq_ignore_ascii_case(name))
    }
}

impl From<bool> for InheritEnv {
    fn from(all: bool) -> Self {
        if all { Self::All } else { Self::Safe }
    }
}

impl From<InheritEnv> for bool {
    fn from(inherit: InheritEnv) -> Self {
        inherit == InheritEnv::All
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_harmless_variables_are_inherited() {
        assert!(InheritEnv::Safe.passes("Path") && InheritEnv::Safe.passes("LC_ALL"));
        assert!(!InheritEnv::Safe.passes("AWS_SECRET_ACCESS_KEY"));
        assert!(InheritEnv::All.passes("AWS_SECRET_ACCESS_KEY"));
    }

    #[test]
    fn protocol_is_auto_or_a_date() {
        assert_eq!("auto".parse(), Ok(ProtocolChoice::Auto));
        assert_eq!("2026-07-28".parse(), Ok(ProtocolChoice::Fixed(Revision::V2026_07_28)));
        assert!("latest".parse::<ProtocolChoice>().is_err());
    }

    #[test]
    fn choices_are_written_as_a_boolean_and_a_word() {
        for (inherit, written) in [(InheritEnv::Safe, false), (InheritEnv::All, true)] {
            assert_eq!(serde_json::to_value(inherit).unwrap(), written);
            assert_eq!(serde_json::from_value::<InheritEnv>(written.into()).unwrap(), inherit);
        }
        let fixed = ProtocolChoice::from(Revision::V2025_06_18);
        for (choice, written) in [(ProtocolChoice::Auto, "auto"), (fixed, "2025-06-18")] {
            assert_eq!(serde_json::to_value(choice).unwrap(), written);
            assert_eq!(serde_json::from_value::<ProtocolChoice>(written.into()).unwrap(), choice);
        }
        let schema = schemars::schema_for!(ProtocolChoice);
        let words = schema.get("enum").and_then(|words| words.as_array()).expect("words");
        assert_eq!((&words[0], words.len()), (&"auto".into(), 1 + Revision::ALL.len()));
    }

    #[test]
    fn a_name_passes_by_the_list_or_by_its_beginning() {
        for (name, safe) in [
            ("PATH", true),
            ("lang", true),
            ("LC_", true),
            ("lc_all", false),
            ("XLC_ALL", false),
            ("PATHS", false),
            ("", false),
        ] {
            assert_eq!(InheritEnv::Safe.passes(name), safe, "{name}");
            assert!(InheritEnv::All.passes(name), "{name}");
        }
    }
}
