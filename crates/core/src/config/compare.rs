//! `[compare]`: how much worse than an earlier run a run may be.

use std::{borrow::Cow, fmt, path::PathBuf, str::FromStr};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use crate::{
    compare::{NewDeadlocks, Policy, Undecided},
    pace::Arrival,
    scenario::ScenarioKind,
};

/// What a run is compared with, and how much worse it may be.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CompareConfig {
    /// The earlier run: `last` for the last one of the same server and scenario that passed,
    /// `tag:NAME` for the last one with that tag, or its directory. Default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<Baseline>,
    /// How much the median may grow. Default: `off`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p50: Option<Allowance>,
    /// How much the 95th percentile may grow. Default: `off`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p95: Option<Allowance>,
    /// How much the 99th percentile may grow. Default: `10%`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p99: Option<Allowance>,
    /// How much larger the share of failed calls may be, in percentage points. Default: `0.5%`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error_rate: Option<Allowance>,
    /// How much fewer calls may succeed each second. Default: `10%`, but `off` where calls start on
    /// a schedule, because then their rate was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub throughput: Option<Allowance>,
    /// Whether there may be more deadlocks than before. Default: false.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow_deadlocks: Option<bool>,
    /// What a difference means that the data cannot decide. Default: `pass`, with a warning.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undecided: Option<Undecided>,
}

impl CompareConfig {
    pub(super) fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// The limits for runs of this scenario.
    pub fn policy(&self, kind: &ScenarioKind) -> Policy {
        let usual = Policy::default();
        let scheduled = matches!(kind.settings().arrival(), Some(Arrival::Open { .. }));
        let or = |written: Option<Allowance>, usual: Option<f64>| match written {
            Some(Allowance::UpTo(share)) => Some(share),
            Some(Allowance::Off) => None,
            None => usual,
        };
        Policy {
            p50: or(self.p50, usual.p50),
            p95: or(self.p95, usual.p95),
            p99: or(self.p99, usual.p99),
            error_rate: or(self.error_rate, usual.error_rate),
            throughput: or(self.throughput, usual.throughput.filter(|_| !scheduled)),
            new_deadlocks: match self.allow_deadlocks {
                Some(true) => NewDeadlocks::Allow,
                Some(false) | None => usual.new_deadlocks,
            },
            undecided: self.undecided.unwrap_or(usual.undecided),
        }
    }
}

/// How much worse a figure may get: `10%`, or `off` when it is not judged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Allowance {
    /// The figure is told and not judged.
    Off,
    /// A share: 0.1 is `10%`.
    UpTo(f64),
}

impl FromStr for Allowance {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if text == "off" {
            return Ok(Self::Off);
        }
        let number = text.strip_suffix('%').map(str::trim);
        let number = number.filter(|text| text.starts_with(|c: char| c.is_ascii_digit()));
        match number.and_then(|text| text.parse::<f64>().ok()) {
            Some(percent) if (0.0..=10_000.0).contains(&percent) => Ok(Self::UpTo(percent / 100.0)),
            _ => Err(format!(
                "`{text}` is not a percentage; write for example `10%` or `0.5%`, or `off`"
            )),
        }
    }
}

impl fmt::Display for Allowance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str("off"),
            // Fourteen digits, so that 0.07 is not 7.000000000000001 %.
            Self::UpTo(share) => write!(f, "{}%", (share * 1e14).round() / 1e12),
        }
    }
}

impl Serialize for Allowance {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Allowance {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

impl JsonSchema for Allowance {
    fn schema_name() -> Cow<'static, str> {
        "Allowance".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "string",
            "pattern": r"^(off|[0-9]+(\.[0-9]*)?\s*%)$",
            "examples": ["10%", "0.5%", "off"]
        })
    }
}

/// Which earlier run is meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Baseline {
    /// The last run of the same server and scenario that passed.
    Last,
    /// The last run with this tag.
    Tag(String),
    /// This run directory, or its `metrics.json`.
    At(PathBuf),
}

const TAG: &str = "tag:";

impl FromStr for Baseline {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match (text, text.strip_prefix(TAG)) {
            ("", _) | (_, Some("")) => {
                Err("no run is named; write `last`, `tag:NAME` or a run directory".into())
            }
            ("last", _) => Ok(Self::Last),
            (_, Some(tag)) => Ok(Self::Tag(tag.to_owned())),
            (path, None) => Ok(Self::At(path.into())),
        }
    }
}

impl fmt::Display for Baseline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Last => f.write_str("last"),
            Self::Tag(tag) => write!(f, "{TAG}{tag}"),
            Self::At(path) => write!(f, "{}", path.display()),
        }
    }
}

impl Serialize for Baseline {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Baseline {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        String::deserialize(from)?.parse().map_err(D::Error::custom)
    }
}

impl JsonSchema for Baseline {
    fn schema_name() -> Cow<'static, str> {
        "Baseline".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "minLength": 1, "examples": ["last", "tag:v1.2"] })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::Scenario;

    #[test]
    fn percentages_have_their_sign_and_read_back() {
        for (text, share) in [("10%", 0.1), ("0.5%", 0.005), ("7%", 0.07), ("0%", 0.0)] {
            assert_eq!(text.parse(), Ok(Allowance::UpTo(share)));
            assert_eq!(Allowance::UpTo(share).to_string(), text);
        }
        assert_eq!("off".parse(), Ok(Allowance::Off));
        for bad in ["10", "0.1", "", "%", "-5%", "nan%", "inf%", "1e9%", "ten%", "+1%"] {
            let error = bad.parse::<Allowance>().unwrap_err();
            assert!(error.contains("write for example"), "{bad}: {error}");
        }
    }

    #[test]
    fn baselines_read_back() {
        for text in ["last", "tag:v1.2", "runs/x"] {
            assert_eq!(text.parse::<Baseline>().unwrap().to_string(), text);
        }
        assert!("tag:".parse::<Baseline>().is_err());
    }

    #[test]
    fn a_rate_that_was_asked_for_is_not_judged_unless_asked_to() {
        let closed: Scenario = Scenario::sustained().concurrent(5).into();
        let open: Scenario = Scenario::sustained().rate(50.0).into();
        let config = CompareConfig::default();
        assert_eq!(config.policy(&closed.kind).throughput, Some(0.1));
        assert_eq!(config.policy(&open.kind).throughput, None);
        let config =
            CompareConfig { throughput: Some(Allowance::UpTo(0.2)), ..CompareConfig::default() };
        assert_eq!(config.policy(&open.kind).throughput, Some(0.2));
    }

    #[test]
    fn what_is_written_takes_the_place_of_what_is_usual() {
        let text = "p50 = '5%'\np95 = 'off'\np99 = '20%'\nerror_rate = '1%'\nthroughput = 'off'\n\
                    allow_deadlocks = true\nundecided = 'fail'\n";
        let config: CompareConfig = toml::from_str(text).unwrap();
        let policy = config.policy(&Scenario::sustained().build().kind);
        assert_eq!((policy.p50, policy.p95, policy.p99), (Some(0.05), None, Some(0.2)));
        assert_eq!((policy.error_rate, policy.throughput), (Some(0.01), None));
        assert_eq!(policy.new_deadlocks, NewDeadlocks::Allow);
        assert_eq!(policy.undecided, Undecided::Fail);
        assert_eq!(toml::to_string(&config).unwrap(), text.replace('\'', "\""));
        assert!(!config.is_empty() && CompareConfig::default().is_empty());
        let usual = CompareConfig::default().policy(&Scenario::sustained().build().kind);
        assert_ne!(usual.new_deadlocks, NewDeadlocks::Allow);
    }
}
